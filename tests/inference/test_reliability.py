"""Reliability: figures by loops over judgments, by the formulas of R's sirt, by statsmodels, and by simulation."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import llbt
from llbt.errors import OptionError
from llbt.inference.reliability import closeness, separation_reliability
from llbt.inference.split_halves import stepped_up

OBJECTS = [f"o{k:02}" for k in range(8)]


def judged(judges=12, number=30, guessing=(), seed=1, ties=True):
    """Judgments one by one of eight objects; judges in `guessing` do not look."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 0.6, len(OBJECTS))
    rows = []
    for judge in range(judges):
        for _ in range(number):
            i, j = rng.choice(len(OBJECTS), 2, replace=False)
            gap = 0.0 if judge in guessing else worth[i] - worth[j]
            weights = np.exp([gap, -0.7 if ties else -np.inf, -gap])
            rows.append((OBJECTS[i], OBJECTS[j], ("i", "tie", "j")[rng.choice(3, p=weights / weights.sum())], judge))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge"])


@pytest.fixture(scope="module")
def frame():
    return judged()


@pytest.fixture(scope="module")
def res(frame):
    return llbt.fit("object + tie", llbt.from_judgments(frame, clusters="judge"))


@pytest.fixture(scope="module")
def found(res):
    return llbt.reliability(res, n=20)


def test_ssr_is_one_less_mean_squared_error_over_variance(res, found):
    """By the explicit GLM: log-worths and their covariance, centred by a matrix."""
    glm = res.to_glm()
    names = [name for name in glm.params.index if name.startswith("object[")]
    labels = [name[7:-1] for name in names] + [res.reference]
    worth = np.append(glm.params[names], 0.0)
    cov = np.zeros((8, 8))
    cov[:-1, :-1] = glm.cov_params().loc[names, names]
    center = np.eye(8) - 1 / 8
    error = np.sqrt(np.diag(center @ cov @ center))
    expected = 1 - np.mean(error**2) / np.var(worth)
    assert found.ssr == pytest.approx(expected, rel=1e-5)
    assert dict(zip(labels, error, strict=True)) == pytest.approx(
        dict(zip(found.objects, found.std_error, strict=True)), rel=1e-5
    )
    assert found.separation**2 / (1 + found.separation**2) == pytest.approx(found.ssr)


def test_the_formula_of_sirt_is_near():
    """R's btm takes 1/√(diagonal of the information) as errors, and J − 1 for the variance alone; sepG has no error."""
    res = llbt.fit("object", llbt.from_judgments(judged(ties=False), clusters="judge"))
    worth = dict(zip(res.comparisons.objects, llbt.reliability(res, n=1).estimate, strict=True))
    c, information = res.comparisons, dict.fromkeys(res.comparisons.objects, 0.0)
    for (i, j), n in zip(c.pairs, c.totals, strict=True):
        a, b = c.objects[i], c.objects[j]
        p = 1 / (1 + np.exp(-2 * (worth[a] - worth[b])))
        for label in (a, b):
            information[label] += n * 4 * p * (1 - p)  # of a log-worth
    sirt = 1 - np.mean([1 / information[label] for label in worth]) / np.var(list(worth.values()), ddof=1)
    found = llbt.reliability(res, n=1)
    assert sirt == pytest.approx(found.ssr, abs=0.02)
    observed = 1 / (1 - sirt)  # sepG²
    assert observed / (1 + observed) > 0.5


def loops(res, frame, column):
    """Infit and outfit of each level, judgment by judgment; x is 1, ½ or 0 as in sirt: the unit does not matter."""
    worth = llbt.worth(res, scale="log_worth").to_frame().set_index("object")["estimate"]
    tie = res.params.get("tie", -np.inf)
    sums = {}
    for row in frame.itertuples():
        gap = worth[row.object_i] - worth[row.object_j]
        p = np.exp([gap, tie, -gap])
        p /= p.sum()
        scores = np.array([1.0, 0.5, 0.0])
        e = p @ scores
        v, x = p @ (scores - e) ** 2, {"i": 1.0, "tie": 0.5, "j": 0.0}[row.outcome]
        levels = (row.object_i, row.object_j) if column == "object" else (row.judge,)
        for level in levels:
            sums.setdefault(level, []).append(((x - e) ** 2, v, p @ (scores - e) ** 4))
    found = {}
    for level, rows in sums.items():
        square, v, fourth = np.array(rows).T
        q = np.sqrt((fourth - v**2).sum()) / v.sum()
        infit = square.sum() / v.sum()
        found[level] = infit, (square / v).mean(), (np.cbrt(infit) - 1) * 3 / q + q / 3
    return found


