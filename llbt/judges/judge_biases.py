"""Biases of a machine judge: position, length, its own family, and a leaderboard that differs from people's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.notes import Qualifying
from ..core.columns import FloatArray, Label
from ..core.statistics import adjust_p
from ..data.table_readers import from_judgments
from ..errors import DesignError, SeparationError
from ..fitting.model import LLBT

SOURCE, HUMAN, MACHINE = "source", "human", "machine"
LENGTH = "length"
NAMES = ("position", LENGTH, "self-preference", "leaderboard")
_ALIKE = f":{SOURCE}[{MACHINE}]"  # what the names of parameters end in that are the machine's alone
_LOG_ODDS = 2.0  # log-odds for one log-worth


@dataclass(frozen=True, eq=False)
class Bias:
    """One bias, on the scale of log-odds.

    Attributes
    ----------
    name : str
        ``"position"``, ``"length"``, ``"self-preference"`` or ``"leaderboard"``.
    people, machine : float
        The effect in the labelled judgments of people, and in the machine's.
    estimate, conf_low, conf_high : float
        The bias: for position the machine's own effect in all rows, otherwise the machine's effect minus people's; NaN
        for the leaderboard, which has many differences.
    p_value : float
    p_adjusted : float
        By Holm over the biases that were tested.
    """

    name: str
    people: float
    machine: float
    estimate: float
    conf_low: float
    conf_high: float
    p_value: float
    p_adjusted: float = np.nan


@dataclass(frozen=True, eq=False)
class Biases:
    """The biases that were tested, why others were not, and notes."""

    tested: tuple[Bias, ...]
    unanswered: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Judgments of people and of the machine, in frames of one layout.

    Attributes
    ----------
    human, machine : DataFrame
        object_i, object_j, outcome, the columns of the row and of the clusters, and length_a and length_b if requested.
    row, cluster : str
        The columns of the rows of the judgments, and of the clusters.
    ordered : bool
        Whether object i was shown first.
    has_length : bool
    """

    human: pd.DataFrame
    machine: pd.DataFrame
    row: str
    cluster: str
    ordered: bool
    has_length: bool


def biases(judgments: Verdicts, family: Sequence[Label], confidence: float) -> Biases:
    """Return the biases of the machine."""
    unanswered: dict[str, str] = {}
    if not judgments.ordered:
        unanswered["position"] = "the file does not say which object was shown first"
    if not judgments.has_length:
        unanswered["length"] = "no columns of lengths were named (length=)"
    if not family:
        unanswered["self-preference"] = "the machine's own objects were not named (family=)"
    tests: list[Bias] = []
    notes: list[str] = []
    both = pd.concat(
        [judgments.human.assign(source=HUMAN), _same_rows(judgments).assign(source=MACHINE)], ignore_index=True
    )
    try:
        beside = _fitted(both, judgments, "object * source", notes)
        tests += _of_both(beside, judgments, family, confidence)
    except DesignError as error:
        unanswered |= dict.fromkeys((*(("length",) if judgments.has_length else ()), "leaderboard"), str(error))
        unanswered |= {"self-preference": str(error)} if family else {}
        beside = None
    if judgments.ordered:
        try:
            alone = _fitted(judgments.machine, judgments, "object", notes)
            if "order" in alone.aliased:
                unanswered["position"] = (
                    "every object was always shown on one side, so position cannot be separated from worth"
                )
            else:
                tests.append(_of_position(alone, beside, confidence))
        except DesignError as error:
            unanswered["position"] = str(error)
    known = sorted((bias for bias in tests if not np.isnan(bias.p_value)), key=lambda bias: NAMES.index(bias.name))
    unanswered |= {bias.name: _why_unknown(bias.name, judgments) for bias in tests if np.isnan(bias.p_value)}
    adjusted = adjust_p(np.array([bias.p_value for bias in known]), "holm").tolist()
    tested = tuple(replace(bias, p_adjusted=p) for bias, p in zip(known, adjusted, strict=True))
    return Biases(tested, unanswered, tuple(notes))


