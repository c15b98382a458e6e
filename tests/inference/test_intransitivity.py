"""Circular triads and stochastic transitivity against loops and the literature; deviance by pair and triple."""

import itertools
import math
import pickle
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import llbt
from llbt import Comparisons
from llbt.inference.intransitivity import intransitivity, most_circular_triads

# A dog's preferences for six samples of food: Kendall & Babington Smith (1940), p. 326; row over column.
FOODS = ["meat", "biscuit", "chocolate", "apple", "pear", "cheese"]
DOG = [
    [0, 1, 1, 0, 1, 1],
    [0, 0, 0, 1, 1, 0],
    [0, 1, 0, 1, 1, 1],
    [1, 0, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 1],
    [0, 1, 0, 1, 0, 0],
]


def from_pairs(rows):
    columns = ["object_i", "object_j", "wins_i", "ties", "wins_j"]
    return llbt.from_counts(pd.DataFrame(rows, columns=columns))


@st.composite
def tables(draw) -> Comparisons:
    """Three to six objects; missing and even pairs, ties, and fractions are all likely."""
    size = draw(st.integers(3, 6))
    unit = draw(st.sampled_from([1, 0.1]))
    count = st.integers(0, 3)
    rows = []
    for i, j in itertools.combinations(range(size), 2):
        for _ in range(draw(st.integers(0, 2))):
            wins_i, ties, wins_j = (unit * draw(count) for _ in range(3))
            rows.append((i, j, wins_i, ties, wins_j) if draw(st.booleans()) else (j, i, wins_j, ties, wins_i))
    rows.append((0, 1, 1, 0, 0))  # at least one judgment
    return from_pairs(rows)


def looped_shares(c):
    """Share of i against j, ties half, as a dict; fractions of tenths are exact after rounding to whole tenths."""
    won, total = {}, {}
    for (i, j), (wins_i, ties, wins_j) in zip(c.pairs.tolist(), (c.counts * 20).round().tolist(), strict=True):
        for pair, part in (((i, j), wins_i + ties / 2), ((j, i), wins_j + ties / 2)):
            won[pair] = won.get(pair, 0) + part
            total[pair] = total.get(pair, 0) + wins_i + ties + wins_j
    return {pair: (won[pair], total[pair]) for pair in won if total[pair]}


def at_least(x, y):
    """x ≥ y for fractions (numerator, denominator), without rounding."""
    return x[0] * y[1] >= y[0] * x[1]


HALF = (1, 2)


def looped(c):
    """Count by the definitions, triple by triple."""
    share = looped_shares(c)
    triads = circular = tested = weak = moderate = strong = 0

    def preferred(i, j):
        return (i, j) in share and not at_least(share[j, i], share[i, j])

    for triple in itertools.combinations(range(len(c.objects)), 3):
        pairs = list(itertools.combinations(triple, 2))
        if all(preferred(i, j) or preferred(j, i) for i, j in pairs):
            triads += 1
            i, j, k = triple
            circular += (preferred(i, j) and preferred(j, k) and preferred(k, i)) or (
                preferred(j, i) and preferred(k, j) and preferred(i, k)
            )
    for i, j, k in itertools.permutations(range(len(c.objects)), 3):
        if not all(pair in share for pair in ((i, j), (j, k), (i, k))):
            continue
        first, second, third = share[i, j], share[j, k], share[i, k]
        if at_least(first, HALF) and at_least(second, HALF):
            tested += 1
            weak += not at_least(third, HALF)
            moderate += not (at_least(third, first) or at_least(third, second))
            strong += not (at_least(third, first) and at_least(third, second))
    return triads, circular, tested, weak, moderate, strong


@settings(max_examples=150)
@given(tables())
@pytest.mark.slow
def test_counts_are_those_of_loops(c):
    found = intransitivity(c)
    counts = (found.triads, found.circular_triads, found.tested, found.weak, found.moderate, found.strong)
    assert counts == looped(c)


@settings(max_examples=80)
@given(tables())
@pytest.mark.slow
def test_triples_agree_with_the_counts(c):
    found = intransitivity(c)
    frame = found.triples().to_frame()
    share = looped_shares(c)
    compared = [t for t in itertools.combinations(range(len(c.objects)), 3) if all(p in share for p in _pairs(t))]
    assert len(frame) == len(compared)
    assert frame["circular"].sum() == found.circular_triads
    assert (frame["share_ij"] >= 0.5 - 1e-12).all()
    assert (frame["share_jk"] >= 0.5 - 1e-12).all()
    position = {o: k for k, o in enumerate(c.objects)}
    for row in frame.itertuples():
        triple = [position[o] for o in (row.object_i, row.object_j, row.object_k)]
        severities = [_severity(share, order) for order in itertools.permutations(triple)]
        assert row.violated == ("none", "strong", "moderate", "weak")[max(severities)]
        assert _severity(share, triple) == max(severities)
        won, total = share[triple[0], triple[2]]
        assert row.share_ik == pytest.approx(won / total)


