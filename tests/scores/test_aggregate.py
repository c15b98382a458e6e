"""Aggregated scores: by hand, by numpy, scipy's optimizer and statsmodels, by refits, and Peyrard's setups."""

import itertools
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from support.draws import first_block
from support.mechanisms import mechanism

import llbt
from llbt.data.scores import from_scores
from llbt.data.system_scores import SystemScores
from llbt.resampling import drawn_weights
from llbt.scores.aggregate import aggregate
from llbt.scores.bradley_terry import BradleyTerry, recursion
from llbt.scores.mechanisms import weighted_means, weighted_medians
from llbt.scores.ratings import Elo, TrueSkill

METHODS = ["mean", "median", "bt", "llbt", "elo", "trueskill"]
PAIRED = METHODS[2:]
TIES = ["davidson", "half", "drop"]
MM = BradleyTerry(ties="drop", algorithm="mm")  # as the paper fits
# Five instances with every property that the paper states of its Figure 1 (its numbers can only be read off a picture)
FIGURE_1 = pd.DataFrame({"A": [0.0, 1, 5, 6, 7], "B": [1.0, 2, 1, 7, 8], "C": [0.5, 1.5, 3.5, 6.25, 7.25]})
# Appendix F of Peyrard et al. (2021)
APPENDIX_F = pd.DataFrame({"A": [1, 2, 3], "B": [2, 3, 1]})


def some_scores(seed=1, instances=40, systems=5, missing=0.0, decimals=1):
    """Scores with ties (rounded), systems of rising quality."""
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=(instances, systems)) + np.linspace(0, 0.8, systems)).round(decimals)
    values[rng.random(values.shape) < missing] = np.nan
    return pd.DataFrame(values, columns=[f"s{k}" for k in range(systems)])


def scores_of(found, column="estimate"):
    return found.to_frame().set_index("object")[column].sort_index()


def ranks_of(found):
    return scores_of(found, "rank").to_dict()


def outcomes_by_loop(frame, threshold=0.0):
    """Wins, ties and losses of each pair, instance by instance."""
    counts = {}
    for a, b in itertools.combinations(sorted(frame), 2):
        cells = [0, 0, 0]
        for x, y in zip(frame[a], frame[b], strict=True):
            if x == x and y == y:
                cells[1 if abs(x - y) <= threshold + 1e-9 else 0 if x > y else 2] += 1
        counts[a, b] = cells
    return counts


def by_optimizer(frame, ties, threshold=0.0):
    """Centred log-odds by minimizing the negative log-likelihood, written down directly."""
    names = sorted(frame)
    counts = outcomes_by_loop(frame, threshold)

    def loss(parameters):
        theta = dict(zip(names, [0.0, *parameters[:-1]], strict=True))
        total = 0.0
        for (a, b), (wins, tied, losses) in counts.items():
            x, y = np.exp(theta[a]), np.exp(theta[b])
            nu = np.exp(parameters[-1]) * np.sqrt(x * y) if ties == "davidson" else 0.0
            half = tied / 2 if ties == "half" else 0.0
            if ties == "davidson" and tied:
                total -= tied * np.log(nu / (x + y + nu))
            total -= (wins + half) * np.log(x / (x + y + nu)) + (losses + half) * np.log(y / (x + y + nu))
        return total + (0 if ties == "davidson" else parameters[-1] ** 2)

    start = np.zeros(len(names))
    found = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-9})
    theta = np.array([0.0, *found.x[:-1]])
    return pd.Series(theta - theta.mean(), index=names)


# -- what the paper shows --------------------------------------------------------------------------------


def test_bradley_terry_tells_apart_what_equal_means_do_not():
    assert ranks_of(aggregate(FIGURE_1)) == {"A": 1, "B": 1, "C": 1}
    assert ranks_of(aggregate(FIGURE_1, method="median")) == {"A": 1, "B": 3, "C": 2}
    for better, worse in (("B", "A"), ("C", "A"), ("B", "C")):
        assert (FIGURE_1[better] > FIGURE_1[worse]).sum() == 4
    bt = aggregate(FIGURE_1, method="bt")
    assert bt.objects == ("B", "C", "A")
    assert ranks_of(bt) == {"A": 3, "B": 1, "C": 2}
    np.testing.assert_allclose(scores_of(bt), by_optimizer(FIGURE_1, "drop"), atol=1e-6)


