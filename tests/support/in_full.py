"""What an answer prints, all notes included, without the breaks of its lines."""

from __future__ import annotations

from llbt.base.table import Record


def in_full(answer: Record) -> str:
    """Every word that an answer prints, in one line."""
    return " ".join(answer.as_text(notes="all").split())
