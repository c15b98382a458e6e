"""The best object: against draws by brute force, rejection sampling, and planted near ties."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.selection import lead, winner


def counts(size: int, seed: int = 0, spread: float = 0.4, n: int = 30) -> llbt.Comparisons:
    rng = np.random.default_rng(seed)
    worths = spread * rng.standard_normal(size)
    rows = [
        (f"m{i}", f"m{j}", w := rng.binomial(n, 1 / (1 + np.exp(2 * (worths[j] - worths[i])))), n - w)
        for i, j in itertools.combinations(range(size), 2)
    ]
    return llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j"]))


RES = llbt.fit("object", counts(6))
FOUND = llbt.best(RES)


def covariance(res) -> np.ndarray:
    """Return that of the log-worths less the reference's."""
    size = len(res.comparisons.objects)
    full = np.zeros((size, size))
    full[: size - 1, : size - 1] = res.cov_params().to_numpy()
    return full


def test_p_values_are_those_of_brute_force() -> None:
    """200,000 draws of the estimates' normal distribution: how often the largest z over an object is as large."""
    cov, objects = covariance(RES), RES.comparisons.objects
    drawn = np.random.default_rng(2).multivariate_normal(np.zeros(6), cov, 200_000, method="eigh")
    worths = np.append(RES.params.to_numpy()[:5], 0.0)
    error = np.sqrt(np.add.outer(np.diag(cov), np.diag(cov)) - 2 * cov) + 1e300 * np.eye(6)
    for label, p_value in zip(FOUND.objects, FOUND.p_value, strict=True):
        k = objects.index(label)
        largest = np.delete((worths - worths[k]) / error[k], k).max()
        share = (np.delete((drawn - drawn[:, [k]]) / error[k], k, axis=1).max(axis=1) >= largest).mean()
        assert p_value == pytest.approx(share, abs=0.01)


def test_the_first_is_a_candidate_and_estimates_fall() -> None:
    assert FOUND.objects[0] in FOUND.candidates
    assert (np.diff(FOUND.estimate) <= 0).all()
    assert FOUND.estimate.sum() == pytest.approx(0, abs=1e-9)
    assert FOUND.to_frame()["is_candidate"].tolist()[0] == "yes"


def test_one_clear_leader_is_the_best_and_hardly_corrected() -> None:
    frame = pd.DataFrame(
        {"object_i": ["a", "a", "b"], "object_j": ["b", "c", "c"], "wins_i": [190, 190, 100], "wins_j": [10, 10, 100]}
    )
    found = llbt.best(llbt.fit("object", llbt.from_counts(frame)), scale="elo")
    assert found.candidates == ("a",)
    assert found.worth.corrected == pytest.approx(found.worth.estimate, rel=1e-3)
    assert "'a' is the best, with 95 % confidence" in str(found)


def test_equal_objects_are_all_candidates_and_the_first_is_corrected() -> None:
    found = llbt.best(llbt.fit("object", counts(6, seed=3, spread=0.0)))
    assert len(found.candidates) >= 5
    assert found.worth.corrected < found.worth.estimate
    assert f"One of {len(found.candidates)} objects is the best" in str(found)


def test_the_corrected_worth_is_median_unbiased_given_that_its_object_came_first() -> None:
    """Rejection sampling: with the mean at the corrected worth, half of the draws in which it is first lie below."""
    estimate, cov = np.array([0.30, 0.22, 0.1, -0.62]), np.diag([0.04, 0.05, 0.02, 0.03])
    found = winner(estimate, cov, np.eye(4) - 1 / 4, 0.95, np.random.default_rng(1))
    of = np.array([0.75, -0.25, -0.25, -0.25])
    along = cov @ of / (of @ cov @ of)
    rest = estimate - along * (of @ estimate)
    drawn = found.corrected + np.sqrt(of @ cov @ of) * np.random.default_rng(2).standard_normal(400_000)
    first = (rest + np.outer(drawn, along)).argmax(axis=1) == 0
    assert (drawn[first] < of @ estimate).mean() == pytest.approx(0.5, abs=0.02)


def test_the_corrected_lead_is_that_of_truncated_normals() -> None:
    """Two objects: the lead is positive, so the estimate is the median of a normal cut at 0; its ends are quantiles."""
    found = lead(np.array([0.3, -0.3]), np.diag([0.05, 0.05]), 0.95, np.random.default_rng(1))
    error, level = np.sqrt(0.1), 0.9 * 0.05 / (1 - 0.1 * 0.05)
    reach = stats.norm.isf(0.005 / 2) * error  # one pair
    for mean, share in ((found.corrected, 0.5), (found.conf_low, 1 - level / 2), (found.conf_high, level / 2)):
        low, high = (np.array([max(0.0, mean - reach), mean + reach]) - mean) / error
        assert stats.truncnorm(low, high, mean, error).cdf(0.6) == pytest.approx(share, abs=2e-3)


