"""Latent classes as models of judges: leaving out, drawing again, holding out, against a likelihood written out."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special
from support.questions import JUDGES, by_judge, fit_of, judged

import llbt
from llbt.errors import OptionError
from llbt.inference.unit_models import DependentUnits, folds_of, unit_model, units_to_predict
from llbt.judges.class_units import ClassUnits


def classes() -> llbt.judges.LatentClasses:
    return fit_of("classes")


def units() -> ClassUnits:
    return unit_model(classes(), None, "by")


def less(place: int) -> np.ndarray:
    found = np.ones(len(JUDGES))
    found[place] = 0.0
    return found


def said(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the judge and the two objects of each line, and its counts."""
    codes = [frame["judge"].map(JUDGES.index), *(frame[f"object_{side}"].map(list("ABCD").index) for side in "ij")]
    return np.array(codes), frame[["wins_i", "ties", "wins_j"]].to_numpy(dtype=float)


@cache
def everything() -> pd.DataFrame:
    return by_judge().to_frame()


def own_values(params: np.ndarray, frame: pd.DataFrame | None = None) -> np.ndarray:
    """Return log Σ π_k P(all that a judge said | class k) of each judge, written out."""
    (judge, i, j), counts = said(everything() if frame is None else frame)
    logs = []
    for k in range(2):
        lam = np.append(params[4 * k : 4 * k + 3], 0.0)
        apart = lam[i] - lam[j]
        line = special.log_softmax(np.column_stack([apart, np.full(len(i), params[4 * k + 3]), -apart]), axis=1)
        logs.append(np.bincount(judge, (counts * line).sum(axis=1)))
    return special.logsumexp(np.column_stack(logs) + special.log_softmax([0.0, params[8]]), axis=1)


def test_log_scores_are_of_the_mixture_and_add_up_to_the_log_likelihood() -> None:
    model = units()
    assert model.labels == JUDGES
    assert model.names == classes().names
    found = model.log_scores(model.estimates)
    np.testing.assert_allclose(found.sum(), classes().llf, atol=1e-9)
    np.testing.assert_allclose(found, own_values(model.estimates), atol=1e-9)
    elsewhere = model.estimates + 0.1
    np.testing.assert_allclose(model.log_scores(elsewhere), own_values(elsewhere), atol=1e-9)
    np.testing.assert_allclose(model.estimated(model.counts), model.estimates, atol=1e-9)


def test_estimates_of_some_judges_are_the_maximum_of_their_own_likelihood() -> None:
    """Counts of 0, 1 and 2: by a general optimizer on the likelihood written out."""
    counts = np.ones(len(JUDGES))
    counts[[2, 7]], counts[[4, 5]] = 0.0, 2.0
    found = units().estimated(counts)
    best = optimize.minimize(lambda x: -counts @ own_values(x), found + 0.02, method="BFGS", options={"maxiter": 40})
    assert -best.fun <= counts @ own_values(found) + 1e-9
    np.testing.assert_allclose(best.x, found, atol=2e-3)


@pytest.mark.slow
def test_a_judge_left_out_is_a_fit_without_them_from_many_starts() -> None:
    rest = judged().select(where={"judge": [name for name in JUDGES if name != "J03"]})
    again = llbt.judges.classes("object + tie", rest, k=[2], starts=20, rng=3)[2]
    mine = units().estimated(less(3))
    np.testing.assert_allclose(mine[:8], again.params.to_numpy().ravel(), atol=1e-6)
    np.testing.assert_allclose(special.softmax([0.0, mine[8]]), again.shares, atol=1e-6)
    refitted = units().refitted(less(3))
    np.testing.assert_allclose(refitted.params, again.params, atol=1e-6)
    np.testing.assert_allclose(refitted.llf, again.llf, atol=1e-8)
    frame = llbt.influence(classes()).to_frame()
    assert len(frame) == len(JUDGES) * 2 * 4
    without = frame[frame["judge"] == "J03"].set_index(["class", "object"])
    for label in (1, 2):
        expected = again.params.loc[label, [f"object[{name}]" for name in "ABC"]]
        np.testing.assert_allclose(without.loc[label]["without"][["A", "B", "C"]], expected, atol=1e-6)
        np.testing.assert_allclose(without.loc[label]["share_without"], again.shares[label], atol=1e-6)
        np.testing.assert_allclose(without.loc[label]["share"], classes().shares[label], atol=1e-12)


