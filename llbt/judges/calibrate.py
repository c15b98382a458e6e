"""Human labels combined with machine verdicts: worths by prediction-powered inference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from scipy import linalg

from ..base.arguments import Confidence, Kind, checked, is_real
from ..base.table import Field, Record, Table, format_count, format_number, format_p, interval_fields
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..core.statistics import TestResult, critical_value
from ..errors import DesignError, FormulaError, SeparationError
from ..fitting import attributes, criteria, hypotheses, wald
from ..fitting.attributes import COMPLETED, lacks, missing_attribute
from ..fitting.estimates import Solved
from ..fitting.fit_part import FitPart
from ..fitting.model import LLBT
from ..fitting.prediction import predicted
from ..fitting.specification import Specification
from ..fitting.unsupported_questions import FIGURES_OF_CALIBRATED, OF_CALIBRATED, no_profile
from ..fitting.wald import Estimated
from ..formulas.design import Design
from ..formulas.grid import At
from ..inference.nesting import check_tables
from ..inference.refit import refit_data, written_terms
from ..inference.tested_models import Terms, TestedModel, formula_of, tested
from ..inference.unit_models import unit_model
from ..resampling import steps_shown
from .calibrated_units import calibrated_units
from .calibration_checks import drift_of
from .calibration_problem import CalibrationProblem, Means, Tuned
from .calibration_units import Units, read_units_of
from .rogan_gladen import corrected_shares

Omega = Annotated[
    float | None, Kind(lambda w: w is None or (is_real(w) and 0 <= w <= 1), "a weight from 0 to 1, or None")
]

_HOTELLING = "Wald's test in Hotelling's form: calibrated worths have no likelihood"
_LITTLE = 1.1  # effective over actual labels below which a note says how little is gained


@lacks(FIGURES_OF_CALIBRATED)
@dataclass(frozen=True, repr=False, eq=False)
class Calibration(Record):
    """Worths from few labels by people and many verdicts by machines. J objects, U units, n of them labelled.

    Made by `llbt.judges.calibrate`.

    Attributes
    ----------
    results : FitPart
        The calibrated estimates with their covariance, for `worth`, `leaderboard`, `pairwise` and their pictures. They
        have no likelihood, so functions that refit, resample or test a fit refuse them.
    labels : FitPart or None
        The fit of the human labels alone (ω = 0), with errors clustered by unit; None if estimates are infinite.
    machines : FitPart
        The fit of the machines' verdicts alone, with errors clustered by unit: the errors measure variation, not bias.
    omega : pandas.Series
        The weight ω of each machine, 0 to 1.
    n_labels, n_units : int
        The number of units with labels, and the number of all units.
    effective_labels : float
        The number of labels that alone would be as precise as labels and verdicts; NaN without `labels`.
    shares : TestResult
        The test whether labelled and unlabelled units have the same pairs.
    within_pairs : bool
        Whether machines' means were taken within pairs and weighted by the labelled shares.
    drift : dict of label to TestResult
        For each machine, the test whether it agrees with people equally often on all pairs.
    rogan_gladen : pandas.DataFrame
        machine, pair, outcome, labels, verdicts, estimate, std_error: shares of the outcomes by the labels, by the
        verdicts, and by the verdicts corrected with the table of verdicts by labels.
    notes : tuple of str
    problem : CalibrationProblem
        The units, and the equations that were solved.
    held : ndarray or None
        The requested weights of the machines (M,); None where the data chose them.
    """

    _made_by: ClassVar[str] = "llbt.judges.calibrate(…)"
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = OF_CALIBRATED

    results: FitPart
    labels: FitPart | None
    machines: FitPart
    omega: pd.Series[float]
    n_labels: int
    n_units: int
    effective_labels: float
    shares: TestResult
    within_pairs: bool
    drift: dict[str, TestResult]
    rogan_gladen: pd.DataFrame
    confidence: float
    notes: tuple[str, ...]
    problem: CalibrationProblem
    held: FloatArray | None

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    def worth_source(self) -> FitPart:
        """Return the calibrated log-worths with their covariance."""
        return self.results

    @checked
    def predict(self, frame: Any = None, *, at: At = None, confidence: Confidence = 0.95) -> Table:
        """Return the probability of each outcome, as `LLBTResults.predict` does, from the calibrated estimates.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict: ``object_i, object_j``. By default the comparisons of the table.
        at : mapping, optional
            Instead of a frame: all pairs of objects, ``{}``.
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, outcome, estimate (probability), std_error (delta method), conf_low, conf_high.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> frame = pd.DataFrame({"object_i": "A", "object_j": "B", "prompt": range(40)})
        >>> frame["outcome"] = ["i", "i", "i", "j"] * 10
        >>> calibrated = llbt.judges.calibrate(frame[:20], frame, formula="object", omega=0.5)
        >>> calibrated.predict().to_frame()["estimate"].round(2).tolist()
        [0.75, 0.25]
        """
        return predicted(self.results, frame, at, confidence)

    @property
    def estimated(self) -> Estimated:
        """The calibrated estimates with their covariance."""
        return self.results.estimated

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p parameters."""
        return self.design.names

    aliased = wald.aliased
    params = wald.params
    bse = wald.bse
    tvalues = wald.tvalues
    pvalues = wald.pvalues
    df_inference = wald.df_inference
    cov_params = wald.Methods.cov_params
    conf_int = wald.Methods.conf_int
    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test
    formula = attributes.formula
    objects = attributes.objects
    reference = attributes.reference
    df_model = criteria.df_model

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Refuse profile intervals: there is no likelihood; see `conf_int`."""
        raise no_profile(type(self))

    @property
    def specification(self) -> Specification:
        """The specification of the fit."""
        return self.results.specification

    @property
    def comparisons(self) -> Comparisons:
        """The comparisons of people and of machines together."""
        return self.results.comparisons

    @property
    def design(self) -> Design:
        """The design of the parameters."""
        return self.results.design

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters held at a value: none."""
        return self.results.fixed

    @property
    def n_params(self) -> int:
        """Number of estimated parameters."""
        return len(self.results.free)

    @property
    def converged(self) -> bool:
        """Whether the estimates solve their equation. Always true: other estimates raise an error."""
        return True

    def summary(self) -> Table:
        """Return the printout: `table`."""
        return self.table()

    def table(self) -> Table:
        """Return object, estimate (log-worth, mean 0), std_error, interval, and both sources' estimates."""
        estimate, error = _centred(self.results)
        labels = _centred(self.labels) if self.labels is not None else (estimate * np.nan, error * np.nan)
        machines, _ = _centred(self.machines)
        half = critical_value(self.confidence, self.results.df_inference) * error
        order = np.argsort(-estimate, kind="stable")
        objects = self.results.comparisons.objects
        level = f"{100 * self.confidence:.4g}"
        return Table(
            (
                Field("object", "object", [objects[k] for k in order]),
                Field("estimate", "estimate", estimate[order], "estimate"),
                Field("std_error", "std_error", error[order], "estimate"),
                *interval_fields((estimate - half)[order], (estimate + half)[order], self.confidence),
                Field("labels", "labels", labels[0][order], "estimate"),
                Field("labels_std_error", "labels_std_error", labels[1][order], "estimate"),
                Field("machines", "machines", machines[order], "estimate"),
            ),
            title="Worths from labels and machine verdicts: log-worth λ, mean 0",
            head=self._head(),
            notes=(*self.notes, f"{level} % intervals; errors allow for dependence within units"),
        )

    def _head(self) -> tuple[str, ...]:
        weights = ", ".join(f"{name}: ω = {format_number(w, 3)}" for name, w in self.omega.items())
        worth = (
            ""
            if np.isnan(self.effective_labels)
            else f"; with the verdicts they are worth {format_number(self.effective_labels, 4)}"
        )
        lines = [
            f"Formula: {self.results.specification.formula}",
            f"Data: {format_count(self.n_labels)} labelled units of {format_count(self.n_units)}{worth}",
            f"Machines: {weights}",
            f"Pairs of labelled and unlabelled units: {_described(self.shares)}"
            + ("; machines' means are within pairs" if self.within_pairs else ""),
        ]
        drift = [f"{name}: {_described(test)}" for name, test in self.drift.items()]
        return (*lines, f"Agreement by pair: {'; '.join(drift)}") if drift else tuple(lines)


