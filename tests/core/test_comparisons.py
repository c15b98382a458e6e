"""The central noun: what a table says, and that nothing is lost on the way from one to another."""

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import llbt
from llbt.core.columns import code, groups
from llbt.core.comparisons import Comparisons
from llbt.data.datasets import load_dataset
from llbt.data.matrices import from_matrix
from llbt.data.table_readers import from_counts, from_judgments
from llbt.errors import JudgmentError, OptionError

COUNTS = pd.DataFrame(
    {
        "object_i": ["A", "A", "B", "A"],
        "object_j": ["B", "C", "C", "B"],
        "judge": ["J1", "J1", "J1", "J2"],
        "worker": [1, 1, 2, 2],
        "wins_i": [7, 9, 5, 4],
        "ties": [1, 0, 2, 3],
        "wins_j": [3, 2, 4, 6],
    }
)
TABLE = from_counts(COUNTS, covariates="judge", clusters="worker")


@st.composite
def tables(draw: st.DrawFn) -> Comparisons:
    """Random tables with a covariate, a numeric one, a side covariate, clusters, ties and kept order or not."""
    rows = draw(st.integers(1, 12))

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=rows, max_size=rows))

    first = column(st.integers(0, 3))
    step = column(st.integers(1, 3))
    labels = draw(st.sampled_from([["A", "B", "C", "D"], [1, 2, 10, 20], ["ü [x]", "a=b", 3, "Z z"]]))
    counts = st.sampled_from([0, 1, 2, 5]) | st.sampled_from([0.5, 1.25])
    frame = pd.DataFrame(
        {
            "object_i": pd.Series([labels[i] for i in first], dtype=object),
            "object_j": pd.Series([labels[(i + s) % 4] for i, s in zip(first, step, strict=True)], dtype=object),
            "judge": column(st.sampled_from(["J1", "J2"])),
            "age": column(st.sampled_from([20.0, 30.5])),
            "length_i": column(st.sampled_from([1.0, 2.0])),
            "length_j": column(st.sampled_from([1.0, 2.0])),
            "worker": column(st.integers(1, 3)),
            "wins_i": [1 + n for n in column(counts)],
            "ties": [1 + n for n in column(counts)],
            "wins_j": column(counts),
        }
    )
    return from_counts(
        frame,
        covariates=("judge", "age"),
        clusters="worker",
        side_covariates={"length": ("length_i", "length_j")},
        order=draw(st.booleans()),
    )


def reread(c: Comparisons) -> Comparisons:
    return from_counts(
        c.to_frame(clusters=True),
        covariates=tuple(column.name for column in c.columns),
        clusters=c.clusters,
        side_covariates={side.name: (f"{side.name}_i", f"{side.name}_j") for side in c.sides},
        order=c.keeps_order,
    )


def test_what_a_table_says():
    assert TABLE.objects == ("A", "B", "C")
    assert (TABLE.covariates, TABLE.clusters, TABLE.object_covariates) == (("judge",), ("worker",), ())
    assert (len(TABLE), TABLE.n_judgments, TABLE.n_ties, TABLE.has_ties) == (4, 46, 6, True)
    assert TABLE.totals.tolist() == [11, 13, 11, 11]
    assert TABLE.to_frame().columns.tolist() == ["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"]
    assert TABLE.unkept == ()


def test_counts_of_fractions_are_not_rounded():
    c = from_counts(COUNTS.assign(wins_i=[0.25, 9, 5, 4]))
    assert c.n_judgments == 39.25
    assert c.to_frame()["wins_i"].tolist() == [4.25, 9, 5]


def test_tables_are_frozen():
    with pytest.raises(FrozenInstanceError):
        TABLE.notes = ()
    with pytest.raises(ValueError, match="read-only"):
        TABLE.counts[0, 0] = 99


def test_win_matrix_reads_back():
    wins = TABLE.win_matrix()
    assert wins.loc["A", "B"] == 11
    assert wins.loc["B", "A"] == 9
    assert from_matrix(wins) == replace(TABLE.pool().drop_ties(), cluster_counts=None)


