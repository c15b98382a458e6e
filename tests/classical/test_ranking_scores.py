"""Readings of rankings, head to head and company of the reference: by explicit loops, by hand, and WMT10's figures."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from support.draws import first_block

import llbt
from llbt.classical.head_to_head import head_to_head
from llbt.classical.ranking_scores import ranking_scores
from llbt.classical.shown_with import shown_with
from llbt.resampling import Resampler

PAIR_READINGS = ["ge_others", "gt_others", "ignore_ties", "expected_wins", "net_wins"]
READINGS = [*PAIR_READINGS, "ge_all_in_block"]
COLUMNS = ["object", "estimate", "n", "conf_low", "conf_high", "rank", "rank_low", "rank_high", "cluster"]
NAMES = ["A", "B", "C", "D", "E", "_ref"]


def judgments_of(blocks):
    """Judgments implied by rankings, mappings of object → rank, one after the other."""
    rows = []
    for number, block in enumerate(blocks):
        for i, j in itertools.combinations(block, 2):
            outcome = "tie" if block[i] == block[j] else "i" if block[i] < block[j] else "j"
            rows.append({"object_i": i, "object_j": j, "outcome": outcome, "block": number})
    return pd.DataFrame(rows)


def random_blocks(seed, number=40, names=NAMES, size=4):
    rng = np.random.default_rng(seed)
    worth = np.linspace(0, 2, len(names))
    blocks = []
    for _ in range(number):
        who = rng.choice(len(names), size, replace=False)
        blocks.append({names[k]: int(np.clip(np.round(3 - worth[k] + rng.normal()), 1, 5)) for k in who})
    return blocks


def by_loop(blocks, reading, exclude=(), when="before"):
    """Scores and what is behind them, judgment by judgment or block by block, from the ranks themselves."""
    if when == "before":
        blocks = [{k: r for k, r in block.items() if k not in exclude} for block in blocks]
        blocks = [block for block in blocks if len(block) > 1]
    names = sorted({name for block in blocks for name in block} - set(exclude))
    if reading == "ge_all_in_block":
        mine = {k: [block for block in blocks if k in block] for k in names}
        best = {k: sum(block[k] == min(block.values()) for block in mine[k]) for k in names}
        return {k: (best[k] / len(mine[k]), len(mine[k])) for k in names}
    made = {}
    for k in names:
        met = [(block[other], block[k], other) for block in blocks if k in block for other in block if other != k]
        wins, ties = sum(o > own for o, own, _ in met), sum(o == own for o, own, _ in met)
        losses = len(met) - wins - ties
        shares = []
        for opponent in sorted({other for _, _, other in met}):
            w = sum(o > own for o, own, other in met if other == opponent)
            decided = sum(o != own for o, own, other in met if other == opponent)
            shares += [w / decided] if decided else []
        made[k] = {
            "ge_others": ((wins + ties) / len(met), len(met)),
            "gt_others": (wins / len(met), len(met)),
            "ignore_ties": (wins / (wins + losses), wins + losses),
            "net_wins": ((wins - losses) / len(met), len(met)),
            "expected_wins": (np.mean(shares), wins + losses),
        }[reading]
    return made


def scores_of(found):
    return {k: (s, n) for k, s, n in zip(found.objects, found.estimate, found.n, strict=True)}


def same(found, expected):
    assert sorted(found) == sorted(expected)
    for k, (score, n) in expected.items():
        assert found[k][0] == pytest.approx(score, abs=1e-12)
        assert found[k][1] == n


# -- the readings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("exclude", [(), ("_ref",), ("_ref", "A")], ids=["all", "one", "two"])
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.slow
def test_every_reading_is_that_of_a_loop_over_ranks(reading, exclude, when):
    for seed in range(3):
        blocks = random_blocks(seed)
        frame = judgments_of(blocks)
        if when == "before":
            found = ranking_scores(frame, reading=reading, exclude=exclude)
        else:
            found = ranking_scores(frame, reading=reading).without(exclude)
        same(scores_of(found), by_loop(blocks, reading, exclude, when))


@pytest.mark.parametrize("reading", PAIR_READINGS)
def test_a_table_of_counts_gives_what_the_judgments_give(reading):
    frame = judgments_of(random_blocks(7)).assign(domain=lambda d: np.where(d["block"] % 2, "news", "talks"))
    expected = scores_of(ranking_scores(frame, reading=reading, exclude="_ref"))
    for options in ({}, {"covariates": "domain"}, {"order": True}, {"covariates": "domain", "order": True}):
        table = llbt.from_judgments(frame, **options)
        same(scores_of(ranking_scores(table, reading=reading, exclude="_ref")), expected)


@pytest.mark.parametrize("reading", READINGS)
def test_it_does_not_matter_who_is_object_i(reading):
    frame = judgments_of(random_blocks(5))
    swapped = frame.rename(columns={"object_i": "object_j", "object_j": "object_i"})
    swapped["outcome"] = swapped["outcome"].map({"i": "j", "j": "i", "tie": "tie"})
    same(scores_of(ranking_scores(swapped, reading=reading)), scores_of(ranking_scores(frame, reading=reading)))


def test_a_system_that_ties_gains_under_ge_others():
    """Ten blocks by hand, after Bojar et al. (2011): D differs from all, M1 to M4 are the same system.

    In six blocks D is first and the four share the second rank, in four D is last: D wins 24 of its 40 judgments and
    ties none; M1 beats D 4 times, loses 6 times and ties 30 with its likes.
    """
    likes = [f"M{k}" for k in range(1, 5)]
    first, last = {"D": 1, **dict.fromkeys(likes, 2)}, {**dict.fromkeys(likes, 1), "D": 2}
    frame = judgments_of([first] * 6 + [last] * 4)
    expected = {"ge_others": (24 / 40, 34 / 40), "gt_others": (24 / 40, 4 / 40), "ignore_ties": (24 / 40, 4 / 10)}
    for reading, (d, m) in expected.items():
        found = scores_of(ranking_scores(frame, reading=reading))
        assert found["D"] == (d, 40)
        assert found["M1"] == (m, 10 if reading == "ignore_ties" else 40)
    assert ranking_scores(frame).objects[-1] == "D"
    assert ranking_scores(frame, reading="gt_others").objects[0] == "D"


def test_ge_all_in_block_counts_blocks():
    """Two blocks by hand: A is first of A, B, C, D; E is first of A, B, C, E. So A 1/2, B 0/2, C 0/2, D 0/1, E 1/1."""
    blocks = [{"A": 1, "B": 2, "C": 3, "D": 4}, {"E": 1, "A": 2, "B": 2, "C": 3}]
    found = scores_of(ranking_scores(judgments_of(blocks), reading="ge_all_in_block"))
    assert found == {"A": (1 / 2, 2), "B": (0, 2), "C": (0, 2), "D": (0, 1), "E": (1, 1)}


def test_an_excluded_winner_of_a_block_beats_nobody_or_everybody():
    frame = judgments_of([{"_ref": 1, "A": 2, "B": 2, "C": 3}])
    before = scores_of(ranking_scores(frame, reading="ge_all_in_block", exclude="_ref"))
    after = scores_of(ranking_scores(frame, reading="ge_all_in_block").without("_ref"))
    assert before == {"A": (1, 1), "B": (1, 1), "C": (0, 1)}  # ties for best count for both
    assert after == {"A": (0, 1), "B": (0, 1), "C": (0, 1)}


def test_blocks_made_of_several_columns():
    frame = judgments_of(random_blocks(8))
    split = frame.assign(reader=frame["block"] // 5, sentence=frame["block"] % 5).drop(columns="block")
    found = ranking_scores(split, reading="ge_all_in_block", block=["reader", "sentence"], n=50, rng=3)
    expected = ranking_scores(frame, reading="ge_all_in_block", n=50, rng=3)
    same(scores_of(found), scores_of(expected))
    np.testing.assert_array_equal(found.conf_low, expected.conf_low)


def test_ranks_are_shared_and_undefined_scores_have_none():
    frame = pd.DataFrame(
        {"object_i": ["A", "A", "B", "D"], "object_j": ["B", "B", "C", "C"], "outcome": ["i", "j", "tie", "tie"]}
    )
    found = ranking_scores(frame, reading="ignore_ties")
    assert found.objects == ("A", "B", "C", "D")
    assert found.rank[:2].tolist() == [1, 1]
    assert np.isnan(found.rank[2:]).all()
    assert np.isnan(found.estimate[2:]).all()
    assert "2 objects without a judgment that counts: score NA" in found.notes
    assert ranking_scores(frame, reading="ge_others").rank.tolist() == [1, 1, 3, 4]


def test_notes_count_what_was_left_out():
    blocks = random_blocks(1)
    left = sum(len(block) - 1 for block in blocks if "_ref" in block)
    frame = judgments_of(blocks)
    assert f"{left} judgments of '_ref' left out" in ranking_scores(frame, exclude="_ref").notes
    whole = ranking_scores(frame)
    assert "judgments of '_ref' counted for the others, not shown" in whole.without("_ref").notes
    assert whole.without(()).notes == whole.notes
    lonely = judgments_of([{"A": 1, "B": 2}, {"C": 2, "_ref": 1}])
    assert "left out: 1 object without a judgment ('C')" in ranking_scores(lonely, exclude="_ref").notes
    tied = pd.DataFrame({"object_i": ["A", "A"], "object_j": ["B", "C"], "outcome": ["i", "tie"]})
    assert (
        "left out of the means: 1 pair without a decided judgment"
        in ranking_scores(tied, reading="expected_wins").notes
    )


# -- intervals, rank ranges, clusters ---------------------------------------------------------------------------


def test_resampled_judgments_of_one_pair_are_binomial():
    """Two objects, no ties: the resampled score is Binomial(400, .6)/400, whose quantiles scipy knows."""
    table = llbt.from_matrix([[0, 240], [160, 0]], names=["A", "B"])
    found = ranking_scores(table, n=20_000, rng=1).with_confidence(0.9)
    assert found.objects == ("A", "B")
    expected = stats.binom(400, 0.6).ppf([0.05, 0.95]) / 400
    assert [found.conf_low[0], found.conf_high[0]] == pytest.approx(expected, abs=1.01 / 400)
    assert found.rank_low.tolist() == [1, 2]
    assert found.cluster.tolist() == [1, 2]


@pytest.mark.parametrize("reading", ["ge_others", "expected_wins", "ge_all_in_block"])
def test_resampled_blocks_are_those_of_a_loop(reading):
    """The same draws of blocks, each resample put together block by block and scored by the loop."""
    blocks = random_blocks(3, number=60)
    found = ranking_scores(judgments_of(blocks), reading=reading, n=60, rng=9).with_confidence(0.8)
    drawn = []
    for row in first_block(9).integers(60, size=(60, 60)):
        resample = [blocks[k] for k in row]
        scored = by_loop(resample, reading)
        drawn.append([scored[name][0] for name in found.objects])
    drawn = np.array(drawn)
    np.testing.assert_allclose(found.conf_low, np.quantile(drawn, 0.1, axis=0), atol=1e-12)
    np.testing.assert_allclose(found.conf_high, np.quantile(drawn, 0.9, axis=0), atol=1e-12)
    ranks = np.sort([[1 + sum(np.round(row - score, 12) > 0) for score in row] for row in drawn], axis=0)
    assert found.rank_low.tolist() == ranks[5].tolist()  # the smallest with a tenth of 60 at or below it
    assert found.rank_high.tolist() == ranks[53].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_clusters_are_the_connected_groups_of_overlapping_rank_ranges(seed):
    found = ranking_scores(judgments_of(random_blocks(seed, number=150)), n=200, rng=seed)
    group = list(range(6))
    for a, b in itertools.combinations(range(6), 2):
        if found.rank_low[a] <= found.rank_high[b] and found.rank_low[b] <= found.rank_high[a]:
            group = [group[a] if g == group[b] else g for g in group]
    for a, b in itertools.combinations(range(6), 2):
        assert (found.cluster[a] == found.cluster[b]) == (group[a] == group[b])
    assert found.cluster[0] == 1
    assert np.isin(np.diff(found.cluster), [0, 1]).all()


def test_blocks_are_resampled_unless_told_otherwise():
    """Each block twenty times the same judgment: only 30 of the 600 judgments are independent."""
    blocks = [{"A": 1, "B": 2} if k % 3 else {"A": 2, "B": 1} for k in range(30)]
    frame = pd.concat([judgments_of(blocks)] * 20)
    by_block = ranking_scores(frame, n=2000, rng=1)
    by_judgment = ranking_scores(frame, n=2000, rng=1, block=None)
    widths = [found.conf_high[0] - found.conf_low[0] for found in (by_block, by_judgment)]
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(20), rel=0.1)
    assert "resamples of the 30 blocks" in by_block.notes[-2]
    assert "resamples of the judgments, taken as independent" in by_judgment.notes[-2]


def test_objects_missing_from_a_resample_are_counted():
    found = ranking_scores(judgments_of([{"A": 1, "B": 2}] * 5 + [{"C": 1, "B": 2}]), n=250, rng=1)
    times = (first_block(1).integers(6, size=(250, 6)) == 5).sum(axis=1)  # that the only block with C was drawn
    gone = [note for note in found.notes if "without a judgment of an object" in note]
    assert gone[0].startswith(f"{np.isin(times, [0, 6]).sum()} resamples without a judgment of an object")
    assert len(gone) == 1
    assert found.conf_low[found.objects.index("C")] == -np.inf
    assert found.rank_high[found.objects.index("C")] == 3
    assert not np.isnan(found.conf_low).any()


def test_the_same_seed_gives_the_same_answer_and_nothing_else_is_touched():
    frame = judgments_of(random_blocks(2))
    before, state = frame.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    one = ranking_scores(frame, n=100, rng=5)
    other = ranking_scores(frame, n=100, rng=np.random.default_rng(5))
    pd.testing.assert_frame_equal(other.to_frame(), one.to_frame())
    pd.testing.assert_frame_equal(frame, before)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert not ranking_scores(frame, n=100, rng=6).to_frame().equals(one.to_frame())


def test_the_record_prints_and_keeps_its_columns():
    frame = judgments_of(random_blocks(2))
    plain, drawn = ranking_scores(frame), ranking_scores(frame, n=50, rng=1)
    assert list(plain.to_frame()) == list(drawn.to_frame()) == COLUMNS
    assert plain.to_frame()[["conf_low", "conf_high", "rank_low", "rank_high", "cluster"]].isna().all(axis=None)
    assert "no resamples: n=1000 gives intervals" in plain.as_text()
    assert drawn.to_frame()["rank"].tolist() == sorted(drawn.to_frame()["rank"])
    assert "blocks" in ranking_scores(frame, reading="ge_all_in_block").as_text()
    assert pickle.loads(pickle.dumps(drawn)).as_text() == drawn.as_text()


def test_progress_is_shown_when_asked_for(capsys):
    frame = judgments_of(random_blocks(2))
    ranking_scores(frame, n=10, rng=1)
    assert capsys.readouterr().err == ""
    ranking_scores(frame, n=10, rng=1, progress=True)
    assert "ranking_scores" in capsys.readouterr().err


@pytest.mark.slow
def test_intervals_by_block_cover_and_those_by_judgment_do_not():
    """Blocks of ten judgments by one mind: 300 data sets of 80 blocks, true share one half."""
    rng = np.random.default_rng(11)
    covered = np.zeros(2)
    pairs = pd.DataFrame({"object_i": "A", "object_j": "B", "outcome": "i", "block": np.repeat(np.arange(80), 10)})
    for _ in range(300):
        leaning = np.repeat(rng.beta(1, 1, 80), 10)
        frame = pairs.assign(outcome=np.where(rng.random(800) < leaning, "i", "j"))
        for k, block in enumerate(("block", None)):
            found = ranking_scores(frame, n=200, rng=rng, block=block)
            covered[k] += (found.conf_low[0] <= 0.5 <= found.conf_high[0]) / 300
    assert covered[0] == pytest.approx(0.95, abs=0.04)
    assert covered[1] < 0.8


@pytest.mark.parametrize(("block", "unit"), [(None, "judgment"), ("block", "block")])
def test_a_single_unit_has_no_intervals(block, unit):
    frame = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "outcome": ["i"], "block": [1]})
    found = ranking_scores(frame, block=block, n=50, rng=1)
    assert found.estimate.tolist() == [1, 0]
    assert np.isnan([found.conf_low, found.conf_high, found.rank_low, found.rank_high, found.cluster]).all()
    assert f"a single {unit} cannot be resampled: no intervals, rank ranges or clusters" in found.notes


# -- head to head -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjust", [None, "holm", "bonferroni", "fdr_bh"])
def test_head_to_head_is_a_loop_over_pairs(adjust):
    frame = judgments_of(random_blocks(4))
    found = head_to_head(frame, adjust=adjust, exclude="_ref").to_frame()
    p_values = []
    for row in found.itertuples():
        there = frame[frame[["object_i", "object_j"]].isin([row.object_i, row.object_j]).all(axis=1)]
        first = there["object_i"] == row.object_i
        wins = ((there["outcome"] == "i") & first).sum() + ((there["outcome"] == "j") & ~first).sum()
        ties = (there["outcome"] == "tie").sum()
        assert (row.wins_i, row.ties, row.wins_j, row.n) == (wins, ties, len(there) - wins - ties, len(there))
        assert row.estimate == pytest.approx(wins / len(there))
        assert row.estimate + row.share_ties + row.share_j == pytest.approx(1)
        p_values.append(stats.binomtest(int(wins), int(len(there) - ties)).pvalue)
    assert len(found) == 10
    np.testing.assert_allclose(found["p_value"], p_values, rtol=1e-10)
    adjusted = p_values if adjust is None else multipletests(p_values, method=adjust)[1]
    np.testing.assert_allclose(found["p_adjusted"], adjusted, rtol=1e-10)


def test_the_matrix_says_how_often_the_row_is_better():
    table = llbt.from_matrix([[0, 6, 0], [3, 0, 0], [0, 5, 0]], names=["A", "B", "C"])
    found = head_to_head(table)
    expected = pd.DataFrame(
        [[np.nan, 2 / 3, np.nan], [1 / 3, np.nan, 0], [np.nan, 1, np.nan]], list("ABC"), list("ABC")
    )
    pd.testing.assert_frame_equal(found.matrix(), expected)
    assert "1 pair without a judgment: no row" in found.notes


def test_ties_alone_have_no_sign_test():
    frame = pd.DataFrame({"object_i": ["A"] * 3, "object_j": ["B", "B", "C"], "outcome": ["tie", "tie", "i"]})
    found = head_to_head(frame)
    assert np.isnan(found.p_value[0])
    assert np.isnan(found.p_adjusted[0])
    assert found.p_adjusted[1] == 1.0
    assert "1 pair with ties only: p-value NA" in found.notes


def test_an_object_excluded_twice_is_excluded_once():
    frame = judgments_of(random_blocks(4))
    found = head_to_head(frame, exclude=["_ref", "_ref"])
    assert found.to_frame().equals(head_to_head(frame, exclude="_ref").to_frame())
    assert any(note.endswith("judgments of '_ref' left out") for note in found.notes)


def test_long_tables_print_in_part():
    names = [f"s{k:02d}" for k in range(13)]
    frame = pd.DataFrame(itertools.combinations(names, 2), columns=["object_i", "object_j"]).assign(outcome="i")
    found = head_to_head(frame)
    assert "… 18 more rows" in found.as_text()
    assert len(found.to_frame()) == 78


# -- shown with the reference -----------------------------------------------------------------------------------


def wide(blocks, size=4):
    """Blocks as rows with a column per place; rank 9 is "shown, not ranked"."""
    return pd.DataFrame([{f"s{k}": name for k, name in enumerate(block)} for block in blocks], dtype=object)


def loop_correlation(shown, ranked):
    """Pearson's correlation by loops: shares from the blocks shown, ≥ others from the blocks ranked."""
    scores = {k: s for k, (s, _) in by_loop(ranked, "ge_others").items() if k != "_ref"}
    share = [np.mean(["_ref" in block for block in shown if name in block]) for name in scores]
    return np.corrcoef(share, list(scores.values()))[0, 1]