@checked
def calibrate(
    human: object,
    machine: object,
    *,
    formula: str = "object + tie",
    unit: str | Sequence[str] = "prompt",
    omega: Omega = None,
    groups: str | None = None,
    means: Means = "auto",
    confidence: Confidence = 0.95,
    progress: bool = False,
) -> Calibration:
    """Combine a few human labels with many machine verdicts on the same units.

    Parameters
    ----------
    human, machine : Judgments, frame, path or list of records
        As `read_judgments` reads them. Machines are told apart by the column ``judge`` of their verdicts.
    formula : str
        The terms: ``object``, optionally with ``tie`` and ``order``.
    unit : str or sequence of str
        Columns that, with the two objects, identify what was judged. Judgments of a unit are averaged, by source.
    omega : float, optional
        The weight of the machines, from 0 (labels alone) to 1 (PPI). By default each machine has the weight that makes
        the contrasts of the worths most precise.
    groups : str, optional
        A column of the judgments; units with the same value depend on each other, such as the units of one prompt.
    means : {"auto", "overall", "within_pairs"}
        How the means of the machines over all units are computed: ``"overall"``, or ``"within_pairs"`` of objects,
        weighted by the labelled shares. Means within pairs are right even if the shares of pairs differ between
        labelled and other units. ``"auto"`` takes means within pairs if the shares differ (χ², p < .05). Pairs without
        labels are then left out; a note names them.
    confidence : float
    progress : bool
        Show a bar that counts the steps of the fits and of the jackknife; their total is not known in advance.

    Returns
    -------
    Calibration

    Raises
    ------
    JudgmentError
        For data that cannot be read, and if no unit has judgments of both kinds.
    FormulaError
        For a formula with other terms than object, tie and order.
    SeparationError
        Where the calibrated estimates are infinite.
    DesignError
        For objects that judgments do not connect, and fewer than two labelled units (clusters).

    Notes
    -----
    The estimates θ solve mean over labelled units of s(θ; y) + Σ_m ω_m [mean over all of s(θ; ŷ_m) − mean over labelled
    of s(θ; ŷ_m)] = 0, s the score of the log-linear model, y the labels, ŷ the verdicts: PPI++ of Angelopoulos, Duchi &
    Zrnic (2023). If the labelled units are a random sample of all, the machines' errors cancel in expectation, however
    biased the machines are. ω minimizes the trace of the estimated covariance of all contrasts of the worths, so to
    first order the answer is never less precise than the labels alone. Covariances are by a one-step jackknife (CR3):
    it leaves out each labelled unit, or group of units, and tunes ω without it. Tests use t on G* − 1 df. With
    ``omega=0`` covariances are those of ``fit(…, cov_type="cluster")`` on the labels, clustered by unit. In simulated
    studies with 50 to 1,000 labels, 95 % intervals cover the truth in 94 to 96 %. With 50 labels and a useless machine
    they cover it in 97 %.

    The correction of Rogan & Gladen (1978) is also given. For each pair it multiplies the shares of outcomes among the
    verdicts by the inverse of the table of verdicts by labels (of all pairs), with errors by the delta method. It
    assumes that the machine errs equally on all pairs, which `drift` tests.

    References
    ----------
    Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient prediction-powered inference.
    arXiv:2311.01453.

    Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. & Zrnic, T. (2023). Prediction-powered inference.
    Science 382(6671), 669-674.

    Rogan, W. J. & Gladen, B. (1978). Estimating prevalence from the results of a screening test. American Journal of
    Epidemiology 107(1), 71-76.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import llbt
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"object_i": "A", "object_j": "B", "prompt": range(400)})
    >>> truth = rng.choice(["i", "tie", "j"], 400, p=[0.5, 0.2, 0.3])
    >>> verdict = np.where(rng.random(400) < 0.8, truth, "i")
    >>> calibrated = llbt.judges.calibrate(frame.assign(outcome=truth)[:60], frame.assign(outcome=verdict))
    >>> calibrated.n_labels, calibrated.n_units, bool(calibrated.effective_labels > 60)
    (60, 400, True)
    """
    with steps_shown("judges.calibrate", progress):
        return _calibrated(human, machine, formula, unit, omega, groups, means, confidence)