@pytest.mark.parametrize("column", ["judge", "object"])
def test_mean_squares_are_those_of_loops_over_judgments(res, frame, found, column):
    fit = found.judge_fit if column == "judge" else found.object_fit
    labels = found.judges if column == "judge" else found.objects
    expected = loops(res, frame, column)
    for k, label in enumerate(labels):
        assert (fit.infit[k], fit.outfit[k], fit.statistic[k]) == pytest.approx(expected[label], rel=1e-6)


def test_a_judge_who_guesses_is_named():
    frame = judged(number=60, guessing=[3])
    found = llbt.reliability(llbt.fit("object + tie", llbt.from_judgments(frame, clusters="judge")), n=2)
    assert [judge for judge, odd in zip(found.judges, found.judge_fit.misfits, strict=True) if odd] == [3]
    assert "Misfitting judges (infit larger than the model allows): 1 of 12: 3." in str(found)
    assert found.judge_table().to_frame()["judge"].iloc[0] == 3


def test_halves_are_correlated_as_two_fits_of_their_judges(frame, res):
    """One split by hand, of the judges that the seed draws, and Fisher's interval by hand."""
    found = llbt.reliability(res, n=1, rng=5).halves
    order = np.random.default_rng(int(np.random.default_rng(5).integers(2**63, size=1)[0])).permutation(12)
    first = frame["judge"].isin(order[:6])
    worths = [
        llbt.worth(llbt.fit("object + tie", llbt.from_judgments(part)), scale="log_worth").to_frame()
        .set_index("object")["estimate"].sort_index() for part in (frame[first], frame[~first])
    ]  # fmt: skip
    r = np.corrcoef(*worths)[0, 1]
    assert found.half[0] == pytest.approx(r, abs=1e-6)
    assert found.whole[0] == pytest.approx(2 * r / (1 + r), abs=1e-6)
    by_scipy = stats.pearsonr(*worths).confidence_interval(0.95)
    assert found.half[1:].tolist() == pytest.approx([by_scipy.low, by_scipy.high], abs=1e-6)
    assert found.whole[1] == pytest.approx(2 * by_scipy.low / (1 + by_scipy.low), abs=1e-6)


def test_a_half_with_infinite_worths_is_fitted_with_a_prior_and_counted():
    frame = judged(judges=4, number=8, seed=3, ties=False)
    found = llbt.reliability(llbt.fit("object", llbt.from_judgments(frame, clusters="judge"), prior=1.0), n=5)
    assert np.isfinite(found.halves.half[0])
    assert any("The prior shrinks worths" in note for note in found.notes)
    assert stepped_up(np.array([0.5, -0.9])).tolist() == pytest.approx([2 / 3, -1.0])


def test_marks_are_predicted_as_by_statsmodels(res, found):
    """Three or more anchors of errors as large as the others': the prediction interval of ordinary least squares."""
    anchors = dict(zip(OBJECTS[:5], (50.0, 42.0, 61.0, 30.0, 55.0), strict=True))
    marks = llbt.reliability(res, anchors=anchors, n=1).anchored
    x, y = found.estimate, np.array(list(anchors.values()))
    fit = sm.OLS(y, sm.add_constant(x[:5])).fit()
    expected = fit.get_prediction(sm.add_constant(x)).summary_frame(alpha=0.05)
    assert marks.estimate == pytest.approx(expected["mean"].to_numpy())
    more = np.diag(fit.params[1] ** 2 * np.maximum(np.diag(found.std_error**2) - np.mean(found.std_error[:5] ** 2), 0))
    half = (expected["obs_ci_upper"] - expected["mean"]).to_numpy()
    half = np.sqrt(half**2 + stats.t.ppf(0.975, 3) ** 2 * more)
    assert (marks.high - marks.estimate)[5:] == pytest.approx(half[5:])
    assert np.isnan(marks.low[:5]).all()


@pytest.mark.slow
def test_prediction_intervals_of_marks_hold_in_about_95_percent():
    """Marks that deviate from a line through the true log-worths; 6 of 15 objects are anchors."""
    held = []
    names = [f"o{k:02}" for k in range(15)]
    i, j = np.triu_indices(15, 1)
    for table in range(60):
        rng = np.random.default_rng([4, table])
        worth = rng.normal(0, 0.5, 15)
        wins = rng.binomial(6, 1 / (1 + np.exp(-2 * (worth[i] - worth[j]))))
        given = 50 + 20 * worth + rng.normal(0, 4, 15)
        pairs = {"object_i": np.array(names)[i], "object_j": np.array(names)[j], "wins_i": wins, "wins_j": 6 - wins}
        res = llbt.fit("object", llbt.from_counts(pd.DataFrame(pairs)))
        marks = llbt.reliability(res, anchors=dict(zip(names[:6], given[:6], strict=True))).anchored
        held.append(((marks.low <= given) & (given <= marks.high))[6:])
    assert 0.93 <= np.mean(held) <= 0.99