def test_shown_with_is_the_correlation_of_a_loop():
    blocks = random_blocks(6, number=80)
    rng = np.random.default_rng(0)
    ranked = [{k: r for k, r in block.items() if rng.random() < 0.7} for block in blocks]  # the rest is only shown
    frame, raw = judgments_of(ranked), wide(blocks)
    beside = frame.join(raw, on="block")
    there = sorted(frame["block"].unique())
    assert 0 < len(there) < 80
    columns = list(raw)
    by_raw = shown_with(frame, shown=columns, blocks=raw)
    by_frame = shown_with(beside, shown=columns)
    by_judgments = shown_with(frame)
    for found, shown in (
        (by_raw, blocks),
        (by_frame, [blocks[k] for k in there]),
        (by_judgments, [ranked[k] for k in there]),
    ):
        assert found.correlations["estimate"].tolist() == pytest.approx([loop_correlation(shown, ranked)])
        assert found.systems["shown"].tolist() == [sum(k in block for block in shown) for k in NAMES[:5]]
    assert "blocks without a judgment are not counted: pass blocks= to count them" in by_frame.notes
    assert not any("blocks=" in note for note in by_raw.notes)
    found = by_raw.correlations.iloc[0]
    z, half = np.arctanh(found["estimate"]), stats.norm.isf(0.025) / np.sqrt(5 - 3)
    assert [found["conf_low"], found["conf_high"]] == pytest.approx([np.tanh(z - half), np.tanh(z + half)])


