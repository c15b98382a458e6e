"""Worths that drift: by a dense Laplace approximation, by mgcv, by Kalman's smoother, and at both ends of the rate."""

import json
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special
from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother
from support.drifting import drifting_table
from support.folders import TESTS

import llbt
from llbt.errors import DesignError, OptionError, SeparationError

OUTCOMES = ("i", "tie", "j")
DAYS = (0, 1, 2, 4, 7)


def judged(sigma=0.4, days=DAYS, objects="ABCD", number=40, seed=3, gamma=-0.4, delta=0.2):
    """Judgments one by one of objects whose log-worths go at random, and the log-worths (T, J)."""
    rng = np.random.default_rng(seed)
    size = len(objects)
    steps = rng.normal(0, 1, (len(days) - 1, size)) * sigma * np.sqrt(np.diff(days))[:, None]
    worth = np.cumsum(np.vstack([rng.normal(0, 0.5, size), steps]), axis=0)
    rows = []
    for day, lam in zip(days, worth, strict=True):
        for _ in range(number):
            i, j = rng.choice(size, 2, replace=False)
            weights = np.exp([lam[i] - lam[j] + delta, gamma, lam[j] - lam[i] - delta])
            said = OUTCOMES[rng.choice(3, p=weights / weights.sum())]
            rows.append((objects[i], objects[j], said, day))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "day"]), worth


@pytest.fixture(scope="module")
def frame():
    return judged()[0]


@pytest.fixture(scope="module")
def res(frame):
    return llbt.fit("object + tie + order", llbt.from_judgments(frame, clusters="day", order=True))


@pytest.fixture(scope="module")
def found(res):
    return llbt.drift(res, time="day")


class Dense:
    """The same model with every number written out: one column for each day's worth but D's, γ and δ; judgment by row.

    λ less the mean of all goes by N(0, σ²d(I − J/4)), which is N(0, σ²d(I + 11ᵀ)) of the worths less D's.
    """

    def __init__(self, frame, days=DAYS):
        free, size = "ABC", 3 * len(days)
        self.size = size + 2
        designs = []
        for row in frame.itertuples():
            x = np.zeros((3, self.size))
            day = 3 * days.index(row.day)
            for label, sign in ((row.object_i, 1), (row.object_j, -1)):
                if label in free:
                    x[0, day + free.index(label)] += sign
                    x[2, day + free.index(label)] -= sign
            x[0, -1], x[2, -1], x[1, -2] = 1, -1, 1
            designs.append(x)
        self.x = np.array(designs)
        self.said = np.array([OUTCOMES.index(said) for said in frame["outcome"]])
        steps = (np.eye(len(days))[1:] - np.eye(len(days))[:-1]) / np.sqrt(np.diff(days))[:, None]
        self.penalty = np.zeros((self.size, self.size))
        self.penalty[:size, :size] = np.kron(steps.T @ steps, np.linalg.inv(np.eye(3) + 1))
        self.steps, self.gaps = len(days) - 1, np.diff(days)

    def parts(self, b, sigma):
        u = self.x @ b
        p = special.softmax(u, axis=1)
        value = special.log_softmax(u, axis=1)[np.arange(len(u)), self.said].sum() - b @ self.penalty @ b / sigma**2 / 2
        mean = np.einsum("nk,nkp->np", p, self.x)
        score = self.x[np.arange(len(u)), self.said] - mean
        information = np.einsum("nk,nkp,nkq->pq", p, self.x, self.x) - mean.T @ mean
        return value, score.sum(axis=0) - self.penalty @ b / sigma**2, information + self.penalty / sigma**2

    def at(self, sigma):
        """The mode, its covariance, and the log marginal likelihood, at σ."""
        best = optimize.minimize(
            lambda b: -self.parts(b, sigma)[0],
            np.zeros(self.size),
            jac=lambda b: -self.parts(b, sigma)[1],
            hess=lambda b: self.parts(b, sigma)[2],
            method="trust-exact",
            options={"gtol": 1e-9},
        )
        value, _, information = self.parts(best.x, sigma)
        normal = -(3 * np.log(sigma**2 * self.gaps).sum() + self.steps * np.linalg.slogdet(np.eye(3) + 1)[1]) / 2
        return best.x, np.linalg.inv(information), value + normal - np.linalg.slogdet(information)[1] / 2

    def rate(self):
        best = optimize.minimize_scalar(
            lambda log: -self.at(np.exp(log))[2], bounds=(-4, 1), method="bounded", options={"xatol": 1e-6}
        )
        return float(np.exp(best.x))


