"""Leaderboards of scores: tests, ranges and clusters against scipy, statsmodels, mcnemar_test and full enumeration."""

import itertools
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests
from support.in_full import in_full

import llbt
from llbt.data.system_scores import SystemScores, TieRule
from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.resampling import Resampler
from llbt.scores.board_tests import BoardTest, board_pairs
from llbt.scores.grouped_tests import Units
from llbt.scores.leaderboard_result import ScoreLeaderboard
from llbt.scores.sign_flips import exact_flip_p, flip_p, random_flip_p

NAN = math.nan
TESTS: tuple[BoardTest, ...] = ("wilcoxon", "t", "mcnemar", "permutation")
board_of = llbt.scores.leaderboard


def scores(instances: int = 60, systems: int = 6, spread: float = 1.0, missing: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    values = rng.normal(size=(instances, 1)) + rng.normal(size=(instances, systems)) * 0.8
    frame = pd.DataFrame(values + spread * np.linspace(0, 1, systems), columns=[f"S{k}" for k in range(systems)])
    return frame.mask(rng.random(frame.shape) < missing)


def right(instances: int = 60, systems: int = 5, missing: float = 0.0) -> pd.DataFrame:
    frame = (scores(instances, systems, 1.5) > 0.4).astype(float)
    return frame.mask(np.random.default_rng(2).random(frame.shape) < missing)


def documents(frame: pd.DataFrame, number: int = 9) -> pd.DataFrame:
    """The same scores with a column of documents of different lengths."""
    return frame.assign(doc=[f"d{k}" for k in np.random.default_rng(5).integers(number, size=len(frame))])


def pairs_of(board: ScoreLeaderboard, frame: pd.DataFrame) -> list[tuple[Any, Any]]:
    """The scores of both systems of each pair, in the order of the board, on the instances that both have."""
    found = [frame[[board.systems[i], board.systems[j]]].dropna() for i, j in board.pairs]
    return [(pair.iloc[:, 0].to_numpy(), pair.iloc[:, 1].to_numpy()) for pair in found]


def enumerated(sums: np.ndarray) -> float:
    """P(|Σ ± s| ≥ |Σ s|), by going through all signs one by one."""
    signs = itertools.product((1, -1), repeat=len(sums))
    reached = [abs(np.dot(sign, sums)) >= abs(sums.sum()) - 1e-9 for sign in signs]
    return float(np.mean(reached))


FRAMES = pytest.mark.parametrize("missing", [0.0, 0.15])


# -- each test by a second route -----------------------------------------------------------------------------------


@FRAMES
def test_wilcoxon_and_t_are_scipys(missing: float) -> None:
    frame = scores(missing=missing)
    signed, t = board_of(frame), board_of(frame, test="t")
    for k, (i, j) in enumerate(pairs_of(signed, frame)):
        known = stats.wilcoxon(i, j, method="exact" if len(i) <= 50 else "asymptotic")
        assert signed.p_value[k] == pytest.approx(known.pvalue, rel=1e-9)
        paired = stats.ttest_rel(i, j)
        assert (t.statistic[k], t.p_value[k]) == (pytest.approx(paired.statistic), pytest.approx(paired.pvalue))
        assert t.difference[k] == pytest.approx((i - j).mean())
        assert t.pair_n[k] == len(i)
    np.testing.assert_allclose(t.plain_mean, [frame[s].mean() for s in t.systems])
    if not missing:
        np.testing.assert_allclose(t.std_error, [frame[s].sem() for s in t.systems])
        np.testing.assert_array_equal(t.estimate, t.plain_mean)


@FRAMES
def test_mcnemar_is_mcnemar_test(missing: float) -> None:
    frame = right(missing=missing)
    board = board_of(frame, test="mcnemar")
    for k, (i, j) in enumerate(pairs_of(board, frame)):
        known = llbt.classical.mcnemar_test(pd.crosstab(i, j))
        assert board.statistic[k] == known.statistic
        assert board.p_value[k] == pytest.approx(known.p_value, rel=1e-9)
        assert board.counts[k].tolist() == [(i > j).sum(), (i == j).sum(), (i < j).sum()]


@FRAMES
def test_few_instances_are_permuted_in_all_ways(missing: float) -> None:
    frame = scores(instances=11, systems=4, missing=missing)
    board = board_of(frame, test="permutation")
    for k, (i, j) in enumerate(pairs_of(board, frame)):
        known = stats.permutation_test(
            (i, j), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=math.inf
        )
        assert board.p_value[k] == pytest.approx(min(known.pvalue, 1))
        assert board.p_value[k] == pytest.approx(enumerated(i - j))
        assert board.statistic[k] == pytest.approx(known.statistic)


@pytest.mark.parametrize("units", [1, 2, 7, 12])
def test_meeting_in_the_middle_goes_through_all_signs(units: int) -> None:
    rng = np.random.default_rng(units)
    for sums in (rng.normal(0.4, 1, size=units), rng.integers(-3, 5, size=units).astype(float), np.zeros(units)):
        assert exact_flip_p(sums) == pytest.approx(enumerated(sums))


def test_many_units_are_held_against_the_normal() -> None:
    sums = np.random.default_rng(1).normal(0.3, 1, size=(40, 25))
    exact = [exact_flip_p(row) for row in sums]
    np.testing.assert_allclose(flip_p(sums), exact, atol=0.02)
    np.testing.assert_allclose(flip_p(sums[:, :24]), [exact_flip_p(row) for row in sums[:, :24]])


@pytest.mark.parametrize("grouped", [False, True])
@FRAMES
def test_random_exchanges_come_near_to_all(missing: float, grouped: bool) -> None:
    x = scores(instances=21, systems=4, spread=0.6, missing=missing).T.to_numpy()
    units = Units.of(np.arange(21) // 3 if grouped else np.arange(21))
    pairs = np.column_stack(np.triu_indices(4, 1))
    n = 40_000
    drawn = random_flip_p(x, units, pairs, n, Resampler.of("x", 1))
    exact = np.array([exact_flip_p(units.sums(x[[i]] - x[[j]])[0]) for i, j in pairs])
    np.testing.assert_allclose(drawn, exact, atol=4 * np.sqrt(0.25 / n))
    np.testing.assert_allclose(drawn * (n + 1), np.rint(drawn * (n + 1)))
    assert drawn.min() >= 1 / (n + 1)


# -- the whole board -------------------------------------------------------------------------------------------------


def by_scipy(frame: pd.DataFrame) -> tuple[list[str], list[int], list[int], list[int]]:
    """Order, ranges of ranks and clusters, in ten lines of scipy and statsmodels."""
    order = frame.mean().sort_values(ascending=False).index.tolist()
    pairs = list(itertools.combinations(order, 2))
    p = [stats.wilcoxon(frame[i], frame[j], method="asymptotic").pvalue for i, j in pairs]
    sure = multipletests(p, 0.05, method="holm")[0]
    ahead = [stats.rankdata(abs(frame[i] - frame[j])) @ np.sign(frame[i] - frame[j]) > 0 for i, j in pairs]
    beats = {(i, j) if a else (j, i) for (i, j), s, a in zip(pairs, sure, ahead, strict=True) if s}
    low = [1 + sum((j, i) in beats for j in order) for i in order]
    high = [len(order) - sum((i, j) in beats for j in order) for i in order]
    breaks = [all((i, j) in beats for i in order[:k] for j in order[k:]) for k in range(1, len(order))]
    return order, low, high, [1, *(1 + np.cumsum(breaks)).tolist()]


def test_ranges_and_clusters_are_ten_lines_of_scipy() -> None:
    """As REALSumm: 100 documents, of which all systems have summaries."""
    frame = scores(instances=100, systems=12, spread=2.5)
    found = board_of(frame).to_frame()
    order, low, high, clusters = by_scipy(frame)
    assert found["object"].tolist() == order
    assert found["rank_low"].tolist() == low
    assert found["rank_high"].tolist() == high
    assert found["significance_cluster"].tolist() == clusters
    assert 1 < max(clusters) < len(order)
    assert found["rank"].tolist() == list(range(1, 13))


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "fdr_bh", None])
def test_p_values_are_adjusted_over_all_pairs(adjust: Any) -> None:
    board = board_of(scores(), test="t", adjust=adjust)
    known = board.p_value if adjust is None else multipletests(board.p_value, method=adjust)[1]
    np.testing.assert_allclose(board.p_adjusted, known)
    wide = board_of(scores(), test="t", adjust=adjust, confidence=0.999)
    assert (wide.rank_low <= board.rank_low).all()
    assert (wide.rank_high >= board.rank_high).all()


