"""The figure of the paper and every number in it: ``python paper/figures.py`` writes paper.md and figure.png.

``template.md`` is the paper with a name in braces where a number stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

import llbt

HERE = Path(__file__).parent
SIMULATED = HERE.parent / "tests" / "simulations" / "cluster_size_object.json"
PLACE = re.compile(r"\{(\w+)\}")
TESTS = {"flips": "Rao's score, flipped", "Hotelling on G*": "Hotelling", "F(q, G - 1)": "Wald, F(q, G − 1)"}


def numbers() -> dict[str, str]:
    """Return every number of the paper by its name, as it is printed there."""
    table = llbt.load_dataset("dras_table1")
    pooled = llbt.fit("object + tie", table.pool())
    alike, by_judge = llbt.fit("object + tie", table), llbt.fit("object * judge + tie", table)
    compared = llbt.anova(alike, by_judge).to_frame().iloc[-1]
    worths = llbt.worth(pooled).to_frame().set_index("object")["estimate"]
    third = llbt.worth(by_judge, at={"judge": "J3"}).to_frame().set_index("object")["estimate"]
    as_analysed = llbt.load_dataset("dras_table1_as_analysed").pool()
    few = _setting(8, 3)["size"]
    return {
        "judgments": f"{table.n_judgments:,.0f}",
        "ties": f"{100 * table.n_ties / table.n_judgments:.1f}",
        "deviance": f"{pooled.deviance:.3f}",
        "as_printed": f"{llbt.fit('object + tie', as_analysed).deviance:.3f}",
        "pooled_a": f"{worths['A']:.2f}",
        "pooled_d": f"{worths['D']:.2f}",
        "third_a": f"{third['A']:.2f}",
        "third_d": f"{third['D']:.2f}",
        "drop": f"{compared['statistic']:.1f}",
        "df": f"{compared['df']:.0f}",
        "runs": f"{_simulated()['runs']:,}",
        "f_size": f"{100 * few['F(q, G - 1)']:.0f}",
        "flips_size": f"{100 * few['flips']:.0f}",
        "formats": f"{len(llbt.formats.known) + 2}",
    }


def _simulated() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SIMULATED.read_text(encoding="utf-8"))
    return found


def _setting(judges: int, q: int) -> dict[str, Any]:
    settings = _simulated()["settings"]
    return next(s for s in settings if (s["judges"], s["q"], s["judgments"]) == (judges, q, "equal"))


def paper(values: Mapping[str, str]) -> str:
    """Return the paper with its numbers; a name that has no number is a KeyError."""
    template = (HERE / "template.md").read_text(encoding="utf-8")
    return PLACE.sub(lambda place: values[place[1]], template)


def figure() -> Figure:
    """Return the figure: worths by judge, and how often joint tests reject what is true."""
    with mpl.rc_context({"font.size": 8}):
        drawn = Figure(figsize=(7, 2.0), layout="constrained")
        left, right = drawn.subplots(1, 2)
        llbt.plot.worth(llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1")), ax=left)
        left.set(ylabel="worth, summing to 1", title="Worths of four systems by judge")
        for (test, name), marker in zip(TESTS.items(), "osD", strict=True):
            shares = [100 * _setting(judges, 3)["size"][test] for judges in (8, 12, 30)]
            right.plot(["8", "12", "30"], shares, marker=marker, label=name)
        right.axhline(5, color="0.6", linewidth=0.8, linestyle="--")
        right.set(xlabel="judges", ylabel="rejected (%)", ylim=(0, None), title="Joint tests at level 5 %")
        right.legend(frameon=False)
    return drawn


def main() -> None:
    """Write the paper and its figure."""
    (HERE / "paper.md").write_text(paper(numbers()), encoding="utf-8")
    figure().savefig(HERE / "figure.png", dpi=200, metadata={"Software": None})


if __name__ == "__main__":
    main()
