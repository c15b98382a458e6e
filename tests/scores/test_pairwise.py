"""Pairs of systems compared on the same instances: every test against scipy or full enumeration, pair by pair."""

import importlib
import itertools
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.core.statistics import adjust_p
from llbt.data.system_scores import SystemScores
from llbt.errors import JudgmentError, OptionError
from llbt.scores.paired_tests import (
    PairedScores,
    largest,
    median_test,
    moments,
    sign_test_of,
    t_test,
    wilcoxon_test,
)

ALTERNATIVES = ("two-sided", "greater", "less")
NAN = math.nan


def scores(instances: int = 80, systems: int = 5, missing: float = 0.0, decimals: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    values = rng.normal(size=(instances, 1)) + rng.normal(size=(instances, systems)) + np.linspace(0, 0.6, systems)
    frame = pd.DataFrame(values.round(decimals), columns=[f"S{k}" for k in range(systems)])
    return frame.mask(rng.random(frame.shape) < missing)


def each_pair(frame: pd.DataFrame) -> list[tuple[Any, Any]]:
    """Scores of both systems of each pair, on the instances that have both."""
    pairs = itertools.combinations(sorted(frame), 2)
    return [tuple(frame[list(pair)].dropna().to_numpy().T) for pair in pairs]  # type: ignore[misc]


FRAMES = {
    "complete": scores(),
    "missing": scores(missing=0.2),
    "coarse": scores(decimals=0),
    "few": scores(instances=12),
    "few, coarse": scores(instances=15, decimals=0),
}
FRAME = pytest.mark.parametrize("frame", FRAMES.values(), ids=list(FRAMES))
ALTERNATIVE = pytest.mark.parametrize("alternative", ALTERNATIVES)


# -- each figure by a second route --------------------------------------------------------------------------------


@FRAME
def test_counts_means_and_medians_are_those_of_a_loop(frame: pd.DataFrame) -> None:
    found = llbt.scores.pairwise(frame)
    for k, (i, j) in enumerate(each_pair(frame)):
        assert found.n[k] == len(i)
        assert found.counts[k].tolist() == [(i > j).sum(), (i == j).sum(), (i < j).sum()]
        assert found.mean_difference[k] == pytest.approx(i.mean() - j.mean(), abs=1e-12)
        assert found.median_difference[k] == pytest.approx(np.median(i - j), abs=1e-12)
        assert found.difference_of_medians[k] == pytest.approx(np.median(i) - np.median(j), abs=1e-12)
        assert found.win_share[k] == pytest.approx(((i > j) + 0.5 * (i == j)).mean())


@FRAME
@ALTERNATIVE
def test_t_is_scipys(frame: pd.DataFrame, alternative: Any) -> None:
    found = llbt.scores.pairwise(frame, alternative=alternative, confidence=0.9)
    for k, (i, j) in enumerate(each_pair(frame)):
        known = stats.ttest_rel(i, j, alternative=alternative)
        test = found.tests["t"]
        assert (test.statistic[k], test.df[k]) == (pytest.approx(known.statistic), known.df)
        assert test.p_value[k] == pytest.approx(known.pvalue, rel=1e-9)
        assert test.effect[k] == pytest.approx((i - j).mean() / (i - j).std(ddof=1))
        interval = stats.ttest_rel(i, j).confidence_interval(0.9)
        assert (found.conf_low[k], found.conf_high[k]) == (pytest.approx(interval.low), pytest.approx(interval.high))


@FRAME
def test_moods_test_is_scipys(frame: pd.DataFrame) -> None:
    test = llbt.scores.pairwise(frame).tests["median"]
    for k, (i, j) in enumerate(each_pair(frame)):
        known = stats.median_test(i, j)
        assert test.statistic[k] == pytest.approx(known.statistic, abs=1e-12)
        assert test.p_value[k] == pytest.approx(known.pvalue, rel=1e-9)
        assert test.effect[k] == pytest.approx((known.table[0, 0] - known.table[0, 1]) / len(i))


@FRAME
def test_one_sided_moods_tests_share_out_the_two_sided_one(frame: pd.DataFrame) -> None:
    both, greater, less = (llbt.scores.pairwise(frame, alternative=a).tests["median"] for a in ALTERNATIVES)  # type: ignore[arg-type]
    np.testing.assert_allclose(2 * np.minimum(greater.p_value, less.p_value), np.minimum(both.p_value, 1), rtol=1e-9)
    ahead = both.effect > 0
    assert (greater.p_value[ahead] <= less.p_value[ahead]).all()


@FRAME
@ALTERNATIVE
def test_the_sign_test_is_scipys_binomial_test(frame: pd.DataFrame, alternative: Any) -> None:
    test = llbt.scores.pairwise(frame, alternative=alternative).tests["sign"]
    for k, (i, j) in enumerate(each_pair(frame)):
        wins, losses, ties = int((i > j).sum()), int((i < j).sum()), int((i == j).sum())
        known = stats.binomtest(wins, wins + losses, alternative=alternative)
        assert (test.statistic[k], test.p_value[k]) == (wins, pytest.approx(known.pvalue))
        assert test.effect[k] == pytest.approx((wins + ties / 2) / (losses + ties / 2))


@FRAME
@ALTERNATIVE
def test_wilcoxon_is_scipys(frame: pd.DataFrame, alternative: Any) -> None:
    """Exact up to 50 differences without equal ones, else by the normal approximation; enumeration is tested below."""
    test = llbt.scores.pairwise(frame, alternative=alternative).tests["wilcoxon"]
    for k, (i, j) in enumerate(each_pair(frame)):
        d = (i - j)[i != j].round(12)
        ranks = stats.rankdata(np.abs(d))
        assert test.statistic[k] == pytest.approx(ranks[d > 0].sum())
        assert test.effect[k] == pytest.approx((ranks * np.sign(d)).sum() / ranks.sum())
        equal = len(np.unique(np.abs(d))) < len(d)
        if len(d) > 50 or not equal:
            method = "asymptotic" if len(d) > 50 else "exact"
            known = stats.wilcoxon(d, alternative=alternative, method=method)
            assert test.p_value[k] == pytest.approx(known.pvalue, rel=1e-9)


@ALTERNATIVE
@pytest.mark.parametrize(
    "difference", [[1, 1, 2, -3, 3, 4], [2, -2, 2, 2, 0, 0], [-1], [5, 5, -5, 1, -2, -2, 7, 0, 3]], ids=str
)
def test_signed_ranks_with_equal_ones_have_the_p_values_of_all_signs(difference: list[int], alternative: Any) -> None:
    frame = pd.DataFrame({"A": difference, "B": np.zeros(len(difference))})
    found = llbt.scores.pairwise(frame, alternative=alternative).tests["wilcoxon"].p_value[0]
    d = np.array([x for x in difference if x])
    ranks = stats.rankdata(np.abs(d))
    seen = ranks[d > 0].sum()
    sums = np.array([np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=len(d))])
    greater, less = np.mean(sums >= seen), np.mean(sums <= seen)
    assert found == pytest.approx({"greater": greater, "less": less}.get(alternative, min(1, 2 * min(greater, less))))


