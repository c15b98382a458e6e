"""The joint result of people's labels and machines' verdicts, and the gain from the machines, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pandas as pd

from ..auditing.finding import p_text
from ..base.table import Table, counted, format_count, format_number, format_percent
from ..core.statistics import TestResult
from ..fitting.fitted import WorthSource
from .preference_words import Sentence, interval_text, odds_text, worth_sentences


class Calibrated(WorthSource, Protocol):
    """Worths from few labels and many verdicts, with checks: the result of `llbt.judges.calibrate`."""

    @property
    def omega(self) -> pd.Series[float]:
        """The weight of each machine."""

    @property
    def n_labels(self) -> int:
        """Number of units with labels."""

    @property
    def n_units(self) -> int:
        """Number of all units."""

    @property
    def effective_labels(self) -> float:
        """Number of labels that would be as precise without verdicts."""

    @property
    def shares(self) -> TestResult:
        """The test of whether labelled and unlabelled units have the same pairs."""

    @property
    def within_pairs(self) -> bool:
        """Whether verdicts were averaged within pairs."""

    @property
    def drift(self) -> Mapping[str, TestResult]:
        """For each machine, the test of whether it agrees with people equally often on every pair."""

    @property
    def rogan_gladen(self) -> pd.DataFrame:
        """Shares of the outcomes by labels, by verdicts, and by corrected verdicts."""

    def table(self) -> Table:
        """Return the estimates of each object: calibrated, by labels alone, and by verdicts alone."""

    def to_frame(self) -> pd.DataFrame:
        """Return the columns of `table`."""


def calibration_topics(calibration: Calibrated, confidence: float) -> dict[str, Sentence]:
    """Return sentences on the model, the preferences after correction, the gain from machines, and the checks."""
    topics = {"model": _model(calibration)} | worth_sentences(calibration.worth_source(), confidence)
    topics["ties"] = _ties(calibration, confidence)
    topics["machines"] = _machines(calibration)
    topics["correction"] = _correction(calibration)
    topics["checks"] = _checks(calibration, confidence)
    return topics


def _model(calibration: Calibrated) -> Sentence:
    source = calibration.worth_source()
    objects = len(source.comparisons.objects)
    machines = " and ".join(map(str, calibration.omega.index))
    text = f"Worths ({source.specification.formula}) of {format_count(objects)} objects were estimated from people's "
    text += f"labels of {counted(calibration.n_labels, 'unit')} and the verdicts of {machines} on all "
    text += f"{format_count(calibration.n_units)}, corrected by the labels (prediction-powered inference)."
    return text, {"labels": float(calibration.n_labels), "units": float(calibration.n_units), "objects": float(objects)}


def _ties(calibration: Calibrated, confidence: float) -> Sentence:
    """State how often equal objects tie after correction; the pooled counts of people and machines cannot tell."""
    source = calibration.worth_source()
    if "tie" not in source.names:
        return "", {}
    ends = source.conf_int(1 - confidence).loc["tie"]
    odds, low, high = (float(np.exp(x)) for x in (source.params["tie"], *ends))
    chance = odds / (2 + odds)
    numbers = {"odds of a tie": odds, "low of a tie": low, "high of a tie": high}
    text = f"Between equally good objects the odds of a tie against a win of either are {odds_text(odds)} "
    text += f"({interval_text(low, high, confidence)})"
    if "order" in source.names:
        return f"{text}.", numbers
    return f"{text}, a tie in {format_percent(chance)} of judgments.", numbers | {"probability of a tie": chance}


def _machines(calibration: Calibrated) -> Sentence:
    """State the weight of the verdicts, and how many labels they are worth."""
    numbers = {f"omega of {name}": float(w) for name, w in calibration.omega.items()}
    weights = ", ".join(f"{name} {format_number(float(w), 3)}" for name, w in calibration.omega.items())
    text = f"The verdicts have the weight ω (0: not used, 1: like labels): {weights}"
    effective = float(calibration.effective_labels)
    if np.isnan(effective):
        return f"{text}. The labels alone have no finite estimates, so the gain from the machines is unknown.", numbers
    factor = effective / calibration.n_labels
    numbers |= {"effective labels": effective, "factor": factor}
    text += f". With them the {format_count(calibration.n_labels)} labels are as precise as "
    return f"{text}{format_count(round(effective))} labels alone, {format_number(factor, 3)} times as many.", numbers


def _correction(calibration: Calibrated) -> Sentence:
    """State the first object by each source alone, and the object that the labels move furthest from the verdicts."""
    frame = calibration.to_frame()
    objects, estimate, machines, labels = (
        frame[name].tolist() for name in ("object", "estimate", "machines", "labels")
    )
    moved = np.subtract(estimate, machines)
    most = int(np.argmax(np.abs(moved)))
    first, by_machines = objects[int(np.argmax(estimate))], objects[int(np.argmax(machines))]
    by_labels = objects[int(np.argmax(labels))] if np.isfinite(labels).all() else None
    numbers = {"largest correction": float(moved[most])}
    text = f"The verdicts alone put {by_machines} first"
    if by_labels == by_machines:
        text += ", and so do the labels alone"
    elif by_labels is not None:
        text += f", the labels alone {by_labels}"
    text += f"; together {first} is first" if {first} != {by_machines, by_labels} - {None} else ""
    sign = "raise" if moved[most] > 0 else "lower"
    text += f". Compared with the verdicts alone, the labels {sign} {objects[most]} most, by "
    return f"{text}{format_number(abs(float(moved[most])), 3)} log-worths.", numbers


def _checks(calibration: Calibrated, confidence: float) -> Sentence:
    """State whether labelled units represent the others, and whether machines agree equally often on all pairs."""
    numbers = {"chi2 of pairs": calibration.shares.statistic, "p of pairs": calibration.shares.p_value}
    differ = calibration.shares.p_value < 1 - confidence
    differ_in = (
        "differ in their pairs of objects" if differ else "do not differ significantly in their pairs of objects"
    )
    text = f"Labelled and unlabelled units {differ_in} ({_tested(calibration.shares)})"
    text += "; the verdicts were averaged within pairs." if calibration.within_pairs else "."
    for name, test in calibration.drift.items():
        numbers |= {f"chi2 of {name} by pair": test.statistic, f"p of {name} by pair": test.p_value}
        agrees = "differs" if test.p_value < 1 - confidence else "does not differ significantly"
        text += f" How often {name} agrees with people {agrees} between pairs ({_tested(test)})."
    return text, numbers


def _tested(test: TestResult) -> str:
    return f"χ² {format_number(test.statistic, 4)} on {format_count(test.df)} df, {p_text(test.p_value)}"
