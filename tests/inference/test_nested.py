"""Nested models of every kind: the reference distribution, by hand, and what is not nested or not of the same data."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.large import few_are_many
from support.questions import SKILL, by_judge, fit_of, judged, judgments, smaller

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference import tested_models
from llbt.inference.nested import Reference, nested

pytestmark = pytest.mark.filterwarnings("ignore::llbt.errors.TiesWarning")


def last(table: llbt.Table) -> Any:
    return table.to_frame().iloc[-1]


def is_ratio(table: llbt.Table, small: Any, large: Any) -> None:
    ratio, df = 2 * (large.llf - small.llf), large.n_params - small.n_params
    row = last(table)
    assert row["statistic"] == pytest.approx(ratio, rel=1e-7)
    assert row["df"] == df
    assert row["p_value"] == pytest.approx(stats.chi2.sf(ratio, df), rel=1e-6)


# -- very many objects ---------------------------------------------------------------------------------------


def test_large_fits_are_those_of_plain_fits() -> None:
    """The same models with all their parameters, by the other solver."""
    small, large = smaller("large"), fit_of("large")
    table = llbt.anova(large, small)
    is_ratio(table, small, large)
    pd.testing.assert_frame_equal(
        table.to_frame(), llbt.anova(smaller("plain"), fit_of("plain")).to_frame(), rtol=1e-5, atol=1e-6
    )
    assert llbt.plot.anova(table).get_xlabel() == "residual deviance"


def test_a_large_fit_has_all_that_covariates_of_objects_say() -> None:
    c = llbt.from_counts(judged().to_frame(), covariates="sex", object_covariates=SKILL)
    with few_are_many(2):
        large = llbt.fit("object + tie", c)
    assert isinstance(large, llbt.LargeResults)
    for formula, df in (("skill + tie", 2), ("tie", 3), ("0", 4)):
        small = llbt.fit(formula, c)
        is_ratio(llbt.anova(small, large), small, large)
        assert last(llbt.anova(small, large))["df"] == df
    for formula, what in (("skill + tie * sex", "not nested"), ("object + tie", "the same model")):
        with pytest.raises(DesignError, match=what):
            llbt.anova(llbt.fit(formula, c), large)


def test_large_fits_with_a_prior_are_refused() -> None:
    with few_are_many(2):
        shrunk = llbt.fit("object", judged(), prior=0.1)
    with pytest.raises(DesignError, match="does not maximize the likelihood"):
        llbt.anova(shrunk, fit_of("large"))


# -- latent classes ------------------------------------------------------------------------------------------


def classes(formula: str, k: int = 2, **options: Any) -> Any:
    return llbt.judges.classes(formula, judged(), k=[k], starts=5, rng=1, **options)[k]


def test_formulas_of_latent_classes_are_nested_at_the_same_number() -> None:
    """Brute force: the log-likelihoods of both mixtures from the judgments of each judge."""
    small, large = smaller("classes"), fit_of("classes")
    table = llbt.anova(small, large)
    is_ratio(table, small, large)
    for found in (small, large):
        assert found.llf == pytest.approx(mixture_llf(found), abs=1e-6)
    assert "χ² assumes that no two classes of the smaller model are equal" in table.notes


def mixture_llf(found: Any) -> float:
    total = 0.0
    for _, rows in by_judge().to_frame().groupby("judge"):
        each = []
        for k in found.labels:
            params = found.params.loc[k]
            lam = {o: params.get(f"object[{o}]", 0.0) for o in "ABCD"}
            d = rows["object_i"].map(lam) - rows["object_j"].map(lam)
            logs = np.column_stack([d, np.full(len(d), params.get("tie", 0.0)), -d])
            logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
            each.append(np.log(found.shares[k]) + (rows[["wins_i", "ties", "wins_j"]].to_numpy() * logs).sum())
        total += np.logaddexp.reduce(each)
    return float(total)


def test_one_class_is_the_fit_of_all_judges() -> None:
    small, large = classes("object", 1), classes("object + tie", 1)
    found = last(llbt.anova(small, large))
    assert found["statistic"] == pytest.approx(last(llbt.anova(smaller("plain"), fit_of("plain")))["statistic"])


def test_common_terms_of_classes_are_a_case_of_their_own() -> None:
    common = classes("object + tie", common=["tie"])
    assert last(llbt.anova(common, fit_of("classes")))["df"] == 1
    assert last(llbt.anova(smaller("classes"), common))["df"] == 1
    with pytest.raises(DesignError, match="the same model"):
        llbt.anova(common, common)


def test_numbers_of_classes_are_sent_to_the_bootstrap() -> None:
    with pytest.raises(DesignError, match=r"no χ² distribution.*k=\[2, 3\]\).bootstrap_test\(2\)"):
        llbt.anova(fit_of("classes"), classes("object + tie", 3))
    with pytest.raises(DesignError, match="some fits are of comparisons and some of latent classes"):
        llbt.anova(fit_of("plain"), fit_of("classes"))
    with pytest.raises(DesignError, match="with a prior"):
        llbt.anova(smaller("classes"), classes("object + tie", prior=0.1))
    with pytest.raises(OptionError, match=r"terms of latent classes are not tested in sequence\. Compare"):
        llbt.anova(fit_of("classes"))
    with pytest.raises(OptionError, match="latent classes are compared by their likelihoods"):
        llbt.anova(smaller("classes"), fit_of("classes"), test="wald")


# -- calibrated worths ---------------------------------------------------------------------------------------


def test_calibrated_worths_are_compared_by_walds_test() -> None:
    """T² of the tie effect, by its t value: F on 1 and G* − 1 df."""
    small, large = smaller("calibrated"), fit_of("calibrated")
    row = last(llbt.anova(large, small))
    t = large.results.params["tie"] / large.results.bse["tie"]
    assert row["statistic"] == pytest.approx(t**2, rel=1e-8)
    assert row["df_denom"] == pytest.approx(large.results.df_inference)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(t), large.results.df_inference), rel=1e-6)


def test_calibrations_of_other_labels_are_refused() -> None:
    frame = judgments()
    human = frame.rename(columns={"people": "outcome"}).drop(columns="machine")[:100]
    machine = frame.rename(columns={"machine": "outcome"}).drop(columns="people").assign(judge="m")
    other = llbt.judges.calibrate(human, machine, formula="object", unit="prompt")
    with pytest.raises(DesignError, match=r"different|was fitted to"):
        llbt.anova(other, fit_of("calibrated"))
    with pytest.raises(DesignError, match="some fits are of calibrated worths and some of comparisons"):
        llbt.anova(fit_of("calibrated"), fit_of("plain"))


# -- statistics that mean nothing ----------------------------------------------------------------------------


def test_a_larger_model_that_is_less_likely_is_named() -> None:
    """A mixture whose best start was not found: its log-likelihood is taken 3 below that of the smaller one."""
    small, large = tested_models.tested(smaller("classes")), tested_models.tested(fit_of("classes"))
    stuck = replace(large, fit=SimpleNamespace(llf=small.fit.llf - 3))
    found = nested(small, stuck, Reference("chi2"))
    assert found.statistic == 0
    assert "is less likely than its special case object, 2 latent classes of judge" in found.notes[0]
    assert nested(small, large, Reference("chi2")).notes == ()


# -- families ------------------------------------------------------------------------------------------------


def test_effects_and_very_many_objects_are_no_cases_of_each_other() -> None:
    with pytest.raises(DesignError, match="not nested"):
        llbt.anova(fit_of("mixed"), fit_of("large"))


def test_a_wider_model_without_discriminations_holds_them() -> None:
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"), discrimination="judge")
    assert res.wider.res is not None
    is_ratio(llbt.anova(res, res.wider.res), res, res.wider.res)