def test_bt_is_the_model_of_all_pairs() -> None:
    """The second route reads the scores as ratings in blocks."""
    frame = scores(decimals=0)
    blocks = frame.rename_axis("block").reset_index().melt("block", var_name="object", value_name="rating")
    res = llbt.fit("object", llbt.from_ratings(blocks, block="block").to_comparisons().drop_ties())
    worth = llbt.worth(res).to_frame().set_index("object")["estimate"]
    found = llbt.scores.pairwise(frame)
    known = [worth[a] / (worth[a] + worth[b]) for a, b in itertools.combinations(frame, 2)]
    np.testing.assert_allclose(found.bt_probability, known, rtol=1e-8)
    matrix = found.probabilities("bt")
    assert matrix.loc["S3", "S1"] == pytest.approx(worth["S3"] / (worth["S3"] + worth["S1"]))


def test_probabilities_of_all_mechanisms() -> None:
    found = llbt.scores.pairwise(pd.DataFrame({"A": [9.0, 1, 2, 3, 0], "B": [1.0, 2, 3, 4, 0], "C": [5.0, 2, 1, 4, 3]}))
    wins, mean, median = (found.probabilities(m) for m in ("wins", "mean", "median"))
    assert wins.loc["A", "B"] == pytest.approx((1 + 0.5) / 5)
    np.testing.assert_allclose(wins + wins.T, 1 - np.where(np.eye(3), np.nan, 0))
    assert (mean.loc["A", "B"], mean.loc["A", "C"], mean.loc["B", "C"]) == (1.0, 0.5, 0.0)
    assert (median.loc["A", "B"], median.loc["B", "A"]) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("adjust", "said"),
    [(None, "not adjusted"), ("holm", "Holm's"), ("bonferroni", "Bonferroni's"), ("fdr_bh", "FDR")],
)
def test_p_values_are_adjusted_each_test_apart(adjust: Any, said: str) -> None:
    found = llbt.scores.pairwise(scores(), adjust=adjust)
    for name, test in found.tests.items():
        known = test.p_value if adjust is None else adjust_p(test.p_value, adjust)
        np.testing.assert_array_equal(found.p_adjusted[name], known)
    assert said in found.notes[0]
    assert (", for each test" in found.notes[0]) == (adjust is not None)