def _calibrated(
    human: object,
    machine: object,
    formula: str,
    unit: str | Sequence[str],
    omega: Omega,
    groups: str | None,
    means: Means,
    confidence: float,
) -> Calibration:
    """Return the calibration of verdicts by labels, from checked options; see `calibrate`."""
    units = read_units_of(human, machine, unit, groups, order=re.search(r"\border\b", formula) is not None)
    design = LLBT.from_formula(formula, units.table).design
    _check_formula(formula, design)
    problem = CalibrationProblem.of(units, design, means)
    weights = None if omega is None else np.full(len(units.machines), float(omega))
    return _calibration(problem, formula, weights, confidence)


def _calibration(problem: CalibrationProblem, formula: str, omega: FloatArray | None, confidence: float) -> Calibration:
    """Return the calibration of a problem at given weights of the machines (M,), or at the best weights."""
    units = problem.units
    machines, sandwich = problem.alone()
    try:
        solved = problem.calibrated(omega)
        params, labels, weights = solved.params, solved.labels, solved.tuned.weights
        errors = problem.covariance(params, solved.tuned)
        alone = None if labels is None else problem.covariance(labels, Tuned.held(np.zeros(len(units.machines))))
    except linalg.LinAlgError:
        raise SeparationError(
            "the labels, corrected by the machines' verdicts, have no finite estimates: an object wins or loses all, "
            "labels do not connect all objects, or no label is a tie",
            "Label more units, or leave tie out of the formula.",
        ) from None
    effective = np.nan if alone is None else problem.labels_worth(alone.matrix, errors.matrix)
    return Calibration(
        results=problem.results(formula, params, errors, Calibration),
        labels=None if labels is None or alone is None else problem.results(formula, labels, alone, Calibration),
        machines=problem.results(formula, machines, sandwich, Calibration),
        omega=pd.Series(weights, index=[str(m.name) for m in units.machines], name="omega"),
        n_labels=int(units.labelled.sum()),
        n_units=units.size,
        effective_labels=float(effective),
        shares=problem.shares,
        within_pairs=problem.within,
        drift={str(m.name): drift_of(units, k) for k, m in enumerate(units.machines)} if len(units.pairs) > 1 else {},
        rogan_gladen=corrected_shares(units),
        confidence=confidence,
        notes=(*units.notes, *problem.notes, *_gained(effective, int(units.labelled.sum()))),
        problem=problem,
        held=omega,
    )


