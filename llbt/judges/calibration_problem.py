"""The score equations of labels and machine verdicts: their solution, the weights of the machines, covariances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize
from scipy.sparse import coo_array, csr_array

from ..base.notes import Qualifying, named
from ..base.table import counted, format_count, format_number
from ..core.columns import FloatArray
from ..core.response import Response
from ..core.statistics import TestResult
from ..errors import DesignError, SeparationError
from ..fitting.estimates import Solved
from ..fitting.fit_part import FitPart
from ..fitting.specification import Specification
from ..formulas.design import Design
from ..kernel.likelihood import inverse
from ..kernel.ppi import Scores
from ..kernel.robust import Covariance
from ..resampling import step_made
from .calibration_checks import same_pairs
from .calibration_units import Source, Units

Means = Literal["auto", "overall", "within_pairs"]

_ENTRIES = 1 << 21  # of matrices of clusters that are made at a time
_LOST = 1e-7  # share of the information on a direction, left without a cluster, that counts as none
_DIFFERS = 0.05  # p-value of the shares of pairs below which machines' means are taken within pairs


@dataclass(frozen=True, eq=False)
class Tuned:
    """The weights of the machines (M,), and the weights without each cluster of units (G, M)."""

    weights: FloatArray
    without: FloatArray

    @classmethod
    def held(cls, weights: FloatArray) -> Tuned:
        """Return weights that are not chosen by the data."""
        return cls(weights, weights[None, :])


@dataclass(frozen=True, eq=False)
class Errors:
    """The covariance of the estimates and its degrees of freedom.

    Attributes
    ----------
    matrix : ndarray, shape (p, p)
        The covariance of the estimates.
    df : float
        Degrees of freedom of t. With labels they are G* − 1, where G* = (Σn)²/Σn² and n is the number of labelled units
        of a cluster.
    notes : tuple of str
        How the covariance was made.
    """

    matrix: FloatArray
    df: float
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The calibrated estimates (p,), the estimates by labels alone (None if infinite), and the machines' weights."""

    params: FloatArray
    labels: FloatArray | None
    tuned: Tuned


