"""Scores of simulated systems whose true strengths are known, with types of instances and outliers."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from ...columns import FloatArray
from ...errors import DesignError
from ...statistics import as_generator, check_option
from ...table import Field, Record, Table, counted

Generator = Literal["published", "paper"]

_ENTRIES = 2**20  # differences of outlier scores looked at in one go
_SCALES: dict[Generator, tuple[float, float]] = {"published": (10.0, 100.0), "paper": (1.0, 1.0)}


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedScores(Record):
    """Scores of simulated systems, and how strong these are. N systems, M instances with the outliers.

    Attributes
    ----------
    frame : DataFrame, M rows
        Wide: ``instance`` (from 0), ``type`` (``"T1"``, …, ``"outlier"``) and one column of scores per system.
    strengths : Series, length N
        The true strength λ of each system, on the scale of the scores.
    generator : str
    notes : tuple of str
    """

    frame: pd.DataFrame
    strengths: pd.Series[float]
    generator: Generator
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per system: its true strength, and mean and median of its scores."""
        scores = self.frame[list(self.strengths.index)]
        return Table(
            (
                Field("object", "System", list(self.strengths.index)),
                Field("strength", "Strength", self.strengths.to_numpy(), "number"),
                Field("mean", "Mean", scores.mean().to_numpy(), "number"),
                Field("median", "Median", scores.median().to_numpy(), "number"),
            ),
            title=f"Simulated scores on {counted(len(self.frame), 'instance')}, generator {self.generator!r}",
            notes=self.notes,
        )


def simulate_scores(
    *,
    n_systems: int,
    n_instances: int,
    n_types: int = 1,
    outliers: float = 0.0,
    generator: Generator = "published",
    rng: np.random.Generator | int | None = None,
) -> SimulatedScores:
    """Return scores of systems with known strengths on instances of several types, some of them outliers.

    Parameters
    ----------
    n_systems, n_instances : int
        At least 2 systems; instances without the outliers.
    n_types : int
        Types of instances, of equal size as far as may be; a type shifts scores.
    outliers : float
        Share f of instances to add as outliers: max(1, ⌊f · n_instances⌋) rows in which the systems are in a wrong
        order; none for 0.
    generator : {"published", "paper"}
        Scales and offsets, as in the published code or as a reading of the paper; see Notes.
    rng : numpy.random.Generator or int, optional

    Returns
    -------
    SimulatedScores

    Raises
    ------
    DesignError
        For numbers out of range.

    Notes
    -----
    With U a uniform number in [0, 1], a new one each time:

    * strengths λ_i = s · U_i / Σ U, which sum to s;
    * a score on a regular instance of type t is normal with mean λ_i + o_t and standard deviation 1, where o_t = r · U
      is the offset of the type;
    * the scores of an outlier are r · U_i, drawn again until Kendall's τ between them and λ is negative.

    ``"published"`` has s = 10 and r = 100, as the code that the authors published: offsets are far larger than
    what tells systems apart, which hurts the median, and so are outliers, which hurts the mean. Pairs of
    scores on the same instance feel neither, and Figure 3 of the paper comes out, for 2, 3, 5, 10, 25 and 50 systems,
    10, 30, 100 and 200 instances, 1, 3, 5 and 10 types and 0, 1 and 2.5 % of outliers. (The code leaves out instances
    that make types unequal: 9 of 10 instances are drawn for three types.)

    ``"paper"`` has s = r = 1 and an offset o_ti = r · U of its own for each system in each type. This is a reading: it
    takes appendix A.2 to describe normal scores around strengths, types in which systems differ, and outliers, without
    the factors of the code. Noise and offsets then outweigh the strengths for every aggregation alike,
    and the effect of Figure 3 does not appear.

    References
    ----------
    .. [1] Peyrard, M., Zhao, W., Eger, S. and West, R. (2021). Better than average: Paired evaluation of NLP systems.
       ACL-IJCNLP 2021, 2301-2315: section 4.1, Figure 3, appendix A.2; code at github.com/epfl-dlab/BT-eval.

    Examples
    --------
    >>> import llbt
    >>> drawn = llbt.simulate_scores(n_systems=3, n_instances=100, n_types=2, outliers=0.01, rng=1)
    >>> drawn.frame["type"].value_counts().to_dict()
    {'T1': 50, 'T2': 50, 'outlier': 1}
    >>> drawn.strengths.round(2).to_dict()
    {'S1': 3.19, 'S2': 5.92, 'S3': 0.9}
    """
    _check(n_systems, n_instances, n_types, outliers, generator)
    draw = as_generator(rng, "simulate_scores")
    total, scale = _SCALES[generator]
    uniform = draw.random(n_systems)
    strengths = total * uniform / uniform.sum()
    of_type = np.arange(n_instances) * n_types // n_instances
    offsets = scale * draw.random((n_types, 1 if generator == "published" else n_systems))
    regular = strengths + offsets[of_type] + draw.normal(size=(n_instances, n_systems))
    added = max(1, math.floor(outliers * n_instances + 1e-9)) if outliers else 0
    scores = np.vstack([regular, scale * _reversed(strengths, added, draw)])
    types = [f"T{t + 1}" for t in of_type] + ["outlier"] * added
    width = len(str(n_systems))
    names = [f"S{k:0{width}d}" for k in range(1, n_systems + 1)]
    frame = pd.DataFrame(scores, columns=names)
    frame.insert(0, "instance", np.arange(len(scores)))
    frame.insert(1, "type", types)
    return SimulatedScores(
        frame,
        pd.Series(strengths, index=pd.Index(names, name="object"), name="strength"),
        generator,
        _notes(n_instances, n_types, added),
    )


def _check(n_systems: object, n_instances: object, n_types: object, outliers: object, generator: object) -> None:
    for name, n, least in (("n_systems", n_systems, 2), ("n_instances", n_instances, 1), ("n_types", n_types, 1)):
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < least:
            raise DesignError(f"simulate_scores: {name}={n!r}; expected an integer of at least {least}.")
    if n_types > n_instances:  # type: ignore[operator]
        raise DesignError(
            f"simulate_scores: n_types={n_types} of n_instances={n_instances}; every type needs an instance."
        )
    if not isinstance(outliers, numbers.Real) or isinstance(outliers, bool) or not 0 <= float(outliers) < math.inf:
        raise DesignError(f"simulate_scores: outliers={outliers!r}; expected a share, such as 0.01 for 1 %.")
    check_option("simulate_scores", "generator", generator, get_args(Generator))


def _reversed(strengths: FloatArray, size: int, draw: np.random.Generator) -> FloatArray:
    """Return rows of uniform numbers whose Kendall's τ with the strengths is negative, shape (size, N)."""
    chunk = max(1, min(2 * size, _ENTRIES // len(strengths) ** 2))
    found = np.empty((0, len(strengths)))
    while len(found) < size:  # about half of the rows are taken
        rows = draw.random((chunk, len(strengths)))
        found = np.vstack([found, rows[_agreement(rows, strengths) < 0]])
    return found[:size]


def _agreement(rows: FloatArray, strengths: FloatArray) -> FloatArray:
    """Return pairs in the order of the strengths less pairs in the other, times two, of each row (b, N), shape (b,)."""
    ordered = np.sign(strengths[:, None] - strengths)
    return np.asarray(np.einsum("bij,ij->b", np.sign(rows[:, :, None] - rows[:, None, :]), ordered))


def _notes(n_instances: int, n_types: int, added: int) -> tuple[str, ...]:
    regular = f"{counted(n_instances, 'regular instance')} of {counted(n_types, 'type')}"
    return (f"{regular}, {counted(added, 'outlier')}",)
