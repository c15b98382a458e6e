"""How judges and objects differ, in sentences: by normal effects, and by discriminations."""

from __future__ import annotations

import numpy as np

from ..auditing.finding import p_text
from ..base.table import counted, format_number, format_percent
from ..core.statistics import TestResult
from ..errors import listed
from ..fitting.effect_levels import members
from ..fitting.protocols import WithDiscriminations, WithEffects
from ..inference.new_judge import new_judges
from ..inference.pairwise import pairwise
from .preference_words import Sentence

_EFFECTS = {"object": "log-worths", "tie": "ties", "order": "the order effect"}


def judge_sentence(res: WithEffects) -> Sentence:
    """Describe how much judges differ, the test of no difference, and the preference of a new judge."""
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
        of = f"slopes of {bracket.effect}" if bracket.is_slope else _EFFECTS.get(bracket.effect, bracket.effect)
        among = f"{bracket.grouping} with {bracket.condition}" if bracket.by else bracket.grouping
        of_judges.append(f"the standard deviation of {of} between levels of {among} is {size}")
    about = "These results are for the average judge; judges differ from the average by normal effects"
    judges = f"{about}: {'; '.join(of_judges)}" if of_judges else ""
    text = ". ".join(sentence for sentence in (of_objects, judges) if sentence)
    if len(res.brackets) == 1:
        test = res.boundary_test()
        numbers |= {"likelihood ratio of effects": test.statistic, "p of effects": test.p_value}
        text += f" (likelihood ratio {format_number(test.statistic, 4)}, {p_text(test.p_value)})"
    shares = res.shares_between
    several = len({grouping for grouping, _ in shares}) > 1
    for (grouping, condition), share in shares.items():
        among = f"{grouping}s with {condition}" if condition else f"{grouping}s"
        of = f" {grouping}s" if several else ""
        numbers[f"share between{of}{f', {condition}' if condition else ''}"] = share
        text += f". {format_percent(share)} of the variance of a pair's latent log-odds is between {among}"
    preference, more = _new_judge(res)
    return f"{text}.{preference}", numbers | more


def _rounded(x: float) -> str:
    return format_number(float(x), 3)


def _new_judge(res: WithEffects) -> Sentence:
    """State which of the first and the last object a judge drawn from the population prefers."""
    differ = any(b.effect != "1" and sigma > 0 for b, sigma in zip(res.brackets, res.scales, strict=True))
    if "worth" not in res.design.blocks or not differ:
        return "", {}
    text, numbers = "", {}
    for level, at in new_judges(res, "average"):
        pairs = pairwise(res, at=at, scale="probability", population=True)
        if len(pairs.ranking) < 2:
            return "", {}
        i, j = pairs.ranking[0], pairs.ranking[-1]
        row = int(np.flatnonzero((pairs.pairs == sorted((i, j))).all(axis=1))[0])
        share = float(1 / (1 + np.exp(-abs(pairs.log_odds[0][row]))))
        best, last = pairs.objects[i], pairs.objects[j]
        whose = f"A new judge from the population{f' with {level}' if level else ''}"
        text += f" {whose} prefers {best} to {last} in {format_percent(share)} of decisions"
        text += f", as estimated from {_judges_with(res, level)}."
        numbers[f"share of a new judge{f', {level}' if level else ''}"] = share
    return text, numbers


def _judges_with(res: WithEffects, level: str) -> str:
    """Return the numbers of judges in words, of those with a level if σ depends on one covariate."""
    of_level = len({b.by for b in res.brackets if b.by}) == 1
    number = {}
    for b in res.brackets:
        if b.effect != "1" and (not of_level or b.condition in ("", level)):
            labels = res.judges.groupings[b.grouping]
            number[b.grouping] = int(members(b, res.comparisons, labels).sum()) if of_level else len(labels)
    return " and ".join(f"{counted(size, 'level')} of {name}" for name, size in number.items())


def discrimination_sentence(res: WithDiscriminations, confidence: float) -> Sentence:
    """Describe how much discriminations differ, the test of equality, and judges that stand out."""
    sigma, levels, name = res.solution.sigma, res.judging.levels, res.judging.name
    alike = res.equality_test()
    low, high = int(np.argmin(sigma)), int(np.argmax(sigma))
    numbers = {
        "smallest discrimination": float(sigma[low]),
        "largest discrimination": float(sigma[high]),
        "likelihood ratio of discriminations": alike.statistic,
        "p of discriminations": alike.p_value,
    }
    differ = "differ" if alike.p_value < 1 - confidence else "do not differ significantly"
    text = (
        f"These results are for a {name} of discrimination 1. The discrimination σ multiplies the log-worths of each "
        f"{name}. The values of σ range from {format_number(float(sigma[low]), 3)} ({levels[low]}) to "
        f"{format_number(float(sigma[high]), 3)} ({levels[high]}) and {differ} "
        f"({_tested(alike)})"
    )
    if alike.notes:
        text += f"; {alike.notes[0]}"
    text += "."
    if res.wider.res is not None:
        own = res.proportionality_test()
        numbers |= {"likelihood ratio of own worths": own.statistic, "p of own worths": own.p_value}
        fits = "fit better than" if own.p_value < 1 - confidence else "do not fit better than"
        text += f" Separate log-worths for each {name} {fits} discriminations ({_tested(own)})."
    readings = res.readings(confidence=confidence)
    for word, meaning in (("inverted", "prefer what the others do not (σ < 0)"), ("guessing", "guess (σ ≈ 0)")):
        judges = readings.index[readings == word].tolist()
        numbers[f"{word} judges"] = len(judges)
        text += f" These levels of {name} {meaning}: {listed(judges)}." if judges else ""
    return text, numbers


def _tested(test: TestResult) -> str:
    return f"likelihood ratio {format_number(test.statistic, 4)} on {test.df:g} df, {p_text(test.p_value)}"