def _pairs(triple):
    return itertools.combinations(triple, 2)


def _severity(share, order):
    i, j, k = order
    first, second, third = share[i, j], share[j, k], share[i, k]
    if not (at_least(first, HALF) and at_least(second, HALF)):
        return -1
    reached = (at_least(third, first), at_least(third, second))
    return (not all(reached)) + (not any(reached)) + (not at_least(third, HALF))


@settings(max_examples=40)
@given(tables(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_names_of_objects_do_not_matter(c, random):
    names = list(c.objects)
    random.shuffle(names)
    frame = c.to_frame()
    renamed = (
        frame.assign(**{s: [names[k] for k in frame[s]] for s in ("object_i", "object_j")}) if _dense(c) else frame
    )
    first, second = intransitivity(c), intransitivity(llbt.from_counts(renamed))
    for name in ("triads", "circular_triads", "tested", "weak", "moderate", "strong"):
        assert getattr(first, name) == getattr(second, name)


def _dense(c):
    return c.objects == tuple(range(len(c.objects)))


def test_the_dog_of_kendall_and_babington_smith():
    """Scores 4, 2, 4, 1, 2, 2: d = n(n − 1)(2n − 1)/12 − Σa²/2 = 27.5 − 22.5 = 5 of at most 8, ζ = .375."""
    found = intransitivity(llbt.from_matrix(pd.DataFrame(DOG, index=FOODS, columns=FOODS)))
    scores = np.sum(DOG, axis=1)
    assert found.circular_triads == 6 * 5 * 11 / 12 - np.sum(scores**2) / 2 == 5
    assert found.zeta == 0.375
    assert found.triads == 20
    # one judgment a pair: shares are 0 or 1, so what is not circular is strongly transitive
    assert (found.weak, found.moderate, found.strong, found.tested) == (15, 15, 15, 15 + 15)
    assert "coefficient of consistence: .375 (at most 8 circular)" in found.as_text()


@pytest.mark.parametrize("size", range(3, 8))
def test_the_most_circular_triads(size):
    """Kendall & Babington Smith (1940): d_max is attained, and not exceeded by random tournaments."""
    assert most_circular_triads(size) == size * (size**2 - (1 if size % 2 else 4)) / 24
    ring = [  # each beats the next half of a circle
        (i, j, 1, 0, 0) if (j - i) % size <= size // 2 else (i, j, 0, 0, 1)
        for i, j in itertools.combinations(range(size), 2)
    ]
    found = intransitivity(from_pairs(ring))
    assert found.circular_triads == most_circular_triads(size)
    assert found.zeta == 0
    ranked = intransitivity(from_pairs([(i, j, 1, 0, 0) for i, j in itertools.combinations(range(size), 2)]))
    assert (ranked.circular_triads, ranked.zeta, ranked.strong) == (0, 1, 0)


@pytest.mark.slow
def test_a_quarter_is_circular_by_chance_whatever_is_missing():
    """Moran (1947): mean T/4 and variance 3T/16 over all 2^pairs tournaments, here without the pair (0, 1)."""
    pairs = [p for p in itertools.combinations(range(5), 2) if p != (0, 1)]
    found = []
    for outcome in itertools.product((0, 1), repeat=len(pairs)):
        rows = [(i, j, w, 0, 1 - w) for (i, j), w in zip(pairs, outcome, strict=True)]
        record = intransitivity(from_pairs(rows))
        found.append(record.circular_triads)
        assert record.triads == 7
        assert math.isnan(record.zeta)
    assert np.mean(found) == 7 / 4
    assert np.var(found) == pytest.approx(3 * 7 / 16)
    assert "expected by chance: 1.75 (standard deviation 1.15)" in " ".join(record.as_text(notes="all").split())


def test_what_is_counted_instead_is_said():
    gaps = intransitivity(from_pairs([(0, 1, 3, 0, 1), (1, 2, 3, 0, 1), (0, 2, 1, 0, 3), (2, 3, 2, 1, 2)]))
    assert (gaps.triads, gaps.circular_triads, gaps.tested) == (1, 1, 3)
    assert math.isnan(gaps.zeta)
    notes = " | ".join(gaps.notes)
    for fragment in ("never compared: 2 of 6 pairs", "even: 1 of 6 pairs", "ties count as half", "no coefficient of"):
        assert fragment in notes
    complete = intransitivity(from_pairs([(0, 1, 3, 0, 1), (1, 2, 3, 0, 1), (0, 2, 3, 0, 1)]))
    assert complete.zeta == 1
    assert len(complete.notes) == 1
    pair = intransitivity(llbt.load_dataset("dras_modpref"))
    assert pair.triads == pair.tested == len(pair.triples().to_frame()) == 0
    assert "two objects make no triple" in pair.notes
    assert pair.to_frame()["share"].isna().all()


def test_what_is_pooled_is_said():
    assert "pooled over judge" in intransitivity(llbt.load_dataset("dras_table1")).notes[0]
    assert "pooled over the order shown" in intransitivity(llbt.load_dataset("baseball")).notes[0]
    pooled = intransitivity(llbt.load_dataset("dras_table1").pool())
    assert pooled.to_frame().equals(intransitivity(llbt.load_dataset("dras_table1")).to_frame())
    assert "pooled" not in pooled.notes[0]


@pytest.mark.parametrize(
    ("data", "formula"),
    [("cems", "object + tie"), ("dras_table1", "object * judge + tie"), ("baseball", "object + order")],
)
def test_the_deviance_is_shared_out(data, formula):
    res = llbt.fit(formula, llbt.load_dataset(data))
    found = intransitivity(res)
    pairs, triples = found.pairs().to_frame(), found.triples().to_frame()
    assert pairs["deviance"].sum() == pytest.approx(res.deviance)
    assert triples["deviance"].sum() == pytest.approx((len(found.objects) - 2) * res.deviance)
    for frame in (pairs, triples):
        assert (np.diff(frame["deviance"]) <= 1e-9).all()
    parts = (res.resid_deviance**2).groupby(level=["object_i", "object_j"]).sum()
    for row in pairs.itertuples():
        pair = (row.object_i, row.object_j)
        expected = sum(parts.get(p, 0.0) for p in (pair, pair[::-1]))
        assert row.deviance == pytest.approx(expected)
    by_pair = {frozenset((row.object_i, row.object_j)): row.deviance for row in pairs.itertuples()}
    for row in triples.itertuples():
        three = itertools.combinations((row.object_i, row.object_j, row.object_k), 2)
        assert row.deviance == pytest.approx(sum(by_pair[frozenset(p)] for p in three))


def test_pairs_have_their_counts_and_fitted_shares():
    c = llbt.load_dataset("cems").pool()
    res = llbt.fit("object + tie", c)
    frame = intransitivity(res).pairs().to_frame().sort_values(["object_i", "object_j"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(
        frame[["object_i", "object_j", "wins_i", "ties", "wins_j"]], c.to_frame(), check_dtype=False
    )
    expected = (res.solution.means @ [1, 0.5, 0]) / c.totals
    np.testing.assert_allclose(frame["fitted_share"], expected)
    np.testing.assert_allclose(frame["share"], (c.counts @ [1, 0.5, 0]) / c.totals)
    plain = intransitivity(c).pairs().to_frame()
    assert "deviance" not in plain
    assert "deviance" not in intransitivity(c).triples().to_frame()
    assert (plain["judgments"] == c.totals).all()


def test_of_a_table_the_worst_violations_come_first():
    frame = intransitivity(llbt.load_dataset("cems")).triples().to_frame()
    severity = frame["violated"].map({"none": 0, "strong": 1, "moderate": 2, "weak": 3})
    assert (np.diff(severity) <= 0).all()
    assert frame.iloc[0][["object_i", "object_j", "object_k"]].tolist() == ["BA", "MI", "ST"]
    assert frame.iloc[0]["circular"]


@pytest.mark.slow
def test_two_hundred_objects_take_seconds():
    rng = np.random.default_rng(7)
    i, j = np.triu_indices(200, 1)
    wins, ties, losses = rng.integers(0, 9, (3, len(i)))
    c = from_pairs(list(zip(i.tolist(), j.tolist(), wins, ties, losses, strict=True)))
    start = time.perf_counter()
    found = intransitivity(c)
    triples = found.triples()
    assert time.perf_counter() - start < 20  # about one second on one core
    assert sum(triples.fields[-1].values) == found.circular_triads
    assert found.circular_triads == pytest.approx(found.triads / 4, rel=0.02)


def test_the_record():
    found = intransitivity(llbt.fit("object + tie", llbt.load_dataset("cems")))
    assert list(found.to_frame()) == ["criterion", "count", "tested", "share"]
    assert found.to_frame()["count"].tolist() == [1, 3, 6, 7]
    assert found.shares[0, 1] + found.shares[1, 0] == pytest.approx(1)
    assert np.isnan(np.diag(found.shares)).all()
    assert "Residual deviance: 276.11; the largest part, 49.427, is from BA and ST" in found.as_text()
    back = pickle.loads(pickle.dumps(found))
    assert back.as_text() == found.as_text()
    for rendering in (found.as_html(), found.as_latex(), found.as_markdown()):
        assert "circular triads" in rendering


@pytest.mark.parametrize("data", [None, pd.DataFrame({"a": [1]}), "cems"])
def test_errors(data):
    with pytest.raises(llbt.errors.OptionError, match=r"intransitivity: data.*; expected LLBTResults.* or Comparisons"):
        intransitivity(data)
