"""One function for every type of data: the same fits as before, and options of another type refused with a call."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from support.folders import REPOSITORY

import llbt
from llbt.fitting.fit import _KINDS
from llbt.fitting.model import LLBT
from llbt.fitting.pattern_model import fit_patterns
from llbt.fitting.ranking_model import fit_rankings

RANKS = pd.DataFrame({"A": [1, 2, 1, 3, 1, 2], "B": [2, 1, 2, 1, 3, 1], "C": [3, 3, 3, 2, 2, 3]})
JUDGMENTS = pd.DataFrame({"winner": list("ABCAB"), "loser": list("BCABA")})
DATA = {
    "Comparisons": llbt.from_judgments(JUDGMENTS, winner="winner", loser="loser"),
    "Rankings": llbt.from_rankings(RANKS, objects=["A", "B", "C"]),
    "Patterns": llbt.from_patterns(RANKS, "rankings", objects=["A", "B", "C"]),
}
BEFORE = {
    "Comparisons": lambda data: LLBT.from_formula("object", data).fit(),
    "Rankings": lambda data: fit_rankings("object", data),
    "Patterns": lambda data: fit_patterns("object", data),
}
CHOSEN = {
    "method": "eliminate",
    "fixed": {"tie": 0.0},
    "cov_type": "cluster",
    "groups": "judge",
    "prior": 1.0,
    "penalty": "ridge",
    "rng": 1,
    "link": "probit",
    "discrimination": "judge",
    "approximation": "laplace",
    "best_worst": "sequential",
    "missing": "common",
    "not_at_random": "object",
}
FOREIGN = [(kind.data.__name__, option) for kind in _KINDS for option in kind.lacks]


@pytest.mark.parametrize("kind", DATA)
def test_the_type_of_the_data_decides_the_model(kind: str) -> None:
    res, before = llbt.fit("object", DATA[kind]), BEFORE[kind](DATA[kind])
    assert type(res) is type(before)
    pd.testing.assert_series_equal(res.params, before.params)
    pd.testing.assert_frame_equal(res.cov_params(), before.cov_params())


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.data.__name__)
def test_every_option_is_taken_or_refused(kind) -> None:
    every = set(inspect.signature(llbt.fit).parameters)
    assert set(inspect.signature(kind.fit).parameters) == every - set(kind.lacks)


@pytest.mark.parametrize(("kind", "option"), FOREIGN)
def test_what_a_type_lacks_is_refused_with_a_call_that_runs(kind: str, option: str) -> None:
    with pytest.raises(llbt.errors.OptionError) as refused:
        llbt.fit("object", DATA[kind], reference=DATA[kind].objects[0], **{option: CHOSEN[option]})
    text = str(refused.value)
    assert text.startswith(f"fit: {option}={CHOSEN[option]!r} is not an option for {kind}: ")
    call = re.search(r"Leave it out: (llbt\.fit\(.*?\))\.($| Or fit the pairs: )", text)[1]
    res = eval(call, {"llbt": llbt, "data": DATA[kind]})
    pd.testing.assert_series_equal(res.params, llbt.fit("object", DATA[kind], reference=DATA[kind].objects[0]).params)


@pytest.mark.parametrize("kind", ["Rankings", "Patterns"])
@pytest.mark.parametrize("option", ["link", "method"])
def test_an_option_of_comparisons_is_refused_with_a_call_that_fits_the_pairs(kind: str, option: str) -> None:
    with pytest.raises(llbt.errors.OptionError) as refused:
        llbt.fit("object", DATA[kind], **{option: CHOSEN[option]})
    call = re.search(r" Or fit the pairs: (llbt\.fit\(.*\))\.$", str(refused.value))[1]
    assert getattr(eval(call, {"llbt": llbt, "data": DATA[kind]}).specification, option) == CHOSEN[option]


def test_options_of_a_type_reach_its_fit() -> None:
    assert llbt.fit("object", DATA["Rankings"], prior="jeffreys").specification.prior == "jeffreys"
    assert llbt.fit("object", DATA["Comparisons"], link="probit").specification.link == "probit"
    answers = pd.DataFrame(
        {"AB": [1, 1, -1, 1, 1, -1], "AC": [1, None, 1, -1, None, 1], "BC": [1, -1, None, 1, None, None]}
    )
    p = llbt.from_patterns(answers, "comparisons", objects=["A", "B", "C"], columns=["AB", "AC", "BC"])
    assert "missing" in llbt.fit("object", p, missing="common").params


def test_the_docstring_is_read_at_once() -> None:
    """Every option has a line here, and its whole explanation on the page of the site."""
    assert llbt.fit.__doc__ is not None
    assert len(llbt.fit.__doc__.splitlines()) <= 50
    page = (REPOSITORY / "vignettes" / "site" / "pages" / "fit.md").read_text(encoding="utf-8")
    options = list(inspect.signature(llbt.fit).parameters)[2:]
    headings = " ".join(re.findall(r"^## (.+)$", page, re.MULTILINE))
    assert [name for name in options if f"`{name}`" not in headings] == []


@pytest.mark.exhaustive
def test_type_checkers_know_the_result_of_each_type(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(
        "from typing import assert_type\nimport llbt\n"
        "from llbt.fitting.best_worst_effects import BestWorstEffects\n"
        "def f(r: llbt.Rankings, p: llbt.Patterns) -> None:\n"
        "    assert_type(llbt.fit('object', r), llbt.RankingResults | BestWorstEffects)\n"
        "    assert_type(llbt.fit('object', p), llbt.PatternResults)\n"
        "    llbt.fit('object', r, link='probit')\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), str(tmp_path / "typed.py")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "assert-type" not in done.stdout
    assert 'typed.py:7: error: No overload variant of "fit"' in done.stdout
