"""Scores of simulated systems whose true strengths are known, with types of instances and outliers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Count, Fraction, Rng, as_generator, checked, whole
from ..base.table import Field, Record, Table, counted
from ..core.columns import FloatArray
from ..errors import OptionError

Generator = Literal["published_code", "section_4", "appendix_a2"]

_ENTRIES = 2**20  # differences of outlier scores looked at in one go
_TOTAL, _RANGE = 10.0, 100.0  # of the published code: what strengths sum to, and the largest offset and outlier


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedScores(Record):
    """Scores of simulated systems with their true strengths. N systems, M instances including outliers.

    Attributes
    ----------
    frame : DataFrame, M rows
        Wide: ``instance`` (from 0), ``type`` (``"T1"``, …, ``"outlier"``) and one column of scores per system.
    strengths : Series, length N
        The true strength λ of each system, on the scale of the scores; for ``"appendix_a2"`` its mean over the types.
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


@checked
def simulate(
    *,
    n_systems: Annotated[int, whole(2)],
    n_instances: Count,
    n_types: Count = 1,
    outliers: Fraction = 0.0,
    generator: Generator = "published_code",
    rng: Rng = None,
) -> SimulatedScores:
    """Return scores of systems with known strengths on instances of several types, some of them outliers.

    Parameters
    ----------
    n_systems, n_instances : int
        The number of systems, at least 2, and the number of instances, to which ``"published_code"`` adds the outliers.
    n_types : int
        Number of types of instances, of equal size as far as possible.
    outliers : float
        Share f of outliers, from 0 to 1: max(1, ⌊f · n_instances⌋) of them; none for 0.
    generator : {"published_code", "section_4", "appendix_a2"}
        Which of the paper's three descriptions of its simulation to follow; they disagree. See Notes.
    rng : numpy.random.Generator or int, optional

    Returns
    -------
    SimulatedScores

    Raises
    ------
    OptionError
        For numbers out of range, and more types than instances.

    Notes
    -----
    A score is normal with standard deviation 1. There are three descriptions of its mean and of outliers. U is a
    uniform number in [0, 1], drawn anew each time:

    * ``"appendix_a2"``, appendix A.2 of the paper to the letter: system j has the mean λ_tj = U on instances of
      type t, independently in each type. Outliers are random instances whose scores are permuted among the systems at
      random. With several types A.2 has no single order of strengths; here it is the order of the means of λ_tj over
      the types.
    * ``"section_4"``: strengths λ_j = U; a type adds the same offset U to all systems, so their differences do not
      change. (Section 4 does not state the size of the offsets; here they are as large as the strengths.) Outliers are
      as in A.2.
    * ``"published_code"``, as in the code that the authors published: λ_j = 10 · U_j / Σ U; a type adds the same offset
      100 · U to all systems. Outliers are further instances with scores 100 · U_j, drawn again until Kendall's τ
      between them and λ is negative. (The code leaves out instances that would make types unequal: for three types, it
      draws 9 of 10 instances.)

    The grid of A.2 has 1, 3, 5 and 10 types, 0, 1 and 2.5 % of outliers, 2, 3, 5, 10, 25 and 50 systems and 10, 30, 100
    and 200 instances, ten setups each: 2,880. Kendall's τ with λ, averaged over systems and instances (1,200 setups a
    row, standard errors up to .016):

    ==================  =====  ========  ====  ======  =============
    generator           types  outliers  mean  median  Bradley-Terry
    ==================  =====  ========  ====  ======  =============
    ``appendix_a2``     1      0         .71   .66     .70
    ``appendix_a2``     1      2.5 %     .68   .62     .66
    ``appendix_a2``     10     0         .38   .33     .37
    ``appendix_a2``     10     2.5 %     .36   .32     .35
    ``section_4``       10     0         .70   .65     .69
    ``section_4``       10     2.5 %     .70   .66     .69
    ``published_code``  1      0         .79   .76     .79
    ``published_code``  1      2.5 %     .31   .74     .76
    ``published_code``  10     0         .79   .62     .78
    ``published_code``  10     2.5 %     .33   .19     .77
    ==================  =====  ========  ====  ======  =============

    In the paper's Figure 3, the mean fails with outliers, the median fails with types, and Bradley-Terry fails with
    neither. Only the code gives this figure: it needs shifts of all systems, and single scores, that are far larger
    than the differences between systems. Pairs of scores on one instance are affected by neither. So pairing beats the
    median if something shifts all systems, and beats the mean if single scores are extreme. Permuted scores (A.2) are
    no larger than others and hurt no mechanism; types that favour single systems (A.2) hurt all three.

    References
    ----------
    .. [1] Peyrard, M., Zhao, W., Eger, S. and West, R. (2021). Better than average: Paired evaluation of NLP systems.
       ACL-IJCNLP 2021, 2301-2315: section 4, Figure 3, appendix A.2; code at github.com/epfl-dlab/BT-eval.

    Examples
    --------
    >>> import llbt
    >>> drawn = llbt.scores.simulate(n_systems=3, n_instances=100, n_types=2, outliers=0.01, rng=1)
    >>> drawn.frame["type"].value_counts().to_dict()
    {'T1': 50, 'T2': 50, 'outlier': 1}
    >>> drawn.strengths.round(2).to_dict()
    {'S1': 3.19, 'S2': 5.92, 'S3': 0.9}
    """
    _check(n_instances, n_types)
    of_type = np.arange(n_instances) * n_types // n_instances
    n_outliers = max(1, math.floor(outliers * n_instances + 1e-9)) if outliers else 0
    draw = as_generator(rng)
    strengths, scores, is_outlier = _GENERATORS[generator](n_systems, of_type, n_outliers, draw)
    width = len(str(n_systems))
    names = [f"S{k:0{width}d}" for k in range(1, n_systems + 1)]
    types = np.array([f"T{t + 1}" for t in of_type] + ["outlier"] * (len(scores) - n_instances), dtype=object)
    types[is_outlier] = "outlier"
    frame = pd.DataFrame(scores, columns=names)
    frame.insert(0, "instance", np.arange(len(scores)))
    frame.insert(1, "type", types.tolist())
    return SimulatedScores(
        frame,
        pd.Series(strengths, index=pd.Index(names, name="object"), name="strength"),
        generator,
        _notes(len(scores) - n_outliers, n_types, n_outliers),
    )


