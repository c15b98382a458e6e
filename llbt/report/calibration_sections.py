"""The report on calibrated worths: labels and verdicts side by side, and the assumptions of combining them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from ..base.table import Field, Table, about, interval_fields
from ..core.statistics import critical_value
from ..inference.pairwise import pairwise
from ..inference.pairwise_record import Pairwise
from ..inference.ranks import leaderboard
from ..plot.intervals import intervals as intervals_plot
from ..plot.pairs import probability_map
from ..plot.side_by_side import side_by_side
from .calibration_words import Calibrated
from .page_parts import complete, folded, picture, table
from .sections import Sections, pair_sentences

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_DRAWN = 30  # objects of a heat map
_CORRECTED = {
    "machine": "Machine",
    "pair": "Pair",
    "outcome": "Outcome",
    "labels": "Labels",
    "verdicts": "Verdicts",
    "estimate": "Corrected",
    "std_error": "Std. Error",
}
_TEXTS = ("machine", "pair", "outcome")
_OF_BOTH = ("win_share", "judgments", "wins", "ties", "bad", "losses")  # counts of people and machines together


def calibration_sections(calibration: Calibrated, confidence: float) -> Sections:
    """Return the sections that only reports on calibrated worths have."""
    compared = functools.cache(lambda: pairwise(calibration.worth_source(), confidence=confidence))
    return {
        "leaderboard": ("Leaderboard", lambda: _ranked(calibration, confidence)),
        "pairs": ("Pairs", lambda: _paired(compared())),
        "machines": ("Labels and verdicts", lambda: _sources(calibration, confidence)),
        "checks": ("Assumptions of the correction", lambda: _checks(calibration)),
        "model": ("Model", lambda: [table(_parameters(calibration, confidence))]),
    }


def calls_of_calibration(calibration: Calibrated) -> tuple[tuple[str, ...], str]:
    """Return the calls that made the tables, and the reference for the method."""
    calls = (
        f"found = llbt.judges.calibrate(human, machine, formula={calibration.worth_source().specification.formula!r})",
        "llbt.leaderboard(found)   llbt.pairwise(found)   llbt.interpret(found)",
    )
    source = (
        "The method: Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient prediction-powered "
        "inference. arXiv:2311.01453."
    )
    return calls, source


def _ranked(calibration: Calibrated, confidence: float) -> list[str]:
    """Return the leaderboard, without the counts of a table that holds labels and verdicts together."""
    source = calibration.worth_source()
    whole = complete(leaderboard(source, confidence=confidence))
    notes = tuple(note for note in whole.notes if note not in source.comparisons.notes)
    fields = tuple(field for field in whole.fields if field.name not in _OF_BOTH)
    level = f"{100 * confidence:.4g} % intervals"
    return [
        table(Table(fields, title=whole.title, head=whole.head, notes=notes)),
        picture("intervals", f"Log-odds with {level}", lambda: intervals_plot(source, confidence=confidence)),
    ]


def _paired(pairs: Pairwise) -> list[str]:
    order = pairs.ranking
    worths = pairs.log_worths[order]
    square = 1 / (1 + np.exp(-2 * (worths[:, None] - worths[None, :])))
    np.fill_diagonal(square, np.nan)
    names = [pairs.objects[k] for k in order]
    caption = "Probability that the row object is preferred to the column object, after correction"
    few = len(order) <= _MOST_DRAWN
    drawn = picture("probabilities", caption, lambda: probability_map(names, square, None, None)) if few else ""
    return [drawn, *pair_sentences(pairs, None)]


def _sources(calibration: Calibrated, confidence: float) -> list[str]:
    caption = "Log-worths from labels and verdicts, from labels only, and from verdicts only"
    return [table(complete(calibration.table())), picture("sources", caption, lambda: _drawn(calibration, confidence))]


def _drawn(calibration: Calibrated, confidence: float) -> Axes:
    """Draw the estimates of each source; verdicts have no intervals, which would not include machines' errors."""
    frame = calibration.to_frame()
    half = critical_value(confidence, calibration.worth_source().df_inference)
    errors = np.stack([half * frame["std_error"], half * frame["labels_std_error"], 0.0 * frame["machines"]])
    estimates = np.stack([frame[name].to_numpy() for name in ("estimate", "labels", "machines")])
    ends = np.stack([estimates - errors, estimates + errors], axis=2)
    names = ["both", "labels alone", "verdicts alone"]
    finite = [k for k in range(3) if np.isfinite(estimates[k]).all()]
    label = f"log-worth λ, mean 0\n({100 * confidence:.4g} % intervals; none of the verdicts)"
    return side_by_side(frame["object"].tolist(), estimates[finite], ends[finite], [names[k] for k in finite], label)


def _checks(calibration: Calibrated) -> list[str]:
    corrected = calibration.rogan_gladen
    fields = tuple(
        Field(name, heading, corrected[name].tolist(), "text" if name in _TEXTS else "number", 3)
        for name, heading in _CORRECTED.items()
    )
    title = "Shares of outcomes by the correction of Rogan & Gladen"
    notes = ("it assumes that a machine has the same error rates on all pairs",)
    return [
        table(_tests(calibration)),
        folded("Another correction, pair by pair", table(Table(fields, title=title, notes=notes))),
    ]


def _tests(calibration: Calibrated) -> Table:
    """Return tests of whether labelled units represent the others, and machines agree equally on all pairs."""
    tests = (calibration.shares, *calibration.drift.values())
    return Table(
        (
            Field("test", "Test", [test.name for test in tests]),
            Field("null", "Null hypothesis", [test.null for test in tests]),
            Field("statistic", "χ²", [test.statistic for test in tests], "statistic"),
            Field("df", "Df", [test.df for test in tests], "count"),
            Field("p_value", "p", [test.p_value for test in tests], "p_value"),
        ),
        title="Do labelled units represent the others, and do machines agree with people equally on all pairs?",
        notes=tuple(about(test.name, note) for test in tests for note in test.notes),
    )


def _parameters(calibration: Calibrated, confidence: float) -> Table:
    """Return the parameters of the model after correction."""
    source = calibration.worth_source()
    bounds = source.conf_int(1 - confidence)
    return Table(
        (
            Field("term", "", list(source.names)),
            Field("estimate", "Estimate", source.params.to_numpy(), "estimate"),
            Field("std_error", "Std. Error", source.bse.to_numpy(), "estimate"),
            *interval_fields(bounds["conf_low"].to_numpy(), bounds["conf_high"].to_numpy(), confidence),
            Field("p_value", "p", source.pvalues.to_numpy(), "p_value"),
        ),
        title=f"Calibrated parameters: {source.specification.formula}",
        notes=(f"log-worth λ, reference {source.design.reference}", *source.covariance.notes, "there is no likelihood"),
    )