def test_systems_share_a_letter_exactly_if_they_do_not_differ() -> None:
    board = board_of(scores(systems=9), groups="letters")
    letters = board.to_frame()["group"].tolist()
    for (i, j), p in zip(board.pairs, board.p_adjusted, strict=True):
        assert bool(set(letters[i]) & set(letters[j])) == (p >= 0.05)
    assert letters[0].startswith("a")
    assert len(set("".join(letters))) > 1


def test_a_leader_leads_those_it_is_not_better_than() -> None:
    board = board_of(scores(systems=9, spread=1.5), groups="leader")
    p = {(i, j): x for (i, j), x in zip(board.pairs.tolist(), board.p_adjusted, strict=True)}
    left, leaders = list(range(9)), {}
    while left:
        first = left[0]
        led = [k for k in left if k == first or p[first, k] >= 0.05]
        leaders |= dict.fromkeys(led, board.systems[first])
        left = [k for k in left if k not in led]
    assert board.to_frame()["leader"].tolist() == [leaders[k] for k in range(9)]
    assert len(set(leaders.values())) > 1


def test_borda_points_are_those_of_ranks() -> None:
    frame = scores(systems=7).round(0)
    found = board_of(frame).to_frame().set_index("object")
    points = (7 - frame.rank(axis=1, ascending=False, method="average")).sum()
    assert found["borda"].to_dict() == points.to_dict()
    assert found["borda_rank"].to_dict() == points.rank(ascending=False, method="min").astype(int).to_dict()
    assert found["win_share"].to_dict() == pytest.approx((points / (6 * len(frame))).to_dict())
    assert (found["wins"] + found["ties"] / 2).to_dict() == points.to_dict()
    assert found["wins"].sum() == found["losses"].sum()