def test_shown_with_by_group():
    parts = {"x": random_blocks(1, number=50), "y": random_blocks(2, number=50)}
    blocks = [*parts["x"], *parts["y"]]
    frame = judgments_of(blocks)
    frame["pair"] = np.where(frame["block"] < 50, "x", "y")
    found = shown_with(frame, by="pair")
    assert found.correlations["pair"].tolist() == ["x", "y", "all"]
    assert found.correlations["n_objects"].tolist() == [5, 5, 10]
    expected = [loop_correlation(part, part) for part in parts.values()]
    assert found.correlations["estimate"].tolist()[:2] == pytest.approx(expected)
    pooled = np.corrcoef(found.systems["share"], found.systems["score"])[0, 1]
    assert found.correlations["estimate"].iloc[2] == pytest.approx(pooled)


def test_a_block_that_spans_groups_is_a_block_in_each():
    blocks = random_blocks(1, number=30)
    frame = judgments_of(blocks)
    twice = pd.concat([frame.assign(judge="x"), frame.assign(judge="y")], ignore_index=True)
    alone, found = shown_with(frame).systems, shown_with(twice, by="judge").systems
    for judge in "xy":
        part = found[found["judge"] == judge].drop(columns="judge").reset_index(drop=True)
        pd.testing.assert_frame_equal(part, alone)


