"""The page that translates R's models: its right-hand side runs, and gives what it prints, which is what R gave."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import numpy as np
import pytest
from support.folders import REFERENCE, REPOSITORY

import llbt

PAGE = (REPOSITORY / "vignettes" / "site" / "pages" / "coming" / "r.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```\{code-cell\}\n(.*?)```", PAGE, flags=re.DOTALL)
ROW = re.compile(r"^\|.*\| `(llbt\.fit\(.*\))` \| ([\d.]+) \| (\d+) \|$", flags=re.MULTILINE)
MODELS = [(call, float(deviance), int(df)) for call, deviance, df in ROW.findall(PAGE)]


@pytest.fixture(scope="module")
def run() -> dict[str, Any]:
    """The names that the page's code leaves, one block after the other."""
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(block, names)
    return names


def given_by_r() -> set[tuple[float, int]]:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in REFERENCE.glob("*.json")]
    fits = [fit for fit in found if fit.get("deviance") is not None and fit.get("df_residual") is not None]
    return {(round(fit["deviance"], 3), fit["df_residual"]) for fit in fits}


@pytest.mark.parametrize(("call", "deviance", "df"), MODELS, ids=[call for call, _, _ in MODELS])
def test_every_model_of_a_table_is_that_of_r(run: dict[str, Any], call: str, deviance: float, df: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        res = eval(call, run)
    assert (round(res.deviance, 3), res.df_resid) == (deviance, df)
    assert (deviance, df) in given_by_r()


def test_all_of_the_tables_were_read() -> None:
    assert len(MODELS) == PAGE.count("| `llbt.fit(") == 21
    assert len({name for name, _, _ in MODELS}) == len(MODELS)


def test_words_that_look_alike(run: dict[str, Any]) -> None:
    changed, plain = run["second"].params, run["first"].params
    assert changed["object[PA]:ENG[1]"] == pytest.approx(-plain["object[PA]:ENG[2]"], abs=1e-8)
    assert "object[ST]" not in llbt.fit("object + tie", run["schools"]).params
    assert 'Q("St.Gallen"):ENG[2]' in run["dotted"].names
    assert run["from_matrix"].n_judgments == 5 + 7 + 3 + 6 + 4 + 2
    r = json.loads((REFERENCE / "bt2_baseball_home.json").read_text(encoding="utf-8"))
    assert run["at_home"] == pytest.approx(r["coefficients"]["at.home"], abs=1e-7)
    aic = -2 * run["home"].llf_multinomial + 2 * len(run["home"].params)
    assert aic == pytest.approx(r["AIC"], abs=1e-6)
    # equal objects: λ = 0 on either side, so the outcomes have the odds 1 : exp(γ) : 1
    equal = run["davidson"].response.probabilities([np.zeros(1), np.full(1, run["davidson"].params["tie"])])[0]
    assert run["largest"] == pytest.approx(equal[1, 0] / equal.sum(), abs=1e-12)


def test_names_of_the_page_are_there() -> None:
    """Whatever the page calls is a name of llbt, and its options are arguments."""
    for path in set(re.findall(r"`(llbt(?:\.\w+)+)", PAGE)) - {"llbt.design"}:
        found: Any = llbt
        for name in path.split(".")[1:]:
            found = getattr(found, name)


def test_columns_of_broom_are_those_of_answers() -> None:
    rows = re.findall(r"^\| `(tidy|augment|glance)` \| `([\w.]+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)
    res = llbt.fit("object + tie", llbt.load_dataset("puddings"))
    tidy = res.to_frame()
    assert [ours for kind, _, ours in rows if kind == "tidy"] == list(tidy.columns)
    frames = {"tidy": res, "augment": llbt.residuals(res), "glance": res.fit_statistics()}
    for kind, answer in frames.items():
        plain, styled = answer.to_frame(), answer.to_frame(style="broom")
        named = {ours: theirs for wanted, theirs, ours in rows if wanted == kind}
        assert {ours: theirs for ours, theirs in zip(plain, styled, strict=True) if ours != theirs} == {
            ours: theirs for ours, theirs in named.items() if ours != theirs
        }
        assert set(named.values()) <= set(styled)
        assert (plain.to_numpy(str) == styled.to_numpy(str)).all()
    figures = {theirs: getattr(res, ours) for kind, theirs, ours in rows if kind == "glance"}
    given = json.loads((REFERENCE / "pudding_llbt.json").read_text(encoding="utf-8"))
    assert figures["logLik"] == pytest.approx(given["logLik"])
    assert figures["AIC"] == pytest.approx(given["AIC"])
    assert (round(figures["deviance"], 3), figures["df.residual"]) == (15.770, 24)  # R's gnm, in the table above


def test_differences_of_aic_are_those_of_binomial_models() -> None:
    games = llbt.load_dataset("baseball")
    given = [json.loads((REFERENCE / f"bt2_baseball{name}.json").read_text(encoding="utf-8")) for name in ("", "_home")]
    ours = [llbt.fit(formula, games).aic for formula in ("object", "object + order")]
    assert ours[0] - ours[1] == pytest.approx(given[0]["AIC"] - given[1]["AIC"])
