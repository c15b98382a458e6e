"""Goodness of fit of lists: counts by hand, expected counts by the model, and sizes of the test by simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import llbt
from llbt.core.rankings import gathered_rankings


def drawn(rng, number, worths, apart=0.0):
    """Rankings of all objects; `apart` parts the judges into two camps with opposite tastes beside the worths."""
    said = 2 * worths + rng.gumbel(size=(number, len(worths)))
    camp = rng.choice([-1.0, 1.0], number)[:, None]
    taste = np.resize([1.0, 0.0, -1.0, 1.0], len(worths))
    said += 2 * apart * camp * taste
    ranks = np.argsort(np.argsort(-said, axis=1), axis=1) + 1
    return pd.DataFrame(ranks, columns=list("ABCDEF")[: len(worths)])


def rankings(frame, **keywords):
    return llbt.from_rankings(frame, objects=[c for c in frame if len(c) == 1], **keywords)


WORTHS = np.array([0.4, 0.1, -0.1, -0.4])


def test_pairs_are_those_that_the_lists_imply():
    """Observed pairs are those of to_comparisons, expected ones of lists without ties those of the odds."""
    res = llbt.fit("object", rankings(drawn(np.random.default_rng(1), 60, WORTHS)))
    found = llbt.goodness_of_fit(res, n=400, rng=1).to_frame().set_index(["object_i", "object_j", "outcome"])
    worths = dict(zip("ABCD", np.append(res.params, 0.0), strict=True))
    for i, j, wins, losses in res.comparisons.to_frame()[["object_i", "object_j", "wins_i", "wins_j"]].itertuples(
        index=False
    ):
        assert found.loc[(i, j, "i"), "observed"] == wins
        assert found.loc[(i, j, "j"), "observed"] == losses
        p = expit(2 * (worths[i] - worths[j]))
        assert found.loc[(i, j, "i"), "expected"] == pytest.approx(60 * p, abs=5 * np.sqrt(60 * p * (1 - p) / 400))
    assert (found["observed"].groupby(level=[0, 1]).sum() == 60).all()


def test_triples_are_counted_as_they_stand():
    frame = drawn(np.random.default_rng(2), 50, WORTHS)
    res = llbt.fit("object", rankings(frame))
    found = llbt.goodness_of_fit(res, of="triples", n=99, rng=1).to_frame()
    for _, cell in found.iterrows():
        three = dict(zip("ijk", (cell["object_i"], cell["object_j"], cell["object_k"]), strict=True))
        best, middle, worst = (three[letter] for letter in cell["outcome"].split(" > "))
        seen = ((frame[best] < frame[middle]) & (frame[middle] < frame[worst])).sum()
        assert cell["observed"] == seen
    assert found["observed"].sum() == 4 * 50
    assert len(found) <= 4 * 6


@pytest.mark.slow
def test_residuals_of_drawn_and_refitted_tables_spread_alike():
    """What scores explain is taken out to first order; refits of drawn tables take out all of it."""
    rng = np.random.default_rng(3)
    res = llbt.fit("object", rankings(drawn(rng, 200, WORTHS)))
    cells = llbt.goodness_of_fit(res, n=800, rng=2).to_frame().set_index(["object_i", "object_j", "outcome"])
    off = []
    for _ in range(120):
        again = llbt.fit("object", rankings(drawn(rng, 200, np.append(res.params, 0.0))))
        worths = dict(zip("ABCD", np.append(again.params, 0.0), strict=True))
        pairs = again.comparisons.to_frame()
        off.append(
            [
                w - 200 * expit(2 * (worths[i] - worths[j]))
                for i, j, w in zip(pairs["object_i"], pairs["object_j"], pairs["wins_i"], strict=True)
            ]
        )
    spread = np.std(off, axis=0)
    own = [
        abs((c["observed"] - c["expected"]) / c["z"]) for _, c in cells.xs("i", level="outcome").sort_index().iterrows()
    ]
    np.testing.assert_allclose(own, spread, rtol=0.25)


@pytest.mark.parametrize("of", ["pairs", "triples"])
@pytest.mark.slow
def test_two_camps_of_judges_do_not_fit(of):
    rng = np.random.default_rng(4)
    apart = llbt.fit("object", rankings(drawn(rng, 300, WORTHS, apart=0.8)))
    alike = llbt.fit("object", rankings(drawn(rng, 300, WORTHS)))
    assert llbt.goodness_of_fit(apart, of=of, n=199, rng=1).test.p_value < 0.02
    assert llbt.goodness_of_fit(alike, of=of, n=199, rng=1).test.p_value > 0.02


@pytest.mark.parametrize("kind", ["ties", "few", "joint", "sequential"])
def test_all_kinds_of_lists(kind):
    rng = np.random.default_rng(5)
    frame = drawn(rng, 80, WORTHS)
    if kind == "ties":
        res = llbt.fit("object + tie", rankings(frame.replace(3, 2)))
    elif kind == "few":
        res = llbt.fit("object", rankings(frame.replace({3: np.nan, 4: np.nan}), unranked="below"))
    else:
        order = np.argsort(frame.to_numpy(), axis=1)[:, [0, 3, 1, 2]]
        lists, _ = np.divmod(np.arange(320), 4)
        r = gathered_rankings(tuple("ABCD"), lists, order.ravel(), np.tile([1, 2, 0, 0], 80), kind="best_worst")
        res = llbt.fit("object", r, best_worst=kind)
    found = llbt.goodness_of_fit(res, of="triples" if kind == "ties" else "pairs", n=99, rng=1)
    assert 0 < found.test.p_value <= 1
    assert found.cells["observed"].sum() == pytest.approx(80 * (4 if kind == "ties" else 6))
    assert found.cells["expected"].sum() == pytest.approx(found.cells["observed"].sum())
    if kind == "ties":
        assert found.cells["outcome"].str.contains("=").any()


def test_what_cannot_be_drawn_is_refused():
    frame = drawn(np.random.default_rng(6), 40, WORTHS)
    with pytest.raises(llbt.errors.DesignError, match="without prior"):
        llbt.goodness_of_fit(llbt.fit("object", rankings(frame), prior=0.5))
    res = llbt.fit("object", rankings(frame))
    with pytest.raises(llbt.errors.DesignError, match="cells of triples in 1,000,000 tables"):
        llbt.goodness_of_fit(res, of="triples", n=1_000_000)
    assert "more cells in to_frame" in str(llbt.goodness_of_fit(res, of="triples", n=19, rng=1))


@pytest.mark.parametrize(
    "of", [pytest.param("pairs", marks=pytest.mark.exhaustive), pytest.param("triples", marks=pytest.mark.slow)]
)
def test_a_true_model_is_rejected_as_often_as_the_level_says(of):
    rng = np.random.default_rng(7)
    p = [
        llbt.goodness_of_fit(
            llbt.fit("object", rankings(drawn(rng, 60, WORTHS))), of=of, n=99, rng=int(seed)
        ).test.p_value
        for seed in rng.integers(10**6, size=300)
    ]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.035)
    assert np.mean(np.array(p) <= 0.5) == pytest.approx(0.5, abs=0.09)


def test_outcomes_of_three():
    from llbt.inference.list_goodness import _outcome

    for ranks in itertools.product((1, 2, 3), repeat=3):
        i, j, k = ranks
        code = 9 * (1 + np.sign(i - j)) + 3 * (1 + np.sign(i - k)) + 1 + np.sign(j - k)
        text = _outcome(int(code))
        for (a, x), (b, y) in itertools.combinations(zip("ijk", ranks, strict=True), 2):
            before, after = text.index(a), text.index(b)
            between = text[min(before, after) : max(before, after)]
            assert (">" in between) == (x != y)
            if x != y:
                assert (before < after) == (x < y)


def test_triples_need_lists_of_three():
    rows = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, 2]})
    res = llbt.fit("object", llbt.from_rankings(rows, objects=["A", "B"]))
    with pytest.raises(llbt.errors.DesignError, match="no list has triples of objects"):
        llbt.goodness_of_fit(res, of="triples")


def test_lists_that_are_too_many_to_draw_are_refused(monkeypatch):
    rows = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, 2], "C": [3, 3, 1]})
    res = llbt.fit("object + tie", llbt.from_rankings(rows, objects=list("ABC")), prior=None)
    monkeypatch.setattr("llbt.base.budgets.SMALL", 0)
    monkeypatch.setattr("llbt.base.budgets.memory", lambda: 8 * 8 * 9 - 1)
    with pytest.raises(llbt.errors.DesignError, match="drawing 3 lists one by one"):
        llbt.goodness_of_fit(res)