@pytest.mark.parametrize("ties", TIES)
def test_two_systems_of_appendix_f_are_at_two_thirds(ties):
    bt = aggregate(APPENDIX_F, method=BradleyTerry(ties=ties))
    assert bt.probabilities.loc["B", "A"] == pytest.approx(2 / 3, abs=1e-12)
    assert scores_of(bt)["B"] == pytest.approx(np.log(2) / 2, abs=1e-12)
    assert ranks_of(aggregate(APPENDIX_F)) == {"A": 1, "B": 1}


@pytest.mark.parametrize(
    ("ties", "worths"),
    [("davidson", [0.2423, 0.4336, 0.3241]), ("half", [0.2617, 0.4105, 0.3278]), ("drop", [0.2530, 0.4208, 0.3263])],
)
def test_a_third_system_that_ties_does_not_make_all_equal(ties, worths):
    """With C = [3, 2, 1], as printed, B beats A 2 : 1 and C is 1 : 1 with both: the maximum keeps B above C above A."""
    frame = APPENDIX_F.assign(C=[3, 2, 1])
    bt = aggregate(frame, method=BradleyTerry(ties=ties))
    assert bt.objects == ("B", "C", "A")
    np.testing.assert_allclose(scores_of(bt), by_optimizer(frame, ties), atol=1e-6)
    np.testing.assert_allclose(scores_of(bt, "worth"), worths, atol=5e-5)


def test_a_cycle_makes_all_equal():
    """The tie of all three that the paper reports is that of C = [3, 1, 2], where each beats the next 2 : 1."""
    bt = aggregate(APPENDIX_F.assign(C=[3, 1, 2]), method="bt")
    assert ranks_of(bt) == {"A": 1, "B": 1, "C": 1}
    np.testing.assert_allclose(scores_of(bt, "worth"), 1 / 3, atol=1e-12)


# -- scores by a second route ----------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "route"), [("mean", np.nanmean), ("median", np.nanmedian)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_means_and_medians_are_those_of_numpy(method, route, missing):
    frame = some_scores(missing=missing)
    found = aggregate(frame, method=method)
    np.testing.assert_allclose(scores_of(found), route(frame.to_numpy(), axis=0), rtol=1e-12)
    for a, b in itertools.permutations(frame, 2):
        above, below = (frame[a] > frame[b]).sum(), (frame[a] < frame[b]).sum()
        assert found.probabilities.loc[a, b] == pytest.approx(above / (above + below))


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("threshold", "missing"), [(0.0, 0.0), (0.3, 0.2)])
def test_bradley_terry_scores_maximize_the_likelihood(ties, threshold, missing):
    frame = some_scores(missing=missing)
    found = aggregate(SystemScores.from_wide(frame, tie_threshold=threshold), method=BradleyTerry(ties=ties))
    expected = by_optimizer(frame, ties, threshold)
    np.testing.assert_allclose(scores_of(found), expected, atol=2e-6)
    np.testing.assert_allclose(scores_of(found, "worth"), np.exp(expected) / np.exp(expected).sum(), atol=1e-6)
    gaps = expected.to_numpy()[:, None] - expected.to_numpy()[None, :]
    shares = found.probabilities.loc[list(expected.index), list(expected.index)].to_numpy()
    off = ~np.eye(len(gaps), dtype=bool)
    np.testing.assert_allclose(shares[off], (1 / (1 + np.exp(-gaps)))[off], atol=1e-6)
    assert np.isnan(shares[~off]).all()


@pytest.mark.parametrize(("threshold", "higher"), [(0.0, True), (0.1, True), (0.3, False)])
def test_the_table_behind_is_that_of_from_scores(threshold, higher):
    """Ties at 0.1 and 0.3 are of numbers with one decimal, where floats alone would miss them."""
    frame = some_scores(missing=0.1)
    scores = SystemScores.from_wide(frame, tie_threshold=threshold, higher_is_better=higher)
    c = from_scores(scores)
    for method in PAIRED:
        read = aggregate(scores, method=mechanism(method, orders=50), rng=1)
        table = aggregate(c, method=mechanism(method, orders=50), rng=1)
        width = {"bt": 1e-9, "llbt": 1e-9, "elo": 12.0, "trueskill": 0.8}[method]  # orders differ
        np.testing.assert_allclose(scores_of(read), scores_of(table), atol=width)