def test_ties_within_a_threshold_are_half_points() -> None:
    frame = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [1.05, 1.0, 3.2]})
    found = board_of(SystemScores.from_wide(frame, tie_threshold=0.1)).to_frame().set_index("object")
    assert found.loc["A", ["wins", "ties", "losses", "borda"]].tolist() == [1, 1, 1, 1.5]


def test_equal_means_share_their_rank() -> None:
    found = board_of(pd.DataFrame({"C": [1.0, 0, 0], "A": [0.1, 0.2, 0.3], "B": [0.3, 0.1, 0.2]})).to_frame()
    assert found[["object", "rank"]].values.tolist() == [["C", 1], ["A", 2], ["B", 2]]


def test_lower_scores_may_be_better() -> None:
    frame = scores()
    up, down = board_of(-frame), board_of(SystemScores.from_wide(frame, higher_is_better=False))
    np.testing.assert_allclose(down.estimate, -up.estimate)
    columns = [name for name in up.to_frame() if name not in ("estimate", "plain_mean")]
    pd.testing.assert_frame_equal(down.to_frame()[columns], up.to_frame()[columns])
    assert "lower scores are better" in down.notes


def test_missing_scores_are_counted_and_left_out_pair_by_pair() -> None:
    frame = scores(missing=0.2)
    board = board_of(frame, test="t")
    found = board.to_frame().set_index("object")
    assert found["n"].to_dict() == frame.count().to_dict()
    assert found["missing"].to_dict() == frame.isna().sum().to_dict()
    games = sum(len(frame[[i, j]].dropna()) for i, j in itertools.permutations(frame, 2))
    assert found[["wins", "ties", "losses"]].to_numpy().sum() == games
    said = " ".join(board.notes)
    assert f"{int(frame.isna().to_numpy().sum())} scores of 360 missing" in said
    assert "left out in 15 pairs" in said


