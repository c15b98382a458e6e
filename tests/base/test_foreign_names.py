"""What users of R, statsmodels, scikit-learn and pandas type: a hint, whose remedy is pasted and answers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import pytest
from support.calls import JUDGMENTS
from support.pasting import arguments, to_type

import llbt
from llbt.errors import OptionError


@cache
def names() -> dict[str, Any]:
    c = llbt.from_judgments(JUDGMENTS, clusters=["judge", "block"])
    res = llbt.fit("object + tie", c)
    return {
        **{"llbt": llbt, "c": c, "res": res, "lb": llbt.leaderboard(res), "frame": JUDGMENTS[["object_i", "object_j"]]},
        "judgments": llbt.read_judgments(JUDGMENTS),
    }


# What is typed, and its remedy as a call of its own where it is not the whole call.
ATTRIBUTES = [
    *("res.plot()", "res.coef", "res.coef_", "res.vcov", "res.logLik", "res.confint()", "res.AIC", "res.p_values"),
    *("res.predict_proba()", "res.ranking", "res.elo", "res.emmeans", "res.resid", "res.tidy()", "lb.plot()"),
    *(
        "res.fit('object')",
        "res.audit()",
        "res.power()",
        "c.fit('object')",
        "c.audit()",
        "c.worth()",
        "c.leaderboard()",
    ),
    *("judgments.fit('object')", "judgments.audit()"),
]
OF_ANSWERS = [
    "lb.loc",
    "lb.iloc[0]",
    "lb.sort_values('rank')",
    "lb.to_latex()",
    "lb.to_markdown()",
    "lb.shape",
    "lb.columns",
    "lb.head()",
    "lb.head(2)",
    "lb.tail()",
    "lb[0]",
]
CALLS = [
    ("llbt.fit('object + tie', c, ", "cluster='block'"),
    ("llbt.fit('object + tie', c, ", "vcov={'CRV1': 'judge'}"),
    ("llbt.fit('object + tie', c, ", "vcov='HC1'"),
    ("llbt.fit('object + tie', c, ", "ref='A'"),
    ("llbt.bootstrap(res, n_jobs=1, rng=1, ", "B=3"),
    ("llbt.bootstrap(res, n=3, ", "seed=1"),
    ("llbt.bootstrap(res, n=3, ", "random_state=1"),
    ("llbt.leaderboard(res, ", "alpha=.1"),
    ("llbt.worth(res, ", "level=.9"),
    ("llbt.pairwise(res, ", "padjust='holm'"),
]


@pytest.mark.parametrize("typed", ATTRIBUTES)
def test_attributes_of_fits_are_understood(typed: str) -> None:
    with pytest.raises(AttributeError) as error:
        eval(typed, names())
    (remedy,) = to_type(str(error.value).partition(". ")[2])
    assert eval(remedy, names()) is not None


@pytest.mark.parametrize("typed", OF_ANSWERS)
def test_what_frames_have_is_found(typed: str) -> None:
    with pytest.raises((AttributeError, KeyError)) as error:
        eval(typed, names())
    found = re.search(r" (\.(?:to_frame|as_)\S*)\.$", str(error.value))
    assert found is not None
    assert eval(f"lb{found[1]}", names()) is not None


def test_what_to_type_to_save_a_fit_or_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AttributeError, match=r"^LLBTResults .*\. Type pandas\.to_pickle\(res, 'fit\.pickle'\)\.$"):
        eval("res.save('fit.pickle')", names())
    eval("pandas.to_pickle(res, 'fit.pickle')", names() | {"pandas": pandas})
    assert str(pandas.read_pickle("fit.pickle")) == str(names()["res"])
    with pytest.raises(AttributeError, match=r"Type \.to_csv\('table\.csv'\)\.$"):
        eval("lb.save('table.csv')", names())
    eval("lb.to_csv('table.csv')", names())
    assert len(pandas.read_csv("table.csv")) == len(names()["lb"])


@pytest.mark.parametrize(("call", "argument"), CALLS)
def test_arguments_are_understood(call: str, argument: str) -> None:
    with pytest.raises(OptionError) as error:
        eval(f"{call}{argument})", names())
    assert isinstance(error.value, TypeError)
    assert str(error.value).startswith(f"{call.partition('(')[0].removeprefix('llbt.')}: there is no argument")
    (proposed,) = arguments(error.value.remedy)
    pasted = ", ".join(f"{name}={value!r}" for name, value in proposed.items())
    assert eval(f"{call}{pasted})", names()) is not None


def test_what_is_near_an_argument_is_named() -> None:
    with pytest.raises(OptionError, match=r"there is no argument 'refernce'\. Did you mean 'reference'\?"):
        eval("llbt.fit('object', c, refernce='A')", names())
    with pytest.raises(OptionError, match="there is no argument 'zzz'; expected some of 'formula', 'data', "):
        eval("llbt.fit('object', c, zzz=1)", names())


def test_predict_takes_a_frame() -> None:
    with pytest.raises(OptionError, match=r"LLBTResults.predict: there is no argument 'newdata'. Type frame=…"):
        eval("res.predict(newdata=frame)", names())
    assert len(eval("res.predict(frame=frame)", names())) == 3 * len(JUDGMENTS)


def test_pictures_are_found_by_what_they_show() -> None:
    with pytest.raises(AttributeError, match=r"Type llbt\.plot\.fragility\(…\)\."):
        llbt.fragility(names()["res"]).plot  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("llbt.add1(res)", "add1: no 'scope' was passed; expected add1(res, scope)."),
        ("llbt.fit('object + tie')", "fit: no 'data' was passed; expected fit(formula, data)."),
        ("llbt.fit()", "fit: no 'formula' and no 'data' was passed; expected fit(formula, data)."),
        ("llbt.worth(res, None, 'elo', 'judge')", "worth: 4 values without a name; expected at most 3 ('res', 'at', "),
        (
            "res.summary(1)",
            "LLBTResults.summary: 1 value without a name; expected none. Pass the others by name: odds=…",
        ),
    ],
)
def test_missing_and_surplus_arguments_are_named(typed: str, message: str) -> None:
    with pytest.raises(OptionError) as error:
        eval(typed, names())
    assert isinstance(error.value, TypeError)
    assert str(error.value).startswith(message)


def test_a_number_of_resamples_without_its_name_is_understood() -> None:
    with pytest.raises(OptionError, match=r"statistic=3; expected a function, or None\. Type n=3\."):
        llbt.bootstrap(names()["res"], 3)
    assert llbt.bootstrap(names()["res"], n=3, rng=1).replicates.shape[0] == 3