def test_the_standard_errors_are_those_of_a_logistic_regression():
    import statsmodels.api as sm

    frame = some_scores()
    names, counts = sorted(frame), outcomes_by_loop(frame)
    rows = np.array([[(n == a) - (n == b) for n in names[:-1]] for a, b in counts], dtype=float)
    won = np.array([[cells[0], cells[2]] for cells in counts.values()])
    res = sm.GLM(won, rows, family=sm.families.Binomial()).fit(tol=1e-13)
    center = np.eye(len(names)) - 1 / len(names)
    cov = center[:, :-1] @ res.cov_params() @ center[:, :-1].T
    found = aggregate(frame, method=BradleyTerry(ties="drop", wald=True), confidence=0.9)
    error = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(scores_of(found), center[:, :-1] @ res.params, atol=1e-8)
    np.testing.assert_allclose(scores_of(found, "std_error"), error, rtol=1e-7)
    half = stats.norm.ppf(0.95) * error
    np.testing.assert_allclose(scores_of(found, "conf_high") - scores_of(found), half, rtol=1e-7)
    np.testing.assert_allclose(scores_of(found) - scores_of(found, "conf_low"), half, rtol=1e-7)


# -- the recursion of the paper --------------------------------------------------------------------------


def recursion_by_loop(frame, epsilon=1e-9):
    """Hunter's recursion system by system, from a half each, as the paper stops it."""
    names, counts = list(frame), outcomes_by_loop(frame)
    wins = {(a, b): cells[0] for (a, b), cells in counts.items()} | {
        (b, a): cells[2] for (a, b), cells in counts.items()
    }
    worth = dict.fromkeys(names, 0.5)
    while True:
        new = {}
        for a in names:
            others = [b for b in names if b != a]
            new[a] = sum(wins[a, b] for b in others) / sum(
                (wins[a, b] + wins[b, a]) / (worth[a] + worth[b]) for b in others
            )
        total = sum(new.values())
        new = {a: value / total for a, value in new.items()}
        if sum((new[a] - worth[a]) ** 2 for a in names) < epsilon:
            return pd.Series(new)
        worth = new


def test_the_recursion_stops_where_an_explicit_loop_stops():
    frame = some_scores()
    found = aggregate(frame, method=MM)
    np.testing.assert_allclose(scores_of(found, "worth"), recursion_by_loop(frame), rtol=1e-12)
    exact = scores_of(aggregate(frame, method=BradleyTerry(ties="drop")))
    assert 1e-7 < np.abs(scores_of(found) - exact).max() < 1e-2
    assert "stopped after" in " ".join(found.notes)


def test_the_recursion_goes_to_the_maximum():
    frame = some_scores()
    wins = from_scores(frame).win_matrix().to_numpy()
    worth, _ = recursion(wins[None], epsilon=1e-30)
    np.testing.assert_allclose(
        worth[0], scores_of(aggregate(frame, method=BradleyTerry(ties="drop")), "worth"), rtol=1e-9
    )


def test_a_system_that_never_wins_has_worth_0_under_the_recursion():
    frame = APPENDIX_F.assign(C=[0, 0, 0])
    found = aggregate(frame, method=MM)
    assert scores_of(found, "worth")["C"] == 0
    assert scores_of(found)["C"] == -np.inf
    assert ranks_of(found) == {"A": 2, "B": 1, "C": 3}
    assert "'C' never won" in " ".join(found.notes)


def test_only_ties_are_equal_worths_under_the_recursion():
    found = aggregate(pd.DataFrame({"A": [1, 1], "B": [1, 1]}), method=MM)
    assert scores_of(found, "worth").tolist() == [0.5, 0.5]


# -- intervals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("made", "route"), [(weighted_means, np.mean), (weighted_medians, np.median)])
@pytest.mark.parametrize("instances", [7, 8])
def test_weighted_centres_are_those_of_repeated_instances(made, route, instances):
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 9, size=(4, instances)).astype(float)
    scores[0, 2] = np.nan
    weights = drawn_weights(instances, 50, rng)
    expected = np.full((50, 4), np.nan)
    for b, k in itertools.product(range(50), range(4)):
        drawn = np.repeat(scores[k], weights[b].astype(int))
        drawn = drawn[~np.isnan(drawn)]
        expected[b, k] = route(drawn) if len(drawn) else np.nan
    np.testing.assert_allclose(made(scores, weights), expected, rtol=1e-12)


