"""Tables drawn from a fit with effects of judges, judges resampled, and the bootstrap of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.mixed import judged_frame

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.mixed_tables import judges_again
from llbt.kernel.mixed import maximize


@pytest.fixture(scope="module")
def res() -> llbt.MixedResults:
    c = llbt.from_counts(judged_frame(24, 0.8, seed=3, each=4, tie=0.9), clusters="judge")
    found = llbt.fit("object + tie + (object | judge) + (tie | judge)", c)
    assert isinstance(found, llbt.MixedResults)
    return found


def _shares(tables: tuple[llbt.Comparisons, ...]) -> np.ndarray:
    return np.array([table.outcome_counts / table.totals[:, None] for table in tables])


@pytest.mark.slow
def test_new_judges_answer_as_the_population(res: llbt.MixedResults) -> None:
    """Mean shares are the averaged probabilities, and judges vary by more than chance."""
    drawn = _shares(llbt.simulate(res, 400, rng=1))
    expected = res.predict(population=True).to_frame()["estimate"].to_numpy().reshape(3, 3)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.all(np.abs(drawn.mean(axis=0) - expected) < 4 * error)
    alone = np.sqrt(expected * (1 - expected) / res.comparisons.totals[:, None])
    assert np.all(drawn.std(axis=0) > 1.1 * alone)


@pytest.mark.slow
def test_the_same_judges_answer_as_predicted(res: llbt.MixedResults) -> None:
    tables = llbt.simulate(res, 300, judges="same", times=2, rng=2)
    frames = [table.to_frame(clusters=True).query("judge == 'J07'")[["wins_i", "ties", "wins_j"]] for table in tables]
    counts = np.array([frame.to_numpy() for frame in frames])
    assert np.all(counts.sum(axis=2) == 8)
    expected = res.predict(at={"judge": "J07"}).to_frame()["estimate"].to_numpy().reshape(3, 3)
    assert np.all(np.abs(counts.mean(axis=0) / 8 - expected) < 4.5 * counts.std(axis=0) / 8 / np.sqrt(300) + 1e-9)


def test_drawn_tables_keep_judges_and_are_fitted_as_they_are(res: llbt.MixedResults) -> None:
    (table,) = llbt.simulate(res, rng=5)
    assert table.clusters == ("judge",)
    assert np.array_equal(table.totals, res.comparisons.totals)
    assert "new judges" in table.notes[-1]
    again = llbt.fit("object + tie + (object | judge) + (tie | judge)", table)
    assert again.llf != res.llf
    split = llbt.fit("object + tie + (tie | judge)", llbt.from_counts(judged_frame(9, 0.5, seed=1), covariates="judge"))
    assert llbt.simulate(split, rng=1)[0].covariates == ("judge",)
    assert llbt.simulate(llbt.fit("object + (object | judge)", _two()), rng=1)[0].counts[:, 1].sum() == 0


def _two() -> llbt.Comparisons:
    wins = [5, 1, 4, 0, 6, 3, 5, 2]
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "judge": range(8)})
    return llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), clusters="judge")


@pytest.mark.parametrize("kept", ["clusters", pytest.param("covariates", marks=pytest.mark.slow)])
def test_resampled_judges_are_judges_with_weights(kept: str) -> None:
    """The fit of a resample is that of the judges that there are, each counted as often as it was drawn."""
    frame = judged_frame(24, 0.8, seed=3, each=4, tie=0.9)
    res = llbt.fit("object + tie + (object | judge)", llbt.from_counts(frame, **{kept: "judge"}))
    assert isinstance(res, llbt.MixedResults)
    drawn = np.random.default_rng(7).integers(24, size=24)
    times = np.bincount(drawn, minlength=24).astype(float)
    found = llbt.fit("object + tie + (object | judge)", judges_again(res.comparisons, "judge", drawn))
    judges = res.judges
    bundles = []
    for k, bundle in enumerate(judges.grouped.bundles):
        mine = judges.grouped.bundle == k
        weights = np.bincount(judges.grouped.place[mine], times[mine], len(bundle.rows))
        bundles.append(replace(bundle, repeats=weights))
    weighted = maximize(judges.problem, bundles, res.solution.params, res.solution.scales)
    np.testing.assert_allclose(found.maximum.params, weighted.params, atol=1e-3)
    np.testing.assert_allclose(found.maximum.scales, weighted.scales, atol=1e-3)
    assert found.llf == pytest.approx(weighted.value, abs=0.01)


@pytest.mark.slow
def test_a_bootstrap_has_parameters_and_sigma(res: llbt.MixedResults) -> None:
    boot = llbt.bootstrap(res, resample="judge", n=6, rng=1)
    assert boot.names == (*res.names, "(object | judge)", "(tie | judge)")
    np.testing.assert_allclose(boot.estimate, [*res.params, *res.scales])
    assert boot.replicates.shape == (6, 5)
    assert np.ptp(boot.replicates, axis=0).min() > 0
    assert boot.ranks().to_frame()["estimate"].sum() == pytest.approx(3)
    assert "(tie | judge)" in boot.as_text()
    share = llbt.bootstrap(res, lambda fit: fit.share_between, resample="parametric", n=3, rng=1)
    assert share.estimate[0] == pytest.approx(res.share_between)
    with pytest.raises(OptionError, match="method='percentile' or method='basic'"):
        boot.conf_int(method="bca")


@pytest.mark.slow
def test_bootstrap_errors_are_near_those_of_the_information() -> None:
    """Forty judges, drawn anew or resampled: errors of λ and σ within a half of those of the likelihood."""
    c = llbt.from_counts(judged_frame(40, 0.8, seed=5, each=4), clusters="judge")
    res = llbt.fit("object + tie + (object | judge)", c)
    assert isinstance(res, llbt.MixedResults)
    expected = np.array([*res.bse, *res.scale_errors])
    for resample in ("judge", "parametric"):
        found = llbt.bootstrap(res, resample=resample, n=25, rng=3).replicates.std(axis=0)
        np.testing.assert_allclose(found, expected, rtol=0.5)


def test_what_cannot_be_drawn_says_why(res: llbt.MixedResults) -> None:
    with pytest.raises(OptionError, match="resample='judgment', but judgments of one judge depend"):
        llbt.bootstrap(res, resample="judgment")
    with pytest.raises(OptionError, match="no judges drawn from a population"):
        llbt.simulate(res.without, judges="same")
    c = llbt.from_counts(judged_frame(9, 0.5, seed=1, each=9), covariates="judge")
    with pytest.raises(DesignError, match=r"also a covariate of 'object \+ tie \+ tie:judge'"):
        llbt.bootstrap(llbt.fit("object + tie + tie:judge + (object | judge)", c), resample="judge")


def test_crossed_groupings_and_every_level_are_drawn() -> None:
    """Prompts beside judges, and an effect on each grade, of new levels and of the same."""
    rng = np.random.default_rng(4)
    rows = [("ABC"[i], "ABC"[j], g, f"p{g % 4}", *rng.multinomial(6, [0.2, 0.3, 0.1, 0.25, 0.15]))
            for g in range(12) for i, j in ((0, 1), (0, 2), (1, 2))]  # fmt: skip
    names = ("++", "+", "=", "-", "--")
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "prompt", *names])
    c = llbt.from_counts(frame, grades=names, clusters=("judge", "prompt"))
    found = llbt.fit("object + tie + grade + (grade | judge) + (object | prompt)", c)
    assert isinstance(found, llbt.MixedResults)
    found = replace(found, solution=replace(found.solution, scales=np.array([1.5, 1.0])))  # as if judges differed
    new = np.array([table.counts.sum(axis=0) for table in llbt.simulate(found, 60, rng=1)])
    plain = np.array([table.counts.sum(axis=0) for table in llbt.simulate(found.without, 60, rng=1)])
    assert new[:, [0, 4]].sum(axis=1).std() > 1.5 * plain[:, [0, 4]].sum(axis=1).std()  # the largest grade varies
    same = llbt.simulate(found, judges="same", rng=1)[0]
    assert same.clusters == ("judge", "prompt")
    assert np.array_equal(same.totals, c.totals)