@dataclass(frozen=True, eq=False)
class CalibrationProblem:
    """The score equations of all sources, and how units are weighted."""

    units: Units
    design: Design
    scores: Scores
    shares: TestResult
    within: bool
    weights: FloatArray  # of each unit in the machines' mean over all, (U,)
    notes: tuple[str, ...]

    @classmethod
    def of(cls, units: Units, design: Design, means: Means) -> CalibrationProblem:
        """Return the problem of units; DesignError for fewer than two labelled units."""
        assert isinstance(units.table.response, Response)
        clusters = len(np.unique(units.cluster[units.labelled]))
        if clusters < 2:
            raise DesignError(f"{counted(clusters, 'labelled unit')}", expected="two or more, for any standard error")
        rows = np.stack([rows.toarray() for rows in design.predictors(units.table.response)])
        shares = same_pairs(units)
        chosen = shares.p_value < _DIFFERS if means == "auto" else means == "within_pairs"
        weights, notes = _weights(units, within=bool(chosen))
        return cls(units, design, Scores(units.table.response, rows), shares, bool(chosen), weights, notes)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return int(self.scores.rows.shape[2])

    @property
    def labelled(self) -> FloatArray:
        """The weight of each unit in means over labelled units, shape (U,)."""
        return np.asarray(self.units.labelled / self.units.labelled.sum())

    def counts(self, omega: FloatArray) -> FloatArray:
        """Return the rectified counts, shape (S, K), whose total is about 1."""
        shape = (len(self.units.table), len(self.scores.response.outcomes))
        counts = self.units.human.counts(self.labelled, shape)
        for w, machine in zip(omega, self.units.machines, strict=True):
            counts = counts + w * (machine.counts(self.weights, shape) - machine.counts(self.labelled, shape))
        return np.where(np.abs(counts) < 1e-15, 0.0, counts)

    def solved(self, omega: FloatArray) -> FloatArray | None:
        """Return the estimates; None if they do not exist."""
        counts = self.counts(omega)
        if self.scores.recession(counts) is not None:
            return None
        return self.scores.root(counts, np.zeros(self.size))

    def calibrated(self, omega: FloatArray | None) -> Calibrated:
        """Return the estimates at given machine weights (M,), or at the weights that make contrasts most precise.

        Raises
        ------
        LinAlgError
            Where there are no estimates.
        SeparationError
            If neither labels nor verdicts by themselves have finite estimates.
        """
        none = np.zeros(len(self.units.machines))
        labels = self.solved(none)
        tuned = self.tuned(self.alone()[0] if labels is None else labels) if omega is None else Tuned.held(omega)
        solved = labels if not tuned.weights.any() else self.solved(tuned.weights)
        if solved is None:
            raise linalg.LinAlgError("no estimates")
        return Calibrated(solved, labels, tuned)

    def alone(self) -> tuple[FloatArray, Errors]:
        """Return the estimates of the machines' verdicts on all units, with the sandwich by units or their groups."""
        shape = (len(self.units.table), len(self.scores.response.outcomes))
        even = np.full(self.units.size, 1 / self.units.size)
        counts = np.mean([machine.counts(even, shape) for machine in self.units.machines], axis=0)
        params = None if self.scores.recession(counts) is not None else self.scores.root(counts, np.zeros(self.size))
        if params is None:
            raise SeparationError(
                "the machines' verdicts have no finite estimates by themselves",
                "Leave out tie, or the objects that always win.",
            )
        scores = np.mean([self._by_unit(machine, params) for machine in self.units.machines], axis=0)
        moved = self._summed(even[:, None] * scores) @ inverse(self.scores.information(params, counts.sum(axis=1)))
        number = len(np.unique(self.units.cluster))
        units = f"{format_count(number)} units or groups of units"
        notes = (f"Standard errors: CR1 by {units}", "They measure variation of verdicts, not errors of machines.")
        return params, Errors(number / (number - 1) * moved.T @ moved, number - 1, notes)

    def influences(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return each unit's contribution to the score: of labels (U, p), and of each machine at weight 1 (M, U, p)."""
        size, lab = self.units.size, self.labelled
        human = self._by_unit(self.units.human, params)
        own = lab[:, None] * (human - lab @ human)
        added = []
        for machine in self.units.machines:
            s = self._by_unit(machine, params)
            middle = self._middle(s)
            added.append(self.weights[:, None] * (s - middle) - lab[:, None] * (s - lab @ s))
        return own, np.array(added).reshape(len(added), size, -1)

    def _middle(self, s: FloatArray) -> FloatArray:
        if not self.within:
            return np.broadcast_to(self.weights @ s, s.shape)
        pair, number = self.units.pair, len(self.units.pairs)
        sums = np.zeros((number, s.shape[1]))
        np.add.at(sums, pair, s)
        return np.asarray((sums / np.bincount(pair, minlength=number)[:, None])[pair])

    def _by_unit(self, source: Source, params: FloatArray) -> FloatArray:
        scores = self.scores.of_judgments(params, source.comparison, source.outcomes)
        return source.by_unit(scores, self.units.size)

    def tuned(self, at: FloatArray) -> Tuned:
        """Return the weights that make the trace of the covariance of all contrasts smallest, each from 0 to 1."""
        own, added = (self._summed(x) for x in self.influences(at))
        moved = self._contrasts() @ self._bread(at, np.zeros(len(self.units.machines)))
        e, f = own @ moved.T, added @ moved.T
        if not (np.isfinite(e).all() and np.isfinite(f).all()):
            raise linalg.LinAlgError("an information matrix without an inverse")
        grams = np.einsum("agc,bgc->gab", f, f)
        toward = -np.einsum("agc,gc->ga", f, e)
        gram, target = grams.sum(axis=0), toward.sum(axis=0)
        weights, labelled = _least(gram, target), np.flatnonzero(self._shares_of_labels())
        without = np.tile(weights, (len(own), 1))
        without[labelled] = [_least(gram - grams[g], target - toward[g]) for g in labelled]
        return Tuned(weights, without)

    def covariance(self, params: FloatArray, tuned: Tuned) -> Errors:
        """Return the jackknife by units or their groups, by one step.

        If a cluster is left out, the estimates change by H₋⁻¹t to first order, where t is its part of the score and H₋
        the information of the others. They also change with the weights of the machines, which the same labels choose.
        For a unit without labels, which is one of very many, H₋ is H and the weights stay.
        """
        omega = tuned.weights
        own, added = self.influences(params)
        parts = self._summed(own + np.einsum("m,mup->up", omega, added))
        parts = parts - (tuned.without - omega) @ self._apart(params)
        bread = self._bread(params, omega)
        if not (np.isfinite(parts).all() and np.isfinite(bread).all()):
            raise linalg.LinAlgError("an information matrix without an inverse")
        moved = parts @ bread
        whole = linalg.cholesky(inverse(bread), lower=True)
        shares, clusters = self._shares_of_labels(), self._label_weights(omega)
        labels = self.scores.information(params, np.asarray(clusters.sum(axis=0)).ravel())
        others = inverse(bread) - labels
        labelled, alone = np.flatnonzero(shares), 0
        for some in np.array_split(labelled, 1 + len(labelled) * len(whole) ** 2 // _ENTRIES):
            step_made(len(some) * len(whole) ** 2)
            left = (labels - self._held(params, clusters[some])) / (1 - shares[some])[:, None, None] + others
            known = _keeps(left, whole)
            apart = parts[some] / (1 - shares[some])[:, None]
            moved[some[known]] = np.linalg.solve(left[known], apart[known][..., None])[..., 0]
            alone += int((~known).sum())
        number = int((shares > 0).sum())
        df = 1 / float(np.sum(shares**2)) - 1
        units = f"{format_count(number)} labelled units or groups of units"
        notes = [f"Standard errors: CR3 by {units}, t with {format_number(df, 3)} df"]
        if alone:
            which = f"Without {counted(alone, 'labelled cluster')} the estimates are not determined"
            notes.append(Qualifying(f"{which}: CR1 replaces CR3 there, and its standard errors are too small."))
        return Errors((number - 1) / number * moved.T @ moved, df, tuple(notes))

    def _apart(self, params: FloatArray) -> FloatArray:
        """Return the mean score of the verdicts on all units minus the mean on labelled units, by machine, (M, p)."""
        scores = [self._by_unit(machine, params) for machine in self.units.machines]
        return np.stack([self.weights @ s - self.labelled @ s for s in scores])

    def _shares_of_labels(self) -> FloatArray:
        """Return the share of each cluster in the labelled units, shape (G,)."""
        return np.asarray(np.bincount(self.units.cluster, self.labelled), dtype=np.float64)

    def _label_weights(self, omega: FloatArray) -> csr_array:
        """Return the weight of each comparison from the labelled units of each cluster, (G, S)."""
        sources = zip((self.units.human, *self.units.machines), (1.0, *-omega), strict=True)
        parts = [
            (w * source.share * self.labelled[source.unit], self.units.cluster[source.unit], source.comparison)
            for source, w in sources
        ]
        value, cluster, comparison = (np.concatenate(parts_of) for parts_of in zip(*parts, strict=True))
        shape = (int(self.units.cluster.max()) + 1, len(self.units.table))
        return csr_array(coo_array((value, (cluster, comparison)), shape=shape))

    def _held(self, params: FloatArray, clusters: csr_array) -> FloatArray:
        """Return the information of labels, (G, p, p), from the weights of comparisons in their clusters (G, S)."""
        there = np.unique(clusters.indices)
        rows = self.scores.rows[:, there]
        unit = self.scores.response.weight(self.scores.probabilities(params)[:, there], np.ones(len(there)))
        each = np.einsum("bsp,bcs,csq->spq", rows, unit, rows, optimize=True)
        held = clusters[:, there] @ each.reshape(len(there), -1)
        return np.asarray(held).reshape(-1, *each.shape[1:])

    def labels_worth(self, alone: FloatArray, together: FloatArray) -> float:
        """Return the number of labels that alone would be as precise as labels and verdicts together."""
        rows = self._contrasts()
        before, after = (float(np.trace(rows @ cov @ rows.T)) for cov in (alone, together))
        return float(self.units.labelled.sum()) * before / after

    def results(self, formula: str, params: FloatArray, errors: Errors, whole: type) -> FitPart:
        """Return estimates as worths, with the counts of all judgments, as a part of the calibration."""
        table = self.units.table
        table = replace(table, notes=(*table.notes, "counts are the judgments of people and of machines together"))
        covariance = Covariance(errors.matrix, errors.df, notes=errors.notes)
        free = np.arange(len(params))
        solution = Solved(params, errors.matrix)
        return FitPart(Specification(formula), table, self.design, free, solution, covariance, whole=whole)

    def _bread(self, params: FloatArray, omega: FloatArray) -> FloatArray:
        information = self.scores.information(params, self.counts(omega).sum(axis=1))
        if not (np.diag(information) > 0).all():
            raise linalg.LinAlgError("an information matrix without an inverse")
        return inverse(information)

    def _contrasts(self) -> FloatArray:
        rows = self.design.worth.matrix.tocsr().toarray()
        return np.asarray(rows - rows.mean(axis=0))

    def _summed(self, x: FloatArray) -> FloatArray:
        """Return influences summed within the groups of units, (…, G, p)."""
        cluster = self.units.cluster
        if len(np.unique(cluster)) == len(cluster):
            return x
        sums = np.zeros((*x.shape[:-2], int(cluster.max()) + 1, x.shape[-1]))
        np.add.at(np.moveaxis(sums, -2, 0), cluster, np.moveaxis(x, -2, 0))
        return sums


def _least(gram: FloatArray, toward: FloatArray) -> FloatArray:
    """Return the weights from 0 to 1 at which wᵀ gram w − 2 wᵀ toward is smallest, shape (M,)."""
    if len(gram) == 1:
        return np.asarray(np.clip(toward / max(gram[0, 0], 1e-300), 0.0, 1.0))
    root = np.linalg.cholesky(gram + 1e-12 * np.trace(gram) * np.eye(len(gram)) + 1e-300 * np.eye(len(gram)))
    return np.asarray(optimize.lsq_linear(root.T, np.linalg.solve(root, toward), (0.0, 1.0)).x)


def _keeps(information: FloatArray, whole: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which matrices (G, p, p) have information on every direction; `whole` is a factor of their total."""
    root = linalg.solve_triangular(whole, np.eye(len(whole)), lower=True)
    return np.asarray(np.linalg.eigvalsh(root @ information @ root.T)[:, 0] >= _LOST)


def _weights(units: Units, *, within: bool) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the weight of each unit in the machines' means over all units."""
    if not within:
        return np.full(units.size, 1 / units.size), ()
    number = len(units.pairs)
    every = np.bincount(units.pair, minlength=number)
    labelled = np.bincount(units.pair, units.labelled, number) / units.labelled.sum()
    without = [units.pairs[k] for k in np.flatnonzero(labelled == 0)]
    notes = (f"verdicts left out on pairs without labels: {named(without)}",) if without else ()
    return np.asarray((labelled / every)[units.pair]), notes