def test_components_names_groups_never_compared():
    frame = pd.DataFrame(
        {"object_i": ["a", "c", "b"], "object_j": ["b", "d", "c"], "wins_i": [1, 2, 0], "wins_j": [1, 1, 0]}
    )
    assert from_counts(frame).components() == (("a", "b"), ("c", "d"))
    assert TABLE.components() == (("A", "B", "C"),)


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_component_is_that_of_walks_of_wins_and_ties(seed):
    """By powers of the matrix of who is ahead, or tied: its estimates are finite, those of more are not."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, 30, 45), rng.integers(0, 30, 45)
    said = rng.choice(["i", "tie", "j"], 45, p=[0.45, 0.1, 0.45])
    frame = pd.DataFrame({"object_i": i, "object_j": j, "outcome": said, "who": rng.integers(0, 3, 45)})[i != j]
    c = from_judgments(frame, clusters="who")
    ahead = np.eye(len(c.objects))
    for (a, b), wins, ties, losses in zip(c.pairs, c.wins_i, c.ties, c.wins_j, strict=True):
        ahead[a, b] += wins + ties
        ahead[b, a] += losses + ties
    reached = np.linalg.matrix_power(np.minimum(ahead, 1), 30) > 0
    both = reached & reached.T
    kept = both[both.sum(axis=1).argmax()]
    found = c.largest_component()
    assert found.objects == tuple(o for o, k in zip(c.objects, kept, strict=True) if k)
    assert replace(found, notes=()) == replace(c.select(objects=found.objects), notes=())
    assert found.clusters == ("who",)
    assert found.largest_component() is found
    llbt.fit("object", found.split_ties())
    with pytest.raises(llbt.errors.SeparationError if len(c.components()) == 1 else llbt.errors.DesignError):
        llbt.fit("object", c.split_ties())


def test_no_two_objects_are_connected_both_ways():
    c = from_counts(
        pd.DataFrame({"object_i": [*"ABC"], "object_j": [*"BCD"], "wins_i": [2, 3, 4], "wins_j": [0, 0, 0]})
    )
    with pytest.raises(JudgmentError, match=r"no two objects .* both ways"):
        c.largest_component()


def test_pool_over_all_or_named_covariates():
    cems = load_dataset("cems")
    assert cems.pool() == cems.pool("ENG", "SEX")
    assert cems.pool("ENG").covariates == ("SEX",)
    assert len(cems.pool()) == 15
    first = cems.pool().to_frame().query("object_i == 'LO' and object_j == 'PA'")
    assert first[["wins_i", "ties", "wins_j"]].to_numpy().tolist() == [[186, 26, 91]]


def test_pool_keeps_clusters_unless_named():
    assert TABLE.pool().clusters == ("worker",)
    assert TABLE.pool().cluster_counts.counts.sum(axis=0).tolist() == [25, 6, 15]
    assert TABLE.pool("judge", "worker").cluster_counts is None


def test_select_by_objects_and_by_covariates():
    some = TABLE.select(where={"judge": "J1"})
    assert some.n_judgments == 33
    assert TABLE.select(where={"worker": [2]}).n_judgments == 24
    pair = TABLE.select(objects=("A", "B"))
    assert pair.objects == ("A", "B")
    assert pair.notes[-1] == "1 object left without comparisons: 'C'"


def test_select_keeps_the_tie_category():
    frame = pd.DataFrame({"object_i": ["A", "A"], "object_j": ["B", "C"], "wins_i": 3, "ties": [1, 0], "wins_j": 2})
    some = from_counts(frame).select(objects=["A", "C"])
    assert (some.n_ties, some.has_ties) == (0, True)


def test_select_follows_the_object_table():
    cems = load_dataset("cems").select(objects=["LO", "PA", "ST"])
    values = {column.name: column.values.tolist() for column in cems.object_columns}
    assert values == {"LAT": [0, 1, 0], "EC": [1, 0, 1]}


def test_drop_ties_and_split_ties_say_what_they_did():
    dropped, split = TABLE.drop_ties(), TABLE.split_ties()
    assert (dropped.has_ties, dropped.n_judgments) == (False, 40)
    assert dropped.notes == ("6 ties (13 % of the judgments) were dropped (drop_ties)",)
    assert (split.has_ties, split.n_judgments) == (False, 46)
    assert split.counts[:, [0, 2]].tolist()[0] == [7.5, 3.5]
    assert "standard errors are conservative" in split.notes[0]
    assert dropped.drop_ties() is dropped
    assert split.split_ties() is split


def test_printing_shows_sizes_rows_and_notes():
    text = repr(TABLE.drop_ties())
    assert text.splitlines()[0] == "Comparisons: 3 objects, 4 comparisons, 40 judgments (no tie category)"
    assert "clusters beside the counts: worker" in text
    assert text.splitlines()[-1].startswith("Note: 6 ties")
    assert "… 22 more rows: .to_frame()" in repr(load_dataset("baseball"))
    assert "object_i was shown first" in load_dataset("baseball")._repr_html_()


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (lambda c: c.select(objects=["B", "C"], where={"judge": "J2"}), "no comparison is left"),
        (lambda c: replace(c, pairs=np.zeros((4, 2), dtype=int)), "an object with itself, the first of 'A'"),
        (lambda c: replace(c, counts=-c.counts), "negative or not finite"),
        (lambda c: replace(c, counts=0 * c.counts), "no judgment"),
        (lambda c: replace(c, objects=("A",)), "1 object ('A'); expected two or more"),
        (lambda c: replace(c, pairs=c.pairs[:0], counts=c.counts[:0]), "the table is empty"),
        (lambda c: replace(c, columns=(code("tie", np.array(["x"] * 4)),)), "'tie' is a word that llbt uses"),
        (lambda c: replace(c, columns=2 * c.columns), "'judge' is named twice"),
    ],
)
def test_refusals(change, fragment):
    with pytest.raises(JudgmentError) as caught:
        change(TABLE)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (lambda c: c.pool("jugde"), "no covariate 'jugde'; expected some of 'judge', 'worker'"),
        (lambda c: c.pool().pool("judge"), "no covariate 'judge'"),
        (lambda c: c.select(objects=["A", "X"]), "objects has no 'X'; expected some of 'A', 'B', 'C'"),
        (lambda c: c.select(where={"judge": "J9"}), "judge has no 'J9'; expected some of 'J1', 'J2'"),
        (lambda c: c.select(where={"age": 3}), "no covariate or cluster 'age'"),
    ],
)
def test_names_that_are_not_there_are_refused(change, fragment):
    with pytest.raises(OptionError) as caught:
        change(TABLE)
    assert fragment in str(caught.value)


def test_equality_looks_at_content_not_at_notes():
    assert replace(TABLE, notes=("x",), unkept=("y",)) == TABLE
    assert from_counts(COUNTS, covariates="judge") != TABLE  # no clusters
    assert from_counts(COUNTS, clusters="worker") != TABLE
    assert from_counts(COUNTS.assign(wins_i=1), covariates="judge", clusters="worker") != TABLE
    assert TABLE != "a table"


@pytest.mark.slow
@given(tables())
def test_round_trips(c):
    assert reread(c) == c
    back = pickle.loads(pickle.dumps(c))
    assert back == c
    assert repr(back) == repr(c)


@given(tables(), st.data())
@pytest.mark.slow
def test_totals_are_kept(c, data):
    total = c.n_judgments
    pooled = c.pool(*data.draw(st.sets(st.sampled_from(["judge", "age", "length"]))))
    assert pooled.n_judgments == pytest.approx(total)
    assert pooled.n_ties == pytest.approx(c.n_ties)
    assert c.split_ties().n_judgments == pytest.approx(total)
    assert c.drop_ties().n_judgments == pytest.approx(total - c.n_ties)
    parts = [c.select(where={"judge": level}) for level in c.columns[0].levels]
    assert sum(part.n_judgments for part in parts) == pytest.approx(total)
    for table in (c, pooled, *parts):
        kept = table.cluster_counts
        summed = np.zeros_like(table.counts)
        np.add.at(summed, kept.rows, kept.counts)
        np.testing.assert_allclose(summed, table.counts)


@given(tables())
@pytest.mark.slow
def test_pairs_are_canonical(c):
    if not c.keeps_order:
        assert (c.pairs[:, 0] < c.pairs[:, 1]).all()
    rows = [tuple(row) for row in np.column_stack([c.pairs, *(column.codes for column in c.columns)])]
    assert rows == sorted(rows)
    assert sorted(np.unique(c.pairs)) == list(range(len(c.objects)))


def test_groups_of_many_wide_columns_do_not_overflow():
    wide = np.array([0, 2**40, 2**40, 0, 5])
    first, group = groups([wide, wide[::-1].copy(), wide])
    assert first.tolist() == [0, 3, 4, 1, 2]
    assert group.tolist() == [0, 3, 4, 1, 2]


def test_drop_empty_counts_what_goes():
    empty = from_counts(COUNTS.assign(wins_i=[7, 9, 0, 4], ties=0, wins_j=[3, 2, 0, 6])).drop_empty()
    assert empty.to_frame()[["object_i", "object_j"]].to_numpy().tolist() == [["A", "B"], ["A", "C"]]
    assert empty.notes[-1] == "left out: 1 comparison without a judgment"
    assert empty.drop_empty() is empty
    assert TABLE.drop_empty() is TABLE