def two_way(frame: pd.DataFrame) -> pd.Series:
    """System effects plus the mean instance effect, by least squares on explicit dummies of both."""
    cells = frame.rename_axis("instance").reset_index().melt("instance", var_name="system").dropna()
    systems, instances = pd.get_dummies(cells["system"]), pd.get_dummies(cells["instance"])
    rows = np.hstack([systems, instances]).astype(float)
    found = np.linalg.lstsq(rows, cells["value"].to_numpy(), rcond=None)[0]
    return pd.Series(found[: systems.shape[1]] + found[systems.shape[1] :].mean(), index=systems.columns)


def test_a_system_that_skips_the_hard_half_is_not_first() -> None:
    """B is A plus noise, where the instance is easy: its plain mean is far above A's, its adjusted mean is not."""
    rng = np.random.default_rng(1)
    hard = rng.normal(size=60)
    frame = pd.DataFrame(
        {name: hard + off + 0.3 * rng.normal(size=60) for name, off in (("A", 0), ("B", 0), ("C", -0.5))}
    )
    frame.loc[hard < 0, "B"] = NAN
    board = board_of(frame, test="t")
    found = board.to_frame().set_index("object")
    assert found.loc["B", "plain_mean"] > found.loc["A", "plain_mean"] + 0.5
    assert abs(found.loc["B", "estimate"] - found.loc["A", "estimate"]) < 2 * 0.3 / math.sqrt(30)
    np.testing.assert_allclose(board.estimate, two_way(frame)[list(board.systems)])
    assert board.systems[2] == "C"
    assert "means are adjusted for which instances a system lacks" in board.as_text()


@pytest.mark.parametrize("number", [None, 9])
def test_errors_of_adjusted_means_are_those_of_the_jackknife(number: int | None) -> None:
    """Each instance, or document, left out and the two-way model fitted again; one step differs by a few per cent."""
    frame = scores(instances=40, systems=5, missing=0.3)
    document = documents(frame, number or 40)["doc"] if number else pd.Series(range(40)).map("d{}".format)
    board = board_of(frame.assign(doc=document), test="t", by="doc")
    np.testing.assert_allclose(board.estimate, two_way(frame)[list(board.systems)])
    without = np.array([two_way(frame[document != name])[list(board.systems)] for name in document.unique()])
    share = (len(without) - 1) / len(without)
    known = np.sqrt(share * ((without - board.estimate) ** 2).sum(axis=0))
    np.testing.assert_allclose(board.std_error, known, rtol=0.01 if number is None else 0.1)


def test_means_of_other_instances_are_not_adjusted_but_said() -> None:
    frame = pd.DataFrame({"A": [3.0, 2.0, 4.0, NAN, NAN, NAN], "B": [NAN, NAN, NAN, 1.0, 2.0, 1.5]})
    board = board_of(frame, test="t")
    assert board.estimate.tolist() == [3.0, 1.5]
    assert "no shared instances connect all systems" in board.as_text()


def test_systems_without_a_common_instance_do_not_differ() -> None:
    frame = pd.DataFrame({"A": [9.0] * 12 + [NAN] * 12, "B": [NAN] * 12 + [1.0] * 12, "C": np.arange(24.0)})
    for test in ("wilcoxon", "t", "permutation"):
        board = board_of(frame, test=test)
        pair = board.by_pair().to_frame().set_index(["object_i", "object_j"])
        assert math.isnan(pair.loc[("A", "B"), "p_value"])
        assert pair.loc[("A", "B"), "n"] == 0
        assert "1 pair without a common instance: nothing is defined" in board.notes


