"""The printout of a fit to rankings or best-worst sets (lists), as R prints a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.table import Qualifying, Table, counted, format_number, format_percent
from .extra_rows import data_lines, fit_lines, rows_beside
from .protocols import WithLists
from .ranking_estimates import RankingEstimates
from .summary import NOT_CONVERGED, aliased_notes, coefficient_table_of, scale_notes, worths_in_order
from .summary_rows import Sort

_EQUAL = 1e-6  # log-worths closer than this count as equal
_MOSTLY = 2  # "mostly above" means at least so many times as often as below
_NAMED = 3  # most pairs in a note
_MODELS = {
    ("ranking", "joint"): "Plackett-Luce model",
    ("ranking", "sequential"): "Plackett-Luce model",
    ("best_worst", "joint"): "Best-worst model, P(b, w) ∝ exp(λ_b − λ_w)",
    ("best_worst", "sequential"): "Best-worst model, the best by exp(2λ), then the worst by exp(−2λ)",
}


def ranking_summary(res: RankingEstimates, *, odds: bool, max_rows: int, sort: Sort) -> Table:
    """Return the summary of a fit to lists; see `RankingResults.summary`."""
    table = coefficient_table_of(
        rows_beside(res, ["tie"] * len(res.names_beside)), res.df_inference, odds=odds, max_rows=max_rows, sort=sort
    )
    return replace(
        table,
        title=_MODELS[res.rankings.kind, res.specification.best_worst],
        head=_head(res),
        foot=fit_lines(res, "lists"),
        notes=_notes(res, odds),
    )


def _head(res: RankingEstimates) -> tuple[str, ...]:
    r = res.rankings
    lines = data_lines(res, res.formula, r.size_texts())
    if r.largest_tie > 1:
        share = format_percent(r.tied_share)
        modelled = "" if res.lists.held is None else ", not modelled (δ = 1); add + tie"
        lines.append(f"Ties: {share} of the places{modelled}")
    worths = worths_in_order(res.average)
    return (*lines, f"Worth: {worths}") if worths else tuple(lines)


def _notes(res: RankingEstimates, odds: bool) -> tuple[str, ...]:
    notes = scale_notes(res.average, odds)
    if res.names_beside:
        notes.append("tie is log δ of k objects in one place; a single object has δ₁ = 1.")
    notes += aliased_notes(res.aliased)
    prior = res.specification.prior
    if prior == "jeffreys":
        notes.append(
            Qualifying(
                "Estimates use Firth's bias reduction (Jeffreys' prior). Likelihood, AIC and BIC are computed at these "
                "estimates, below the maximum."
            )
        )
    elif prior is not None:
        notes.append(
            Qualifying(
                f"Estimates use a prior: each object has {prior:.4g} wins and {prior:.4g} losses against an object "
                "that nobody judged. The prior is not in the likelihood. AIC and BIC count "
                f"{format_number(res.effective_params, 4)} effective parameters."
            )
        )
    clusters = res.rankings.clusters
    if res.specification.cov_type == "nonrobust" and clusters and not res.covariance.notes:
        notes.append(
            Qualifying(f"Lists are taken as independent. To cluster: cov_type='cluster', groups={clusters[0]!r}.")
        )
    notes += [*res.covariance.notes, *reversal_notes(res)]
    if not res.converged:
        notes.append(NOT_CONVERGED)
    return (*notes, *res.rankings.notes)


def reversal_notes(res: WithLists) -> tuple[str, ...]:
    """Return a note on objects that share places and mostly rank above another, but have the lower estimate.

    In the model of ties each of k objects in one place counts as 1/k of a choice. So a place shared with many can be
    worth less than a later place held alone (Turner, van Etten, Firth & Kosmidis 2020, section 2.1). "Mostly" means at
    least twice as often above as below, among the lists that rank both.
    """
    if res.rankings.largest_tie < 2 or res.aliased or list(res.design.worth.units) != ["object"]:
        return ()
    implied, size = res.average.comparisons, len(res.rankings.objects)
    log_worth = np.empty(size)
    estimates = np.asarray(res.average.params, dtype=np.float64)
    log_worth[res.design.worth.units["object"]] = res.design.worth.matrix @ estimates
    wins, ties = np.zeros((size, size)), np.zeros((size, size))
    i, j = implied.pairs.T
    np.add.at(wins, (i, j), implied.wins_i)
    np.add.at(wins, (j, i), implied.wins_j)
    np.add.at(ties, (i, j), implied.ties)
    met = wins + wins.T + ties + ties.T
    tied = (ties + ties.T).sum(axis=1) / met.sum(axis=1)
    mostly = (wins >= _MOSTLY * wins.T) & (wins > 0) & (tied[:, None] > tied)
    turned = np.argwhere(mostly & (log_worth[:, None] < log_worth - _EQUAL))
    if not len(turned):
        return ()
    turned = turned[np.argsort(-(wins - wins.T)[tuple(turned.T)], kind="stable")]
    labels = res.rankings.objects
    phrases = [f"{labels[a]} above {labels[b]} in {wins[a, b]:g} of {met[a, b]:g}" for a, b in turned[:_NAMED]]
    more = f" and {counted(len(turned) - _NAMED, 'pair')} more" if len(turned) > _NAMED else ""
    return (
        Qualifying(
            f"Estimates reverse the order of ranks ({', '.join(phrases)} lists{more}). In this model a place that k "
            "objects share counts as 1/k of a choice for each."
        ),
    )
