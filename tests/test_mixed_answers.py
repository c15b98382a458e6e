"""Every public function that takes a fit, asked of one with effects of judges: it answers, or says why not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.calls import CALLS
from support.mixed import judged_frame
from support.surface import public

import llbt
from llbt.errors import OptionError
from llbt.fitting.unsupported_questions import OF_EFFECTS

_FITS = ("LLBTResults", "PlainFit", "PairFit", "EffectsFit", "AnyFit")
TAKING = {
    name: function
    for name, function in public().items()
    if inspect.isfunction(function)
    and any(kind in str(p.annotation) for p in inspect.signature(function).parameters.values() for kind in _FITS)
}
OWN: dict[str, Callable[[llbt.MixedResults], tuple[list[Any], dict[str, Any]]]] = {  # other than CALLS with another fit
    "anova": lambda res: ([res.without, res], {}),
    "bootstrap": lambda res: ([res], {"resample": "judge", "n": 2, "rng": 1}),
    "intransitivity": lambda res: ([res], {}),
    "judges.summary": lambda res: ([res.comparisons], {"model": res}),
    "judge_effects": lambda res: ([res], {}),
}


BRACKETS = ["(object | judge)", pytest.param("(object | gr(judge, by=sex))", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=BRACKETS)
def res(request: pytest.FixtureRequest) -> llbt.MixedResults:
    frame = judged_frame(12, 0.8, seed=3)
    frame = frame.assign(sex=np.where(frame["judge"].str[2].astype(int) % 2, "f", "m"))
    beside = {"covariates": "sex"} if "sex" in request.param else {}
    c = llbt.from_counts(frame if beside else frame.drop(columns="sex"), clusters="judge", **beside)
    found = llbt.fit(f"object + tie + {request.param}", c)
    assert isinstance(found, llbt.MixedResults)
    return found


def _call(name: str, res: llbt.MixedResults) -> Any:
    if name in OWN:
        args, options = OWN[name](res)
    else:
        args, options = CALLS[TAKING[name]]()
        args = [_in_place(value, res) for value in args]
    return TAKING[name](*args, **options)


def _in_place(value: Any, res: llbt.MixedResults) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], llbt.LLBTResults):
        return [res.without, res]
    return res if isinstance(value, llbt.LLBTResults) else value


SLOW = {"posterior": [pytest.mark.exhaustive]}  # integrals


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in sorted(TAKING)])
def test_a_fit_with_effects_is_answered_or_told_why_not(name: str, res: llbt.MixedResults) -> None:
    if name not in OF_EFFECTS:
        assert _call(name, res) is not None
        return
    with pytest.raises(OptionError) as error:
        _call(name, res)
    found, remedy = OF_EFFECTS[name]
    filled = {"{plain}": "llbt.fit({formula}, res.comparisons)", "{formula}": "'object + tie'", "{judge}": "'judge'"}
    for gap, text in filled.items():
        remedy = remedy.replace(gap, text)
    assert (error.value.found, error.value.remedy) == (found, remedy)
    text = str(error.value)
    assert text.startswith(f"{name}: ")
    assert "MixedResults" not in text
    assert "effects" in text


def test_the_table_of_refusals_has_no_function_that_answers() -> None:
    assert set(OF_EFFECTS) <= set(TAKING)
