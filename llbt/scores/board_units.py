"""The units of a leaderboard: groups of dependent instances, and the domains over which means are averaged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..base.table import counted
from ..core.columns import IntArray
from ..data.score_columns import labelled
from ..data.system_scores import SystemScores, instance_columns
from ..errors import DesignError, JudgmentError, OptionError
from .grouped_tests import Units


def units_of(scores: SystemScores, by: str | None, macro: str | None) -> Units:
    """Return the groups of instances by a column (without it, each instance is a group), and the domains of means."""
    units = Units.of(np.arange(len(scores.instances)) if by is None else _codes(scores, by, "by"))
    return units if macro is None else units.macro(_domains(scores, units, macro))


def means_of_domains(scores: SystemScores, macro: str) -> SystemScores:
    """Return the means of systems in each domain as scores of instances, NaN where a system has no score there."""
    codes = _codes(scores, macro, "macro")
    labels = instance_columns(scores, (macro,))[macro].iloc[np.unique(codes, return_index=True)[1]].tolist()
    values = pd.DataFrame(scores.values.T).groupby(codes, sort=True).mean().to_numpy().T
    return replace(
        scores,
        instances=tuple(labels),
        values=values,
        instance=macro,
        columns=pd.DataFrame({macro: labels}),
        place=np.arange(len(labels)),
        items=(macro,),
    )


def _domains(scores: SystemScores, units: Units, macro: str) -> IntArray:
    """Return the domain of each instance, as codes; raise for groups that lie in several domains."""
    codes = _codes(scores, macro, "macro")
    first = codes[units.order[units.start]]
    if not np.array_equal(np.repeat(first, units.sizes.astype(np.int64)), codes[units.order]):
        raise OptionError(
            f"macro={macro!r} has several values in one group of by=",
            f"Leave out by=, or pass by={macro!r} to take each as one instance.",
        )
    return codes


def _codes(scores: SystemScores, name: str, option: str) -> IntArray:
    """Return the value of a column for each instance, as codes; raise if it is missing or always the same."""
    column = instance_columns(scores, (name,))[name]
    gone = column.isna().to_numpy()
    if gone.any():
        raise JudgmentError(
            f"{option}={name!r}: {counted(int(gone.sum()), 'instance')} without a value, the first "
            f"{scores.instances[int(gone.argmax())]!r}",
            expected="a document or task for every instance",
        )
    codes, labels = labelled(column)
    if len(labels) < 2:
        raise DesignError(
            f"column {name!r} has one value, {labels[0]!r}: there are no groups to compare",
            f"Leave {option}= out if its instances are independent of each other.",
        )
    return codes.astype(np.int64)