# -- ties and rounding --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threshold", "relative", "counts"),
    [(0.0, False, [2, 1, 1]), (0.1, False, [1, 2, 1]), (0.15, True, [1, 2, 1]), (0.2, True, [1, 3, 0])],
)
def test_ties_are_scores_within_the_threshold(threshold: float, relative: bool, counts: list[int]) -> None:
    """0.8 − 0.7 > 0.1 in floats, and 0.1 + 0.2 is not 0.3; 0.1/0.8 = .125, 1/5 = .2."""
    frame = pd.DataFrame({"A": [0.8, 0.1 + 0.2, 4.0, 10.0], "B": [0.7, 0.3, 5.0, 1.0]})
    found = llbt.scores.pairwise(SystemScores.from_wide(frame, tie_threshold=threshold, relative=relative))
    assert found.counts[0].tolist() == counts


def test_rounding_makes_no_ranks() -> None:
    """0.3 − 0.2 and 0.2 − 0.1 are equal: the same p-values as tenfold, in whole numbers."""
    coarse = scores(instances=30, decimals=1)
    whole = (10 * coarse).round()
    for name, test in llbt.scores.pairwise(coarse).tests.items():
        np.testing.assert_allclose(test.p_value, llbt.scores.pairwise(whole).tests[name].p_value, rtol=1e-9)


def test_lower_may_be_better() -> None:
    frame = scores()
    up, down = (llbt.scores.pairwise(x) for x in (-frame, SystemScores.from_wide(frame, higher_is_better=False)))
    pd.testing.assert_frame_equal(up.to_frame(), down.to_frame())
    assert any("lower scores are better" in note for note in down.notes)


def test_the_order_of_columns_and_the_form_of_the_frame_do_not_matter() -> None:
    frame = scores(missing=0.1)
    known = llbt.scores.pairwise(frame).to_frame()
    pd.testing.assert_frame_equal(llbt.scores.pairwise(frame[frame.columns[::-1]]).to_frame(), known)
    long = frame.rename_axis("instance").reset_index().melt("instance", var_name="system", value_name="score")
    pd.testing.assert_frame_equal(llbt.scores.pairwise(long).to_frame(), known)


def test_blocks_of_pairs_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = scores(missing=0.1)
    known = llbt.scores.pairwise(frame)
    monkeypatch.setattr(importlib.import_module("llbt.scores.pairwise"), "_MOST_VALUES", 3 * len(frame))
    again = llbt.scores.pairwise(frame)
    pd.testing.assert_frame_equal(again.to_frame(), known.to_frame())
    pd.testing.assert_frame_equal(again.test_table().to_frame(), known.test_table().to_frame())


