"""What is asked of fits with discriminations: analysis of deviance, and tables drawn from them."""

import numpy as np
import pytest
from support.calls import by_judge, discriminating, mixed

import llbt
from llbt.errors import DesignError, OptionError


def test_a_fit_stands_between_its_neighbours() -> None:
    res = discriminating()
    wider = res.wider.res
    assert wider is not None
    frame = llbt.anova(wider, res, res.without).to_frame()
    assert frame["df_resid"].tolist() == [44, 41, 35]
    assert frame["df"].tolist()[1:] == [3, 6]
    for k, test in enumerate((res.equality_test(), res.proportionality_test()), start=1):
        assert frame["statistic"].iloc[k] == pytest.approx(test.statistic)
        assert frame["p_value"].iloc[k] == pytest.approx(test.p_value)
    assert frame["delta_aic"].iloc[1] == pytest.approx(res.aic - res.without.aic)
    assert frame["delta_bic"].iloc[2] == pytest.approx(wider.bic - res.bic)
    assert llbt.anova(res).to_frame().equals(frame)
    assert frame["model"].iloc[1] == "object + tie, σ by judge"


def test_smaller_and_larger_fits_are_nested_by_their_worths() -> None:
    res = discriminating()
    c = res.comparisons
    ties = llbt.fit("object + tie * judge", c, discrimination="judge")
    assert llbt.anova(ties, res).to_frame()["df"].tolist()[1:] == [3]
    with pytest.raises(DesignError, match="not nested"):
        llbt.anova(llbt.fit("object + tie * judge", c), res)
    with pytest.raises(DesignError, match="not nested"):
        llbt.anova(ties, res.wider.res)


def test_what_is_no_comparison_of_discriminations_is_refused() -> None:
    res = discriminating()
    with pytest.raises(OptionError, match="compared by their likelihoods"):
        llbt.anova(res, res.without, test="wald")
    with pytest.raises(OptionError, match="n=9"):
        llbt.anova(res, res.without, n=9)
    with pytest.raises(DesignError, match=r"not nested \(m0 lacks '\(object \| judge\)'\)"):
        llbt.anova(res, llbt.fit("object + tie + (object | judge)", res.comparisons))
    with pytest.raises(DesignError, match="fitted to"):
        llbt.anova(res, mixed())
    with pytest.raises(DesignError, match="fitted to"):
        llbt.anova(res, by_judge())
    with pytest.raises(DesignError, match="with a prior"):
        llbt.anova(res, llbt.fit("object + tie", res.comparisons, prior=1.0))


def test_drawn_tables_have_the_discriminations_of_the_fit() -> None:
    res = discriminating()
    (large,) = llbt.simulate(res, times=2000, rng=1)
    np.testing.assert_allclose(large.outcome_counts / 2000, res.means, atol=0.15)
    assert "discrimination" in large.notes[-1]
    again = llbt.fit("object + tie", large, discrimination="judge")
    assert isinstance(again, llbt.DiscriminationResults)
    np.testing.assert_allclose(again.discriminations, res.discriminations, atol=0.02)
    with pytest.raises(OptionError, match="no judges drawn from a population"):
        llbt.simulate(res, judges="same")


def test_contrasts_and_quasi_variances_are_those_at_discrimination_one() -> None:
    res = discriminating()
    found = llbt.contrasts(res, {"A over B": {"A": 1, "B": -1}}).to_frame()
    assert found["estimate"].iloc[0] == pytest.approx(2 * (res.params["object[A]"] - res.params["object[B]"]))
    assert llbt.quasi_variances(res).to_frame()["std_error"].max() == pytest.approx(res.bse.max(), rel=0.2)
    labels = [label.get_text() for label in llbt.plot.intervals(res).get_yticklabels()]
    assert sorted(labels) == list("ABCD")