def test_a_test_that_contradicts_the_means_is_said() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=40)
    a = base + np.where(np.arange(40) == 0, 50.0, -0.1 - rng.random(40) / 50)
    board = board_of(pd.DataFrame({"A": a, "B": base}))
    assert board.systems == ("A", "B")
    assert (board.rank_low.tolist(), board.rank_high.tolist()) == ([2, 1], [2, 1])
    assert any(note.startswith("1 pair where the lower-ranked system") for note in board.notes)


@pytest.mark.parametrize("test", ["wilcoxon", "t", "mcnemar"])
def test_what_is_not_defined_is_not_significant(test: Any) -> None:
    frame = pd.DataFrame({"A": [1.0, 0, 1, 1], "B": [1.0, 0, 1, 1], "C": [0.0, 0, 1, 0]})
    board = board_of(frame, test=test)
    assert math.isnan(board.p_value[0])
    assert any(note.startswith("1 pair without a test") for note in board.notes)
    assert not board.better.any()


# -- documents and tasks ---------------------------------------------------------------------------------------------


def left_out(values: pd.Series, documents: pd.Series) -> tuple[float, float, float]:
    """Mean, its error by the jackknife over documents, and G* − 1, by leaving out each and taking the mean again."""
    there = values.dropna()
    document = documents[there.index]
    without = np.array([there[document != name].mean() for name in document.unique()])
    number, sizes = len(without), document.value_counts()
    error = math.sqrt((number - 1) / number * np.sum((without - there.mean()) ** 2))
    return there.mean(), error, sizes.sum() ** 2 / (sizes**2).sum() - 1


@FRAMES
def test_errors_by_documents_leave_out_each(missing: float) -> None:
    """For a mean one step without a document is the mean without it, so CR3 is the jackknife by brute force."""
    frame = documents(scores(missing=missing))
    board = board_of(frame, test="t", by="doc")
    if not missing:
        np.testing.assert_allclose(board.std_error, [left_out(frame[s], frame["doc"])[1] for s in board.systems])
    for k, (i, j) in enumerate(board.pairs):
        mean, error, df = left_out(frame[board.systems[i]] - frame[board.systems[j]], frame["doc"])
        assert board.statistic[k] == pytest.approx(mean / error)
        assert board.p_value[k] == pytest.approx(2 * stats.t.sf(abs(mean / error), df))


