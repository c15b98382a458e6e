"""Quasi-variances: one standard error per object that serves every difference of log-worths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
import pandas as pd
from scipy import linalg

from ..base.arguments import Confidence, checked
from ..base.table import Field, Record, Table, format_percent, interval_fields
from ..core.columns import FloatArray, Label
from ..core.statistics import critical_value
from ..errors import ConvergenceWarning, DesignError, listed, warn_user
from ..fitting.estimates import Estimates
from ..fitting.fit_part import FitPart
from ..fitting.fitted import ClassSource, ClassWorthSource, OneSource, WithWorths, average_of
from ..formulas.grid import At
from ..kernel.newton import Step, newton
from .log_worths import LogWorths, log_worths_at

_NO_VARIANCE = 1e-12  # a difference has no variance below this share of the mean variance
_RIDGE = 1e-13  # keeps the normal equations regular; it shortens steps, but does not move the minimum
_MOST_STEPS = 200
_DECREMENT = 1e-22  # decrement of the last step: about its squared length, as a share of the sums of two


@dataclass(frozen=True, repr=False, eq=False)
class QuasiVariances(Record):
    """Quasi-variances of the log-worths λ of J objects.

    Attributes
    ----------
    objects : tuple
        The J objects with a log-worth that the table determines.
    estimate : ndarray, shape (J,)
        Log-worth λ minus the reference's.
    cov : ndarray, shape (J, J)
        Covariance of the estimates.
    quasi_variance : ndarray, shape (J,)
        The variance of a difference λᵢ − λⱼ is about the sum of two quasi-variances; at most one is negative in
        practice.
    worst_errors : tuple of float
        Smallest and largest relative error of the standard error over all contrasts, as qvcalc's `worstErrors`.
    confidence, df : float
        The level of the intervals, and the degrees of freedom of their t distribution.
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    estimate: FloatArray
    cov: FloatArray
    quasi_variance: FloatArray
    worst_errors: tuple[float, float]
    confidence: float
    df: float
    notes: tuple[str, ...]

    @property
    def std_error(self) -> FloatArray:
        """Standard errors of the estimates, 0 for the reference, shape (J,)."""
        return np.asarray(np.sqrt(np.diag(self.cov)))

    @property
    def quasi_std_error(self) -> FloatArray:
        """Square roots of the quasi-variances, shape (J,); NaN for a negative one."""
        return np.asarray(np.sqrt(np.where(self.quasi_variance < 0, np.nan, self.quasi_variance)))

    @property
    def conf_low(self) -> FloatArray:
        """Lower ends of the comparison intervals, shape (J,)."""
        return self.estimate - self._half()

    @property
    def conf_high(self) -> FloatArray:
        """Upper ends of the comparison intervals, shape (J,)."""
        return self.estimate + self._half()

    @property
    def worst_error(self) -> float:
        """The largest relative error, in absolute size, of the standard error of any contrast."""
        return max(map(abs, self.worst_errors))

    @property
    def relative_errors(self) -> pd.DataFrame:
        """Relative error of the standard error by quasi-variances for each difference (J × J, labelled)."""
        quasi = self.quasi_variance[:, None] + self.quasi_variance
        true = _difference_variances(self.cov)
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(quasi / np.where(true == 0, np.nan, true)) - 1
        np.fill_diagonal(errors, 0.0)
        return pd.DataFrame(errors, index=list(self.objects), columns=list(self.objects))

    def _half(self) -> FloatArray:
        return np.asarray(critical_value(self.confidence, self.df) * self.quasi_std_error)

    def table(self) -> Table:
        """Return one row per object, in the order of the table."""
        pairs = self.relative_errors.to_numpy()[np.triu_indices(len(self.objects), 1)]
        return Table(
            (
                Field("object", "object", list(self.objects)),
                Field("estimate", "estimate", self.estimate, "estimate"),
                Field("std_error", "std_error", self.std_error, "estimate"),
                Field("quasi_std_error", "quasi_std_error", self.quasi_std_error, "estimate"),
                Field("quasi_variance", "quasi_variance", self.quasi_variance, "number"),
                *interval_fields(self.conf_low, self.conf_high, self.confidence),
            ),
            title="Quasi-variances of the log-worths λ",
            foot=(
                f"Relative errors of the standard errors of pairs: {_range(pairs.min(), pairs.max())}; "
                f"of all contrasts: {_range(*self.worst_errors)}",
            ),
            notes=self.notes,
        )


@overload
def quasi_variances(
    res: WithWorths | FitPart | OneSource, *, at: At = None, confidence: Confidence = 0.95
) -> QuasiVariances: ...
@overload
def quasi_variances(res: ClassSource, *, at: At = None, confidence: Confidence = 0.95) -> Table: ...


