"""The page on a machine judge: the answer, agreement, biases, and the leaderboards side by side."""

from __future__ import annotations

from dataclasses import replace

from ..judges.judge_report_record import JudgeReport
from .calibration_sections import calibration_sections
from .page_parts import complete, paragraph, table
from .sections import Sections, made_by

_SOURCE = (
    "The method of calibration: Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient "
    "prediction-powered inference. arXiv:2311.01453."
)


def judge_report_sections(report: JudgeReport) -> Sections:
    """Return the sections of the page."""
    return {
        "words": ("In words", lambda: _words(report)),
        "leaderboard": ("Leaderboards", lambda: _boards(report)),
        "agreement": ("Agreement with people", lambda: [table(complete(report.agreement))]),
        "biases": (
            "Biases",
            lambda: [table(report.bias_table())] if report.biases else [paragraph("None was tested.")],
        ),
        "made": ("How this was made", lambda: made_by(_CALLS, _SOURCE)),
    }


_CALLS = (
    "found = llbt.judges.report(data, human='…', machine='…')",
    "found.bias_table()   found.agreement   found.calibration   llbt.write_report(found)",
)


def _words(report: JudgeReport) -> list[str]:
    first, *rest = report.lines()
    return [paragraph(first, "lead"), *map(paragraph, rest)]


def _boards(report: JudgeReport) -> list[str]:
    if report.calibration is None:
        return [paragraph("Labels and verdicts cannot be combined, so there is no calibrated leaderboard.", "notice")]
    parts = calibration_sections(report.calibration, report.confidence)
    board = replace(complete(report), head=(), title="Leaderboards: calibrated, of people, and of the machine")
    return [table(board), *parts["machines"][1](), *parts["checks"][1]()]
