"""Models of missing answers in patterns: how options define α and β in each pair's log-odds of a missing answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special
from scipy.sparse import csr_array

from ..core.columns import FloatArray, IntArray, Label
from ..core.patterns import MISSING, Patterns
from ..errors import DesignError, OptionError, SeparationError, listed
from ..kernel.missingness import MissingLogits
from ..kernel.recession import TOLERANCE, Conditions, direction_among

Missing = Literal["ignorable", "common", "object", "comparison"]
NotAtRandom = Literal["object", "comparison"] | None

_SIMPLER = "missing='common' has one parameter for all pairs; missing='ignorable' has none."


@dataclass(frozen=True, eq=False)
class Missingness:
    """The model of missing answers, with A parameters α and B parameters β.

    Attributes
    ----------
    level : ndarray, shape (P, A)
        The coefficients of α in the log-odds that each pair is missing.
    slope : ndarray, shape (P, B)
        The coefficients of β in these log-odds if the first object is preferred; their negatives apply if the second
        is.
    names : tuple of str
        The names of α, then of β.
    usual : float
        The log-odds of the share of missing answers.
    """

    level: FloatArray
    slope: FloatArray
    names: tuple[str, ...]
    usual: float

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self.names)

    @property
    def moved(self) -> FloatArray:
        """The coefficients of the parameters in levels and slopes of all pairs, shape (2P, A + B)."""
        (pairs, a), b = self.level.shape, self.slope.shape[1]
        return np.block([[self.level, np.zeros((pairs, b))], [np.zeros((pairs, a)), self.slope]])

    def logits(self, params: FloatArray) -> MissingLogits:
        """Return the log-odds of a missing answer for each pair at some parameters."""
        a = self.level.shape[1]
        return MissingLogits(self.level @ params[:a], self.slope @ params[a:])

    def without_slopes(self) -> Missingness:
        """Return the same model without β."""
        return replace(self, slope=self.slope[:, :0], names=self.names[: self.level.shape[1]])


def missingness_of(p: Patterns, missing: Missing, not_at_random: NotAtRandom, reference: Label) -> Missingness | None:
    """Return the requested model of missing answers, or None without one.

    Raises
    ------
    OptionError
        For `not_at_random` together with `missing="ignorable"`.
    DesignError
        If no answer is missing, for rankings and ratings, and if the pairs do not identify the parameters.
    SeparationError
        If some α is infinite.
    """
    if missing == "ignorable":
        if not_at_random is not None:
            raise OptionError(
                f"not_at_random={not_at_random!r} together with missing='ignorable'",
                "Choose a model of missing answers: missing='common', 'object' or 'comparison'.",
            )
        return None
    if p.kind != "comparisons":
        raise DesignError(
            f"missing={missing!r} with {p.kind}, in which objects can be missing, but not answers to pairs",
            "Leave missing= out: missing answers are then summed over.",
        )
    if p.complete:
        raise DesignError(f"missing={missing!r}, but no answer is missing", "Leave missing= out.")
    level = _levels(p, missing)
    names = [f"missing{name}" for name in _labels(p, missing, None)]
    _refuse_infinite(p, level, names)
    if not_at_random is None:
        slope, more = np.zeros((len(p.pairs), 0)), []
    else:
        held = p.objects.index(reference)
        slope = _differences(p, held) if not_at_random == "object" else np.eye(len(p.pairs))
        more = [f"missing:preferred{name}" for name in _labels(p, not_at_random, held)]
    share = p.counts @ (p.answers == MISSING).mean(axis=1) / p.counts.sum()
    return Missingness(level, slope, (*names, *more), float(special.logit(share)))


def _levels(p: Patterns, missing: Missing) -> FloatArray:
    if missing == "common":
        return np.ones((len(p.pairs), 1))
    return np.eye(len(p.pairs)) if missing == "comparison" else np.abs(_signs(p))


def _signs(p: Patterns) -> FloatArray:
    """Return 1 for the first object of each pair and −1 for the second, shape (P, J)."""
    signs = np.zeros((len(p.pairs), len(p.objects)))
    rows = np.arange(len(p.pairs))
    signs[rows, p.pairs[:, 0]], signs[rows, p.pairs[:, 1]] = 1.0, -1.0
    return signs


def _differences(p: Patterns, held: int) -> FloatArray:
    return np.delete(_signs(p), held, axis=1)


def _labels(p: Patterns, by: str, held: int | None) -> list[str]:
    """Return the bracketed part of parameter names, without the object that has no parameter."""
    if by == "common":
        return [""]
    if by == "comparison":
        return [f"[{pair}]" for pair in _pairs(p, np.arange(len(p.pairs)))]
    return [f"[{label}]" for k, label in enumerate(p.objects) if k != held]


def _pairs(p: Patterns, which: IntArray) -> list[str]:
    return [f"{p.objects[i]}:{p.objects[j]}" for i, j in p.pairs[which]]


def _refuse_infinite(p: Patterns, level: FloatArray, names: list[str]) -> None:
    """Raise if the pairs do not identify all α, or if some α are infinite."""
    if np.linalg.matrix_rank(level) < level.shape[1]:
        raise DesignError(f"the pairs of {len(p.objects)} objects cannot distinguish {listed(names)}", _SIMPLER)
    missing, answered = p.counts @ (p.answers == MISSING), p.counts @ (p.answers != MISSING)
    never, always = missing == 0, answered == 0
    both = csr_array(level[~(never | always)])
    either = csr_array(np.concatenate([-level[never], level[always]]))
    direction = direction_among(Conditions(both, either))
    if direction is None:
        return
    moved = level @ direction
    raise SeparationError(
        " and ".join(
            f"{what} is missing for {listed(_pairs(p, np.flatnonzero(which & (np.abs(moved) > TOLERANCE))))}"
            for what, which in (("no answer", never), ("every answer", always))
            if (which & (np.abs(moved) > TOLERANCE)).any()
        )
        + f", so {_described(names, direction)}",
        _SIMPLER,
    )


def _described(names: list[str], direction: FloatArray) -> str:
    gone = np.flatnonzero(np.abs(direction) > TOLERANCE)
    if len(gone) == 1:
        return f"{names[gone[0]]} is {'−∞' if direction[gone[0]] < 0 else '+∞'}"
    return f"{listed([names[k] for k in gone])} have no finite estimate"