def test_every_reading_can_be_correlated():
    blocks = random_blocks(1, number=50)
    frame = judgments_of(blocks)
    for reading in READINGS:
        found = shown_with(frame, reading=reading).systems
        expected = {k: v for k, v in by_loop(blocks, reading).items() if k != "_ref"}
        assert dict(zip(found["object"], found["score"], strict=True)) == pytest.approx(
            {k: v[0] for k, v in expected.items()}
        )


def test_objects_shown_without_a_judgment_are_in_no_correlation():
    blocks = random_blocks(6, number=40)
    raw = wide([*blocks, {"_ref": 1, "Z": 2}])
    found = shown_with(judgments_of(blocks), shown=list(raw), blocks=raw)
    assert found.systems.set_index("object").loc["Z", ["shown", "with_reference"]].tolist() == [1, 1]
    assert found.correlations["n_objects"].tolist() == [5]
    assert "1 object shown without a score: left out of the correlations" in found.notes


def test_a_correlation_without_variation_is_undefined():
    found = shown_with(judgments_of([{"_ref": 1, "A": 2, "B": 3, "C": 4}] * 3))
    assert found.correlations["estimate"].isna().all()
    assert "1 correlation undefined: fewer than three objects, or no variation" in found.notes
    assert "NA" in found.as_text()