def calibrated_again(res: Calibration, units: Units) -> Calibration:
    """Return the calibration of other units. Weights that the data chose are chosen again."""
    problem = CalibrationProblem.of(units, res.design, "within_pairs" if res.within_pairs else "overall")
    return _calibration(problem, res.specification.formula, res.held, res.confidence)


unit_model.register(Calibration)(calibrated_units)
refit_data.register(Calibration)(calibrated_again)


def _check_formula(formula: str, design: Design) -> None:
    """Raise for a formula without worths, and for covariates or objects in its terms of tie and order."""
    beside = ((block, term) for block, term in zip(design.blocks, design.terms, strict=True) if block != "worth")
    if "worth" not in design.blocks or any(block != term for block, term in beside):
        raise FormulaError(f"{formula!r}", expected="object, optionally with tie and order: 'object + tie'")


def _gained(effective: float, labels: int) -> tuple[str, ...]:
    if np.isnan(effective):
        return ("Labels alone have no finite estimates: the gain from the machines is unknown.",)
    if effective < _LITTLE * labels:
        return (
            f"Little is gained: the verdicts are worth {format_number(max(effective - labels, 0.0), 3)} additional "
            f"labels ({labels} are given).",
            "Machines that agree with people more often would add more.",
        )
    return ()


def _centred(res: FitPart) -> tuple[FloatArray, FloatArray]:
    """Return the log-worths of the objects minus their mean, in the order of the objects, and the standard errors."""
    rows = res.design.worth.matrix.tocsr().toarray()
    order = np.argsort(res.design.worth.units["object"])
    rows = rows[order] - rows.mean(axis=0)
    return rows @ res.params.to_numpy(), np.sqrt(np.diag(rows @ res.covariance.matrix @ rows.T))


def _described(test: TestResult) -> str:
    p = format_p(test.p_value)
    return f"χ² {format_number(test.statistic, 4)} on {test.df:g} df, p {p if p.startswith('<') else '= ' + p}"


@tested.register
def _(res: Calibration) -> TestedModel:
    formula = res.results.specification.formula
    return _tested_worths(res, res.results, formula, written_terms(formula, res.results.comparisons))


def _tested_worths(res: Calibration | None, base: FitPart, formula: str, terms: Terms) -> TestedModel:
    return TestedModel(
        fit=res,
        what="calibrated worths",
        family="calibrated worths",
        formula=formula,
        n_params=len(base.free),
        base=base,
        check_data=_check_same_units,
        refitted=partial(_of_terms, base),
        clustered=True,
        terms=tuple(terms),
        notes=(_HOTELLING,),
        term_notes=(_HOTELLING,),
    )


def _of_terms(base: FitPart, terms: Terms) -> TestedModel:
    """Return a model of some terms without estimates: Wald's test takes the estimates from the larger model."""
    formula = formula_of(terms)
    design = LLBT.from_formula(formula, base.comparisons).design
    size = len(design.names)
    none = Solved(np.zeros(size), np.zeros((size, size)))
    smaller = replace(base, design=design, free=np.arange(size), solution=none)
    return _tested_worths(None, smaller, formula, terms)


def _check_same_units(models: Sequence[TestedModel]) -> None:
    """Raise for calibrations of different labels and verdicts."""
    check_tables([model.base for model in models])
    first = models[0].fit
    for k, other in enumerate(model.fit for model in models[1:]):
        same = (first.n_labels, first.n_units) == (other.n_labels, other.n_units)
        if not (same and first.rogan_gladen.equals(other.rogan_gladen)):
            raise DesignError(
                f"m0 and m{k + 1} were calibrated with different labels or verdicts",
                "Calibrate both formulas with the same labels and verdicts.",
            )