@checked
def quasi_variances(
    res: WithWorths | FitPart | OneSource | ClassSource, *, at: At = None, confidence: Confidence = 0.95
) -> QuasiVariances | Table:
    """Return one quasi-variance per object, from which the standard error of any difference follows.

    Standard errors of log-worths depend on the reference object. Quasi-variances q do not: the variance of λᵢ − λⱼ is
    about qᵢ + qⱼ for any two objects. The result also has the largest error of this approximation.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults or RankingResults
        For a fit with effects of judges, answers are for the average judge.
    at : mapping or "average", optional
        If worths depend on covariates: the class to use, such as ``{"judge": "J3"}``.
    confidence : float
        The level of the intervals.

    Returns
    -------
    QuasiVariances or Table
        Columns object, estimate, std_error, quasi_std_error, quasi_variance, conf_low, conf_high, all on the log-worth
        scale λ. Standard errors of log-odds 2λ are twice as large, and their quasi-variances four times. For latent
        classes a table with the columns class and share in front, one class below another.

    Raises
    ------
    DesignError
        For fewer than three log-worths, and for differences without a variance (held parameters, or object covariates
        that two objects share).
    OptionError
        If worths differ by covariates and `at` is missing.

    Notes
    -----
    The q minimize Σ (log v − log(qᵢ + qⱼ))² over the pairs i < j, where v is the variance of λᵢ − λⱼ. R's qvcalc
    minimizes the same sum. With three objects the q are exact. The intervals, λ ± t·√q, are for comparing objects by
    eye; for a single pair use ``res.t_test``. Let μ be the eigenvalues of diag(q) relative to the covariance, both
    reduced to differences from one object. Over all contrasts the relative error lies between √μ − 1 of the smallest
    and of the largest μ.

    References
    ----------
    Firth, D. & de Menezes, R. X. (2004). Quasi-variances. Biometrika 91(1), 65-80.

    Examples
    --------
    >>> import llbt
    >>> quasi = llbt.quasi_variances(llbt.fit("object + tie", llbt.load_dataset("dras_table1_as_analysed").pool()))
    >>> quasi.quasi_std_error.round(4).tolist()
    [0.0738, 0.0624, 0.0745, 0.0621]
    >>> round(quasi.worst_error, 3)
    0.244
    """
    if isinstance(res, ClassWorthSource):
        return res.class_worths().stacked(lambda one: quasi_variances(one, at=at, confidence=confidence).table())
    worths = average_of(res)
    log_worths, where = log_worths_at(worths, at)
    objects, log_worths, notes = _determined(worths, log_worths)
    variances = _difference_variances(log_worths.cov)
    _check(objects, variances)
    quasi, converged = fitted_quasi_variances(variances)
    if not converged:
        warn_user(
            f"quasi-variances: no minimum after {_MOST_STEPS} steps; see worst_error.",
            ConvergenceWarning,
        )
    worst = worst_errors(log_worths.cov, quasi)
    scale = (
        f"Log-worth scale λ, reference {log_worths.reference}.",
        "The variance of a difference of two is about the sum of their quasi-variances.",
        f"{100 * confidence:.4g} % intervals, for comparing objects with each other.",
    )
    notes = (*scale, *where, *notes, *_reservations(objects, quasi, worst))
    return QuasiVariances(
        objects, log_worths.estimate, log_worths.cov, quasi, worst, confidence, worths.worth_df_inference, notes
    )


def fitted_quasi_variances(variances: FloatArray) -> tuple[FloatArray, bool]:
    """Return the quasi-variances that best fit variances of differences, and whether the minimum was reached.

    Parameters
    ----------
    variances : ndarray, shape (J, J)
        Variances of the differences, positive off the diagonal; J ≥ 3.

    Returns
    -------
    quasi : ndarray, shape (J,)
        Minimum of Σ_{i<j} (log v_ij − log(q_i + q_j))² by Newton's method from relative least squares.
    converged : bool
    """
    size = len(variances)
    off = ~np.eye(size, dtype=bool)
    scale = float(variances[off].mean())
    target = np.log(np.where(off, variances / scale, 1.0))
    q = _solved(np.where(off, np.exp(-2 * target), 0.0), np.where(off, np.exp(-target), 0.0).sum(axis=1))
    if (_sums(q)[off] <= 0).any():
        q = np.full(size, 0.5)
    search = newton(_Misfit(target), _Sums.of(q, target), enough=_DECREMENT, rest=0.0, exact=0.0, most=_MOST_STEPS)
    return scale * search.point.quasi, search.converged


@dataclass(frozen=True, eq=False)
class _Sums:
    """Quasi-variances (J,), their sums (J, J), and minus half the sum of squared errors of the logarithms."""

    quasi: FloatArray
    total: FloatArray
    value: float

    @classmethod
    def of(cls, quasi: FloatArray, target: FloatArray) -> _Sums:
        total = _sums(quasi)
        positive = bool((total > 0).all())
        return cls(quasi, total, -float(np.sum((np.log(total) - target) ** 2)) / 4 if positive else -np.inf)