def test_resamples_keep_the_labels_of_the_classes() -> None:
    """A resample is the fit of drawn judges, each a judge of its own; a class keeps its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        boot = llbt.bootstrap(classes(), n=8, rng=1)
        same = llbt.bootstrap(classes(), lambda fit: fit.params.loc[2], n=8, rng=1)
    assert boot.resample == "judge"
    kept = ~np.isnan(boot.replicates[:, 0]) & ~np.isnan(same.replicates[:, 0])
    assert kept.sum() >= 5
    np.testing.assert_allclose(boot.replicates[kept, 4:8], same.replicates[kept], atol=1e-6)
    third = boot.names.index("object[C]:class[2]"), boot.names.index("object[C]:class[1]")
    assert (boot.replicates[kept][:, third[0]] > boot.replicates[kept][:, third[1]]).all()  # what parts the classes
    ranks = boot.ranks().to_frame()
    assert ranks.groupby(["class", "object"])["estimate"].sum().to_numpy() == pytest.approx(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = llbt.bootstrap(classes(), resample="parametric", n=3, rng=2)
    assert drawn.names == boot.names


def test_resamples_of_classes_with_a_prior_have_it_too() -> None:
    """Without it a class of judges who contradict each other nowhere would be at infinity."""
    res = llbt.judges.classes("object", _two_classes(12, 1), k=[2], prior=0.5, starts=5, rng=1)[2]
    boot = llbt.bootstrap(res, n=6, rng=2)
    assert boot.degenerate == 0
    assert np.abs(boot.replicates).max() < 6
    same = llbt.bootstrap(res, lambda fit: fit.params.loc[1], n=6, rng=2)
    np.testing.assert_allclose(boot.replicates[:, :2], same.replicates, atol=1e-6)


@pytest.mark.slow
def test_resamples_spread_as_the_standard_errors_say() -> None:
    """Simulation: 60 judges of two classes; bootstrap by judges, parametric bootstrap and information agree."""
    res = llbt.judges.classes("object", _two_classes(60, 3), k=[2], starts=5, rng=1)[2]
    errors = res.bse.to_numpy().ravel()
    for resample in ("judge", "parametric"):
        boot = llbt.bootstrap(res, resample=resample, n=200, rng=4)
        assert boot.degenerate == 0
        np.testing.assert_allclose(boot.replicates[:, : len(errors)].std(axis=0), errors, rtol=0.25)


def _two_classes(judges: int, times: int) -> llbt.Comparisons:
    rng, worths = np.random.default_rng(5), np.array([[0.8, 0.0, -0.8], [-0.6, 0.6, 0.0]])
    rows = []
    for judge in range(judges):
        lam = worths[int(judge % 3 == 0)]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            won = rng.binomial(times, special.expit(2 * (lam[i] - lam[j])))
            rows.append(("ABC"[i], "ABC"[j], won, times - won, f"J{judge}"))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "judge"])
    return llbt.from_counts(frame, clusters="judge")


def test_new_judges_are_predicted_by_fits_to_the_others_beside_other_models() -> None:
    plain, res = llbt.fit("object + tie", judged()), classes()
    both = llbt.held_out([plain, fit_of("mixed"), res], folds=4, rng=4).to_frame()
    assert both["model"].iloc[2] == "object + tie (2 classes)"
    alone = llbt.held_out(plain, by="judge", folds=4, rng=4).to_frame()
    assert both["log_loss"].iloc[0] == pytest.approx(alone["log_loss"].iloc[0])
    loss = 0.0
    for part in folds_of(units(), 4, np.random.default_rng(4)):
        rest = judged().select(where={"judge": [name for name, out in zip(JUDGES, part, strict=True) if not out]})
        again = llbt.judges.classes("object + tie", rest, k=[2], starts=20, rng=3)[2]
        ratio = np.log(again.shares[2] / again.shares[1])
        loss -= part @ own_values(np.append(again.params.to_numpy().ravel(), ratio)) / 576
    assert both["log_loss"].iloc[2] == pytest.approx(loss, abs=1e-6)


def test_drawn_judges_have_the_probabilities_of_the_mixture() -> None:
    """Simulation: means of the pairs, and pairs of judgments of one judge, which are alike by the class."""
    res = classes()
    tables = llbt.simulate(res, 300, rng=3)
    assert tables[0].clusters == judged().clusters
    np.testing.assert_allclose(tables[0].totals, judged().totals)
    chance = res.predict().to_frame().query("`class` == 'all'").groupby(["object_i", "object_j", "outcome"])
    expected = chance["estimate"].mean()
    wins = np.mean([_wins(table, "A", "D") for table in tables], axis=0) / 6  # of each judge, 3 weeks twice
    assert wins.mean() == pytest.approx(expected["A", "D", "i"], abs=0.01)
    lam = res.params.to_numpy()
    each = [special.softmax([a, tie, -a])[0] for a, tie in zip(lam[:, 2], lam[:, 3], strict=True)]  # C over D
    mean = float(res.shares @ each)
    variance = 6 * mean * (1 - mean) + 30 * (float(res.shares @ np.square(each)) - mean**2)
    drawn = np.concatenate([_wins(table, "C", "D") for table in tables])
    assert drawn.var() == pytest.approx(variance, rel=0.06)
    assert llbt.simulate(res, times=2, rng=1)[0].n_judgments == 2 * judged().n_judgments
    with pytest.raises(OptionError, match="the class of a judge is not known"):
        llbt.simulate(res, judges="same")


def _wins(table: llbt.Comparisons, i: str, j: str) -> np.ndarray:
    kept = table.cluster_counts
    rows = np.flatnonzero((table.pairs[kept.rows] == [table.objects.index(i), table.objects.index(j)]).all(axis=1))
    return np.bincount(kept.columns[0].codes[rows], kept.counts[rows, 0], len(JUDGES))


def test_weeks_are_predicted_from_what_their_judges_said_in_others() -> None:
    model = units_to_predict(classes(), "week")
    assert isinstance(model, DependentUnits)
    params, weeks = units().estimates, judged().to_frame(clusters=True)["week"].unique().tolist()
    assert list(model.labels or ()) == weeks
    found = model.log_scores_given(params, np.array([0.0, 1.0, 1.0]))
    frame = judged().to_frame(clusters=True)
    whole, rest = (own_values(params, frame[frame["week"].isin(some)]).sum() for some in (weeks, weeks[1:]))
    assert found[0] == pytest.approx(whole - rest, abs=1e-9)
    assert np.isnan(found[1:]).all()
    np.testing.assert_allclose(model.estimated(np.ones(3)), params, atol=1e-5)
    rest_alone = judged().select(where={"week": weeks[1:]})
    again = llbt.judges.classes("object + tie", rest_alone, k=[2], starts=20, rng=3)[2]
    ratio = np.log(again.shares[2] / again.shares[1])
    expected = np.append(again.params.to_numpy().ravel(), ratio)
    estimated = model.estimated(np.array([0.0, 1.0, 1.0]))
    np.testing.assert_allclose(own_values(estimated).sum(), own_values(expected).sum(), atol=1e-4)


def test_levels_that_share_judges_are_no_units() -> None:
    with pytest.raises(OptionError, match="judgments of one judge depend on each other by their class"):
        llbt.influence(classes(), by="week")
    by_sex = llbt.influence(classes(), by="sex").to_frame()
    assert set(by_sex["sex"]) == {"f", "m"}
