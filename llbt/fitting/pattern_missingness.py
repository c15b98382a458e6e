"""Models of missing answers in patterns: how options define α and β in each pair's log-odds of a missing answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special
from scipy.sparse import csr_array

from ..core.columns import FloatArray, IntArray, Label
from ..core.patterns import MISSING, Patterns
from ..errors import DesignError, OptionError, SeparationError, listed, near, repeated
from ..kernel.missingness import MissingLogits
from ..kernel.recession import TOLERANCE, Conditions, direction_among

Missing = Literal["ignorable", "common", "object", "comparison"] | Sequence[str]
NotAtRandom = Literal["object", "comparison"] | Sequence[str] | None

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
    level, names = _levels(p, missing)
    _refuse_infinite(p, level, names)
    slope, more = _slopes(p, not_at_random, reference)
    share = p.counts @ (p.answers == MISSING).mean(axis=1) / p.counts.sum()
    return Missingness(level, slope, (*names, *more), float(special.logit(share)))


def named_objects(p: Patterns, option: str, asked: Sequence[str]) -> Literal["object"] | tuple[str, ...]:
    """Return the objects that an option names, in the order of the patterns; `"object"` if it names all.

    Raises
    ------
    OptionError
        For names that are no objects, for an object named twice, and for no names.
    """
    known = [str(label) for label in p.objects]
    unknown = next((name for name in asked if name not in known), None)
    if unknown is not None:
        raise OptionError(
            f"{option}={list(asked)!r}: {unknown!r}{near(unknown, known)} is not an object",
            expected=f"names of objects: {listed(known)}",
        )
    if not asked or repeated(asked):
        raise OptionError(f"{option}={list(asked)!r}", expected=f"one or more of {listed(known)}, each once")
    return "object" if len(asked) == len(known) else tuple(name for name in known if name in asked)


def _levels(p: Patterns, missing: Missing) -> tuple[FloatArray, list[str]]:
    """Return the coefficients of α in the log-odds of each pair, (P, A), and the names of α.

    Named objects have α of their own, which are added to the α that all pairs share.
    """
    if missing == "common":
        return np.ones((len(p.pairs), 1)), ["missing"]
    if missing == "comparison":
        return _by_pair(p), [f"missing[{pair}]" for pair in _pairs(p, np.arange(len(p.pairs)))]
    own = _positions(p, missing)
    level, names = np.abs(_signs(p))[:, own], [f"missing[{p.objects[k]}]" for k in own]
    if missing == "object":
        return level, names
    return np.column_stack([np.ones(len(p.pairs)), level]), ["missing", *names]


def _slopes(p: Patterns, not_at_random: NotAtRandom, reference: Label) -> tuple[FloatArray, list[str]]:
    """Return the coefficients of β in the log-odds of each pair, (P, B), and the names of β.

    β of the reference is 0. If objects are named, β of all others is 0.
    """
    if not_at_random is None:
        return np.zeros((len(p.pairs), 0)), []
    if not_at_random == "comparison":
        return _by_pair(p), [f"missing:preferred[{pair}]" for pair in _pairs(p, np.arange(len(p.pairs)))]
    own = _positions(p, not_at_random)
    if not_at_random == "object":
        own = own[own != p.objects.index(reference)]
    return _signs(p)[:, own], [f"missing:preferred[{p.objects[k]}]" for k in own]


def _positions(p: Patterns, asked: Missing | NotAtRandom) -> IntArray:
    """Return the positions of the objects that an option names; of all objects for `"object"`."""
    return np.array([k for k, label in enumerate(p.objects) if asked == "object" or str(label) in (asked or ())])


def _by_pair(p: Patterns) -> FloatArray:
    """Return a column for each pair, the same at all times, shape (T · P, P)."""
    return np.tile(np.eye(len(p.distinct_pairs)), (p.n_times, 1))


def _signs(p: Patterns) -> FloatArray:
    """Return 1 for the first object of each pair and −1 for the second, shape (P, J)."""
    signs = np.zeros((len(p.pairs), len(p.objects)))
    rows = np.arange(len(p.pairs))
    signs[rows, p.pairs[:, 0]], signs[rows, p.pairs[:, 1]] = 1.0, -1.0
    return signs


def _pairs(p: Patterns, which: IntArray) -> list[str]:
    """Return the names of the pairs of some answers, each once."""
    return list(dict.fromkeys(f"{p.objects[i]}:{p.objects[j]}" for i, j in p.pairs[which]))


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
