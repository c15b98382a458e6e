"""The confidence distribution: against the normal distribution function, and the covariance of the fit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import OptionError

rng = np.random.default_rng(5)
FRAME = pd.DataFrame(
    [
        (i, j, *rng.multinomial(3, p), judge)
        for judge in range(20)
        for i, j, p in (("A", "B", [0.5, 0.5]), ("A", "C", [0.65, 0.35]), ("B", "C", [0.6, 0.4]))
    ],
    columns=["object_i", "object_j", "wins_i", "wins_j", "judge"],
)
TABLE = llbt.from_counts(FRAME, clusters="judge")


def clustered(**options: object):
    return llbt.fit("object", TABLE, cov_type="cluster", groups="judge", **options)


def test_a_difference_has_the_distribution_that_its_standard_error_says() -> None:
    res = clustered()
    found = llbt.distribution(res, draws=100_000)
    row = llbt.contrasts(res, {"A-B": {"A": 1, "B": -1}}, scale="log_worth").to_frame().iloc[0]
    z = (row["estimate"] - 0.05) / row["std_error"]
    assert found.prob("A > B", by=0.05) == pytest.approx(stats.t.cdf(z, found.df), abs=0.006)
    assert found.log_worths.mean(axis=0) == pytest.approx(
        llbt.worth(res, scale="log_worth").to_frame()["estimate"].pipe(lambda x: x - x.mean()).to_numpy(), abs=0.003
    )


def test_it_is_wider_where_judgments_depend_and_says_what_it_is() -> None:
    assert np.isfinite(llbt.distribution(clustered()).df)
    plain = llbt.distribution(llbt.fit("object", TABLE))
    assert np.isinf(plain.df)
    assert "confidence, not probability" in str(plain)
    assert "Confidence of first place" in str(plain)
    assert max(map(len, str(plain).split("\n"))) <= 88


def test_what_posterior_offers_for_clustered_fits_answers() -> None:
    with pytest.raises(OptionError, match=r"llbt\.distribution\(res\)"):
        llbt.posterior(clustered())
    assert len(llbt.distribution(clustered())) == 3