def test_the_rate_and_the_paths_are_those_of_a_dense_laplace_approximation(frame, res, found) -> None:
    dense = Dense(frame)
    sigma = dense.rate()
    assert found.sigma == pytest.approx(sigma, rel=2e-5)
    estimated, found = found, llbt.drift(res, time="day", sigma=found.sigma)
    assert np.allclose(estimated.estimate, found.estimate, atol=1e-8)
    b, covariance, value = dense.at(found.sigma)
    assert found.llf == pytest.approx(value, abs=1e-7)
    pooled = np.linalg.slogdet(res.cov_params().to_numpy())[1] / 2 + res.llf
    assert estimated.test().statistic == pytest.approx(2 * (value - pooled), abs=1e-6)
    centre = np.vstack([np.eye(3), np.zeros(3)]) - 0.25
    rows = np.zeros((len(DAYS), 4, dense.size))
    for t in range(len(DAYS)):
        rows[t, :, 3 * t : 3 * t + 3] = centre
    assert np.allclose(found.estimate, rows @ b, atol=1e-7)
    assert np.allclose(found.std_error, np.sqrt(np.einsum("tjp,pq,tjq->tj", rows, covariance, rows)), atol=1e-7)
    common = found.common().to_frame().set_index("term")
    assert common["estimate"].to_dict() == pytest.approx({"tie": b[-2], "order": b[-1]}, abs=1e-7)
    assert common["std_error"].to_dict() == pytest.approx(
        {"tie": covariance[-2, -2] ** 0.5, "order": covariance[-1, -1] ** 0.5}, abs=1e-7
    )
    for first, last in ((0, 7), (1, 4)):
        change = rows[DAYS.index(last)] - rows[DAYS.index(first)]
        told = found.change(first, last).to_frame().set_index("object").loc[list("ABCD")]
        assert np.allclose(told["estimate"], change @ b, atol=1e-7)
        assert np.allclose(told["std_error"], np.sqrt(np.diag(change @ covariance @ change.T)), atol=1e-7)


@pytest.mark.slow
def test_errors_allow_for_what_is_not_known_of_the_rate(frame, res, found) -> None:
    """By the trapezoidal rule over dense approximations at 60 rates, beyond where the likelihood has fallen by 4."""
    dense = Dense(frame)
    sigmas = np.linspace(0.8 * found.sigma_low, 1.7 * found.sigma_high, 60)
    at = [dense.at(sigma) for sigma in sigmas]
    values = np.array([value for _, _, value in at])
    near = values > values.max() - 4
    weights = np.exp(values - values.max()) * near
    best = dense.at(found.sigma)[0]
    spread = np.average([v + np.outer(b - best, b - best) for b, v, _ in at], axis=0, weights=weights)
    rows = np.zeros((4, dense.size))
    rows[:, 6:9] = np.vstack([np.eye(3), np.zeros(3)]) - 0.25
    assert np.allclose(found.std_error[2], np.sqrt(np.diag(rows @ spread @ rows.T)), rtol=3e-3)
    change = rows.copy()
    change[:, :3] -= rows[:, 6:9]
    told = found.change(0, 2).to_frame().set_index("object").loc[list("ABCD"), "std_error"]
    assert np.allclose(told, np.sqrt(np.diag(change @ spread @ change.T)), rtol=1e-2)
    errors = found.common().to_frame()["std_error"].to_numpy()
    assert np.allclose(errors, np.sqrt(np.diag(spread)[-2:]), rtol=3e-3)
    held = llbt.drift(res, time="day", sigma=found.sigma)
    assert (found.std_error > held.std_error).all()


def test_the_interval_of_the_rate_is_where_the_likelihood_falls(frame, found) -> None:
    dense, top = Dense(frame), found.llf
    assert 0 < found.sigma_low < found.sigma < found.sigma_high
    for bound in (found.sigma_low, found.sigma_high):
        assert top - dense.at(bound)[2] == pytest.approx(1.920729, abs=1e-3)