def test_the_corrected_lead_is_median_unbiased_given_first_and_second() -> None:
    """Rejection sampling, with a third near the second: half of the draws with the same two ahead lie below."""
    estimate, cov = np.array([0.55, 0.1, 0.02, -0.67]), np.diag([0.04, 0.05, 0.02, 0.03])
    found = lead(estimate, cov, 0.95, np.random.default_rng(1))
    of = np.array([1.0, -1.0, 0.0, 0.0])
    along = cov @ of / (of @ cov @ of)
    drawn = found.corrected + found.std_error * np.random.default_rng(2).standard_normal(400_000)
    all_drawn = estimate - along * (of @ estimate) + np.outer(drawn, along)
    order = np.argsort(-all_drawn, axis=1)[:, :2]
    assert (drawn[(order == [0, 1]).all(axis=1)] < of @ estimate).mean() == pytest.approx(0.5, abs=0.02)
    assert found.conf_low < found.corrected < found.conf_high


@pytest.mark.parametrize("near", [0.0, 1e-12, 1e-3, 0.05])
def test_estimates_that_tie_have_an_interval_that_holds_the_estimate(near: float) -> None:
    """The bounds of the selection are then at the estimate, and without a margin the interval would be a point."""
    cov = 0.04 * np.diag([1.0, 1.5, 1.2, 0.8])
    for estimate in ([near, 0.0, -0.3, -0.4], [0.5, near, 0.0, -0.4], [2 * near, near, 0.0, 0.0]):
        centre, rng = np.eye(4) - 1 / 4, np.random.default_rng(0)
        for found in (winner(np.array(estimate), cov, centre, 0.95, rng), lead(np.array(estimate), cov, 0.95, rng)):
            assert found.conf_low < found.corrected < found.conf_high
            assert found.conf_low < found.estimate < found.conf_high
            assert found.conf_high - found.conf_low > 3.9 * found.std_error


def test_two_objects_that_tie_exactly_are_said_to_be_level() -> None:
    """They stand in the order of the table, and their lead is 0, not its rounding error."""
    rows = {"object_i": ["a", "a", "b"], "object_j": ["b", "c", "c"], "wins_i": [50, 60, 60], "wins_j": [50, 40, 40]}
    found = llbt.best(llbt.fit("object", llbt.from_counts(pd.DataFrame(rows))))
    assert found.objects == ("a", "b", "c")
    assert str(found).splitlines()[3].endswith("corrected for selection; 0 before")


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "plain"), [(0.0, 0.85), (0.5, 0.95)])
def test_intervals_hold_where_objects_are_close(steps: float, plain: float) -> None:
    """400 sets of 10 objects, a multiple of the standard error apart: the standard error of .95 is .011."""
    rng, cov = np.random.default_rng(4), 0.01 * np.diag(np.linspace(0.5, 2, 10))
    worths = -steps * np.sqrt(2 * 0.0125) * np.arange(10)
    held = []
    for _ in range(400):
        drawn = rng.multivariate_normal(worths, cov)
        order = np.argsort(-drawn)
        found = winner(drawn[order], cov[np.ix_(order, order)], np.eye(10) - 0.1, 0.95, np.random.default_rng(0))
        truth = worths[order[0]] - worths.mean()
        reach = 1.96 * found.std_error
        held.append([found.conf_low <= truth <= found.conf_high, abs(found.estimate - truth) < reach,
                     found.corrected > truth])  # fmt: skip
    corrected, uncorrected, above = np.mean(held, axis=0)
    assert corrected > 0.92
    assert uncorrected < plain
    assert above == pytest.approx(0.5, abs=0.09)


def test_clusters_and_effects_of_judges_are_allowed_for() -> None:
    table = llbt.load_dataset("dras_table1")
    by_judge = llbt.best(llbt.fit("object*judge + tie", table), at={"judge": "J3"})
    assert by_judge.candidates == ("D",)
    assert by_judge.objects[0] == "D"


@pytest.mark.parametrize("scale", ["probability", "odds_ratio"])
def test_scales_that_are_no_sums_are_refused(scale: str) -> None:
    with pytest.raises(OptionError, match="expected 'log_odds', 'log_worth' or 'elo'"):
        llbt.best(RES, scale=scale)


def test_predicted_worths_are_refused() -> None:
    size = pd.DataFrame({"object": [f"m{k}" for k in range(6)], "size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.5]})
    table = llbt.from_counts(counts(6).to_frame(), object_covariates=size)
    with pytest.raises(DesignError, match="are predictions"):
        llbt.best(llbt.fit("size + (1 | object)", table))
