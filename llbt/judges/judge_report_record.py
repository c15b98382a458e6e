"""The report on a machine judge: a sentence with the answer, agreement, biases, labels and leaderboards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..base.notes import WIDTH, wrapped
from ..base.table import (
    Field,
    Record,
    Table,
    counted,
    format_count,
    format_p,
    format_percent,
    format_share,
    interval_fields,
)
from ..core.columns import Label
from .agreement import Agreement
from .judge_biases import Bias

LITTLE = 1.1  # effective over actual labels below which the verdicts add too little
_SIGNIFICANT = 0.05
_WORDS = {
    "position": "position bias",
    "length": "length bias",
    "self-preference": "self-preference",
    "leaderboard": "a leaderboard that differs from people's",
}


@dataclass(frozen=True, repr=False, eq=False)
class JudgeReport(Record):
    """Whether a machine's verdicts can be used in place of, or beside, the labels of people.

    Made by `llbt.judges.report`.

    Attributes
    ----------
    agreement : Agreement
        The agreement of people and machine in the labelled rows: percent and Cohen's κ.
    biases : tuple of Bias
        The biases that were tested, in log-odds; see `bias_table`.
    calibration : what `llbt.judges.calibrate` returns, or None
        Worths from labels and verdicts together; None if they have no finite estimates.
    labels, rows : int
        Labelled rows, and all rows with a verdict.
    trial_labels, trial_worth : float
        `trial_labels` labels with the verdicts are as precise as `trial_worth` labels alone. `trial_labels` is
        `labels`, or half of it if every row has a label, because verdicts on labelled rows add nothing. `trial_worth`
        is at most `rows`. If all verdicts of the machine are the same, both are `labels`.
    unanswered : mapping of str to str
        Questions that the file does not answer, and why.
    family : tuple of labels
        The machine's own objects.
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.judges.report(data, human=…, machine=…)"

    agreement: Agreement
    biases: tuple[Bias, ...]
    calibration: Any
    labels: int
    rows: int
    trial_labels: int
    trial_worth: float
    unanswered: Mapping[str, str]
    family: tuple[Label, ...]
    confidence: float
    notes: tuple[str, ...]

    @property
    def found(self) -> tuple[str, ...]:
        """The names of the biases with an adjusted p-value of at most .05."""
        return tuple(bias.name for bias in self.biases if bias.p_adjusted <= _SIGNIFICANT)

    @property
    def answer(self) -> str:
        """Whether the machine is usable, in one sentence."""
        n, worth = format_count(self.trial_labels), self.trial_worth
        if math.isnan(worth):
            alone = f" It is not usable alone: {_joined(self.found)}." if self.found else ""
            unknown = "Whether this judge is usable when calibrated cannot be determined"
            return f"{unknown}: labels and verdicts cannot be combined (see below).{alone}"
        if worth < LITTLE * self.trial_labels:
            more = counted(max(round(worth) - self.trial_labels, 0), "additional label")
            return f"This judge is hardly usable: its verdicts are worth {more} ({n} are given)."
        gain = f"its verdicts make {n} labels worth {format_count(round(worth))}"
        if self.found:
            what = _joined(self.found)
            return f"This judge is usable when calibrated, but not alone: {what}; calibrated, {gain}."
        open_ = [name for name in _WORDS if name in self.unanswered]
        untested = f" ({_joined(open_)} not tested)" if open_ else ""
        return f"This judge is usable: no bias was found{untested}, and {gain}."

    def lines(self) -> tuple[str, ...]:
        """Return the answers, one line each: the sentence, agreement, labels, biases, and unanswered questions."""
        biases = [self._sentence(bias) for bias in self.biases]
        lacking = [
            f"{_WORDS.get(name, name).capitalize()}: not answered; {why}" for name, why in self.unanswered.items()
        ]
        lines = (self.answer, self._agreed(), self._labelled(), *biases, *lacking)
        return tuple(f"{line.rstrip('.')}." for line in lines)

    def table(self) -> Table:
        """Return rank, object, estimate (calibrated log-worth), interval, people, machine and their ranks.

        Without a calibration there are no rows.
        """
        head = tuple(line for line_text in self.lines() for line in wrapped(line_text, WIDTH, "  "))
        title = "Is this judge usable?"
        if self.calibration is None:
            return Table((), title=title, head=head, notes=self.notes)
        frame = self.calibration.to_frame()
        people, machine = frame["labels"].to_numpy(dtype=float), frame["machines"].to_numpy(dtype=float)
        fields = (
            Field("rank", "rank", np.arange(1, len(frame) + 1), "count"),
            Field("object", "object", frame["object"].tolist()),
            Field("estimate", "calibrated", frame["estimate"].to_numpy(), "estimate", 3),
            *interval_fields(frame["conf_low"].to_numpy(), frame["conf_high"].to_numpy(), self.confidence, 3),
            Field("people", "people", people, "estimate", 3),
            Field("people_rank", "rank", _ranks(people), "count"),
            Field("machine", "machine", machine, "estimate", 3),
            Field("machine_rank", "rank", _ranks(machine), "count"),
        )
        return Table(fields, title=title, head=head, notes=(*self.notes, "leaderboards: log-worth λ, mean 0"))

    def bias_table(self) -> Table:
        """Return bias, people, machine, estimate, conf_low, conf_high, p_value, p_adjusted: in log-odds.

        For position, the estimate is the log-odds that the machine prefers the first of two equal objects. For length
        and self-preference, it is the machine's log-odds minus people's: for one standard deviation of the relative
        difference of length, and for the machine's own objects against the others.
        """
        columns = ("people", "machine", "estimate")
        values = {name: [getattr(bias, name) for bias in self.biases] for name in (*columns, "conf_low", "conf_high")}
        return Table(
            (
                Field("bias", "bias", [bias.name for bias in self.biases]),
                *(Field(name, name, values[name], "estimate", 3) for name in columns),
                *interval_fields(values["conf_low"], values["conf_high"], self.confidence, 3),
                Field("p_value", "p", [bias.p_value for bias in self.biases], "p_value"),
                Field("p_adjusted", "p adjusted", [bias.p_adjusted for bias in self.biases], "p_value"),
            ),
            title="Biases of the machine, in log-odds",
            notes=(
                "position: against 0, in all rows; others: machine minus people, labelled rows",
                "p adjusted: by Holm over these biases",
            ),
        )

    def _agreed(self) -> str:
        rows = {row["term"]: row for row in self.agreement}
        percent, kappa = rows["percent"], rows["cohen_kappa"]
        level = f"{100 * self.confidence:.4g} % CI"
        first = f"{100 * percent['conf_low']:.1f} to {100 * percent['conf_high']:.1f}"
        second = f"{_signed(kappa['conf_low'])} to {_signed(kappa['conf_high'])}"
        return (
            f"Agreement with people: {format_percent(percent['estimate'])} of {counted(self.labels, 'row')} "
            f"({level} {first}), Cohen's κ {_signed(kappa['estimate'])} ({second})"
        )

    def _labelled(self) -> str:
        text = f"Labels: {format_count(self.labels)} of {counted(self.rows, 'row')}"
        if math.isnan(self.trial_worth):
            return text
        worth = format_count(round(self.trial_worth))
        if self.trial_labels < self.labels:
            return f"{text}; {format_count(self.trial_labels)} of them with the verdicts are worth {worth}"
        return f"{text}; with the verdicts they are worth {worth}"

    def _sentence(self, bias: Bias) -> str:
        p = format_p(bias.p_adjusted)
        tested = f"adj. p {p if p.startswith('<') else '= ' + p}"
        if bias.name == "leaderboard":
            differ = "differ" if bias.p_adjusted <= _SIGNIFICANT else "do not differ detectably"
            return f"Leaderboards of people and machine, in the same rows, {differ}: {tested}"
        interval = f"{100 * self.confidence:.4g} % CI {bias.conf_low:.2f} to {bias.conf_high:.2f}"
        if bias.name == "position":
            beside = "" if math.isnan(bias.people) else f" (people {_first(bias.people)})"
            return f"Position: of equal objects the first wins {_first(bias.machine)}{beside}, {tested}"
        what = "per standard deviation of length" if bias.name == "length" else "for its own objects"
        name = "Length" if bias.name == "length" else "Self-preference"
        return f"{name}: {bias.estimate:+.2f} log-odds more than people {what} ({interval}), {tested}"


def _joined(names: Sequence[str]) -> str:
    """Return biases in words, joined."""
    *others, last = (_WORDS[name] for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def _first(log_odds: float) -> str:
    return format_percent(1 / (1 + math.exp(-log_odds)))


def _signed(x: float) -> str:
    return "NA" if math.isnan(x) else f"-{format_share(-x)}" if x < 0 else format_share(x)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value, the largest first; NaN where there is none."""
    order = np.argsort(-values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    return np.where(np.isnan(values), np.nan, ranks)