def _check(n_instances: int, n_types: int) -> None:
    if n_types > n_instances:
        raise OptionError(f"n_types={n_types} of n_instances={n_instances}", expected="an instance for every type")


def _published_code(n_systems: int, of_type: _Types, n_outliers: int, draw: np.random.Generator) -> _Drawn:
    uniform = draw.random(n_systems)
    strengths = _TOTAL * uniform / uniform.sum()
    offsets = _RANGE * draw.random((of_type[-1] + 1, 1))
    regular = strengths + offsets[of_type] + draw.normal(size=(len(of_type), n_systems))
    scores = np.vstack([regular, _RANGE * _reversed(strengths, n_outliers, draw)])
    return strengths, scores, np.arange(len(scores)) >= len(of_type)


def _section_4(n_systems: int, of_type: _Types, n_outliers: int, draw: np.random.Generator) -> _Drawn:
    strengths = draw.random(n_systems)
    offsets = draw.random((of_type[-1] + 1, 1))
    return strengths, *_permuted((strengths + offsets)[of_type], n_outliers, draw)


def _appendix_a2(n_systems: int, of_type: _Types, n_outliers: int, draw: np.random.Generator) -> _Drawn:
    means = draw.random((of_type[-1] + 1, n_systems))
    return means.mean(axis=0), *_permuted(means[of_type], n_outliers, draw)


def _permuted(
    means: FloatArray, n_outliers: int, draw: np.random.Generator
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return normal scores (M, N), permuted among the systems on some instances, and which instances (M,)."""
    scores = means + draw.normal(size=means.shape)
    rows = draw.choice(len(scores), n_outliers, replace=False)
    scores[rows] = draw.permuted(scores[rows], axis=1)
    return scores, np.isin(np.arange(len(scores)), rows)


def _reversed(strengths: FloatArray, size: int, draw: np.random.Generator) -> FloatArray:
    """Return rows of uniform numbers whose Kendall's τ with the strengths is negative, shape (size, N)."""
    chunk = max(1, min(2 * size, _ENTRIES // len(strengths) ** 2))
    discordant = np.empty((0, len(strengths)))
    while len(discordant) < size:  # about half of the rows are taken
        rows = draw.random((chunk, len(strengths)))
        discordant = np.vstack([discordant, rows[_agreement(rows, strengths) < 0]])
    return discordant[:size]


def _agreement(rows: FloatArray, strengths: FloatArray) -> FloatArray:
    """Return 2(C − D) of each row (b, N), (b,): C pairs are in the order of the strengths, D in the opposite order."""
    ordered = np.sign(strengths[:, None] - strengths)
    return np.asarray(np.einsum("bij,ij->b", np.sign(rows[:, :, None] - rows[:, None, :]), ordered))


_Types = npt.NDArray[np.int64]  # the type of each instance, from 0, in order
_Drawn = tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]  # strengths (N,), scores (M, N), which are outliers (M,)
_GENERATORS: dict[Generator, Callable[[int, _Types, int, np.random.Generator], _Drawn]] = {
    "published_code": _published_code,
    "section_4": _section_4,
    "appendix_a2": _appendix_a2,
}


def _notes(n_instances: int, n_types: int, added: int) -> tuple[str, ...]:
    regular = f"{counted(n_instances, 'regular instance')} of {counted(n_types, 'type')}"
    return (f"{regular}, {counted(added, 'outlier')}",)