# -- bad input --------------------------------------------------------------------------------------------------

FRAME = judgments_of([{"A": 1, "B": 2, "C": 3}, {"A": 2, "B": 2, "_ref": 1}])
TABLE = llbt.from_judgments(FRAME)
NO_BLOCKS = FRAME.drop(columns="block")
HALF = FRAME.assign(block=FRAME["block"].where(FRAME["block"] == 0))

ERRORS = {
    "table, blocks": (
        ranking_scores,
        TABLE,
        {"reading": "ge_all_in_block"},
        llbt.errors.JudgmentError,
        "a table of counts does not",
    ),
    "no blocks": (
        ranking_scores,
        NO_BLOCKS,
        {"reading": "ge_all_in_block"},
        llbt.errors.JudgmentError,
        "in any of 6 rows",
    ),
    "half the blocks": (ranking_scores, HALF, {}, llbt.errors.JudgmentError, "no value in 3 of 6 rows, first at row 3"),
    "block none": (
        ranking_scores,
        FRAME,
        {"reading": "ge_all_in_block", "block": None},
        llbt.errors.OptionError,
        "needs blocks",
    ),
    "block gone": (
        ranking_scores,
        FRAME,
        {"block": "segment"},
        llbt.errors.JudgmentError,
        "no column 'segment' (block=)",
    ),
    "block, table": (
        ranking_scores,
        TABLE,
        {"block": "segment"},
        llbt.errors.OptionError,
        "block='segment' names columns",
    ),
    "one object": (
        ranking_scores,
        FRAME.assign(object_i="A", object_j="A"),
        {},
        llbt.errors.JudgmentError,
        "compares 'A' with itself",
    ),
    "unknown": (ranking_scores, FRAME, {"exclude": ["A", "Z"]}, llbt.errors.OptionError, "exclude names 'Z'"),
    "unknown, table": (
        ranking_scores,
        TABLE,
        {"exclude": "Z"},
        llbt.errors.OptionError,
        "The objects are 'A', 'B', 'C', '_ref'",
    ),
    "everything": (
        ranking_scores,
        FRAME,
        {"exclude": ["A", "B"]},
        llbt.errors.JudgmentError,
        "each of the 6 judgments has an object",
    ),
    "everything, table": (
        ranking_scores,
        TABLE,
        {"exclude": NAMES[:3]},
        llbt.errors.JudgmentError,
        "no judgment is left",
    ),
    "no sequence": (
        ranking_scores,
        FRAME,
        {"exclude": None},
        llbt.errors.OptionError,
        "exclude=None; expected a label, such as 'A' or 3, or a list of labels",
    ),
    "reading": (
        ranking_scores,
        FRAME,
        {"reading": "elo"},
        llbt.errors.OptionError,
        "reading='elo'; expected 'ge_others'",
    ),
    "n": (ranking_scores, FRAME, {"n": -1}, llbt.errors.OptionError, "n=-1"),
    "rng": (ranking_scores, FRAME, {"rng": "1"}, llbt.errors.OptionError, "rng='1'"),
    "fractions": (ranking_scores, TABLE.split_ties(), {"n": 10}, llbt.errors.JudgmentError, "fractional counts"),
    "adjust": (
        head_to_head,
        FRAME,
        {"adjust": "tukey"},
        llbt.errors.OptionError,
        "adjust='tukey'; expected 'holm', 'bonferroni', 'fdr_bh' or None",
    ),
    "pairs, unknown": (
        head_to_head,
        FRAME,
        {"exclude": "Z"},
        llbt.errors.OptionError,
        "head_to_head: exclude names 'Z'",
    ),
    "pairs, everything": (
        head_to_head,
        FRAME,
        {"exclude": ["A", "B"]},
        llbt.errors.JudgmentError,
        "head_to_head: no judgment is left",
    ),
    "shown, table": (shown_with, TABLE, {}, llbt.errors.JudgmentError, "shown_with: a table of counts does not say"),
    "shown, no blocks": (
        shown_with,
        NO_BLOCKS,
        {},
        llbt.errors.JudgmentError,
        "column 'block' (block=) has no value in any of 6 rows",
    ),
    "shown, column": (shown_with, FRAME, {"shown": "system"}, llbt.errors.JudgmentError, "no column 'system' (shown=)"),
    "shown, by": (shown_with, FRAME, {"by": "pair"}, llbt.errors.JudgmentError, "no column 'pair' (by=)"),
    "shown, reference": (
        shown_with,
        FRAME,
        {"reference": "REF"},
        llbt.errors.JudgmentError,
        "no block shows reference='REF'",
    ),
    "shown, reading": (shown_with, FRAME, {"reading": "elo"}, llbt.errors.OptionError, "reading='elo'"),
    "shown, blocks alone": (shown_with, FRAME, {"blocks": FRAME}, llbt.errors.OptionError, "blocks= without shown="),
    "shown, blocks' columns": (
        *(shown_with, FRAME, {"blocks": FRAME, "shown": "system"}, llbt.errors.JudgmentError),
        "blocks= has no column 'system'; expected some of 'object_i'",
    ),
    "shown, other blocks": (
        *(shown_with, FRAME, {"blocks": FRAME[FRAME["object_i"] != "A"], "shown": ["object_i", "object_j"]}),
        *(llbt.errors.JudgmentError, "1 object judged, but shown in no block, the first 'A'"),
    ),
}