@pytest.mark.parametrize("method", ["mean", "median"])
def test_bounds_of_centres_are_quantiles_of_resampled_instances(method):
    frame = some_scores()
    found = aggregate(frame, method=method, n=200, confidence=0.9, rng=5)
    weights = drawn_weights(len(frame), 200, first_block(5)).astype(int)
    route = np.mean if method == "mean" else np.median
    drawn = np.array([route(np.repeat(frame.to_numpy(), w, axis=0), axis=0) for w in weights])
    np.testing.assert_allclose(scores_of(found, "conf_low"), np.quantile(drawn, 0.05, axis=0), rtol=1e-12)
    np.testing.assert_allclose(scores_of(found, "conf_high"), np.quantile(drawn, 0.95, axis=0), rtol=1e-12)


@pytest.mark.parametrize(("method", "ties"), [("bt", "davidson"), ("llbt", "half"), ("bt", "drop")])
def test_bounds_of_bradley_terry_are_quantiles_of_refits_one_at_a_time(method, ties):
    frame = some_scores(missing=0.1)
    found = aggregate(frame, method=mechanism(method, ties=ties), n=12, rng=5)
    weights = drawn_weights(len(frame), 12, first_block(5)).astype(int)
    drawn = [
        scores_of(
            aggregate(frame.loc[np.repeat(frame.index, w)].reset_index(drop=True), method=BradleyTerry(ties=ties))
        )
        for w in weights
    ]
    np.testing.assert_allclose(scores_of(found, "conf_low"), np.quantile(drawn, 0.025, axis=0), atol=1e-7)
    np.testing.assert_allclose(scores_of(found, "conf_high"), np.quantile(drawn, 0.975, axis=0), atol=1e-7)


def test_bounds_of_the_recursion_are_quantiles_of_it():
    frame = some_scores()
    found = aggregate(frame, method=MM, n=20, rng=5)
    weights = drawn_weights(len(frame), 20, first_block(5)).astype(int)
    logs = np.log([recursion_by_loop(frame.loc[np.repeat(frame.index, w)]) for w in weights])
    logs -= logs.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(scores_of(found, "conf_low"), np.quantile(logs, 0.025, axis=0), rtol=1e-9)


def test_resamples_without_a_tie_have_the_scores_of_the_model_without_a_tie_effect():
    """Some resamples miss both ties, and have no finite tie effect; each is fitted by itself."""
    frame = pd.DataFrame({"A": [2, 2, 2, 0, 1, 0] * 2, "B": [1, 1, 1, 1, 1, 2] * 2, "C": [0, 3, 0, 3, 0, 3] * 2})
    found = aggregate(frame, method="bt", n=20, rng=5)
    weights = drawn_weights(len(frame), 20, first_block(5)).astype(int)
    frames = [frame.loc[np.repeat(frame.index, w)].reset_index(drop=True) for w in weights]
    assert 0 < sum(not (one["A"] == one["B"]).any() for one in frames) < 20
    drawn = [scores_of(aggregate(one, method="bt")) for one in frames]
    np.testing.assert_allclose(scores_of(found, "conf_low"), np.quantile(drawn, 0.025, axis=0), atol=1e-7)
    np.testing.assert_allclose(scores_of(found, "conf_high"), np.quantile(drawn, 0.975, axis=0), atol=1e-7)


@pytest.mark.parametrize("method", ["bt", "elo"])
def test_a_relative_threshold_is_a_share_of_the_larger_score(method):
    """Ratios, so that a threshold on the logarithms says the same."""
    frame = np.exp(some_scores())
    ratios = SystemScores.from_wide(frame, tie_threshold=1 - np.exp(-0.3), relative=True)
    logs = SystemScores.from_wide(np.log(frame), tie_threshold=0.3)
    one, other = (aggregate(scores, method=mechanism(method, orders=5), rng=1) for scores in (ratios, logs))
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
    assert any("tie" in note for note in one.notes)


def test_resamples_without_finite_scores_are_infinite_bounds_and_counted():
    """B beats A on one of four instances: (3/4)⁴ of the resamples miss it, and one in 256 has it alone."""
    frame = pd.DataFrame({"A": [2, 2, 2, 0], "B": [1, 1, 1, 1]})
    found = aggregate(frame, method="bt", n=400, rng=1)
    assert scores_of(found, "conf_high")["A"] == np.inf
    assert scores_of(found, "conf_low")["B"] == -np.inf
    lost = next(int(note.split()[0]) for note in found.notes if "finite" in note)
    share = 0.75**4 + 0.25**4
    assert abs(lost / 400 - share) < 4 * np.sqrt(share * (1 - share) / 400)


