"""How judges discriminate, in sentences: tests against both neighbours, the range of σ, and who is named."""

from __future__ import annotations

import numpy as np

from ..auditing.finding import p_text
from ..core.statistics import TestResult
from ..errors import listed
from ..fitting.discrimination_results import DiscriminationResults
from ..table import format_number
from .preference_words import Said


def discrimination_sentence(res: DiscriminationResults, confidence: float) -> Said:
    """Say how far judges differ in their discriminations, whether by more than chance, and who stands out."""
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
        f"All this is of a {name} of discrimination 1; discriminations σ, factors on the log-worths of each {name}, go "
        f"from {format_number(float(sigma[low]), 3)} ({levels[low]}) to {format_number(float(sigma[high]), 3)} "
        f"({levels[high]}) and {differ} "
        f"({_tested(alike)})"
    )
    if alike.notes:
        text += f"; {alike.notes[0]}"
    text += "."
    if res.wider.res is not None:
        own = res.proportionality_test()
        numbers |= {"likelihood ratio of own worths": own.statistic, "p of own worths": own.p_value}
        fits = "fit better than" if own.p_value < 1 - confidence else "do not fit better than"
        text += f" Log-worths of each {name}'s own {fits} factors ({_tested(own)})."
    readings = res.readings(confidence=confidence)
    for word, said in (("inverted", "prefer what the others do not (σ < 0)"), ("guessing", "guess (σ ≈ 0)")):
        found = readings.index[readings == word].tolist()
        numbers[f"{word} judges"] = len(found)
        text += f" Of the levels of {name} {listed(found)} {said}." if found else ""
    return text, numbers


def _tested(test: TestResult) -> str:
    return f"likelihood ratio {format_number(test.statistic, 4)} on {test.df:g} df, {p_text(test.p_value)}"
