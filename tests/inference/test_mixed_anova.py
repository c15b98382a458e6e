"""Nested fits with effects of judges: mixtures of χ², plain χ², simulation, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.mixed import judged_frame

import llbt
from llbt.errors import DesignError, OptionError


@pytest.fixture(scope="module")
def c() -> llbt.Comparisons:
    frame = judged_frame(30, 0.8, seed=3, each=4, tie=0.9)
    return llbt.from_counts(
        frame.assign(sex=frame["judge"].str[2].astype(int) % 2 == 0), clusters="judge", covariates="sex"
    )


def _p(table: llbt.base.table.Table) -> float:
    return float(table.to_frame()["p_value"].iloc[-1])


def test_one_standard_deviation_more_is_a_mixture(c: llbt.Comparisons) -> None:
    """With q other parameters ½χ²_q + ½χ²_{q+1}: q of 0 against none, of 2 with the worths."""
    m0, m1 = llbt.fit("object + tie", c), llbt.fit("object + tie + (tie | judge)", c)
    found = llbt.anova(m0, m1).to_frame().iloc[1]
    assert found["statistic"] == pytest.approx(2 * (m1.llf - m0.llf))
    assert _p(llbt.anova(m1, m0)) == pytest.approx(stats.chi2.sf(found["statistic"], 1) / 2)
    assert found["p_value"] == pytest.approx(m1.boundary_test().p_value)
    assert (found["df"], found["df_model"]) == (1, 4)
    assert found["aic"] == pytest.approx(m1.aic)
    small = llbt.fit("tie + (tie | judge)", c)
    large = llbt.fit("object + tie + (tie | judge) + (object | judge)", c)
    gain = 2 * (large.llf - small.llf)
    table = llbt.anova(small, large)
    assert _p(table) == pytest.approx((stats.chi2.sf(gain, 2) + stats.chi2.sf(gain, 3)) / 2)
    assert "½χ²₂ + ½χ²₃" in table.as_text()
    assert llbt.anova(m0, m1, large).to_frame()["model"].tolist() == [r.specification.formula for r in (m0, m1, large)]


def test_fixed_terms_are_tested_by_chi2(c: llbt.Comparisons) -> None:
    small, large = (llbt.fit(f"{fixed} + tie + (object | judge)", c) for fixed in ("object", "object * sex"))
    found = llbt.anova(small, large)
    assert _p(found) == pytest.approx(stats.chi2.sf(2 * (large.llf - small.llf), 2))
    assert "½" not in found.as_text()


@pytest.mark.slow
def test_two_standard_deviations_need_a_simulation(c: llbt.Comparisons) -> None:
    m0, m2 = llbt.fit("object + tie", c), llbt.fit("object + tie + (object | judge) + (tie | judge)", c)
    found = llbt.anova(m0, m2)
    assert np.isnan(_p(found))
    assert "n=199" in found.as_text(notes="all")
    drawn = llbt.anova(m0, m2, n=4, rng=1)
    assert _p(drawn) == pytest.approx(1 / 5)  # the smallest there is
    assert _p(llbt.anova(m0, m2, n=4, rng=1)) == _p(drawn)
    with pytest.raises(DesignError, match="n=199"):
        m2.boundary_test()


def test_no_gain_is_no_evidence() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 4, "wins_j": 2, "judge": range(9)})
    c = llbt.from_counts(frame, clusters="judge")
    m0, m1 = llbt.fit("object", c), llbt.fit("object + (object | judge)", c)
    assert _p(llbt.anova(m0, m1)) == 1.0
    assert _p(llbt.anova(m0, m1, n=3, rng=2)) == 1.0


@pytest.mark.slow
def test_the_mixture_has_its_size() -> None:
    """Judges who do not differ: half of the likelihood ratios are 0, and p-values of the others are uniform below ½."""
    frame = judged_frame(40, 0.0, seed=8, each=2)
    m0 = llbt.fit("object + tie", llbt.from_counts(frame, clusters="judge"))
    rng = np.random.default_rng(1)
    p = []
    for _ in range(120):
        counts = np.concatenate([rng.multinomial(2, row / row.sum(), size=40) for row in m0.solution.means])
        drawn = frame.sort_values(["object_i", "object_j"], kind="stable").reset_index(drop=True)
        drawn[["wins_i", "ties", "wins_j"]] = counts
        c = llbt.from_counts(drawn, clusters="judge")
        p.append(_p(llbt.anova(llbt.fit("object + tie", c), llbt.fit("object + tie + (object | judge)", c))))
    found = np.array(p)
    assert 0.36 < np.mean(found == 1) < 0.68  # of exactly a half ± 3 standard errors, and a bit for 40 judges
    assert np.mean(found < 0.05) < 0.12
    assert np.mean(found < 0.25) == pytest.approx(0.25, abs=0.12)


def test_what_cannot_be_compared_is_named(c: llbt.Comparisons) -> None:
    judge, tie = (llbt.fit(f"object + tie + {bracket}", c) for bracket in ("(object | judge)", "(tie | judge)"))
    with pytest.raises(DesignError, match=r"not nested \(m1 lacks '\(object \| judge\)'\)"):
        llbt.anova(judge, tie)
    with pytest.raises(DesignError, match="the same model"):
        llbt.anova(judge, judge)
    with pytest.raises(DesignError, match="not nested"):
        llbt.anova(llbt.fit("object * sex + tie", c), judge)
    with pytest.raises(OptionError, match="by their likelihoods"):
        llbt.anova(tie, llbt.fit("object + tie", c), test="wald")
    with pytest.raises(OptionError, match=r"are not tested in sequence\. Test each term given the others"):
        llbt.anova(judge)
    with pytest.raises(DesignError, match="m1 to 3"):
        llbt.anova(judge, llbt.fit("object + tie", c.pool("sex")))
    with pytest.raises(DesignError, match="different links"):
        llbt.anova(judge, llbt.fit("object + tie", c, link="probit"))
    with pytest.raises(DesignError, match="with a prior"):
        llbt.anova(judge, llbt.fit("object + tie", c, prior=1))
    with pytest.raises(OptionError, match="n=9 with fits without effects"):
        llbt.anova(judge.without, n=9)


def test_integrals_and_approximations_are_not_compared(c: llbt.Comparisons) -> None:
    exact = llbt.fit("object + tie + (object | judge)", c)
    both = "object + tie + (object | judge) + (tie | judge)"
    near = llbt.fit(both, c, approximation="laplace")
    with pytest.raises(DesignError, match="Laplace's approximation and integral"):
        llbt.anova(exact, near)
    assert "Laplace's approximation, which is too low" in llbt.anova(exact.without, near).as_text()
