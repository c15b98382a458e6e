"""Terms left out or added, of fits of every kind: against explicit refits by `llbt.fit`, and 2Δllf by hand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.questions import answered, by_judge, fit_of, judged, ranked
from support.worths import TABLE1

import llbt
from llbt.errors import DesignError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::llbt.errors.TiesWarning")


def row_of(table: llbt.Table, term: str) -> Any:
    frame = table.to_frame().set_index("term")
    return frame.loc[term]


def is_ratio(row: Any, small: Any, large: Any, *, shown: Any) -> None:
    """A row is the likelihood ratio of two fits; it shows the figures of one of them."""
    ratio, df = 2 * (large.llf - small.llf), large.n_params - small.n_params
    assert row["statistic"] == pytest.approx(ratio, rel=1e-6, abs=1e-6)
    assert row["df"] == df
    assert row["p_value"] == pytest.approx(stats.chi2.sf(ratio, df), rel=1e-5)
    assert row["llf"] == pytest.approx(shown.llf, abs=1e-6)
    assert row["aic"] == pytest.approx(shown.aic, abs=1e-6)


def test_a_mixed_fit_keeps_its_brackets() -> None:
    """Tie left out, and an interaction added and left out again, by fits of the formulas."""
    res = fit_of("mixed")
    small = llbt.fit("object + (object | judge)", judged())
    large = llbt.fit("object + object:sex + tie + (object | judge)", judged())
    table = llbt.drop1(res)
    is_ratio(row_of(table, "tie"), small, res, shown=small)
    assert table.to_frame()["term"].tolist() == ["<none>", "tie"]
    assert "not left out, because the effects are deviations from it: object" in table.notes
    is_ratio(row_of(llbt.add1(res, "object * sex"), "object:sex"), res, large, shown=large)
    is_ratio(row_of(llbt.drop1(large), "object:sex"), res, large, shown=res)
    with pytest.raises(OptionError, match="has brackets, which are not added one at a time"):
        llbt.add1(res, "object + (tie | judge)")


def test_a_fit_with_discriminations_keeps_them() -> None:
    res = fit_of("discrimination")
    small = llbt.fit("object", by_judge(), discrimination="judge")
    large = llbt.fit("object + tie + tie:sex", by_judge(), discrimination="judge")
    table = llbt.drop1(res)
    is_ratio(row_of(table, "tie"), small, res, shown=small)
    assert table.to_frame()["term"].tolist() == ["<none>", "tie"]
    assert "not left out, because the discriminations multiply it: object" in table.notes
    is_ratio(row_of(llbt.add1(res, "tie * sex"), "tie:sex"), res, large, shown=large)


def test_dependence_of_patterns_is_a_term() -> None:
    res = fit_of("patterns")
    table = llbt.drop1(res)
    for term, formula in (("tie", "object + dependence"), ("dependence", "object + tie")):
        small = llbt.fit(formula, answered())
        is_ratio(row_of(table, term), small, res, shown=small)
    small = llbt.fit("object + tie", answered())
    added = llbt.add1(small, "object * sex + tie + dependence")
    is_ratio(row_of(added, "dependence"), small, res, shown=res)
    large = llbt.fit("object * sex + tie", answered())
    is_ratio(row_of(added, "object:sex"), small, large, shown=large)


def test_worths_of_patterns_are_left_out_as_equal() -> None:
    """Without dependence patterns of pairs are the comparisons of `fit`, whose formula without worths is `tie`."""
    res = llbt.fit("object + tie", answered())
    equal = llbt.fit("tie", answered().to_comparisons())
    is_ratio(row_of(llbt.drop1(res), "object"), equal, res, shown=equal)


def test_missing_answers_stay_modelled() -> None:
    rows = np.random.default_rng(4).choice([1.0, -1.0, np.nan], (80, 3), p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame(rows, columns=["AB", "AC", "BC"]).assign(sex=["f", "m"] * 40)
    p = llbt.from_patterns(frame, "comparisons", objects=list("ABC"), columns=["AB", "AC", "BC"], covariates="sex")
    res, small = (llbt.fit(f, p, missing="common") for f in ("object * sex", "object"))
    is_ratio(row_of(llbt.drop1(res), "object:sex"), small, res, shown=small)


def test_terms_of_lists_are_left_out_by_the_same_code() -> None:
    res = fit_of("rankings")
    skill = llbt.fit("skill", ranked())
    row = row_of(llbt.add1(skill, "object"), "object")
    is_ratio(row, skill, res, shown=res)
    clustered = llbt.fit("object", ranked(), cov_type="cluster", groups="judge")
    assert "rankings and patterns are assumed independent" in llbt.drop1(clustered).as_text()
    with pytest.raises(DesignError, match="with a prior and does not maximize the likelihood"):
        llbt.drop1(llbt.fit("object", ranked(), prior=1.0))


def test_terms_of_calibrated_worths_are_tested_by_wald() -> None:
    """Hotelling's T² of the parameters of a term, from their estimates and covariance."""
    res = fit_of("calibrated")
    table = llbt.drop1(res)
    params, cov, df = res.results.params.to_numpy(), res.results.cov_params().to_numpy(), res.results.df_inference
    for term, which in (("object", slice(0, 3)), ("tie", slice(3, 4))):
        d, v = params[which], cov[which, which]
        q = len(d)
        f = d @ np.linalg.solve(v, d) * (df - q + 1) / (df * q)
        row = row_of(table, term)
        assert row["statistic"] == pytest.approx(f, rel=1e-8)
        assert row["p_value"] == pytest.approx(stats.f.sf(f, q, df - q + 1), rel=1e-6)
    assert {"llf", "aic", "deviance"}.isdisjoint(table.to_frame().columns)
    with pytest.raises(OptionError, match="calibrated worths are compared by Wald's test"):
        llbt.drop1(res, test="chi2")


@pytest.mark.parametrize("kind", ["mixed", "discrimination", "patterns", "rankings"])
def test_other_tests_than_the_likelihood_ratio_are_refused(kind: str) -> None:
    with pytest.raises(OptionError, match=r"compared by their likelihoods. Pass test='chi2'"):
        llbt.drop1(fit_of(kind), test="wald")
    with pytest.raises(OptionError, match=re.escape("has no term that")):
        llbt.add1(fit_of(kind), "object")


def test_a_formula_of_worths_alone_has_nothing_that_effects_can_lose() -> None:
    res = llbt.fit("object + (object | judge)", llbt.from_counts(TABLE1.to_frame(), clusters="judge"))
    with pytest.raises(DesignError, match="no term with an estimated parameter that can be left out"):
        llbt.drop1(res)
