"""Fits of all kinds have the same attributes; what a kind cannot have is refused with a reason and a call that runs."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import structure
from support.pasting import to_type
from support.questions import KINDS, fit_of, judgments

import llbt
from llbt.errors import DesignError
from llbt.fitting.attributes import Lacking

NAMES = tuple(structure.common_attributes())
RUN = {"predict", "summary", "table", "to_frame", "cov_params", "conf_int"}  # methods that need no argument


def value_of(res: Any, name: str) -> Any:
    value = getattr(res, name)
    return value() if name in RUN else value


def lacking(kind: str) -> dict[str, Lacking]:
    given = {name: inspect.getattr_static(type(fit_of(kind)), name, None) for name in NAMES}
    return {name: value for name, value in given.items() if isinstance(value, Lacking)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_common_attribute_answers_or_says_why_not(kind: str) -> None:
    res = fit_of(kind)
    refused = {"cov_params"} if kind == "large" else set()  # of so many objects it is not made
    for name in set(NAMES) - set(lacking(kind)) - refused:
        found = value_of(res, name)
        if isinstance(found, int | float):
            assert math.isfinite(found) or name == "df_inference", name
        elif isinstance(found, pd.Series):
            assert np.isfinite(found.to_numpy()).all(), name
    for name in refused:
        with pytest.raises(DesignError):
            value_of(res, name)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_cannot_have_is_refused_with_a_call_that_runs(kind: str) -> None:
    res = fit_of(kind)
    human = judgments().rename(columns={"people": "outcome"}).drop(columns="machine")[:120]
    for name in lacking(kind):
        with pytest.raises(DesignError, match=rf"{type(res).__name__} has no {name}: \w") as error:
            getattr(res, name)
        assert not hasattr(res, name)
        assert getattr(res, name, 3) == 3
        calls = to_type(error.value.remedy)
        assert calls, name
        for call in calls:
            assert eval(call, {"llbt": llbt, "res": res, "human": human}) is not None, call


def test_kinds_that_have_counts_have_all_figures_of_them() -> None:
    assert lacking("plain") == {}
    assert set(lacking("discrimination")) == set(lacking("large")) == {"hat_diag", "to_glm"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_fitted_is_read_off_a_fit(kind: str) -> None:
    res = fit_of(kind)
    assert res.formula == res.specification.formula
    assert res.objects == res.comparisons.objects
    assert res.reference == (None if kind == "large" else res.objects[-1])
    assert res.fixed == {}
    assert res.aliased == ()
    assert res.converged


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "calibrated"])
def test_the_gradient_is_0_at_the_estimates(kind: str) -> None:
    assert fit_of(kind).gradient_norm < 1e-3


def test_very_many_objects_have_the_figures_of_the_same_plain_fit() -> None:
    large, plain = fit_of("large"), fit_of("plain")
    for name in ("llf", "aic", "bic", "deviance", "null_deviance", "pearson_chi2", "df_resid", "df_null", "n_cells",
                 "llf_poisson", "llf_multinomial", "aic_poisson", "bic_poisson", "n_params", "nobs"):  # fmt: skip
        assert getattr(large, name) == pytest.approx(getattr(plain, name), rel=1e-9), name
    pd.testing.assert_series_equal(large.resid_deviance, plain.resid_deviance, rtol=1e-6)


@pytest.mark.parametrize("kind", ["mixed", "discrimination", "rankings", "patterns", "large", "classes"])
def test_criteria_are_made_of_the_likelihood(kind: str) -> None:
    res = fit_of(kind)
    assert res.aic == pytest.approx(-2 * res.llf + 2 * res.n_params)
    assert res.bic == pytest.approx(-2 * res.llf + math.log(res.n_judgments) * res.n_params)
    assert res.effective_params == res.df_model == res.n_params
    unit = kind.removesuffix("s") if kind in ("rankings", "patterns") else "judgment"
    assert res.bic_of(unit) == pytest.approx(res.bic)