def _why_unknown(name: str, judgments: Verdicts) -> str:
    """Return why a bias has no p-value."""
    if name == "position":
        return "the judgments do not determine it"
    machine = _same_rows(judgments).set_index(judgments.row)["outcome"]
    if (judgments.human.set_index(judgments.row)["outcome"] == machine[judgments.human[judgments.row]]).all():
        return "the machine's verdicts equal the human labels in every labelled row"
    unit = "labelled row" if judgments.cluster == judgments.row else judgments.cluster
    return f"an estimate rests on a single {unit}; label more rows"


def _same_rows(judgments: Verdicts) -> pd.DataFrame:
    return judgments.machine[judgments.machine[judgments.row].isin(judgments.human[judgments.row])]


def _fitted(frame: pd.DataFrame, judgments: Verdicts, worth: str, notes: list[str]) -> Any:
    """Return the fit of worths, with ties, order and length if the data have them: all by source, or none."""
    several = SOURCE in worth
    c = from_judgments(
        frame,
        covariates=(SOURCE,) if several else (),
        side_covariates=(LENGTH,) if judgments.has_length else (),
        clusters=(judgments.cluster,),
        order=judgments.ordered,
    )
    words = (("tie", c.has_ties), ("order", judgments.ordered), (LENGTH, judgments.has_length))
    beside = [f"{word}{f' + {word}:{SOURCE}' if several else ''}" for word, there in words if there]
    model = LLBT.from_formula(" + ".join([worth, *beside]), c)
    try:
        return model.fit(cov_type="cluster", groups=judgments.cluster)
    except SeparationError:
        notes.append(
            Qualifying("An estimate was infinite, so biases are by Firth's bias reduction (prior='jeffreys').")
        )
        return model.fit(cov_type="cluster", groups=judgments.cluster, prior="jeffreys")


def _of_both(res: Any, judgments: Verdicts, family: Sequence[Label], confidence: float) -> list[Bias]:
    """Return the tests of differences between people and machine in the same rows."""
    tests = []
    if judgments.has_length:
        tests.append(_difference(res, LENGTH, {LENGTH: 1.0}, confidence))
    objects = res.comparisons.objects
    if family:
        share = {o: 1 / len(family) if o in family else -1 / (len(objects) - len(family)) for o in objects}
        tests.append(_difference(res, "self-preference", {f"object[{o}]": w for o, w in share.items()}, confidence))
    names = [name for name in res.names if name.startswith("object[") and name.endswith(_ALIKE)]
    rows = np.array([_row(res, {name: 1.0}) for name in names])
    test = res.wald_test(rows)
    return [*tests, Bias("leaderboard", np.nan, np.nan, np.nan, np.nan, np.nan, test.p_value)]


def _difference(res: Any, name: str, weights: Mapping[str, float], confidence: float) -> Bias:
    """Return a linear combination of people's parameters, and of the machine's differences from them."""
    own = {f"{term}{_ALIKE}": weight for term, weight in weights.items()}
    people, added = _row(res, weights), _row(res, own)
    (first, _, _, _), (second, low, high, p) = _tests(res, np.stack([people, added]), confidence)
    return Bias(name, first, first + second, second, low, high, p)


def _of_position(res: Any, beside: Any, confidence: float) -> Bias:
    """Return the order effect of the machine in all rows."""
    ((estimate, low, high, p),) = _tests(res, _row(res, {"order": 1.0})[None, :], confidence)
    people = np.nan if beside is None else _LOG_ODDS * float(beside.params["order"])
    return Bias("position", people, estimate, estimate, low, high, p)


def _row(res: Any, weights: Mapping[str, float]) -> FloatArray:
    """Return coefficients of the parameters, shape (p,); a name without a parameter is a reference and counts as 0."""
    return np.array([weights.get(name, 0.0) for name in res.names])


def _tests(res: Any, rows: FloatArray, confidence: float) -> list[tuple[float, float, float, float]]:
    """Return estimate, bounds and p-value of linear combinations, in log-odds."""
    frame = res.t_test(rows, confidence=confidence).to_frame()
    scaled = _LOG_ODDS * frame[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=float)
    return [(float(a), float(b), float(c), float(p)) for (a, b, c), p in zip(scaled, frame["p_value"], strict=True)]