def test_it_is_mgcv() -> None:
    """Another program: a binomial model penalized by differences, its smoothness by restricted maximum likelihood."""
    folder = TESTS / "reference" / "models"
    expected = json.loads((folder / "drift_mgcv.json").read_text())
    frame = pd.read_csv(folder / "drift_mgcv.csv")
    found = llbt.drift(llbt.fit("object", llbt.from_counts(frame, clusters="day")), time="day")
    assert found.sigma == pytest.approx(expected["sigma"], rel=2e-6)
    path = np.array(expected["coefficients"]).reshape(6, 3)
    worth = np.column_stack([path, np.zeros(6)])
    assert np.allclose(found.estimate, worth - worth.mean(axis=1, keepdims=True), atol=1e-6)
    errors = np.sqrt(np.diagonal(found.rates.best.covariances(), axis1=1, axis2=2))
    assert np.allclose(errors.ravel(), expected["std_errors"], atol=1e-6)
    n, w = frame["wins_i"] + frame["wins_j"], frame["wins_i"]
    ways = (special.gammaln(n + 1) - special.gammaln(w + 1) - special.gammaln(n - w + 1)).sum()
    # mgcv has the coefficients of the binomial, and for each of the three worths 2π of what is not penalized, and the
    # pseudo-determinant of the differences of six days, six times that of the five steps
    assert found.llf + ways + 1.5 * np.log(2 * np.pi * 6) == pytest.approx(expected["reml"], abs=1e-5)


def test_with_many_judgments_it_is_kalmans_smoother() -> None:
    """Two objects, 4,000 judgments a day: estimates by day are normal, and statsmodels smooths them at the same σ."""
    rng = np.random.default_rng(5)
    lead = np.cumsum(rng.normal(0, 0.05, 12))
    wins = rng.binomial(4000, special.expit(2 * lead))
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "wins_j": 4000 - wins, "day": range(12)})
    res = llbt.fit("object", llbt.from_counts(frame, clusters="day"))
    found = llbt.drift(res, time="day", sigma=llbt.drift(res, time="day").sigma)
    by_day = np.log(wins / (4000 - wins)) / 2
    model = KalmanSmoother(k_endog=1, k_states=1)
    model.bind(by_day[None, :])
    model["design", 0, 0] = model["transition", 0, 0] = model["selection", 0, 0] = 1
    model["state_cov", 0, 0] = 2 * found.sigma**2  # of a difference of two log-worths
    model["obs_cov"] = (1 / (4 * wins * (1 - wins / 4000)))[None, None, :]
    model.initialize_approximate_diffuse()
    smoothed = model.smooth()
    difference = found.estimate[:, 0] - found.estimate[:, 1]
    assert np.allclose(difference, smoothed.smoothed_state[0], atol=2e-4)  # a fortieth of their standard errors
    errors = 2 * found.std_error[:, 0]  # λ_A less the mean is half the difference
    assert np.allclose(errors, np.sqrt(smoothed.smoothed_state_cov[0, 0]), rtol=0.01)


def test_without_drift_it_is_the_fit(res) -> None:
    still = llbt.drift(res, time="day", sigma=0)
    worth = np.append(res.params[:3], 0.0)
    assert np.allclose(still.estimate, worth - worth.mean(), atol=1e-9)
    rows = np.vstack([np.eye(3), np.zeros(3)]) - 0.25
    errors = np.sqrt(np.diag(rows @ res.cov_params().to_numpy()[:3, :3] @ rows.T))
    assert np.allclose(still.std_error, errors, atol=1e-9)
    change = still.change().to_frame()
    assert np.allclose(change[["estimate", "std_error"]], 0, atol=1e-7)
    nearly = llbt.drift(res, time="day", sigma=1e-6)
    assert np.allclose(nearly.estimate, still.estimate, atol=1e-6)
    assert nearly.llf == pytest.approx(still.llf, abs=1e-6)


def test_with_much_drift_it_is_a_fit_of_each_period() -> None:
    frame = judged(number=150)[0]
    c = llbt.from_judgments(frame[frame["outcome"] != "tie"], covariates="day")
    far = llbt.drift(llbt.fit("object", c), time="day", sigma=1e3)
    for t, day in enumerate(DAYS):
        one = llbt.fit("object", c.select(where={"day": day}))
        worth = np.append(one.params, 0.0)
        assert np.allclose(far.estimate[t], worth - worth.mean(), atol=1e-5)


def test_the_reference_and_the_coding_do_not_matter(frame, found) -> None:
    c = llbt.from_judgments(frame, clusters="day", order=True)
    for formula, reference in (("object + tie + order", "A"), ("C(object, Sum) + tie + order", None)):
        other = llbt.drift(llbt.fit(formula, c, reference=reference), time="day")
        assert other.sigma == pytest.approx(found.sigma, rel=1e-4)
        assert np.allclose(other.estimate, found.estimate, atol=1e-5)
        assert np.allclose(other.std_error, found.std_error, atol=1e-5)