# -- agreement of tests -------------------------------------------------------------------------------------------


def test_significance_counts_what_other_tests_find_too() -> None:
    found = llbt.scores.pairwise(scores(systems=7), adjust=None)
    frame = found.significance(0.05).to_frame().set_index("test")
    hit = {name: test.p_value <= 0.05 for name, test in found.tests.items()}
    assert 0 < hit["sign"].sum() < len(found.pairs)
    for a, b in itertools.product(hit, repeat=2):
        assert frame.loc[a, "significant"] == hit[a].sum()
        assert frame.loc[a, b] == pytest.approx((hit[a] & hit[b]).sum() / hit[a].sum())


def test_a_test_that_finds_nothing_has_no_shares() -> None:
    frame = llbt.scores.pairwise(pd.DataFrame({"A": [1.0, 2, 3], "B": [1.0, 2, 4]})).significance().to_frame()
    assert frame["significant"].tolist() == [0, 0, 0, 0]
    assert frame[["t", "median", "sign", "wilcoxon"]].isna().all(axis=None)


# -- where something is not defined -------------------------------------------------------------------------------

UNDEFINED: dict[str, tuple[dict[str, list[float]], dict[str, float], str]] = {
    "identical systems": (
        {"A": [1, 2, 3], "B": [1, 2, 3]},
        {"t": NAN, "median": 1.0, "sign": NAN, "wilcoxon": NAN},
        "paired t: NA in 1 pair, differences do not vary",
    ),
    "constant scores": (
        {"A": [0.1, 0.1, 0.1], "B": [0.1, 0.1, 0.1]},
        {"t": NAN, "median": NAN, "sign": NAN, "wilcoxon": NAN},
        "Mood's median test: NA in 1 pair, no score lies above the common median",
    ),
    "constant difference": (
        {"A": [0.3, 0.4, 0.5], "B": [0.1, 0.2, 0.3]},
        {"t": NAN, "sign": 0.25, "wilcoxon": 0.25},
        "paired t: NA in 1 pair, differences do not vary",
    ),
    "one instance": (
        {"A": [2.0], "B": [1.0]},
        {"t": NAN, "median": 1.0, "sign": 1.0, "wilcoxon": 1.0},
        "paired t: NA in 1 pair with one instance",
    ),
    "a column of NaN": (
        {"A": [2.0, 1.0], "B": [NAN, NAN]},
        {"t": NAN, "median": NAN, "sign": NAN, "wilcoxon": NAN},
        "1 pair without a common instance: nothing is defined",
    ),
    "no common instance": (
        {"A": [2.0, NAN], "B": [NAN, 1.0]},
        {"t": NAN, "median": NAN, "sign": NAN, "wilcoxon": NAN},
        "missing scores: 2 of 2 instances left out in 1 pair",
    ),
    "a system that never wins": (
        {"A": [2.0, 3.0, 7.0], "B": [1.0, 1.0, 1.0]},
        {"sign": 0.25},
        "BT: NA, {A} won all 3 judgments against {B}, so their log-worths differ by ∞ and have no finite estimate",
    ),
}


@pytest.mark.parametrize(("frame", "p_values", "note"), UNDEFINED.values(), ids=list(UNDEFINED))
def test_what_is_not_defined_is_nan_with_a_note(frame: Any, p_values: dict[Any, float], note: str) -> None:
    found = llbt.scores.pairwise(pd.DataFrame(frame, dtype=float))
    for name, p in p_values.items():
        assert found.tests[name].p_value[0] == pytest.approx(p, nan_ok=True), name
    assert note in found.notes
    assert np.isnan(found.bt_probability).all()
    assert "NA" in found.as_text()