@pytest.mark.parametrize(("asked", "data", "options", "error", "fragment"), ERRORS.values(), ids=ERRORS)
def test_bad_input(asked, data, options, error, fragment):
    with pytest.raises(error) as caught:
        asked(data, **options)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "fragment"),
    [
        (lambda found: found.without("Z"), "RankingScores.without: exclude names 'Z'"),
        (lambda found: found.without(["A", "B", "_ref"]), "leaves 1 object ('C'); expected at least two"),
        (lambda found: found.without([*NAMES[:3], "_ref"]), "leaves 0 objects; expected at least two"),
        (lambda found: found.with_confidence(95), "RankingScores.with_confidence: confidence=95"),
    ],
)
def test_bad_views(ask, fragment):
    with pytest.raises(llbt.errors.LLBTError) as caught:
        ask(ranking_scores(FRAME))
    assert fragment in str(caught.value)


def test_views_are_of_the_same_resamples(monkeypatch):
    """Ranks, ranges and clusters among the others, from the replicates by hand; nothing is drawn again."""
    found = ranking_scores(judgments_of(random_blocks(4, number=80)), n=100, rng=2)
    monkeypatch.setattr(Resampler, "each", None)
    monkeypatch.setattr(np.random, "default_rng", None)
    view = found.without("_ref").with_confidence(0.8)
    kept = [k for k, label in enumerate(found.objects) if label != "_ref"]
    drawn = found.replicates[:, kept]
    assert view.objects == tuple(found.objects[k] for k in kept)
    np.testing.assert_array_equal(view.estimate, found.estimate[kept])
    np.testing.assert_array_equal(view.rank, range(1, 6))
    np.testing.assert_allclose(view.conf_low, np.quantile(drawn, 0.1, axis=0), atol=1e-12)
    ranks = np.sort([[1 + sum(np.round(row - score, 12) > 0) for score in row] for row in drawn], axis=0)
    assert view.rank_low.tolist() == ranks[9].tolist()
    assert view.rank_high.tolist() == ranks[89].tolist()
    assert "80 % percentile intervals" in view.notes[-2]