def test_a_table_is_resampled_judgment_by_judgment():
    """Of one pair, the log-odds vary by the delta method with 1/(n p q)."""
    c = llbt.from_counts(pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "wins_i": [600], "wins_j": [400]}))
    found = aggregate(c, method="bt", n=2000, rng=1)
    width = (scores_of(found, "conf_high") - scores_of(found, "conf_low"))["A"]
    assert width == pytest.approx(2 * 1.96 * np.sqrt(1 / (1000 * 0.24)) / 2, rel=0.06)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    """Means and Bradley-Terry scores of two systems on 60 instances; truth: N(0, 1) and N(.5, 1), independent."""
    rng = np.random.default_rng(8)
    truth = {"mean": 0.5, "bt": np.log(stats.norm.cdf(0.5 / np.sqrt(2)) / stats.norm.cdf(-0.5 / np.sqrt(2))) / 2}
    covered = dict.fromkeys(truth, 0)
    for _ in range(120):
        frame = pd.DataFrame({"A": rng.normal(size=60), "B": rng.normal(size=60) + 0.5})
        for method, value in truth.items():
            found = aggregate(frame, method=method, n=150, rng=rng).to_frame().set_index("object").loc["B"]
            covered[method] += found["conf_low"] <= value <= found["conf_high"]
    assert all(0.88 <= hits / 120 <= 0.995 for hits in covered.values()), covered


# -- what must not matter --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_columns_does_not_matter(method):
    frame = some_scores()
    one = aggregate(frame, method=mechanism(method, orders=10), n=10, rng=4)
    other = aggregate(frame[["s3", "s0", "s4", "s2", "s1"]], method=mechanism(method, orders=10), n=10, rng=4)
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
    pd.testing.assert_frame_equal(one.probabilities, other.probabilities)


@pytest.mark.parametrize("method", METHODS)
def test_long_and_wide_frames_say_the_same(method):
    frame = some_scores()
    long = frame.rename_axis("item").reset_index().melt("item", var_name="who", value_name="value")
    scores = SystemScores.from_long(long, system="who", score="value", instance="item")
    one, other = (aggregate(data, method=mechanism(method, orders=5), rng=4) for data in (frame, scores))
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


@pytest.mark.parametrize("method", METHODS)
def test_lower_scores_can_be_better(method):
    frame = some_scores()
    turned = SystemScores.from_wide(-frame, higher_is_better=False)
    lower, higher = (aggregate(data, method=mechanism(method, orders=5), n=5, rng=4) for data in (turned, frame))
    assert ranks_of(lower) == ranks_of(higher)
    sign = -1 if method in ("mean", "median") else 1
    np.testing.assert_allclose(scores_of(lower), sign * scores_of(higher), rtol=1e-9)
    low, high = ("conf_high", "conf_low") if sign < 0 else ("conf_low", "conf_high")
    np.testing.assert_allclose(scores_of(lower, "conf_low"), sign * scores_of(higher, low), rtol=1e-9)
    np.testing.assert_allclose(scores_of(lower, "conf_high"), sign * scores_of(higher, high), rtol=1e-9)
    assert lower.objects == higher.objects


def test_the_callers_frame_is_not_changed():
    frame = some_scores()
    before = frame.copy()
    for method in METHODS:
        scores = SystemScores.from_wide(frame, higher_is_better=False)
        aggregate(scores, method=mechanism(method, orders=2), n=2, rng=1)
    pd.testing.assert_frame_equal(frame, before)


def test_scores_equal_within_1e_9_share_the_better_rank():
    frame = pd.DataFrame({"A": [0.1 + 0.2], "B": [0.3], "C": [0.2], "D": [0.9]})
    assert ranks_of(aggregate(frame)) == {"D": 1, "A": 2, "B": 2, "C": 4}


# -- degenerate data -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_constant_scores_are_all_equal_or_refused(method):
    frame = pd.DataFrame({"A": [1.0, 1], "B": [1.0, 1], "C": [1.0, 1]})
    half = {"ties": "half"} if method in ("bt", "llbt") else {"orders": 20}
    assert set(ranks_of(aggregate(frame, method=mechanism(method, **half), rng=1)).values()) == {1}