def test_a_system_without_scores_leaves_the_others_as_they_are() -> None:
    frame = scores()
    found = llbt.scores.pairwise(frame.assign(S9=np.nan)).to_frame()
    known = llbt.scores.pairwise(frame).to_frame()
    pd.testing.assert_frame_equal(found[found["object_j"] != "S9"].reset_index(drop=True), known)
    assert found.loc[found["object_j"] == "S9", "bt_probability":].isna().all(axis=None)


def test_the_record_prints_and_survives_pickling() -> None:
    found = llbt.scores.pairwise(scores(systems=12))
    assert "… 6 more rows: .to_frame()" in found.as_text()
    assert len(found.to_frame()) == 66
    assert len(found.test_table().to_frame()) == 4 * 66
    assert pickle.loads(pickle.dumps(found)).as_text() == found.as_text()


ERRORS: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "adjust": (scores(), {"adjust": "tukey"}, OptionError, r"adjust='tukey'; expected 'holm'"),
    "alternative": (scores(), {"alternative": "both"}, OptionError, "alternative='both'"),
    "confidence": (scores(), {"confidence": 95}, OptionError, "scores.pairwise: confidence=95"),
    "one system": (scores()[["S0"]], {}, JudgmentError, "scores.pairwise: 1 column of scores"),
    "no row": (scores().head(0), {}, JudgmentError, "the frame: no rows"),
    "infinite": (scores().replace(scores().iloc[3, 0], np.inf), {}, JudgmentError, "1 infinite score, the first at"),
}


@pytest.mark.parametrize(("frame", "options", "error", "says"), ERRORS.values(), ids=list(ERRORS))
def test_errors_say_what_was_found(frame: Any, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        llbt.scores.pairwise(frame, **options)


@pytest.mark.parametrize("alpha", [0, 5, "x"])
def test_alpha_is_a_level(alpha: Any) -> None:
    with pytest.raises(OptionError, match="significance: alpha="):
        llbt.scores.pairwise(scores()).significance(alpha)


def test_an_unknown_mechanism_is_an_error() -> None:
    with pytest.raises(OptionError, match=r"probabilities: mechanism='elo'; expected 'wins'"):
        llbt.scores.pairwise(scores()).probabilities("elo")  # type: ignore[arg-type]


# -- simulation, and real scores ----------------------------------------------------------------------------------


def test_tests_hold_their_level_where_systems_do_not_differ() -> None:
    """8,000 pairs of 40 instances, exchangeable and paired: Mood's test, which takes them as unpaired, rejects less."""
    rng = np.random.default_rng(3)
    common = rng.normal(size=(8000, 40))
    pair = PairedScores(common + rng.normal(size=common.shape), common + rng.normal(size=common.shape))
    d, scale, n = pair.i - pair.j, largest(pair.larger), pair.n
    wins = np.sum(d > 0, axis=1)
    tests = {
        "t": t_test(*moments(d, scale), n, "two-sided"),
        "median": median_test(pair, "two-sided"),
        "sign": sign_test_of(np.column_stack([wins, 0 * wins, n - wins]).astype(float), "two-sided"),
        "wilcoxon": wilcoxon_test(d, d == 0, scale, "two-sided"),
    }
    share = {name: np.mean(test.p_value <= 0.05) for name, test in tests.items()}
    assert 0.044 < share["t"] < 0.056
    assert 0.043 < share["wilcoxon"] < 0.056
    exact = 2 * stats.binom.cdf(13, 40, 0.5)  # the largest level that 40 instances have below 5 %
    assert share["sign"] == pytest.approx(exact, abs=0.007)
    assert share["median"] < 0.03


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["TAC_08_scores.csv.gz", "Dialogue_tc_scores.csv.gz"])
def test_real_scores_agree_with_scipy_pair_by_pair(shared: Path, name: str) -> None:
    every = pd.read_csv(shared / "data" / name)
    for _, frame in list(every.groupby("metric"))[:2]:
        wide = frame.drop(columns=["metric", "instance"]).reset_index(drop=True)
        found, pairs = llbt.scores.pairwise(wide, adjust=None), each_pair(wide)
        for k in range(0, len(pairs), 41 if len(pairs) > 100 else 1):
            i, j = pairs[k]
            assert found.counts[k].tolist() == [(i > j).sum(), (i == j).sum(), (i < j).sum()]
            if np.ptp(i - j) > 0:
                assert found.tests["t"].p_value[k] == pytest.approx(stats.ttest_rel(i, j).pvalue, rel=1e-7)
                decided = (i != j).sum()
                known = stats.binomtest(int((i > j).sum()), int(decided)).pvalue
                assert found.tests["sign"].p_value[k] == pytest.approx(known)
            above = found.tests["median"].p_value[k]
            assert above == pytest.approx(stats.median_test(i, j).pvalue, rel=1e-7)