def test_documents_of_one_size_have_the_errors_of_statsmodels() -> None:
    frame = scores(instances=60).assign(doc=np.arange(60) // 6)
    board = board_of(frame, test="t", by="doc")
    for k, (i, j) in enumerate(board.pairs):
        d = (frame[board.systems[i]] - frame[board.systems[j]]).to_numpy()
        known = {"cov_type": "cluster", "cov_kwds": {"groups": frame["doc"].to_numpy()}, "use_t": True}
        fitted = sm.OLS(d, np.ones(60)).fit(**known)
        assert board.statistic[k] == pytest.approx(fitted.tvalues[0])
        assert board.p_value[k] == pytest.approx(fitted.pvalues[0])


def test_one_large_document_is_no_evidence() -> None:
    """G* = 30²/(28² + 1 + 1) = 1.1: nothing is known of how documents differ."""
    frame = scores(instances=30, systems=3).assign(doc=["long"] * 28 + ["a", "b"])
    board = board_of(frame, test="t", by="doc")
    assert np.isnan(board.std_error).all()
    assert np.isnan(board.p_value).all()
    assert "3 groups of doc (G* = 1.15)" in board.as_text()
    assert "3 pairs without a test" in in_full(board)


@FRAMES
@pytest.mark.parametrize("test", ["wilcoxon", "permutation", "mcnemar"])
def test_whole_documents_change_sides(test: Any, missing: float) -> None:
    frame = documents((right if test == "mcnemar" else scores)(missing=missing))
    board = board_of(frame, test=test, by="doc")
    for k, (i, j) in enumerate(board.pairs):
        d = (frame[board.systems[i]] - frame[board.systems[j]]).dropna()
        d = d[d != 0]
        said = np.sign(d) * stats.rankdata(np.abs(d)) if test == "wilcoxon" else d
        sums = said.groupby(frame["doc"]).sum().to_numpy()
        assert board.p_value[k] == pytest.approx(enumerated(sums))
        assert np.sign(board.ahead[k]) == np.sign(sums.sum())


@pytest.mark.parametrize("test", TESTS)
def test_documents_of_one_instance_change_nothing(test: Any) -> None:
    frame = (right if test == "mcnemar" else scores)(22, systems=4)
    alone, grouped = board_of(frame, test=test), board_of(frame.assign(doc=np.arange(22)), test=test, by="doc")
    np.testing.assert_allclose(grouped.p_value, alone.p_value)
    np.testing.assert_allclose(grouped.std_error, alone.std_error)


def test_mcnemar_by_many_documents_is_exact_and_then_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = documents(right(instances=300, systems=3), 60)
    board = board_of(frame, test="mcnemar", by="doc")
    sums = frame.groupby("doc")[list(board.systems)].sum()
    rng = np.random.default_rng(1)
    signs = rng.choice([-1.0, 1.0], size=(40_000, 60))
    for k, (i, j) in enumerate(board.pairs):
        d = (sums[board.systems[i]] - sums[board.systems[j]]).to_numpy()
        assert board.p_value[k] == pytest.approx(np.mean(abs(signs @ d) >= abs(d.sum())), abs=0.01)
    monkeypatch.setattr("llbt.scores.board_tests._MOST_WHOLE", 1)
    np.testing.assert_allclose(board_of(frame, test="mcnemar", by="doc").p_value, board.p_value, atol=0.03)


def test_documents_may_be_named_beside_long_scores() -> None:
    wide = documents(scores(instances=30, systems=3))
    long = wide.rename_axis("instance").reset_index().melt(["instance", "doc"], var_name="system", value_name="score")
    pd.testing.assert_frame_equal(board_of(long, by="doc").to_frame(), board_of(wide, by="doc").to_frame())
    read = SystemScores.from_long(long)
    pd.testing.assert_frame_equal(board_of(read, by="doc").to_frame(), board_of(wide, by="doc").to_frame())


@pytest.mark.parametrize("test", [pytest.param(test, marks=[pytest.mark.slow] * (test == "mcnemar")) for test in TESTS])
def test_tests_by_documents_hold_their_level(test: Any) -> None:
    """3,000 pairs, 14 documents of 5 instances that share their luck: tests without documents reject far too often."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=(6000, 14, 1)) + rng.normal(size=(6000, 14, 5))
    x = (d > 0).astype(float) if test == "mcnemar" else d
    x = x.reshape(6000, 70)
    pairs = np.arange(6000).reshape(3000, 2)
    grouped = board_pairs(x, pairs, TieRule(), Units.of(np.repeat(np.arange(14), 5)), test).p_value
    assert 0.03 < np.mean(grouped < 0.05) < 0.062
    if test != "permutation":
        alone = board_pairs(x, pairs, TieRule(), Units.of(np.arange(70)), test).p_value
        assert np.mean(alone < 0.05) > 0.09


@pytest.mark.slow
def test_ranges_hold_for_all_systems_together() -> None:
    """400 boards of five equal systems on 30 instances: in some 95 % of them no two are told apart."""
    rng = np.random.default_rng(4)
    for test in ("t", "wilcoxon"):
        boards = [
            board_of(pd.DataFrame(rng.normal(size=(30, 5)), columns=list("ABCDE")), test=test) for _ in range(400)
        ]
        wrong = np.mean([board.better.any() for board in boards])
        assert 0.02 < wrong < 0.085


# -- random exchanges, and what is said of them ----------------------------------------------------------------------


def test_so_many_exchanges_are_drawn_as_the_adjustment_needs() -> None:
    board = board_of(scores(systems=4, instances=40), test="permutation", rng=1)
    assert any("9,999 random exchanges; none can be below 0.00010" in note for note in board.notes)
    many = board_of(scores(systems=12, instances=40), test="permutation", rng=1)
    assert any(f"{66 * 10 * 20 - 1:,} random exchanges" in note for note in many.notes)
    assert any("9,999" in note for note in board_of(scores(systems=12), test="permutation", adjust=None, rng=1).notes)
    few = board_of(scores(systems=12, instances=40), test="permutation", n=99, rng=1)
    assert any("too large to be significant after adjustment for 66 pairs: raise n" in note for note in few.notes)
    assert not few.better.any()


def test_permutation_of_many_instances_is_near_to_t() -> None:
    frame = scores(instances=200, systems=4, spread=0.3)
    drawn = board_of(frame, test="permutation", rng=1)
    np.testing.assert_allclose(drawn.p_value, board_of(frame, test="t").p_value, atol=0.02)
    again = board_of(frame, test="permutation", rng=np.random.default_rng(1))
    assert np.array_equal(drawn.p_value, again.p_value)


@pytest.mark.parametrize("test", ["wilcoxon", "permutation", "mcnemar"])
def test_too_few_differences_are_said(test: Any) -> None:
    frame = pd.DataFrame({"A": [1.0] * 5, "B": [0.0, 0, 0, 0, 0], "C": [0.0, 0, 0, 0, 1]})
    board = board_of(frame, test=test)
    assert not board.better.any()
    assert any("as each has at most 5" in note for note in board.notes)
    assert not any("too few" in note for note in board_of(right(), test="mcnemar").notes)


# -- the same answer in other clothes, and what is refused ------------------------------------------------------------


def test_the_order_of_columns_and_the_form_do_not_matter() -> None:
    frame = scores()
    kept = frame.copy()
    known = board_of(frame).to_frame()
    pd.testing.assert_frame_equal(board_of(frame[frame.columns[::-1]]).to_frame(), known)
    long = frame.rename_axis("instance").reset_index().melt("instance", var_name="system", value_name="score")
    pd.testing.assert_frame_equal(board_of(long.sample(frac=1, random_state=1)).to_frame(), known)
    pd.testing.assert_frame_equal(frame, kept)


def test_pairs_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = documents(scores(missing=0.1))
    for test in ("wilcoxon", "t", "permutation"):
        known = board_of(frame, test=test, by="doc").by_pair().to_frame()
        with monkeypatch.context() as patch:
            patch.setattr("llbt.scores.grouped_tests._MOST_VALUES", 4 * len(frame))
            pd.testing.assert_frame_equal(board_of(frame, test=test, by="doc").by_pair().to_frame(), known)


def test_it_prints_and_survives_pickling() -> None:
    board = board_of(documents(scores()), by="doc", groups="leader")
    assert "by 9 groups of doc" in in_full(board)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(board)).to_frame(), board.to_frame())
    assert len(board.by_pair().to_frame()) == 15
    assert board.by_pair().to_frame()["object_i"][0] == board.systems[0]


GONE = pd.DataFrame({"A": [1.0, 2.0], "B": [2.0, 1.0], "C": [NAN, NAN]})
WIDE = pd.DataFrame({"A": [1.0, 2, 3], "B": [3.0, 1, 1], "doc": ["x", "x", "y"]})
REFUSED = {
    "test": (WIDE, {"test": "z"}, OptionError, "test='z'; expected 'wilcoxon'"),
    "groups": (WIDE, {"groups": "tiers"}, OptionError, "groups='tiers'; expected 'clusters'"),
    "n": (WIDE, {"n": 0}, OptionError, "n=0"),
    "grades": (WIDE, {"test": "mcnemar", "by": "doc"}, OptionError, "'A' has 2.0000 on 1; expected scores of 0 and 1"),
    "no column": (WIDE, {"by": "task"}, JudgmentError, "no column 'task'"),
    "a system": (WIDE, {"by": "A"}, JudgmentError, "scores.leaderboard: "),
    "no document": (WIDE.assign(doc=["x", None, "y"]), {"by": "doc"}, JudgmentError, "1 instance without a value"),
    "one document": (WIDE.assign(doc="x"), {"by": "doc"}, DesignError, "column 'doc' has one value, 'x'"),
    "no scores": (GONE, {}, JudgmentError, "'C' has no score on any of 2 instances"),
    "flags": (
        WIDE[["A", "B"]] > 1,
        {},
        JudgmentError,
        "Pass score=['A', 'B'] to read True as 1 and False as 0.",
    ),
    "huge": (WIDE[["A", "B"]] * 1e200, {}, JudgmentError, "scores of up to 3e+200"),
    "one system": (WIDE[["A", "doc"]], {}, JudgmentError, "1 column of scores"),
    "two documents of an instance": (
        [{"system": s, "instance": 1, "score": 1.0, "doc": s} for s in "ab"],
        {"by": "doc"},
        JudgmentError,
        "for the same instance",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    frame, options, error, says = REFUSED[name]
    with pytest.raises(error) as caught:
        board_of(frame, **options)  # type: ignore[arg-type]
    assert says in str(caught.value)
    assert str(caught.value).startswith("scores.leaderboard: ")


def test_letters_that_nobody_can_read_are_refused() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        rng.normal(size=(40, 130)) * 0.05 + np.linspace(0, 4, 130), columns=[f"S{k}" for k in range(130)]
    )
    with pytest.raises(DesignError, match="more than 52 letters"):
        board_of(frame, test="t", groups="letters")
    assert board_of(frame, test="t", groups="leader").to_frame()["leader"].nunique() > 20


# -- real scores -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.shared
def test_real_scores_are_ten_lines_of_scipy(shared: Path) -> None:
    every = pd.read_csv(shared / "data" / "Dialogue_tc_scores.csv.gz")
    for metric in ("BERTScore", "S3_pyr"):
        frame = every[every["metric"] == metric].drop(columns=["metric", "instance"]).reset_index(drop=True)
        found = board_of(frame).to_frame()
        order, low, high, clusters = by_scipy(frame)
        assert found["object"].tolist() == order
        assert (found["rank_low"].tolist(), found["rank_high"].tolist()) == (low, high)
        assert found["significance_cluster"].tolist() == clusters


@pytest.mark.slow
@pytest.mark.shared
def test_real_boards_of_58_systems(shared: Path) -> None:
    """TAC-08: most of 58 systems cannot be told apart; permutations find about what the t test finds."""
    every = pd.read_csv(shared / "data" / "TAC_08_scores.csv.gz")
    frame = every[every["metric"] == "BERTScore"].drop(columns=["metric", "instance"])
    t, drawn = board_of(frame, test="t"), board_of(frame, test="permutation", rng=1)
    assert np.mean(t.better == drawn.better) > 0.97
    assert t.better.sum() > 100
    for k in range(0, len(t.pairs), 97):
        i, j = (frame[t.systems[side]] for side in t.pairs[k])
        assert t.p_value[k] == pytest.approx(stats.ttest_rel(i, j).pvalue, rel=1e-7)


def test_the_default_test_says_what_its_paper_advises() -> None:
    assert "Peyrard et al. (2021) advise a sign test." in in_full(board_of(scores()))
    assert "p_sign" in llbt.scores.pairwise(scores()).to_frame()
    assert "sign test" not in board_of(scores(), test="t").as_text()


def test_borda_ranks_do_not_count_what_is_missing() -> None:
    """B wins all of its comparisons and lacks half of the instances: by points it was no better than A."""
    rows = [(s, k, {"A": 2.0, "B": 3.0, "C": 1.0}[s]) for s in "ABC" for k in range(8) if s != "B" or k < 4]
    frame = pd.DataFrame(rows, columns=["system", "instance", "score"])
    board = llbt.scores.leaderboard(frame)
    found = board.to_frame().set_index("object")
    assert found["borda"].to_dict() == {"A": 8.0, "B": 8.0, "C": 0.0}
    assert found["borda_rank"].to_dict() == {"B": 1, "A": 2, "C": 3}
    assert "Borda ranks are by win share" in in_full(board)
    whole = llbt.scores.leaderboard(frame[frame["instance"] < 4])
    assert whole.to_frame()["borda_rank"].tolist() == [1, 2, 3]
    assert "win share:" not in in_full(whole)
