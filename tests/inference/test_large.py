"""Leaderboards, worths and pairs of very many objects against the route with the whole covariance."""

from __future__ import annotations

import inspect
import typing

import numpy as np
import pytest
from scipy import stats
from support.calls import CALLS
from support.graphs import KINDS, Kind, finite_graph, judged_graph
from support.large import both_fits
from support.surface import public

import llbt
from llbt import LargeResults, LLBTResults
from llbt.base.arguments import filled
from llbt.errors import OptionError
from llbt.fitting.unsupported_questions import OF_LARGE
from llbt.inference.large import simultaneous

SIZE = 120
ANSWERING = {
    "anova", "contrasts", "held_out", "influence", "leaderboard", "model_table", "pairwise", "plot.ranks", "residuals",
    "simulate", "worth",
}  # fmt: skip


@pytest.fixture(scope="module")
def fits() -> tuple[LargeResults, LLBTResults]:
    return both_fits(llbt.from_judgments(judged_graph("random", SIZE, 3000, seed=3), order=True))


def in_order(table: object, objects: object) -> object:
    return table.to_frame().set_index("object").loc[list(objects)]


@pytest.mark.parametrize("scale", ["log_odds", "elo", "odds_ratio", "probability"])
@pytest.mark.parametrize("anchor", [None, 7])
def test_a_leaderboard_is_that_of_the_dense_route(
    fits: tuple[LargeResults, LLBTResults], scale: typing.Any, anchor: int | None
) -> None:
    """120 objects have exact errors here; ranks come from other intervals."""
    if scale == "probability" and anchor is not None:
        with pytest.raises(OptionError, match="no anchor"):
            llbt.leaderboard(fits[0], scale=scale, anchor=anchor)
        return
    large, dense = (llbt.leaderboard(res, scale=scale, anchor=anchor).to_frame() for res in fits)
    columns = ["estimate", "std_error", "conf_low", "conf_high", "win_probability"]
    np.testing.assert_allclose(large[columns], dense[columns], rtol=1e-6, atol=1e-5)
    same = ["object", "rank", "win_share", "judgments", "wins", "ties", "losses"]
    assert large[same].equals(dense[same])
    assert set(large["group"]) == {""}


