"""How judges and objects differ, in sentences: standard deviations of effects, and what a new judge prefers."""

from __future__ import annotations

import numpy as np

from ..auditing.finding import p_text
from ..fitting.mixed_results import MixedResults
from ..inference.pairwise import pairwise
from ..table import counted, format_number, format_percent
from .preference_words import Said

_EFFECTS = {"object": "log-worths", "tie": "ties", "order": "the order effect"}


def judge_sentence(res: MixedResults) -> Said:
    """Say how far judges differ, whether that is more than chance, and what a new judge prefers."""
    numbers: dict[str, float] = {}
    of_judges, of_objects = [], ""
    for bracket, sigma, error in zip(res.brackets, res.scales, res.scale_errors, strict=True):
        numbers |= {f"sigma of {bracket}": float(sigma), f"error of {bracket}": float(error)}
        size = _rounded(sigma) + (
            f" (standard error {_rounded(error)})" if sigma > 0 else ", so that they do not differ"
        )
        if bracket.effect == "1":
            of_objects = f"The standard deviation of log-worths between objects of equal covariates is {size}"
            continue
        of = _EFFECTS.get(bracket.effect, bracket.effect)
        of_judges.append(f"the standard deviation of {of} between levels of {bracket.grouping} is {size}")
    about = "All this is of the average judge; judges differ from the average by normal effects"
    judges = f"{about}: {'; '.join(of_judges)}" if of_judges else ""
    text = ". ".join(sentence for sentence in (of_objects, judges) if sentence)
    if len(res.brackets) == 1:
        test = res.boundary_test()
        numbers |= {"likelihood ratio of effects": test.statistic, "p of effects": test.p_value}
        text += f" (likelihood ratio {format_number(test.statistic, 4)}, {p_text(test.p_value)})"
    if not np.isnan(res.share_between):
        numbers["share between"] = res.share_between
        text += f". {format_percent(res.share_between)} of the variance of a pair's latent log-odds is between judges"
    said, more = _new_judge(res)
    return f"{text}.{said}", numbers | more


def _rounded(x: float) -> str:
    return format_number(float(x), 3)


def _new_judge(res: MixedResults) -> Said:
    """Say what a judge drawn from the population prefers: of the objects at the ends."""
    differ = any(b.effect != "1" and sigma > 0 for b, sigma in zip(res.brackets, res.scales, strict=True))
    if "worth" not in res.design.blocks or not differ:
        return "", {}
    pairs = pairwise(res, at="average", scale="probability", population=True)
    if len(pairs.ranking) < 2:
        return "", {}
    i, j = pairs.ranking[0], pairs.ranking[-1]
    row = int(np.flatnonzero((pairs.pairs == sorted((i, j))).all(axis=1))[0])
    share = float(1 / (1 + np.exp(-abs(pairs.log_odds[0][row]))))
    best, last = pairs.objects[i], pairs.objects[j]
    text = f" A new judge drawn from the population prefers {best} to {last} in {format_percent(share)} of decisions"
    known = {b.grouping: len(res.judges.groupings[b.grouping]) for b in res.brackets if b.effect != "1"}
    from_these = " and ".join(f"{counted(number, 'level')} of {name}" for name, number in known.items())
    return f"{text}, as estimated from {from_these}.", {"share of a new judge": share}
