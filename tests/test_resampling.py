"""Blocks, bars, weights, percentiles and p-values of resamples, against loops, numpy and combinatorics."""

import inspect
import math
import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from support.calls import CALLS, SCORES, X, Y, Z, rankings
from support.surface import public

import llbt
from llbt.resampling import (
    Resampler,
    degenerate_notes,
    drawn_counts,
    drawn_swaps,
    drawn_weights,
    p_of_count,
    p_value,
    percentile,
    percentiles,
    shown,
)


def uniform(size: int, rng: np.random.Generator) -> np.ndarray:
    """A task, outside of any test so that other processes find it."""
    return rng.random(size)


def asked(seed: int = 1, **options: object) -> Resampler:
    return Resampler.of("asker", seed, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_processes_and_bars_change_no_number(capsys: pytest.CaptureFixture) -> None:
    plain = np.concatenate(asked().blocks(uniform, 25, 1, 10))
    assert len(plain) == 25
    assert len(np.unique(plain)) == 25  # every block has a stream of its own
    with joblib.parallel_config(backend="multiprocessing"):  # forked: they start at once
        assert np.array_equal(plain, np.concatenate(asked(n_jobs=2).blocks(uniform, 25, 1, 10)))
        assert capsys.readouterr().err == ""
        assert np.array_equal(plain, np.concatenate(asked(n_jobs=2, progress=True).blocks(uniform, 25, 1, 10)))
    assert "25/25" in capsys.readouterr().err
    assert np.array_equal(plain, np.concatenate(asked(progress=True).blocks(uniform, 25, 1, 10)))
    assert "asker: 100%" in capsys.readouterr().err


def test_blocks_hold_no_more_than_they_may() -> None:
    sizes = [len(block) for block in asked().blocks(uniform, 23, 400_000)]
    assert sizes == [10, 10, 3]
    assert [len(block) for block in asked().blocks(uniform, 3, 10**9)] == [1, 1, 1]
    assert asked().blocks(uniform, 0, 1) == []


def test_a_generator_goes_on() -> None:
    draw = asked()
    first, second = (np.concatenate(draw.blocks(uniform, 5, 1)) for _ in range(2))
    assert not np.any(first == second)


def test_weights_are_those_of_a_multinomial() -> None:
    weights = drawn_weights(5, 40_000, np.random.default_rng(1))
    assert np.all(weights.sum(axis=1) == 5)
    cov = np.eye(5) - 1 / 5  # n (diag(p) − p pᵀ), n = 5, p = 1/5
    assert np.allclose(weights.mean(axis=0), 1, atol=0.02)
    assert np.allclose(np.cov(weights.T), cov, atol=0.03)


def test_drawn_counts_have_the_total_and_the_shares_of_the_table() -> None:
    table = np.array([[6.0, 0.0], [3.0, 1.0]])
    drawn = drawn_counts(table, 20_000, np.random.default_rng(1))
    assert drawn.shape == (20_000, 2, 2)
    assert np.all(drawn.sum(axis=(1, 2)) == 10)
    assert np.allclose(drawn.mean(axis=0), table, atol=0.05)
    assert np.allclose(drawn.var(axis=0), table * (1 - table / 10), atol=0.06)


def test_swaps_are_fair_coins() -> None:
    swaps = drawn_swaps((40_000, 2), np.random.default_rng(1))
    assert np.allclose(swaps.mean(axis=0), 0.5, atol=0.01)
    assert abs(np.corrcoef(swaps.T)[0, 1]) < 0.02


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_percentiles_are_those_of_numpy(confidence: float) -> None:
    replicates = np.random.default_rng(1).normal(size=(101, 3))
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    assert np.allclose(percentiles(replicates, confidence), np.quantile(replicates, tails, axis=0), rtol=1e-12)
    ranks = np.random.default_rng(1).integers(1, 9, size=(200, 3)).astype(float)
    exact = [np.quantile(ranks, tail, axis=0, method="inverted_cdf") for tail in tails]
    assert np.array_equal(percentiles(ranks, confidence, whole=True), exact)


@pytest.mark.parametrize("degenerate", range(12))
def test_degenerate_resamples_stand_at_both_ends(degenerate: int) -> None:
    """By hand: put −∞ below and +∞ above the others, and read between two neighbours, of which none may be infinite."""
    values = list(range(11 - degenerate)) if degenerate < 11 else []
    replicates = np.array([*map(float, values), *[math.nan] * degenerate])[::-1]
    low, high = percentiles(replicates, 0.6)  # places .2 · 10 = 2 and .8 · 10 = 8
    size = len(replicates)
    for bound, share, stood in (
        (low, Fraction(2, 10), [-math.inf] * degenerate + values),
        (high, Fraction(8, 10), values + [math.inf] * degenerate),
    ):
        place = share * (size - 1)
        below, above = stood[math.floor(place)], stood[math.ceil(place)]
        ends = [end for end in (below, above) if math.isinf(end)]
        expected = ends[0] if ends else below + (above - below) * float(place - math.floor(place))
        assert bound == pytest.approx(expected)


def test_what_was_not_estimated_has_no_interval() -> None:
    replicates = np.array([[1.0, math.nan], [2.0, math.nan], [3.0, math.nan]])
    low, high = percentiles(replicates, 0.5, np.array([2.0, math.nan]))
    assert low.tolist() == pytest.approx([1.5, math.nan], nan_ok=True)
    assert high.tolist() == pytest.approx([2.5, math.nan], nan_ok=True)
    assert np.isnan(percentiles(np.empty((0, 2)), 0.95)).all()
    assert np.isnan(percentile(replicates[:, 0], math.nan, -math.inf))


def test_degenerate_resamples_are_counted() -> None:
    replicates = np.array([[1.0, math.nan], [math.nan, math.nan], [3.0, 4.0]])
    assert degenerate_notes(replicates, "without a mean") == [
        "2 resamples without a mean: counted as −∞ and +∞ for the bounds"
    ]
    assert degenerate_notes(replicates[2:], "without a mean") == []


def test_p_values_count_the_observed_and_the_degenerate() -> None:
    assert p_value(np.array([0.1, 0.5, 0.5 - 1e-12, math.nan]), 0.5) == pytest.approx(4 / 5)
    assert p_value(np.zeros(99), 0.5) == pytest.approx(1 / 100)
    assert p_of_count([0, 3], 9).tolist() == pytest.approx([0.1, 0.4])


# -- every public function that resamples ------------------------------------------------------------------------------

BAR_ALONE = {
    llbt.fit,
    llbt.drift,
    llbt.grade_tests,
    llbt.scores.compare_tests,
    llbt.judges.calibrate,
    llbt.write_report,
    llbt.fragility,
    llbt.influence,
    llbt.drop1,
    llbt.add1,
    llbt.MixedResults.scale_intervals,
}  # takes seconds, and draws nothing
NOT_RESAMPLED = {
    llbt.fit: "folds that choose a penalty are few",
    llbt.LLBT.fit: "folds that choose a penalty are few",
    llbt.simulate: "its answer is what it draws",
    llbt.scores.simulate: "its answer is what it draws",
    llbt.scores.SystemScores.sample: "its answer is what it draws",
    llbt.pairwise: "one integral over 20,000 directions, simulated once per fit",
    llbt.leaderboard: "asks pairwise",
    llbt.plot.calibration: "asks held_out, of a fit",
    llbt.sensitivity: "asks pairwise, of each choice",
    llbt.best: "draws of one normal distribution",
    llbt.distribution: "draws of one normal distribution",
    llbt.posterior: "chains run side by side, each step after the last",
    llbt.planning.needed: "draws of one normal distribution",
    llbt.style_control: "asks pairwise",
    llbt.compare: "one integral, as pairwise",
    llbt.judges.compare_groups: "two integrals, as pairwise",
    llbt.judges.tree: "one draw, of the halves of the judges",
    llbt.MixedResults.equal_scales_test: "its draws are solved together",
    llbt.MixedResults.laplace_bias: "a few tables, one after the other",
}

# what makes each of them draw several blocks
STUDY_QUESTIONS = (llbt.metrics.Study.compare, llbt.metrics.Study.correlations, llbt.metrics.Study.decisions)
SEVERAL: dict[Callable[..., Any], dict[str, Any]] = {
    llbt.anova: {"n": 11},
    llbt.bootstrap: {"n": 600},
    llbt.goodness_of_fit: {"n": 600},
    llbt.judges.dimension: {"n": 2},
    llbt.residuals: {"n": 12},
    llbt.reliability: {"n": 6},
    llbt.held_out: {},
    llbt.power: {"n": 600},
    llbt.judges.classes: {"prior": 1.0},
    llbt.judges.report: {"n": 600},
    llbt.judges.agreement: {"n": 600, "resample": "both"},
    llbt.classical.ranking_scores: {"n": 600},
    llbt.scores.aggregate: {"n": 600, "method": "median"},
    llbt.scores.aggregate_methods: {},
    llbt.scores.aggregate_setups: {},
    llbt.scores.leaderboard: {"n": 600, "test": "permutation"},
    llbt.metrics.compare: {"n": 600},
    llbt.metrics.compare_all: {"n": 20},
    **{key: {"n": 20} for key in STUDY_QUESTIONS},
    llbt.metrics.coverage: {"n": 20, "n_trials": 25},
    llbt.metrics.decisions: {"n": 600, "metric_test": "bootstrap"},
    llbt.metrics.interval: {"n": 600},
    llbt.metrics.power: {"n": 20, "n_trials": 25},
    llbt.metrics.soft_pairwise_accuracy: {"n": 600},
    llbt.metrics.subset_correlations: {"n": 600},
}
WINS = [[3, 1, 2], [0, 2, 4], [4, 1, 1], [1, 0, 5], [5, 1, 0], [2, 2, 2]]
COUNTED = pd.DataFrame(WINS, columns=["wins_i", "ties", "wins_j"]).assign(object_i="A", object_j="B", judge=range(6))
EFFECTS = llbt.fit("object + tie + (object | judge) + (tie | judge)", llbt.from_counts(COUNTED, clusters="judge"))
MANY_METRICS = pd.DataFrame(np.random.default_rng(2).normal(size=(40, 4)), columns=["x", "y", "z", "human"]).assign(
    system=np.repeat(range(8), 5), item=np.tile(range(5), 8)
)
GIVEN: dict[Callable[..., Any], list[Any]] = {
    llbt.anova: [EFFECTS.without, EFFECTS],  # two σ are tested by tables that are drawn
    llbt.residuals: [llbt.fit("object", rankings())],
    llbt.power: [llbt.Scenario().grid(odds=[1, 2])],
    llbt.metrics.compare_all: [llbt.metrics.MetricScores.from_matrices({"x": X, "y": Y, "z": X + Y}, Z)],
    **{key: [llbt.metrics.read_study(MANY_METRICS)] for key in STUDY_QUESTIONS},
    llbt.scores.leaderboard: [pd.DataFrame(np.random.default_rng(1).normal(size=(30, 3)), columns=list("ABC"))],
    llbt.scores.aggregate_setups: [{"one": SCORES, "two": SCORES.iloc[::2]}],
}


def frame_of(answer: Any) -> pd.DataFrame:
    """What a function answers, as one frame."""
    if isinstance(answer, dict):
        return pd.concat(answer)
    return answer if isinstance(answer, pd.DataFrame) else answer.to_frame()


def test_what_resamples_takes_a_bar_and_processes() -> None:
    functions = [value for value in public().values() if inspect.isfunction(value)]
    classes = [value for value in public().values() if inspect.isclass(value)]
    functions += [method for one in classes for _, method in inspect.getmembers(one, inspect.isfunction)]
    asked_for = {f: set(inspect.signature(f).parameters) & {"rng", "progress", "n_jobs"} for f in functions}
    for function, found in asked_for.items():
        if function in BAR_ALONE - NOT_RESAMPLED.keys():
            assert found == {"progress"}
        elif found and function not in NOT_RESAMPLED:
            assert found == {"rng", "progress", "n_jobs"}, function
            assert function in SEVERAL, function
    for function in SEVERAL:
        defaults = {name: one.default for name, one in inspect.signature(function).parameters.items()}
        assert (defaults["progress"], defaults["n_jobs"]) == (False, 1), function
    assert all("rng" in asked_for[function] for function in NOT_RESAMPLED)


@pytest.mark.parametrize(
    "function",
    [pytest.param(f, marks=[pytest.mark.slow] if f is llbt.anova else []) for f in SEVERAL],
    ids=lambda function: f"{function.__module__}.{function.__name__}",
)
def test_processes_and_bars_change_no_answer(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Threads in place of processes, for speed; what processes would be given is pickled."""
    blocks = []
    each = Resampler.each

    def watched(self: Resampler, tasks: Any, sizes: Any = ()) -> list[Any]:
        blocks.append(len(tasks))
        assert len(pickle.loads(pickle.dumps(tasks))) == len(tasks)
        return each(self, tasks, sizes)

    given, named = CALLS[function]() if function in CALLS else ([], {})  # methods have no call of their own
    given, named = GIVEN.get(function, given), named | SEVERAL[function] | {"rng": 7}
    plain = frame_of(function(*given, **named))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Resampler, "each", watched)
    with joblib.parallel_config(backend="threading"):
        shared = frame_of(function(*given, **named, n_jobs=2, progress=True))
    pd.testing.assert_frame_equal(shared, plain)
    assert max(blocks) > 1
    assert "100%" in capsys.readouterr().err


ASKED_ELSEWHERE = {llbt.write_report, llbt.MixedResults.scale_intervals}


@pytest.mark.parametrize("function", sorted(BAR_ALONE - ASKED_ELSEWHERE, key=lambda function: function.__name__))
def test_what_takes_long_shows_a_bar_that_changes_no_answer(
    function: Callable[..., Any], capsys: pytest.CaptureFixture
) -> None:
    given, named = CALLS[function]()
    named = named | ({"by": "judge"} if function is llbt.influence else {})
    plain = function(*given, **named)
    assert capsys.readouterr().err == ""
    with_bar = function(*given, **named, progress=True)
    assert f"{function.__name__}: " in capsys.readouterr().err
    pd.testing.assert_frame_equal(with_bar.to_frame(), plain.to_frame())


@pytest.mark.parametrize(("each", "forecast"), [(0.02, None), (2.0, "about 40 seconds")])
def test_a_forecast_leaves_out_the_start_of_processes(
    each: float, forecast: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes take four jobs at once, and ten seconds to the end of the first."""
    times = [0.0] * 5 + [10 + each * k for k in range(11)]
    monkeypatch.setattr("llbt.resampling.time.monotonic", lambda: times.pop(0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(shown("bootstrap", range(15), progress=False, ahead=4)) == list(range(15))
    said = [str(warning.message) for warning in caught]
    assert said == ([f"bootstrap will take {forecast}: progress=True shows how far it is."] if forecast else [])