def test_an_anchor_has_its_value(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = (llbt.leaderboard(res, scale="elo", anchor={7: 1000}).to_frame() for res in fits)
    np.testing.assert_allclose(large[["estimate", "conf_low"]], dense[["estimate", "conf_low"]], rtol=1e-6)


def test_worths_are_those_of_the_dense_route(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = (llbt.worth(res).to_frame() for res in fits)
    columns = ["estimate", "std_error", "conf_low", "conf_high"]
    np.testing.assert_allclose(large[columns], dense[columns], rtol=1e-5)
    assert large["object"].equals(dense["object"])


@pytest.mark.parametrize("adjust", ["single-step", "holm", None])
def test_pairs_of_some_objects_are_those_of_the_dense_route(
    fits: tuple[LargeResults, LLBTResults], adjust: typing.Any
) -> None:
    asked = [5, 90, 3, 44]
    large, dense = (llbt.pairwise(res, objects=asked, adjust=adjust, rng=4) for res in fits)
    assert large.objects == dense.objects == (3, 5, 44, 90)
    columns = ["estimate", "std_error", "statistic", "p_value", "p_adjusted", "conf_low", "conf_high"]
    np.testing.assert_allclose(large.to_frame()[columns], dense.to_frame()[columns], rtol=2e-2, atol=5e-3)
    exact = ["estimate", "std_error", "statistic", "p_value"]
    np.testing.assert_allclose(large.to_frame()[exact], dense.to_frame()[exact], rtol=1e-6)
    assert len(large.ranks().to_frame()) == 4


def test_some_objects_of_a_dense_fit_are_tested_as_few(fits: tuple[LargeResults, LLBTResults]) -> None:
    """Estimates and tests are those among all pairs; adjusted for six pairs, they reach less far than for 7140."""
    dense = fits[1]
    few, every = llbt.pairwise(dense, objects=[5, 90, 3, 44]), llbt.pairwise(dense)
    merged = few.to_frame().merge(every.to_frame(), on=["object_i", "object_j"], suffixes=("", "_every"))
    assert len(merged) == 6
    for name in ("estimate", "std_error", "statistic", "p_value"):
        np.testing.assert_allclose(merged[name], merged[f"{name}_every"], rtol=1e-9)
    assert few.critical == pytest.approx(2.57, abs=0.05)  # Tukey's of four means
    assert every.critical > 4
    for wrong, said in (([5], "two objects or more"), ([5, 1000], "no 1000")):
        with pytest.raises(OptionError, match=said):
            llbt.pairwise(dense, objects=wrong)


def test_all_pairs_of_a_large_fit_are_refused_with_their_number(fits: tuple[LargeResults, LLBTResults]) -> None:
    with pytest.raises(OptionError, match=r"7,140 pairs of 120 objects; expected up to 1,000 objects"):
        llbt.pairwise(fits[0])
    with pytest.raises(OptionError, match="at="):
        llbt.worth(fits[0], {"judge": "J1"})
    with pytest.raises(OptionError, match="population"):
        llbt.leaderboard(fits[0], population=True)


def test_simultaneous_intervals_reach_as_far_as_sidak_says() -> None:
    for size in (1, 2, 100, 10**6):
        z = simultaneous(size, 0.95)
        assert (1 - 2 * stats.norm.sf(z)) ** size == pytest.approx(0.95, abs=1e-9)
    assert simultaneous(1, 0.95) == pytest.approx(1.959964)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_ranks_contain_the_truth_and_little_more_than_those_of_all_pairs(kind: Kind) -> None:
    """300 objects with the worths of the graph: simultaneous, so all true ranks lie within; no fifth wider in sum."""
    c = finite_graph(kind, 300, 30_000, seed=5)
    large, dense = both_fits(c, prior=None)
    found, expected = (in_order(llbt.leaderboard(res), c.objects) for res in (large, dense))
    truth = stats.rankdata(-np.random.default_rng(5).normal(0, 0.5, 300))
    assert (found["rank_low"] <= truth).all()
    assert (truth <= found["rank_high"]).all()
    assert found["rank"].equals(expected["rank"])
    wide, narrow = ((f["rank_high"] - f["rank_low"]).sum() for f in (found, expected))
    assert narrow * 0.97 < wide < 1.25 * narrow


def _taking() -> dict[str, typing.Any]:
    kinds = ("LLBTResults", "PlainFit", "PairFit", "AnyFit", "WithWorths", "Bootstrapped", "Predicting")
    return {
        name: function
        for name, function in public().items()
        if inspect.isfunction(function)
        and any(kind in str(p.annotation) for p in inspect.signature(function).parameters.values() for kind in kinds)
    }


TAKING = _taking()


@pytest.mark.parametrize("name", sorted(set(TAKING) - ANSWERING))
def test_other_questions_are_refused_by_what_they_expect(name: str, fits: tuple[LargeResults, LLBTResults]) -> None:
    args, options = ([fits[1]], {}) if name == "intransitivity" else CALLS[TAKING[name]]()
    if name in ("judge_effects", "plot.judge_effects"):  # of fits that have such effects alone
        args = [fits[1]]
    if name == "judges.summary":
        options = {**options, "model": fits[1]}
    if args and isinstance(args[0], list):
        args = [[fits[0]]]
    if name in ("plot.calibration", "plot.over_time"):  # of the answers of others, too
        args = [fits[0]]
    args = [fits[0] if isinstance(value, LLBTResults) else value for value in args]
    options = {key: fits[0] if isinstance(value, LLBTResults) else value for key, value in options.items()}
    with pytest.raises(OptionError) as error:
        TAKING[name](*args, **options)
    if name in OF_LARGE:
        found, remedy = OF_LARGE[name]
        assert (error.value.found, error.value.remedy) == (found, filled(remedy, fits[0]))
    else:
        assert "LargeResults" in str(error.value)


def test_the_table_of_refusals_has_only_questions_that_are_refused() -> None:
    assert set(OF_LARGE) <= {*TAKING, "LLBTResults.predict"} - ANSWERING