def test_time_may_be_a_covariate_beside_others(frame, found) -> None:
    rng = np.random.default_rng(1)
    more = frame.assign(judge=rng.integers(0, 5, len(frame)), length_i=rng.random(len(frame)), length_j=0.5)
    c = llbt.from_judgments(more, covariates="day", clusters="judge", order=True)
    assert llbt.drift(llbt.fit("object + tie + order", c), time="day").sigma == pytest.approx(found.sigma, rel=1e-4)
    c = llbt.from_judgments(
        more, clusters=("day", "judge"), order=True, side_covariates={"length": ("length_i", "length_j")}
    )
    with_length = llbt.drift(llbt.fit("object + length + tie + order", c), time="day", sigma=found.sigma)
    assert with_length.common().to_frame()["term"].tolist() == ["length", "tie", "order"]
    assert np.abs(with_length.estimate - found.estimate).max() < 0.1


@pytest.mark.parametrize("kind", ["both bad", "grades", "probit", "cumulative", "fixed"])
def test_every_response_without_drift_is_its_fit(kind) -> None:
    """At σ = 0; and with drift the sum of scores over the periods is that of parameters in common, 0."""
    frame = judged(number=120)[0]
    rng = np.random.default_rng(2)
    options, formula = {}, "object + tie"
    if kind == "both bad":
        frame = frame.assign(outcome=frame["outcome"].where(rng.random(len(frame)) < 0.85, "bad"))
        c = llbt.from_judgments(frame, clusters="day", outcomes={"bad": "bad"})
        formula = "object + tie + bad"
    elif kind == "grades":
        size = np.where(frame["outcome"] == "tie", 0, rng.integers(1, 3, len(frame)))
        c = llbt.from_judgments(frame.assign(strength=size), strength="strength", clusters="day")
        formula = "object + tie + grade"
    else:
        c = llbt.from_judgments(frame, clusters="day")
        options = {"fixed": {"tie": -0.4}} if kind == "fixed" else {"link": kind}
    res = llbt.fit(formula, c, **options)
    still = llbt.drift(res, time="day", sigma=0)
    worth = np.append(res.params[:3], 0.0)
    assert np.allclose(still.estimate, worth - worth.mean(), atol=1e-7)
    assert np.allclose(np.sqrt(np.diag(still.rates.best.last)), res.bse.dropna(), rtol=1e-6)
    moving = llbt.drift(res, time="day", sigma=0.3)
    assert moving.rates.best.converged
    _, scores, _ = moving.periods.moments(moving.rates.best.path)
    assert np.allclose(scores.sum(axis=0), 0, atol=1e-5)


@pytest.mark.slow
def test_numbers_have_their_distances_and_labels_steps_of_one(frame, found) -> None:
    text = frame.assign(day=frame["day"].map("day {}".format))
    by_text = llbt.drift(llbt.fit("object + tie", llbt.from_judgments(text, clusters="day")), time="day")
    even = frame.assign(day=frame["day"].map(dict(zip(DAYS, range(5), strict=True))))
    by_rank = llbt.drift(llbt.fit("object + tie", llbt.from_judgments(even, clusters="day")), time="day")
    assert by_text.sigma == pytest.approx(by_rank.sigma, rel=1e-6)
    assert np.allclose(by_text.estimate, by_rank.estimate, atol=1e-8)
    assert "over one step of day" in by_text.as_text()
    assert "over one unit of day" in by_rank.as_text()
    hours = frame.assign(day=24 * frame["day"])
    slow = llbt.drift(
        llbt.fit("object + tie + order", llbt.from_judgments(hours, clusters="day", order=True)), time="day"
    )
    assert slow.sigma * 24**0.5 == pytest.approx(found.sigma, rel=1e-4)
    assert np.allclose(slow.estimate, found.estimate, atol=1e-5)


def test_periods_are_stretches_of_equal_length(frame) -> None:
    res = llbt.fit("object + tie", llbt.from_judgments(frame.assign(when=frame["day"] + 0.25), clusters="when"))
    found = llbt.drift(res, time="when", periods=7)  # from .25 to 7.25: the stretches of day 3, 5, 6 are empty
    assert found.levels == (0.75, 1.75, 2.75, 4.75, 6.75)
    as_days = frame["day"].replace({7: 6})  # the last day is the end of the last stretch
    same = llbt.drift(
        llbt.fit("object + tie", llbt.from_judgments(frame.assign(day=as_days), clusters="day")), time="day"
    )
    assert found.sigma == pytest.approx(same.sigma, rel=1e-6)
    assert found.judgments.sum() == 2 * len(frame)


