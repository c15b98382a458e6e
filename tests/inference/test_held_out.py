"""Predictions of held-out judgments, against fits made by hand without them."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import DesignError, OptionError
from llbt.fitting.folds import folds_of

TABLE = llbt.load_dataset("dras_table1")


def drawn(judges=6, seed=3, size=4, **options):
    rng = np.random.default_rng(seed)
    rows = [
        {"i": "ABCD"[i], "j": "ABCD"[j], "judge": k, "said": rng.choice(["i", "tie", "j"], p=[0.5, 0.2, 0.3])}
        for k in range(judges)
        for i in range(size)
        for j in range(i + 1, size)
        for _ in range(2)
    ]
    return llbt.from_judgments(pd.DataFrame(rows), objects=("i", "j"), outcome="said", clusters="judge", **options)


def said_without(res, train, held):
    """Log p and squared distance of every judgment of a table by a fit to another one: count, log p, distance."""
    again = llbt.fit(res.specification.formula, train, link=res.specification.link)
    at = dict(zip(map(tuple, train.pairs.tolist()), again.fittedvalues.to_numpy().reshape(-1, 3), strict=True))
    lines = []
    for pair, counts in zip(map(tuple, held.pairs.tolist()), held.outcome_counts, strict=True):
        p = at[pair] / at[pair].sum()
        for k, n in enumerate(counts):
            if n:
                lines.append((n, np.log(p[k]), np.sum((p - np.eye(3)[k]) ** 2)))
    return np.array(lines)


@pytest.mark.parametrize("link", ["adjacent", "cumulative", "probit"])
def test_leaving_out_each_judge_is_fitting_without_him(link):
    c = drawn()
    res = llbt.fit("object + tie", c, link=link)
    every = range(6)
    parts = [
        said_without(res, c.select(where={"judge": [o for o in every if o != k]}), c.select(where={"judge": [k]}))
        for k in every
    ]
    n = sum(part[:, 0].sum() for part in parts)
    loss = -sum(part[:, 0] @ part[:, 1] for part in parts) / n
    brier = sum(part[:, 0] @ part[:, 2] for part in parts) / n
    sums = np.array([part[:, 0] @ (-part[:, 1] - loss) for part in parts])
    row = llbt.held_out(res, by="judge", folds=6, rng=5).to_frame().iloc[0]  # whatever the order
    assert row["log_loss"] == pytest.approx(loss, abs=1e-8)
    assert row["brier"] == pytest.approx(brier, abs=1e-8)
    assert row["std_error"] == pytest.approx(np.sqrt(6 / 5 * (sums @ sums)) / n, abs=1e-8)


def test_leaving_out_each_judgment_pairs_models_judgment_by_judgment():
    c = drawn(judges=2).pool("judge")
    fits = [llbt.fit("object + tie", c, link=link) for link in ("adjacent", "probit")]
    single = [(s, k) for s, k in np.ndindex(c.counts.shape) for _ in range(int(c.counts[s, k]))]
    losses = np.empty((2, len(single)))
    for n, (s, k) in enumerate(single):
        one = np.zeros(c.counts.shape)
        one[s, k] = 1.0
        rest = dataclasses.replace(c, counts=c.counts - one, cluster_counts=None)
        for m, fit in enumerate(fits):
            again = llbt.fit("object + tie", rest, link=fit.specification.link)
            p = again.solution.means[s] / again.solution.means[s].sum()
            losses[m, n] = -np.log(p[k])
    frame = llbt.held_out(fits, folds=len(single), rng=1).to_frame()
    np.testing.assert_allclose(frame["log_loss"], losses.mean(axis=1), atol=1e-8)
    np.testing.assert_allclose(frame["std_error"], losses.std(axis=1, ddof=1) / np.sqrt(len(single)), atol=1e-8)
    delta = losses[1] - losses[0]
    assert frame["delta_log_loss"].iloc[1] == pytest.approx(delta.mean(), abs=1e-8)
    assert frame["delta_error"].iloc[1] == pytest.approx(delta.std(ddof=1) / np.sqrt(len(delta)), abs=1e-8)
    assert np.isnan(frame["delta_log_loss"].iloc[0])


def test_folds_are_of_equal_size_and_make_up_the_table():
    parts = folds_of(TABLE, "judgment", 7, np.random.default_rng(2))
    whole = np.zeros(TABLE.outcome_counts.shape)
    for part in parts:
        np.add.at(whole, part.rows, part.counts)
    np.testing.assert_array_equal(whole, TABLE.outcome_counts)
    sizes = [part.counts.sum() for part in parts]
    assert max(sizes) - min(sizes) <= 1
    by_level = folds_of(TABLE, "judge", 3, np.random.default_rng(2))
    assert sorted(len(np.unique(part.codes)) for part in by_level) == [1, 1, 2]
    assert sum(part.counts.sum() for part in by_level) == TABLE.n_judgments


def test_judgments_are_held_out_whatever_their_cell():
    """The share of a cell that a fold holds is hypergeometric: mean n/F, variance n/F (1 − 1/F)(N − n)/(N − 1)."""
    c = drawn().pool("judge")
    n, total = float(c.counts[0, 0]), float(c.n_judgments)
    rng = np.random.default_rng(4)
    first = []
    for _ in range(3000):
        part = folds_of(c, "judgment", 4, rng)[0]
        held = np.zeros(c.counts.shape)
        held[part.rows] = part.counts
        first.append(held[0, 0])
    assert np.mean(first) == pytest.approx(n / 4, abs=0.1)
    assert np.var(first) == pytest.approx(n / 4 * 3 / 4 * (total - n) / (total - 1), rel=0.12)


def test_a_fold_with_an_object_of_its_own_is_predicted_with_a_prior_and_counted():
    c = drawn()
    columns = {"i": ["A", "B"], "j": ["E", "E"], "judge": 9, "wins_i": [1, 0], "ties": [0, 1], "wins_j": [1, 1]}
    known = c.to_frame(clusters=True).rename(columns={"object_i": "i", "object_j": "j"})
    c = llbt.from_counts(pd.concat([known, pd.DataFrame(columns)]), objects=("i", "j"), clusters="judge")
    res = llbt.fit("object + tie", c)
    found = llbt.held_out(res, by="judge", folds=7, rng=1)
    assert found.to_frame()["prior_folds"].tolist() == [1]
    assert "1 fold of 7 with prior=1: missing objects" in found.as_text()
    # that fold by hand: a judgment for each pair, an equal share of each outcome, beside what is left
    held = c.select(where={"judge": [9]})
    place = {tuple(pair): s for s, pair in enumerate(c.pairs.tolist())}
    own = [place[tuple(c.objects.index(held.objects[k]) for k in pair)] for pair in held.pairs.tolist()]
    counts = c.counts.copy()
    counts[own] -= held.counts
    shrunk = llbt.fit("object + tie", dataclasses.replace(c, counts=counts + 1 / 3, cluster_counts=None))
    p = shrunk.solution.means / shrunk.solution.means.sum(axis=1, keepdims=True)
    loss = -np.sum(held.counts * np.log(p[own]))
    others = [
        said_without(res, dataclasses.replace(c.select(where={"judge": [o for o in [*range(6), 9] if o != k]})),
                     c.select(where={"judge": [k]}))
        for k in range(6)
    ]  # fmt: skip
    loss -= sum(part[:, 0] @ part[:, 1] for part in others)
    assert found.to_frame()["log_loss"].iloc[0] == pytest.approx(loss / c.n_judgments, abs=1e-7)


def test_infinite_estimates_without_a_fold_are_counted():
    rows = [("A", "B", 30, 5, 20), ("A", "C", 30, 4, 1), ("B", "C", 25, 3, 0)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
    c = llbt.from_counts(frame).drop_ties()
    found = llbt.held_out(llbt.fit("object", c), folds=c.n_judgments, rng=1)  # C's one win is in some fold alone
    assert found.to_frame()["prior_folds"].tolist() == [1]
    assert np.isfinite(found.to_frame()["log_loss"]).all()


@pytest.mark.slow
def test_seeds_processes_and_company_change_nothing():
    fits = [llbt.fit(f, TABLE) for f in ("object + tie", "object * judge + tie")]
    both = llbt.held_out(fits, rng=3).to_frame()
    pd.testing.assert_frame_equal(both, llbt.held_out(fits, rng=3, n_jobs=2).to_frame())
    alone = llbt.held_out(fits[1], rng=3).to_frame()
    assert alone["log_loss"].iloc[0] == both["log_loss"].iloc[1]
    assert llbt.held_out(fits[1], rng=4).to_frame()["log_loss"].iloc[0] != alone["log_loss"].iloc[0]
    reduced = llbt.held_out(llbt.fit("object + tie", TABLE, prior="jeffreys"), rng=3).to_frame()
    assert reduced["log_loss"].iloc[0] == pytest.approx(both["log_loss"].iloc[0], abs=1e-2)


def test_the_model_that_drew_the_judgments_predicts_best_and_is_calibrated():
    truth = llbt.fit("object + tie", TABLE.pool(), link="probit")
    c = llbt.simulate(truth, times=60, rng=2)[0]
    found = llbt.held_out([llbt.fit("object + tie", c, link=k) for k in ("probit", "adjacent", "cumulative")], rng=1)
    delta = found.to_frame()["delta_log_loss"].to_numpy()[1:]
    assert (delta > 3 * found.to_frame()["delta_error"].to_numpy()[1:]).all()
    bins = found.calibration().to_frame()
    right = bins[bins["model"].str.contains("probit")]
    assert (np.abs(right["observed"] - right["predicted"]) < 3.5 * right["std_error"]).all()
    by_kind = right.groupby("outcome")["judgments"].sum()
    assert by_kind.to_dict() == {"preferred": 2 * c.n_judgments, "tie": c.n_judgments}


def test_the_picture_shows_the_bins():
    found = llbt.held_out(llbt.fit("object + tie", TABLE.pool()), rng=1)
    ax = llbt.plot.calibration(found)
    bins = found.calibration().to_frame()
    drawn_points = np.concatenate([
        np.column_stack(line.get_data()) for line in ax.lines if len(line.get_xdata()) and line.get_marker() not in
        ("None", None, "", "_", "|")
    ])  # fmt: skip
    expected = bins[["predicted", "observed"]].to_numpy()
    np.testing.assert_allclose(drawn_points[np.lexsort(drawn_points.T)], expected[np.lexsort(expected.T)])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["as predicted", "preferred", "tie"]
    of_a_fit = llbt.plot.calibration(llbt.fit("object + tie", TABLE.pool()), rng=1)
    for one, two in zip(ax.lines, of_a_fit.lines, strict=True):
        np.testing.assert_allclose(one.get_xydata(), two.get_xydata())
    plt.close("all")


def test_what_cannot_be_held_out_says_so():
    res = llbt.fit("object + tie", TABLE)
    with pytest.raises(
        DesignError, match=r"m1 was fitted to another table than m0.*: one table splits its judgments by more"
    ):
        llbt.held_out([res, llbt.fit("object + tie", TABLE.pool())])
    with pytest.raises(
        DesignError, match=r"another table than m0.*: the outcomes are i, tie, j in one and i, j in the"
    ):
        llbt.held_out([res, llbt.fit("object", TABLE.drop_ties())])
    with pytest.raises(OptionError, match=r"folds=10 of 4 levels of judge.*folds=4 or fewer"):
        llbt.held_out(res, by="judge")
    with pytest.raises(OptionError, match="'prompt' is not a column of this table"):
        llbt.held_out(res, by="prompt")
    with pytest.raises(OptionError, match="folds=1; expected an integer of at least 2"):
        llbt.held_out(res, folds=1)
    with pytest.raises(DesignError, match="fractional counts"):
        llbt.held_out(llbt.fit("object + tie", dataclasses.replace(TABLE, counts=TABLE.counts / 2)))
    with pytest.raises(OptionError, match="no fit in results; expected a fit"):
        llbt.held_out([])
    with pytest.raises(OptionError, match=r"a list of fits\. Pass a list: list\(fits\.values\(\)\)"):
        llbt.held_out({"first": res, "second": res})
    with pytest.raises(OptionError, match=r"a ClassModels, which is several fits\. Pass one of them, such as \.best"):
        llbt.held_out([res, llbt.judges.classes("object + tie", TABLE, by="judge", k=[1, 2], starts=1)], by="judge")
    with pytest.raises(OptionError, match="a Comparisons, whose data are not independent units; expected a fit"):
        llbt.held_out(TABLE)
    with pytest.raises(OptionError, match=r"HeldOut, what llbt\.held_out"):
        llbt.plot.calibration(TABLE)