@pytest.mark.parametrize("method", ["mean", "median", "elo", "trueskill"])
def test_one_instance_has_scores_but_where_they_are_infinite(method):
    found = aggregate(pd.DataFrame({"A": [1.0], "B": [2.0]}), method=method, rng=1, n=5)
    assert found.objects == ("B", "A")
    assert np.isfinite(found.estimate).all()


@pytest.mark.parametrize("method", METHODS)
def test_missing_scores_are_counted(method):
    notes = " ".join(aggregate(some_scores(missing=0.2), method=mechanism(method, orders=2), rng=1).notes)
    assert "of 200 missing" in notes


ALL_TIES = pd.DataFrame({"A": [1, 2], "B": [1, 2]})
ONCE = pd.DataFrame({"A": [1.0], "B": [2.0]})
ALONE = pd.DataFrame({"A": [1, None], "B": [None, 1.0]})
NEVER = APPENDIX_F.assign(C=[0, 0, 0])
COUNTS = llbt.load_dataset("dras_table1")
HALVES = llbt.from_counts(pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "wins_i": [1.5], "wins_j": [2.5]}))
APART = pd.DataFrame(
    {"A": [1, 2, None, None], "B": [2, 1, None, None], "C": [None, None, 1, 2], "D": [None, None, 2, 1]}
)