def test_readings_side_by_side_are_those_of_each_alone():
    judgments = judgments_of(random_blocks(3))
    found = llbt.classical.ranking_readings(judgments, exclude="_ref")
    assert found.index.tolist() == NAMES[:-1]
    assert set(found.columns) == set(READINGS)
    for reading, scores in found.items():
        alone = ranking_scores(judgments, reading=reading, exclude="_ref").to_frame().set_index("object")["estimate"]
        pd.testing.assert_series_equal(scores, alone.sort_index(), check_names=False)
    with pytest.raises(llbt.errors.OptionError, match="expected several"):
        llbt.classical.ranking_readings(judgments, readings=[])
    with pytest.raises(llbt.errors.OptionError, match=r"readings=.'ge'"):
        llbt.classical.ranking_readings(judgments, readings=["ge"])


def test_split_ties_are_scored_without_resamples():
    """Half a win for each: (w + t/2)/n by hand."""
    found = scores_of(ranking_scores(TABLE.split_ties(), reading="gt_others"))
    assert found["A"] == (pytest.approx((2 + 0.5) / 4), 4)


# -- WMT10 ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wmt10(shared):
    return llbt.read_judgments(shared / "data" / "wmt10_expert_RNK.csv.gz")


@pytest.fixture(scope="module")
def english_czech(wmt10):
    return wmt10.take((wmt10.columns["srclang"] == "English") & (wmt10.columns["trglang"] == "Czech"))


@pytest.mark.shared
def test_wmt10_english_czech_ge_others(english_czech):
    """Known figures of the data: cu-bojar 65.57, cu-tecto 60.13, references included (see the loop over ranks)."""
    for data in (english_czech, llbt.from_judgments(english_czech)):
        found = scores_of(ranking_scores(data))
        assert found["cu-bojar"] == (pytest.approx(0.6557, abs=5e-5), 1554)
        assert found["cu-tecto"] == (pytest.approx(0.6013, abs=5e-5), 1530)