def test_the_table_has_a_row_for_each_object_and_period(frame, found) -> None:
    table = found.to_frame()
    assert table.columns.tolist() == [
        *("day", "object", "estimate", "std_error", "conf_low", "conf_high", "judgments"),
    ]
    assert table["day"].tolist() == np.repeat(DAYS, 4).tolist()
    both = pd.concat([frame[["day", side]].set_axis(["day", "object"], axis=1) for side in ("object_i", "object_j")])
    assert table.set_index(["day", "object"])["judgments"].to_dict() == both.value_counts().to_dict()
    assert np.allclose(table["conf_high"] - table["estimate"], 1.959964 * table["std_error"], rtol=1e-6)
    assert np.allclose(table.groupby("day")["estimate"].sum(), 0, atol=1e-12)
    again = pickle.loads(pickle.dumps(found))
    assert again.as_text() == found.as_text()


@pytest.mark.slow
def test_the_test_holds_the_ratio_against_drawn_tables(res, found) -> None:
    chi2 = found.test()
    assert chi2.p_value == pytest.approx(special.erfc(np.sqrt(chi2.statistic / 2)) / 2, rel=1e-9)  # ½ P(χ²₁ > x)
    drawn = found.test(19, rng=1)
    assert drawn.statistic == chi2.statistic
    assert drawn.p_value == pytest.approx(0.05)
    with pytest.raises(DesignError, match=r"^Drift\.test: σ = 0\.1000 was held"):
        llbt.drift(res, time="day", sigma=0.1).test()


@pytest.mark.slow
def test_processes_change_no_p_value(res) -> None:
    slow = llbt.drift(res, time="day", periods=2)
    drawn = slow.test(29, rng=1).p_value
    assert 1 / 30 <= drawn <= 1
    assert slow.test(29, rng=1).p_value == drawn
    with joblib.parallel_config(backend="multiprocessing"):
        assert slow.test(29, rng=1, n_jobs=2).p_value == drawn


def test_where_nothing_moves_the_rate_is_zero() -> None:
    """The same counts every day: more alike than chance would have it."""
    one = pd.DataFrame({"object_i": list("AAB"), "object_j": list("BCC"), "wins_i": [7, 9, 6], "wins_j": [5, 3, 6]})
    frame = pd.concat([one.assign(day=day) for day in range(6)])
    found = llbt.drift(llbt.fit("object", llbt.from_counts(frame, clusters="day")), time="day")
    assert (found.sigma, found.sigma_low, found.test().statistic, found.test().p_value) == (0, 0, 0, 1)
    assert found.sigma_high > 0
    assert np.ptp(found.estimate, axis=0).max() == 0
    assert (found.change().to_frame()["std_error"] > 0).all()  # for σ need not be 0


def test_what_it_refuses(frame, res) -> None:
    c = res.comparisons
    with pytest.raises(OptionError, match=r"^drift: time='hour' is not a column .*clusters='hour'"):
        llbt.drift(res, time="hour")
    with pytest.raises(OptionError, match=r"cov_type='cluster'"):
        llbt.drift(llbt.fit("object + tie", c, cov_type="cluster", groups="day"), time="day")
    with pytest.raises(OptionError, match=r"prior=1"):
        llbt.drift(llbt.fit("object + tie", c, prior=1), time="day")
    text = llbt.from_judgments(frame.assign(day=frame["day"].astype(str) + "th"), clusters="day")
    with pytest.raises(OptionError, match=r"'0th' is not a number"):
        llbt.drift(llbt.fit("object + tie", text), time="day", periods=3)
    with pytest.raises(DesignError, match="one period"):
        llbt.drift(res, time="day", periods=1)
    by_judge = llbt.from_judgments(
        frame.assign(judge="J1").assign(half=frame.index % 2), covariates="half", clusters="day"
    )
    with pytest.raises(DesignError, match=r"object:half"):
        llbt.drift(llbt.fit("object * half + tie", by_judge), time="day")
    with pytest.raises(DesignError, match="has no worths that could drift"):
        llbt.drift(llbt.fit("order + tie", c), time="day")
    with pytest.raises(DesignError, match="was held"):
        llbt.drift(llbt.fit("object + tie", c, fixed={"object[A]": 0.5}), time="day")
    found = llbt.drift(res, time="day")
    with pytest.raises(OptionError, match=r"^Drift\.change: first=4, last=1"):
        found.change(4, 1)
    with pytest.raises(OptionError, match=r"last=3; expected a period: 0, 1, 2, 4, 7"):
        found.change(0, 3)