@pytest.mark.parametrize(
    ("data", "options", "error", "fragment"),
    [
        (NEVER, {"method": "bt"}, llbt.errors.SeparationError, "{A, B} won all 6 judgments against {C}"),
        (NEVER, {"method": BradleyTerry(ties="half")}, llbt.errors.SeparationError, "leave these systems out"),
        (NEVER.assign(D=[0, 0, 0]), {"method": MM}, llbt.errors.SeparationError, "'C', 'D' never"),
        (ONCE, {"method": "bt"}, llbt.errors.SeparationError, "{B} won all 1 judgments against {A}"),
        (ALL_TIES, {"method": "bt"}, llbt.errors.SeparationError, "all 2 comparisons are ties"),
        (ALL_TIES, {"method": BradleyTerry(ties="drop")}, llbt.errors.SeparationError, "ties='half'"),
        (APART, {"method": "bt"}, llbt.errors.DesignError, "never compared with each other: {A, B}, {C, D}"),
        (APART, {"method": MM}, llbt.errors.DesignError, "{A, B}, {C, D}"),
        (APPENDIX_F.assign(C=np.nan), {}, llbt.errors.JudgmentError, "'C' has no score on any of 3 instances"),
        (APPENDIX_F.assign(C=np.nan), {"method": "bt"}, llbt.errors.JudgmentError, "systems=['A', 'B']"),
        (ALONE, {"method": "elo"}, llbt.errors.JudgmentError, "no instance has scores of two"),
        (pd.DataFrame([[1, 2]], columns=["A", "A"]), {}, llbt.errors.JudgmentError, "several columns named 'A'"),
        (pd.DataFrame({"A": [1, 2]}), {}, llbt.errors.JudgmentError, "1 column of scores"),
        (pd.DataFrame({"A": [1, np.inf], "B": [1, 2]}), {}, llbt.errors.JudgmentError, "infinite"),
        (COUNTS, {"method": "mean"}, llbt.errors.DesignError, "needs the scores themselves"),
        (HALVES, {"method": "elo"}, llbt.errors.JudgmentError, "2 fractional counts"),
        (HALVES, {"method": "bt", "n": 5}, llbt.errors.JudgmentError, "the first 1.5"),
        (APPENDIX_F, {"method": "average"}, llbt.errors.OptionError, "method='average'; expected 'mean'"),
        (APPENDIX_F, {"method": Elo}, llbt.errors.OptionError, "or a record llbt.scores.BradleyTerry(…), Elo(…)"),
        (ALL_TIES, {"method": TrueSkill(draw_probability=0)}, llbt.errors.DesignError, "draw_probability=0, but"),
        (APPENDIX_F, {"n": -1}, llbt.errors.OptionError, "n=-1"),
        (APPENDIX_F, {"confidence": 95}, llbt.errors.OptionError, "confidence=95"),
        (APPENDIX_F, {"rng": "one"}, llbt.errors.OptionError, "rng='one'"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused(data, options, error, fragment):
    with pytest.raises(error) as caught:
        aggregate(data, **options)
    assert fragment in str(caught.value)
    assert "aggregate" in str(caught.value) or "the frame" in str(caught.value)


@pytest.mark.parametrize(
    ("record", "options", "fragment"),
    [
        (Elo, {"orders": 0}, "scores.Elo: orders=0; expected an integer of at least 1"),
        (Elo, {"k": -1}, "k=-1; expected a finite number, above 0"),
        (Elo, {"scale": 0}, "scale=0"),
        (Elo, {"start": "1500"}, "start='1500'"),
        (Elo, {"ties": "half"}, "ties='half'; expected 'draw' or 'drop'"),
        (TrueSkill, {"draw_probability": 1}, "scores.TrueSkill: draw_probability=1; expected a number of at least 0"),
        (TrueSkill, {"orders": 2.5}, "orders=2.5"),
    ],
)
def test_options_of_ratings_are_refused_by_their_name(record, options, fragment):
    with pytest.raises(llbt.errors.OptionError) as caught:
        record(**options)
    assert fragment in str(caught.value)


# -- the record ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("mean", []),
        ("bt", ["worth"]),
        ("llbt", ["worth", "std_error"]),
        ("elo", ["spread"]),
        ("trueskill", ["spread", "sigma"]),
    ],
)
def test_the_answer_is_a_record_that_survives_pickling(method, more):
    found = aggregate(some_scores(), method=mechanism(method, orders=3), rng=1)
    frame = found.to_frame()
    assert list(frame) == ["object", "estimate", "rank", "conf_low", "conf_high", *more]
    assert frame["rank"].is_monotonic_increasing
    assert list(found.probabilities.index) == list(frame["object"])
    again = pickle.loads(pickle.dumps(found))
    pd.testing.assert_frame_equal(again.to_frame(), frame)
    assert found.objects[0] in found.as_markdown()
    assert "Aggregated scores" in repr(found)
    with_intervals = method in ("llbt", "elo", "trueskill")
    assert frame["conf_low"].notna().all() == with_intervals


def test_notes_say_what_the_intervals_are():
    frame = some_scores()
    said = {
        ("mean", 0): "no intervals",
        ("mean", 5): "5 resamples of the instances",
        ("llbt", 0): "Wald",
        ("llbt", 5): "percentile intervals: 5 resamples",
        ("elo", 0): "over orders",
        ("trueskill", 5): "each played in one random order",
    }
    for (method, n), words in said.items():
        assert words in " ".join(aggregate(frame, method=mechanism(method, orders=5), n=n, rng=1).notes)


def test_a_progress_bar_is_shown_where_it_is_asked_for(capsys):
    for method in ("mean", "bt", "elo"):
        aggregate(some_scores(), method=mechanism(method, orders=2), n=3, rng=1, progress=True)
        assert "aggregate" in capsys.readouterr().err


# -- data that does not ship -----------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "file"),
    [pytest.param("SUMM-08", "TAC_08_scores", marks=pytest.mark.slow), ("topical", "Dialogue_tc_scores")],
)
def test_peyrards_setups_disagree_as_in_the_reference(shared: Path, name, file):
    """(1 − τ-b)/2 of mean, median and exact BT with ties dropped, every metric."""
    reference = pd.read_csv(shared / "reference" / "peyrard_ties_dropped.csv")
    ours = reference[reference["set"].str.startswith("SUMM") == name.startswith("SUMM")].set_index("metric")
    setups = pd.read_csv(shared / "data" / f"{file}.csv.gz").groupby("metric")
    assert len(setups) == len(ours) == 13
    for metric, frame in setups:
        ranks = {
            m: scores_of(aggregate(frame.drop(columns="metric"), method=mechanism(m, ties="drop")), "rank")
            for m in METHODS[:3]
        }
        for a, b in itertools.combinations(ranks, 2):
            tau = stats.kendalltau(ranks[a], ranks[b])[0]
            assert (1 - tau) / 2 == pytest.approx(ours.loc[metric, f"{a}_{b}"], abs=1e-9)


def test_a_covariate_of_numbers_is_no_system() -> None:
    frame = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [2.0, 3.0, 1.0], "length": [10, 20, 30]})
    assert llbt.scores.aggregate(frame).to_frame()["object"].tolist() == ["A", "B"]  # a length, by name and values
    found = llbt.scores.aggregate(SystemScores.from_wide(frame, others="length")).to_frame()
    assert sorted(found["object"]) == ["A", "B"]
    with pytest.raises(llbt.errors.JudgmentError, match=r"SystemScores\.from_wide: no column 'size'"):
        SystemScores.from_wide(frame, others="size")