@pytest.mark.shared
def test_wmt10_cu_tecto_wins_head_to_head(english_czech):
    """29 judgments for cu-bojar, 15 ties, 37 for cu-tecto: ≥ others and the direct comparison disagree."""
    found = head_to_head(english_czech)
    row = found.to_frame().set_index(["object_i", "object_j"]).loc[("cu-bojar", "cu-tecto")]
    assert row[["wins_i", "ties", "wins_j", "n"]].tolist() == [29, 15, 37, 81]
    assert found.matrix().loc["cu-tecto", "cu-bojar"] == pytest.approx(37 / 81)


@pytest.mark.shared
def test_wmt10_ge_all_in_block_by_the_ranks_of_the_raw_file(shared, english_czech):
    """A second route: from the raw ranks, block by block, with and without the reference among the others."""
    raw = pd.read_csv(shared / "data" / "wmt10_expert_RNK.csv.gz")
    raw = raw[(raw["srclang"] == "English") & (raw["trglang"] == "Czech")]
    names, ranks = ([f"system{k}{what}" for k in range(1, 6)] for what in ("Id", "rank"))
    blocks = [
        {name: rank for name, rank in zip(who, where, strict=True) if rank > 0}
        for who, where in zip(raw[names].to_numpy(), raw[ranks].to_numpy(), strict=True)
    ]
    blocks = [block for block in blocks if len(block) > 1]
    for when in ("before", "after"):
        exclude = "_ref" if when == "before" else ()
        found = ranking_scores(english_czech, reading="ge_all_in_block", exclude=exclude)
        found = found if when == "before" else found.without("_ref")
        same(scores_of(found), by_loop(blocks, "ge_all_in_block", ("_ref",), when))


def company_by_pandas(raw, frame):
    """A second route by pandas alone: the correlation of one language pair, from the raw blocks and the judgments."""
    places = [raw[f"system{k}Id"].rename("object") for k in range(1, 6)]
    with_reference = pd.concat(places, axis=1).eq("_ref").any(axis=1)
    share = pd.concat([pd.DataFrame({"object": place, "met": with_reference}) for place in places]).groupby("object")[
        "met"
    ]
    sides = [frame[side].rename("object") for side in ("object_i", "object_j")]
    not_lost = [frame["outcome"] != lost for lost in "ji"]
    score = pd.concat([pd.DataFrame({"object": o, "ok": ok}) for o, ok in zip(sides, not_lost, strict=True)])
    both = pd.concat([share.mean(), score.groupby("object")["ok"].mean()], axis=1).drop(index="_ref")
    return both["met"].corr(both["ok"])


@pytest.mark.shared
def test_wmt10_company_of_the_reference(shared, wmt10):
    """Known figures of the data, met to .001 from all blocks of the raw file; and by pandas alone to rounding."""
    expected = {
        ("Spanish", "English"): 0.341,
        ("English", "French"): 0.164,
        ("French", "English"): 0.098,
        ("German", "English"): 0.088,
        ("Czech", "English"): -0.041,
        ("English", "Czech"): -0.145,
        ("English", "Spanish"): -0.411,
        ("English", "German"): -0.433,
        ("all", "all"): -0.107,
    }
    raw = pd.read_csv(shared / "data" / "wmt10_expert_RNK.csv.gz")
    pair = ["srclang", "trglang"]
    columns = [f"system{k}Id" for k in range(1, 6)]
    found = shown_with(wmt10, shown=columns, blocks=raw, by=pair).correlations
    estimates = found.set_index(pair)["estimate"].to_dict()
    assert estimates == pytest.approx(expected, abs=1e-3)
    judgments = dict(list(wmt10.to_frame().groupby(pair)))
    by_pandas = {key: company_by_pandas(blocks, judgments[key]) for key, blocks in raw.groupby(pair)}
    assert {key: estimates[key] for key in by_pandas} == pytest.approx(by_pandas, abs=1e-12)
    assert found["n_objects"].iloc[-1] == 145
    without = shown_with(wmt10, shown=columns, by=pair).correlations
    assert np.abs(without["estimate"] - found["estimate"]).max() > 0.01  # the 71 blocks without a judgment matter


def test_a_reading_that_its_critics_advise_against_says_so() -> None:
    """Bojar et al. (2011) recommend to leave ties out."""
    table = llbt.load_dataset("dras_table1")
    assert "Bojar et al. (2011) advise against" in llbt.classical.ranking_scores(table).as_text()
    assert "advise against" not in llbt.classical.ranking_scores(table, reading="ignore_ties").as_text()
    assert "advise against" not in llbt.classical.ranking_scores(table.drop_ties()).as_text()
