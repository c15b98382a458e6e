"""Rankings drawn again, drawn from the model, and tested term by term; profile intervals of lists and patterns."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from support.questions import fit_of

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.list_tables import counted_again


@pytest.fixture(scope="module")
def res() -> llbt.RankingResults:
    found = fit_of("rankings")
    assert isinstance(found, llbt.RankingResults)
    return found


@pytest.fixture(scope="module")
def tied() -> llbt.RankingResults:
    rng = np.random.default_rng(4)
    said = np.round(np.array([0.8, 0.3, 0.0, -0.4]) + rng.gumbel(size=(80, 4)) / 2, 0)
    ranks = stats.rankdata(-said, axis=1, method="dense").astype(int)
    lists = llbt.from_rankings(pd.DataFrame(ranks, columns=list("ABCD")), objects=list("ABCD"))
    return llbt.fit("object + tie", lists)


def test_resamples_of_lists_are_refits_of_the_lists_that_were_drawn(res: llbt.RankingResults) -> None:
    """Brute force: the fit of a table with the drawn lists in it, each as often as it was drawn."""
    r = res.rankings
    weights = np.random.default_rng(9).integers(0, 3, len(r)).astype(float) * r.counts
    again = llbt.fit("object", counted_again(r, weights))
    frame = r.to_frame().assign(weight=weights[r.lists])
    rows = [part for _, part in frame.groupby("list") for _ in range(int(part["weight"].iloc[0]))]
    spelt = pd.concat([part.assign(list=k) for k, part in enumerate(rows)])
    by_hand = llbt.fit("object", llbt.from_rankings(spelt, rank="place", block="list"))
    np.testing.assert_allclose(again.params, by_hand.params, atol=1e-9)
    assert again.llf == pytest.approx(by_hand.llf)


@pytest.mark.slow
def test_errors_of_resamples_are_near_those_of_the_information(res: llbt.RankingResults) -> None:
    boot = llbt.bootstrap(res, n=150, rng=1)
    drawn = llbt.bootstrap(res, resample="parametric", n=80, rng=1)
    for found in (boot, drawn):
        errors = found.replicates.std(axis=0, ddof=1)
        np.testing.assert_allclose(errors, res.bse[list(found.names)], rtol=0.3)
    assert boot.resample == "list"
    assert "resample='judge' draws whole clusters" in str(boot)
    assert boot.ranks().to_frame().groupby("object")["estimate"].sum().to_numpy() == pytest.approx(1)


def test_clusters_are_drawn_whole(res: llbt.RankingResults) -> None:
    """Of two levels one has half the lists; a resample has each level 0, 1 or 2 times."""
    boot = llbt.bootstrap(res, lambda fit: fit.rankings.n_judgments, resample="sex", n=20, rng=2)
    assert set(boot.replicates[:, 0]) == {48.0}
    clustered = llbt.fit("object", res.rankings, cov_type="cluster", groups="judge")
    assert llbt.bootstrap(clustered, n=3, rng=1).resample == "judge"
    with pytest.raises(OptionError, match=r"resample='day'.*'list', 'parametric', or a cluster"):
        llbt.bootstrap(res, resample="day", n=3)
    with pytest.raises(DesignError, match="fitted by maximum likelihood"):
        llbt.bootstrap(llbt.fit("object", res.rankings, prior=1.0), n=3)


@pytest.mark.parametrize("which", ["res", "tied"])
def test_drawn_lists_have_the_probabilities_of_the_model(which: str, request: pytest.FixtureRequest) -> None:
    """By simulation: the probability of each list at the fit against how often it is drawn."""
    fit: llbt.RankingResults = request.getfixturevalue(which)
    tables = llbt.simulate(fit, 300, rng=5)
    assert all(table.n_judgments == fit.rankings.n_judgments for table in tables)
    first = np.zeros(4)
    for table in tables:
        places = table.places
        for k in range(4):
            first[k] += table.counts @ np.array(
                [bool(((table.items == k) & (places == 1))[a:b].any()) for a, b in itertools.pairwise(table.starts)]
            )
    shares = first / (300 * fit.rankings.n_judgments)
    worths = np.exp(
        2 * (llbt.worth(fit, scale="log_worth").to_frame().set_index("object")["estimate"].loc[list("ABCD")])
    )
    if which == "res":  # of lists without ties the chance to be first is the worth
        np.testing.assert_allclose(shares, worths / worths.sum(), atol=0.015)
    else:
        assert list(np.argsort(-shares)) == list(np.argsort(-worths.to_numpy()))
    refits = [llbt.fit(fit.specification.formula, table).params for table in tables[:20]]
    np.testing.assert_allclose(pd.concat(refits, axis=1).mean(axis=1), fit.params, atol=0.25)


def test_terms_are_tested_by_the_two_fits(res: llbt.RankingResults, tied: llbt.RankingResults) -> None:
    larger = llbt.fit("object * sex", res.rankings)
    for table, row in ((llbt.drop1(larger), 1), (llbt.add1(res, "object * sex"), 1)):
        found = table.to_frame().iloc[row]
        assert found["term"] == "object:sex"
        assert found["statistic"] == pytest.approx(2 * (larger.llf - res.llf))
        assert found["p_value"] == pytest.approx(stats.chi2.sf(2 * (larger.llf - res.llf), 3))
    frame = llbt.drop1(tied).to_frame().set_index("term")
    held = llbt.fit("object", tied.rankings)
    assert frame.loc["tie", "llf"] == pytest.approx(held.llf)
    equal = replace(tied.lists, matrix=tied.lists.matrix[:, :0])
    best = optimize.minimize(lambda log_delta: -equal.log_likelihood(log_delta), np.zeros(equal.size))
    assert frame.loc["object", "llf"] == pytest.approx(-best.fun, abs=1e-5)
    with pytest.raises(OptionError, match="compared by their likelihoods"):
        llbt.drop1(res, test="wald")
    with pytest.raises(OptionError, match="has no term that 'object' lacks"):
        llbt.add1(res, "object")


@pytest.mark.parametrize("which", ["res", pytest.param("tied", marks=pytest.mark.slow)])
def test_held_out_lists_are_predicted_by_refits_without_them(which: str, request: pytest.FixtureRequest) -> None:
    """Brute force: one list left out at a time, and the probability of it at the fit to the others."""
    fit: llbt.RankingResults = request.getfixturevalue(which)
    r, n = fit.rankings, int(fit.rankings.n_judgments)
    lost = np.zeros(len(r))
    for k in range(len(r)):
        counts = r.counts - (np.arange(len(r)) == k)
        rest = llbt.fit(fit.specification.formula, counted_again(r, counts))
        lost[k] = -fit.lists.each(rest.solution.params)[0][k]
    found = llbt.held_out(fit, folds=n, rng=3).to_frame()
    assert found["log_loss"].tolist() == pytest.approx([float(r.counts @ lost / n)])
    spread = float(r.counts @ (lost - r.counts @ lost / n) ** 2)
    assert found["std_error"].tolist() == pytest.approx([np.sqrt(spread / (n - 1) / n)])


def test_folds_of_judges_stay_together(res: llbt.RankingResults) -> None:
    both = [res, llbt.fit("skill", res.rankings)]
    found = llbt.held_out(both, by="judge", folds=16, rng=1)
    frame = found.to_frame()
    assert frame["delta_log_loss"].iloc[1] == pytest.approx(np.diff(frame["log_loss"])[0])
    judge = res.rankings.cluster_columns[0].codes
    lost = np.zeros(len(res.rankings))
    for g in range(16):
        rest = llbt.fit("object", counted_again(res.rankings, np.where(judge == g, 0, res.rankings.counts)))
        lost[judge == g] = -res.lists.each(rest.solution.params)[0][judge == g]
    assert frame["log_loss"].iloc[0] == pytest.approx(res.rankings.counts @ lost / 48)
    with pytest.raises(OptionError, match="a list is predicted as a whole"):
        found.calibration()
    with pytest.raises(OptionError, match="folds=49 of 48 lists"):
        llbt.held_out(res, folds=49)


@pytest.mark.parametrize("kind", ["rankings", pytest.param("patterns", marks=pytest.mark.slow)])
def test_profile_intervals_end_where_the_likelihood_ratio_test_turns(kind: str) -> None:
    """Brute force: the rest of the parameters by scipy's minimizer, with the parameter at the bound."""
    fit = fit_of(kind)
    log_likelihood = (
        fit.lists.log_likelihood if kind == "rankings" else lambda params: fit.likelihood.moments(params)[0]
    )
    bounds = fit.conf_int(method="profile")
    for k in range(len(fit.solution.params)):
        rest = np.arange(len(fit.solution.params)) != k
        for bound in bounds.iloc[k]:

            def lost(others: np.ndarray, k: int = k, bound: float = bound, rest: np.ndarray = rest) -> float:
                params = np.empty(len(rest))
                params[rest], params[k] = others, bound
                return -float(log_likelihood(params))

            best = optimize.minimize(lost, fit.solution.params[rest], method="BFGS")
            assert 2 * (fit.llf + best.fun) == pytest.approx(stats.chi2.isf(0.05, 1), abs=1e-3)


def test_what_has_no_profile_says_so(res: llbt.RankingResults) -> None:
    for options in ({"prior": 1.0}, {"cov_type": "cluster", "groups": "judge"}):
        fit = llbt.fit("object", res.rankings, **options)
        with pytest.raises(OptionError, match=r"method='profile'.*Use Wald intervals: res\.conf_int\(\)"):
            fit.conf_int(method="profile")
