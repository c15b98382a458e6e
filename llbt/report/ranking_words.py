"""The model of lists, and how often objects are tied in them, in sentences."""

from __future__ import annotations

import numpy as np

from ..base.table import format_count, format_number, format_percent
from ..fitting.protocols import WithRankings
from ..fitting.ranking_estimates import RankingEstimates
from .preference_words import Sentence, interval_text, odds_text

_MODELS = {"ranking": "Plackett-Luce model", "best_worst": "model of best and worst"}
_LISTS = {"ranking": "lists", "best_worst": "sets with a best and a worst"}


def ranking_model(res: WithRankings) -> Sentence:
    """State the fitted model and its data."""
    r, spec = res.rankings, res.specification
    what = f"{format_count(r.n_judgments)} {_LISTS[r.kind]}"
    text = f"A {_MODELS[r.kind]} ({spec.formula}) was fitted to {what} of {format_count(len(r.objects))} objects"
    if isinstance(spec.prior, str):
        text += ", with Firth's bias reduction"
    elif spec.prior is not None:
        text += f", with a prior of {format_number(spec.prior, 3)} wins and as many losses of each object"
    if spec.groups:
        text += f"; standard errors allow for dependence within {spec.groups}"
    return text + ".", {"lists": float(r.n_judgments), "objects": float(len(r.objects))}


def ranking_ties(res: RankingEstimates, confidence: float) -> Sentence:
    """Describe how many places are shared, and the odds of a shared place."""
    r = res.rankings
    if r.kind == "best_worst" or r.largest_tie == 1:
        return "", {}
    share = r.tied_share
    text, numbers = f"{format_percent(share)} of the places are shared", {"share of shared places": share}
    if not res.names_beside:
        return f"{text}, but the model has no tie parameters (every δ is 1): add + tie.", numbers
    bounds = res.conf_int(1 - confidence)
    sentences = []
    for d, name in zip(res.lists.orders.tolist(), res.names_beside, strict=True):
        low, high = (float(x) for x in np.exp(bounds.loc[name]))
        odds = float(np.exp(res.params[name]))
        numbers |= {f"odds of {d} tied": odds, f"low of {d} tied": low, f"high of {d} tied": high}
        about = f" ({interval_text(low, high, confidence)})" if np.isfinite(low) else ""
        sentences.append(f"{odds_text(odds)}{about} for {d}")
    sentence = "among equally good objects the odds that some share a place, against one of them alone, are"
    return f"{text}; {sentence} {', '.join(sentences)}.", numbers