@pytest.mark.shared
def test_mean_and_sign_test_do_not_find_the_same_pairs(shared: Path) -> None:
    """TAC-08, S3_resp, 25 systems: the tests agree on most pairs, not on all; counted by scipy, pair by pair."""
    every = pd.read_csv(shared / "data" / "TAC_08_scores.csv.gz")
    wide = every[every["metric"] == "S3_resp"].drop(columns=["metric", "instance"]).iloc[:, :25]
    table = llbt.scores.pairwise(wide, adjust=None).significance().to_frame().set_index("test")
    hits = [
        (stats.ttest_rel(i, j).pvalue <= 0.05, stats.binomtest(int((i > j).sum()), int((i != j).sum())).pvalue <= 0.05)
        for i, j in each_pair(wide)
        if np.ptp(i - j) > 0
    ]
    t, sign = np.array(hits).T
    assert table.loc["t", "significant"] == t.sum()
    assert table.loc["t", "sign"] == pytest.approx((t & sign).sum() / t.sum())
    assert 0.5 < table.loc["t", "sign"] < 1


def test_tests_of_several_setups_are_counted_together_as_one_by_one() -> None:
    """Pairs counted one by one by scipy's paired t test and Wilcoxon's test."""
    frames = [llbt.scores.simulate(n_systems=4, n_instances=30, rng=k).frame for k in range(3)]
    setups = {k: frame.drop(columns=["instance", "type"]) for k, frame in enumerate(frames)}
    table = llbt.scores.compare_tests(setups, alpha=0.1).to_frame().set_index("test")
    p = np.array(
        [
            [stats.ttest_rel(frame[a], frame[b]).pvalue, stats.wilcoxon(frame[a], frame[b]).pvalue]
            for frame in setups.values()
            for a, b in itertools.combinations(frame, 2)
        ]
    )
    t, wilcoxon = (p <= 0.1).T
    assert table.loc[["t", "wilcoxon"], "significant"].tolist() == [t.sum(), wilcoxon.sum()]
    assert table.loc["t", "share"] == t.mean()
    assert table.loc["t", "wilcoxon"] == (t & wilcoxon).sum() / t.sum()
    with pytest.raises(OptionError, match="setups is empty; expected a mapping"):
        llbt.scores.compare_tests({})


@pytest.mark.slow
@pytest.mark.shared
def test_tests_of_the_public_setups_of_the_paper(shared: Path) -> None:
    """Section 5 and figure 6 of Peyrard et al. on two of their sets: the t test confirms Mood's."""
    setups = {
        f"{name}, {metric}": scores.drop(columns=["metric", "instance"]).dropna(axis=1, how="all")
        for name in ("TAC_08_scores", "Dialogue_tc_scores")
        for metric, scores in pd.read_csv(shared / "data" / f"{name}.csv.gz").groupby("metric", sort=False)
    }
    answer = llbt.scores.compare_tests(setups)
    table = answer.to_frame().set_index("test")
    assert "21,619" in answer.as_text()
    assert table["share"].round(2).to_dict() == {"t": 0.59, "median": 0.34, "sign": 0.50, "wilcoxon": 0.60}
    assert table.loc["median", ["t", "sign"]].round(2).tolist() == [0.98, 0.94]