def test_winners_that_always_change_have_no_rate() -> None:
    rows = [("A", "B", 50 * (day % 2), 50 * (1 - day % 2), day) for day in range(6)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "day"])
    res = llbt.fit("object", llbt.from_counts(frame, clusters="day"))
    with pytest.raises(SeparationError, match="σ is \\+∞"):
        llbt.drift(res, time="day")
    assert np.isfinite(llbt.drift(res, time="day", sigma=1).estimate).all()


def test_a_winner_of_everything_on_one_day_has_a_finite_worth() -> None:
    counts = pd.DataFrame(
        {"object_i": "A", "object_j": "B", "wins_i": [5, 10, 6, 4], "wins_j": [5, 0, 4, 6], "day": range(4)}
    )
    found = llbt.drift(llbt.fit("object", llbt.from_counts(counts, clusters="day")), time="day")
    assert np.isfinite(found.estimate).all()
    assert found.estimate[:, 0].argmax() == 1


def test_no_pair_needs_to_meet_in_a_period() -> None:
    """A meets B, then B meets C, in turn: no day connects all, all days together do."""
    rows = [("A", "B", 6, 4, day) if day % 2 else ("B", "C", 5, 5, day) for day in range(8)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "day"])
    found = llbt.drift(llbt.fit("object", llbt.from_counts(frame, clusters="day")), time="day", sigma=0.2)
    assert np.isfinite(found.estimate).all()
    assert (found.std_error > 0).all()
    assert found.judgments[0].tolist() == [0, 10, 10]


@pytest.mark.slow
def test_bands_cover_and_the_test_tells_drift_from_none() -> None:
    """A dozen tables each; of 200 at several sizes see simulations/drift_coverage.json."""
    rng = np.random.default_rng(8)
    covered, rates, rejected = [], [], {0.0: 0, 0.2: 0}
    for sigma in rejected:
        for _ in range(12):
            c, worth = drifting_table(rng, sigma)
            found = llbt.drift(llbt.fit("object + tie", c), time="day")
            rejected[sigma] += found.test().p_value <= 0.05
            if sigma:
                covered.append(np.abs(found.estimate - worth) <= 1.96 * found.std_error)
                rates.append(found.sigma)
    assert 0.88 < np.mean(covered) < 0.99
    assert np.median(rates) == pytest.approx(0.2, abs=0.06)
    assert rejected[0.0] <= 3  # of more than 3 the probability is .002
    assert rejected[0.2] >= 9


@pytest.mark.slow
def test_weeks_of_a_large_arena_take_seconds() -> None:
    c, worth = drifting_table(np.random.default_rng(1), 0.05, days=52, objects=40, number=3)
    found = llbt.drift(llbt.fit("object + tie", c), time="day")
    assert found.sigma == pytest.approx(0.05, abs=0.01)
    assert np.sqrt(np.mean((found.estimate - worth) ** 2)) < 0.1


def test_the_first_lines_say_whether_worths_drift(found) -> None:
    """Detected, not detected, and too little data: the upper bound allows more than the objects lie apart."""
    objects = len(found.res.comparisons.objects)
    assert found.table().head[0].startswith("Drift detected: σ = ")
    assert len(found.as_text().split("\n\n")[1].split("\n")) == objects + 1
    assert len(found.to_frame()) == objects * len(found.levels)
    plain = judged(sigma=0.0, number=1500, seed=1)[0]
    still = llbt.drift(llbt.fit("object + tie", llbt.from_judgments(plain, clusters="day")), time="day")
    assert still.table().head[0].startswith("No drift detected: σ = ")
    spread = still.estimate.mean(axis=0).std()
    assert still.sigma_high * np.sqrt(DAYS[-1] - DAYS[0]) < spread
    few = judged(sigma=0.0, number=12, seed=6)[0]
    unclear = llbt.drift(llbt.fit("object + tie", llbt.from_judgments(few, clusters="day")), time="day")
    assert unclear.table().head[0].startswith("Too little data to tell: σ = ")
    assert unclear.sigma_high * np.sqrt(DAYS[-1] - DAYS[0]) > unclear.estimate.mean(axis=0).std()
