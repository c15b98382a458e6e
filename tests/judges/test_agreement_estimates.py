"""Intervals of agreement that allow for other judges: sums against loops over copies, and coverage by simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.judges.coefficients import Labelled, crossed, observed_and_expected, summed, unit_features
from llbt.judges.resampled_judges import JudgedUnits

NAMES = ["percent", "scott_pi", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"]


def drawn(rng, judges, units):
    """Labels (units, judges) by judges of unequal care and lean."""
    value, lean, care = rng.normal(size=units), rng.normal(size=judges) / 2, np.exp(rng.normal(size=judges) / 2)
    y = value[:, None] + lean + care * rng.normal(size=(units, judges))
    return np.where(y > 0.4, 2, np.where(y < -0.4, 0, 1))


def frame_of(labels):
    units, judges = labels.shape
    return pd.DataFrame(
        {
            "object_i": "A",
            "object_j": "B",
            "outcome": np.array(["i", "tie", "j"])[labels.ravel()],
            "judge": np.tile(np.arange(judges), units),
            "prompt": np.repeat(np.arange(units), judges),
        }
    )


def coded(seed, repeats=False):
    """Judgments as codes with gaps; some judges repeat themselves where asked for."""
    rng = np.random.default_rng(seed)
    labels = drawn(rng, 5, 12)
    unit, judge = (grid.ravel() for grid in np.mgrid[:12, :5])
    kept = rng.random(len(unit)) < 0.8
    data = np.column_stack([unit, judge, labels.ravel()])[kept]
    if repeats:
        again = data[rng.integers(len(data), size=15)].copy()
        again[:, 2] = rng.integers(3, size=15)
        data = np.vstack([data, again])
    _, unit = np.unique(data[:, 0], return_inverse=True)
    return Labelled(unit, data[:, 1], data[:, 2], np.array([2, 1, 0]))


def copies(data, judges, units):
    """The judgments of a resample one by one: (copy of the unit, copy of the judge, judge, label)."""
    rows = []
    for u, j, label in zip(data.unit, data.judge, data.label, strict=True):
        for v, c in itertools.product(range(int(units[u])), range(int(judges[j]))):
            rows.append(((u, v), (j, c), j, label))
    return rows


@pytest.mark.parametrize("among", ["inter", "intra"])
@pytest.mark.parametrize("repeats", [False, True])
def test_all_weights_of_one_give_the_sums_of_the_estimates(among, repeats):
    data = coded(1, repeats)
    found = JudgedUnits.of(data, True).sums(np.ones((1, 5)), np.ones((1, data.units)), among)
    margins = crossed(data).unit_margins(data.units, 3)
    whole = summed(unit_features(data, among), np.ones((1, data.units)))
    for name in ("pairs", "agree", "counts", "units", "paired", "unit_agree", "unit_shares"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), atol=1e-12)
    np.testing.assert_allclose(found.margins.ravel(), margins.sum(axis=0))
    if not repeats and among == "inter":
        for name in ("near", "coincidences"):
            np.testing.assert_allclose(getattr(found, name), getattr(whole, name), atol=1e-12)


def test_a_resample_is_that_of_a_loop_over_pairs_of_its_copies():
    """Pairs of judgments of a copy of a unit by two judges, none by two copies of the same judge."""
    data = coded(2)
    rng = np.random.default_rng(3)
    judges, units = rng.multinomial(5, np.full(5, 0.2), 4), rng.multinomial(data.units, np.full(data.units, 1 / 12), 4)
    found = JudgedUnits.of(data, True).sums(judges.astype(float), units.astype(float), "inter")
    for b in range(4):
        rows = copies(data, judges[b], units[b])
        met = [(x, y) for x, y in itertools.combinations(rows, 2) if x[0] == y[0] and x[2] != y[2]]
        assert found.pairs[b] == pytest.approx(len(met))
        assert found.agree[b] == pytest.approx(sum(x[3] == y[3] for x, y in met))
        assert found.counts[b].tolist() == pytest.approx(np.bincount([row[3] for row in rows], minlength=3).tolist())
        shares = {}
        for x, y in met:
            shares.setdefault(x[0], []).append(x[3] == y[3])
        assert found.paired[b] == len(shares)
        assert found.unit_agree[b] == pytest.approx(sum(np.mean(s) for s in shares.values()))
        near = sum(1 - abs(x[3] - y[3]) / 2 for x, y in met), sum(1 - (x[3] - y[3]) ** 2 / 4 for x, y in met)
        assert found.near[b].tolist() == pytest.approx(near)
        assert found.coincidences[b].sum() == pytest.approx(
            sum(len([row for row in rows if row[0] == unit]) for unit in shares)
        )
        estimates = observed_and_expected(found, data.flip)
        assert estimates["percent"][0][b] == pytest.approx(len([1 for x, y in met if x[3] == y[3]]) / len(met))


@pytest.mark.slow
@pytest.mark.parametrize(("judges", "units_hold"), [(5, 0.93), (20, 0.92)])
def test_intervals_of_both_hold_the_agreement_of_other_judges(judges, units_hold):
    """The table in the docstring, with fewer repetitions; the truth from 150 judges on 600 units, six times."""
    truth = np.array([0.492, 0.2071, 0.2071, 0.2071, 0.2525])
    rng, held = np.random.default_rng(4), {"units": [], "both": []}
    for _ in range(60):
        frame = llbt.read_judgments(frame_of(drawn(rng, judges, 60)))
        for resample, inside in held.items():
            options = {"coefficients": NAMES, "n": 199, "resample": resample, "rng": rng}
            found = llbt.judges.agreement(frame, unit="prompt", **options).to_frame()
            inside.append((found["conf_low"] <= truth) & (truth <= found["conf_high"]))
    both, units = (np.mean(held[name], axis=0) for name in ("both", "units"))
    assert (both >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 60)).all()
    assert units.mean() < units_hold < both.mean()


def test_what_was_resampled_is_said():
    frame = llbt.read_judgments(frame_of(drawn(np.random.default_rng(5), 4, 20)))
    notes = llbt.judges.agreement(frame, unit="prompt", n=20, rng=1).notes
    assert any("20 resamples of the units" in note for note in notes)
    assert "Intervals are for these 4 judges; resample='both' allows for other judges." in notes
    for resample, what in (("judges", "the judges"), ("both", "judges and units")):
        found = llbt.judges.agreement(frame, unit="prompt", n=20, rng=1, resample=resample)
        assert any(f"20 resamples of {what}" in note for note in found.notes)
        assert "Copies of a judge who is drawn twice are not compared with each other." in found.notes
        frame_found = found.to_frame()
        assert frame_found[["conf_low", "conf_high"]].notna().all(axis=None)
        assert (frame_found["conf_low"] <= frame_found["conf_high"]).all()
    with pytest.raises(llbt.errors.OptionError, match="resample='judge'"):
        llbt.judges.agreement(frame, unit="prompt", n=20, resample="judge")
