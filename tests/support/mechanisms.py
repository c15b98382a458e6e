"""Mechanisms of aggregation by name, with options."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any

from llbt.scores.bradley_terry import BradleyTerry
from llbt.scores.mechanisms import Method
from llbt.scores.ratings import Elo, TrueSkill

RECORDS: dict[str, Any] = {
    "bt": BradleyTerry,
    "llbt": partial(BradleyTerry, wald=True),
    "elo": Elo,
    "trueskill": TrueSkill,
}


def mechanism(name: Any, **options: Any) -> Method:
    """A mechanism with those of the options that it has: mean and median have none."""
    if name not in RECORDS:
        return name
    known = {field.name for field in fields(type(RECORDS[name]()))}
    return RECORDS[name](**{option: value for option, value in options.items() if option in known})