@dataclass(frozen=True, eq=False)
class _Misfit:
    """The distance of sums of quasi-variances from variances with the logarithms `target` (J, J)."""

    target: FloatArray

    def step(self, point: _Sums) -> Step:
        """Return Newton's step, with weights that are kept positive far from the minimum."""
        total = point.total
        residual = np.log(total) - self.target
        weight = np.maximum(1 - residual, 0.1) / total**2
        np.fill_diagonal(weight, 0.0)
        gradient = -(residual / total).sum(axis=1)
        values = _solved(weight, gradient)
        return Step(values, float(gradient @ values))

    def moved(self, point: _Sums, step: FloatArray) -> _Sums:
        """Return the quasi-variances that a step leads to."""
        return _Sums.of(point.quasi + step, self.target)


def worst_errors(cov: FloatArray, quasi: FloatArray) -> tuple[float, float]:
    """Return the smallest and the largest relative error of the standard error over all contrasts.

    Parameters
    ----------
    cov : ndarray, shape (J, J)
    quasi : ndarray, shape (J,)

    Returns
    -------
    tuple of float
        √μ − 1 for the extreme eigenvalues μ of the quasi-variances relative to the covariance, both for differences
        from the first object; infinite if a contrast has no variance, −1 if its quasi-variances sum to 0.
    """
    true = cov[1:, 1:] - cov[:1, 1:] - cov[1:, :1] + cov[0, 0]
    approximate = np.diag(quasi[1:]) + quasi[0]
    eigenvalues, axes = linalg.eigh(true)
    positive = eigenvalues > _NO_VARIANCE * eigenvalues[-1]
    whitened = axes[:, positive] / np.sqrt(eigenvalues[positive])
    values = linalg.eigvalsh(whitened.T @ approximate @ whitened)
    low, high = np.sqrt(np.maximum(values[[0, -1]], 0.0)) - 1
    return float(low), float(high) if positive.all() else np.inf


def _sums(q: FloatArray) -> FloatArray:
    """Return q_i + q_j, and 1 on the diagonal, shape (J, J)."""
    total = q[:, None] + q
    np.fill_diagonal(total, 1.0)
    return total


def _solved(weight: FloatArray, right: FloatArray) -> FloatArray:
    """Solve the normal equations of sums q_i + q_j with weights (J, J), zero on the diagonal."""
    root = np.sqrt(weight.sum(axis=1))  # scaled to unit diagonal, because variances may differ by orders of magnitude
    scaled = weight / np.outer(root, root) + (1 + _RIDGE) * np.eye(len(root))
    return np.asarray(linalg.solve(scaled, right / root, assume_a="pos") / root)


def _difference_variances(cov: FloatArray) -> FloatArray:
    variance = np.diag(cov)
    return np.asarray(variance[:, None] + variance - 2 * cov)


def _determined(res: Estimates, log_worths: LogWorths) -> tuple[tuple[Label, ...], LogWorths, tuple[str, ...]]:
    """Return objects whose log-worths the table determines, with standard errors, and notes on the others."""
    objects, determined = res.comparisons.objects, ~np.isnan(log_worths.estimate)
    unknown = log_worths.unknown | res.covariance.flat(log_worths.rows[:, res.free])
    known = np.flatnonzero(determined & ~unknown)
    gone = [objects[k] for k in np.flatnonzero(~determined)]
    alone = [objects[k] for k in np.flatnonzero(determined & unknown)]
    notes = [f"left out, log-worth not determined by the table: {listed(gone)}"] if gone else []
    notes += [f"left out, log-worth without a clustered standard error: {listed(alone)}"] if alone else []
    return tuple(objects[k] for k in known), log_worths.some(known), tuple(notes)


def _check(objects: tuple[Label, ...], variances: FloatArray) -> None:
    if len(objects) < 3:
        raise DesignError(
            f"{len(objects)} log-worths ({listed(objects)})",
            expected="three or more; two objects determine only the sum of their quasi-variances, which is the "
            "variance of their difference (see res.bse)",
        )
    i, j = np.triu_indices(len(objects), 1)
    none = np.flatnonzero(variances[i, j] <= _NO_VARIANCE * variances.max())
    if none.size:
        pairs = [f"{objects[i[k]]} − {objects[j[k]]}" for k in none[:8]]
        more = f" and {none.size - 8} more" if none.size > 8 else ""
        raise DesignError(
            f"{none.size} of {len(i)} differences of log-worths have no variance: {', '.join(pairs)}{more}",
            "Do not hold parameters of objects (fixed=), and fit object in place of object covariates that objects "
            "share.",
            expected="one for each",
        )


def _reservations(objects: tuple[Label, ...], quasi: FloatArray, worst: tuple[float, float]) -> tuple[str, ...]:
    notes = []
    negative = [o for o, q in zip(objects, quasi, strict=True) if q < 0]
    if negative:
        notes.append(f"negative quasi-variance (no standard error; sums of two are valid): {listed(negative)}")
    if np.isinf(worst[1]):
        notes.append("some contrasts of log-worths have no variance: the largest relative error is infinite")
    return tuple(notes)


def _range(low: float, high: float) -> str:
    return f"{_signed(low)} to {_signed(high)}"


def _signed(share: float) -> str:
    if np.isinf(share):
        return "infinite"
    tenths = round(share, 3)
    return ("+" if tenths > 0 else "") + format_percent(tenths + 0.0)