def test_two_anchors_fix_the_line_and_errors_are_by_the_delta_method(res):
    marks = llbt.reliability(res, anchors={"o00": 40, "o05": 60}, n=1).anchored
    names = [name for name in res.names if name.startswith("object[")]
    labels = [name[7:-1] for name in names]
    cov = res.cov_params().loc[names, names].to_numpy()

    def mark(values, label):
        worth = dict(zip(labels, values, strict=True)) | {res.reference: 0.0}
        return 40 + 20 * (worth[label] - worth["o00"]) / (worth["o05"] - worth["o00"])

    values = res.params[names].to_numpy()
    for k, label in enumerate(OBJECTS):
        slope = [(mark(values + d, label) - mark(values - d, label)) / 2e-6 for d in 1e-6 * np.eye(len(values))]
        half = 1.959964 * np.sqrt(np.array(slope) @ cov @ slope)
        assert marks.estimate[k] == pytest.approx(mark(values, label))
        if label not in ("o00", "o05"):
            assert marks.high[k] - marks.estimate[k] == pytest.approx(half, rel=1e-4)
    assert "Two anchors" in marks.notes[0]


def test_the_printout_points_to_the_marks(res):
    """Anchors that were given are not passed over in the printout."""
    pointer = "Marks of all objects on the scale of 2 anchors: .marks()"
    assert pointer in str(llbt.reliability(res, anchors={"o00": 40, "o05": 60}, n=1))
    assert "Marks" not in str(llbt.reliability(res, n=1))


def test_close_pairs_bring_a_warning(res, found):
    c, worth = res.comparisons, found.estimate
    every = np.mean([abs(a - b) for k, a in enumerate(worth) for b in worth[:k]])
    judged_pairs = np.average(np.abs(worth[c.pairs[:, 0]] - worth[c.pairs[:, 1]]), weights=c.totals)
    assert closeness(worth, c) == pytest.approx(judged_pairs / every)
    near = np.abs(np.arange(8)[c.pairs[:, 0]] - np.arange(8)[c.pairs[:, 1]]) <= 1
    frame = c.to_frame()[near]
    chain = llbt.from_counts(frame.assign(wins_i=range(9, 9 + len(frame)), wins_j=5, ties=2))
    text = str(llbt.reliability(llbt.fit("object + tie", chain)))
    assert "adaptive pairing), SSR and split halves are too large" in " ".join(text.split())


@pytest.mark.parametrize(
    ("anchors", "said"),
    [
        ({"o00": 1}, "anchors has 1 object;"),
        ({}, "anchors has 0 objects"),
        ({"o00": 1, "o1": 2}, "did you mean 'o01'"),
        ({"o00": 1, "o01": 1}, "all anchors have the mark 1"),
        ({"o00": 1, "o01": float("nan")}, "the mark of 'o01' is nan"),
    ],
)
def test_anchors_that_make_no_line_are_refused(res, anchors, said):
    with pytest.raises(OptionError, match=said):
        llbt.reliability(res, anchors=anchors)


def test_three_objects_have_no_interval_of_split_halves():
    frame = judged(judges=8, number=200)
    three = frame[frame[["object_i", "object_j"]].isin(OBJECTS[:3]).all(axis=1)]
    c = llbt.from_judgments(three, clusters="judge")
    found = llbt.reliability(llbt.fit("object + tie", c), n=3)
    assert "No interval of split halves: 3 objects, Fisher's interval needs 4." in found.notes
    assert np.isnan(found.halves.half[1:]).all()


def test_what_is_not_answered_is_named(res):
    alone = llbt.reliability(llbt.fit("object + tie", res.comparisons.pool("judge")))
    assert alone.halves is None
    assert "No split halves and no judge fit" in str(alone)
    with pytest.raises(OptionError, match="keeps no judges"):
        alone.judge_table()
    with pytest.raises(OptionError, match="no anchors"):
        alone.marks()
    three = llbt.from_judgments(judged(judges=3, number=60), clusters="judge")
    assert "too few for split halves" in str(llbt.reliability(llbt.fit("object + tie", three)))
    assert np.isnan(separation_reliability(np.zeros(3), np.ones(3)))


def test_the_printout_is_narrow_and_answers_first(res):
    found = llbt.reliability(res, anchors={"o00": 41, "o01": 12, "o03": 30}, n=5)
    for text in (str(found), str(found.object_table()), str(found.judge_table()), str(found.marks())):
        assert max(map(len, text.splitlines())) <= 88
    assert str(found).splitlines()[1].startswith("SSR = .")
