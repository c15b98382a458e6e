"""A page on lists has what is asked of fits of lists, and nothing that is asked of comparisons alone."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import OptionError

SECTIONS = ["leaderboard", "words", "audit", "first", "pairs", "model", "fit", "lists", "made"]


def frame(number: int = 120, ties: bool = True) -> pd.DataFrame:
    """Lists of four objects by ten judges; taste by group of judges."""
    rng = np.random.default_rng(4)
    judge = np.arange(number) % 10
    worths = np.array([0.5, 0.2, -0.1, -0.4]) + 0.2 * rng.normal(size=(10, 4))[judge]
    said = 2 * worths + rng.gumbel(size=(number, 4))
    said = np.round(said) if ties else said
    places = [np.unique(-row, return_inverse=True)[1] + 1 for row in said]
    return pd.DataFrame(places, columns=list("ABCD")).assign(judge=[f"J{k}" for k in judge], half=judge < 5)


def _page(data: object, folder: Path, **options: object) -> str:
    return llbt.write_report(data, folder / "a.html", **options).read_text(encoding="utf-8")


def _section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.DOTALL)
    assert found is not None
    return found.group()


@pytest.mark.slow
def test_lists_are_fitted_for_the_page(tmp_path: Path) -> None:
    r = llbt.from_rankings(frame(), objects=list("ABCD"), clusters="judge")
    page = _page(r, tmp_path)
    assert re.findall(r'<section id="(\w+)">', page) == SECTIONS
    assert "llbt.fit(&#x27;object + tie&#x27;, rankings, cov_type=&#x27;cluster&#x27;" in page
    assert "Standard errors: CR3 by judge (G = 10" in _section(page, "leaderboard")
    assert "A Plackett-Luce model (object + tie) was fitted to 120 lists of 4 objects" in _section(page, "words")
    assert "Goodness of fit of lists, by triples" in _section(page, "fit")
    assert page.count("<svg") == 2
    res = llbt.fit("object + tie", r, cov_type="cluster", groups="judge")
    board = llbt.leaderboard(res).to_frame()
    shown = [float(x) for x in re.findall(r'data-value="([^"]+)"', _section(page, "leaderboard"))]
    for value in (*board["estimate"], *board["conf_low"]):  # as they are, to sort by
        assert np.isclose(shown, value, atol=6e-4).any()
    first = res.first().to_frame()["estimate"].to_numpy()
    told = [float(x) for x in re.findall(r'data-value="([^"]+)"', _section(page, "first"))]
    assert all(np.isclose(told, value, atol=6e-4).any() for value in first)


@pytest.mark.slow
def test_a_fit_of_lists_is_reported_as_it_is(tmp_path: Path) -> None:
    """Worths by half of the judges are averaged, and shown by half."""
    r = llbt.from_rankings(frame(ties=False), objects=list("ABCD"), covariates="half")
    page = _page(llbt.fit("object * half", r), tmp_path, title="Halves")
    assert "<h1>Halves</h1>" in page
    assert "Worths by class" in _section(page, "leaderboard")
    assert "at=&#x27;average&#x27;" in _section(page, "made")
    assert "notice" not in _section(page, "leaderboard")


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_infinite_estimates_and_the_best_and_worst(tmp_path: Path) -> None:
    always = pd.DataFrame({"A": [1] * 6, "B": [2, 3, 2, 3, 2, 3], "C": [3, 2, 3, 2, 3, 2]})
    page = _page(llbt.from_rankings(always, objects=list("ABC")), tmp_path)
    assert "Firth&#x27;s bias reduction was used" in _section(page, "leaderboard")
    assert 'id="fit"' not in page
    rng = np.random.default_rng(2)
    orders = [rng.permutation(list("ABCD")) for _ in range(40)]
    sets = pd.DataFrame(orders, columns=list("wxyz")).assign(best=[o[0] for o in orders], worst=[o[2] for o in orders])
    page = _page(llbt.from_choices(sets, objects=list("wxyz"), best="best", worst="worst"), tmp_path)
    assert "Marley" in _section(page, "made")
    assert "Best-worst model" in _section(page, "model")


def test_the_formula_of_a_fit_is_its_own(tmp_path: Path) -> None:
    res = llbt.fit("object", llbt.from_rankings(frame(ties=False), objects=list("ABCD")))
    with pytest.raises(OptionError, match="is for data, and this is a fit"):
        llbt.write_report(res, tmp_path / "a.html", formula="object")
