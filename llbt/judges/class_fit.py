"""K classes of judges: shares, worths by class, and the class probabilities of each judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import special

from ..base.arguments import Confidence, Count, checked
from ..base.notes import Qualifying
from ..base.table import Field, Record, Table, counted, format_number, format_percent, interval_fields
from ..core import basis
from ..core.columns import FloatArray, IntArray, Label
from ..core.comparisons import Comparisons
from ..core.counts import counts_of_cells
from ..core.statistics import critical_values
from ..errors import OptionError
from ..fitting import attributes, criteria, hypotheses, wald
from ..fitting.asked_groups import By, Weights
from ..fitting.attributes import COMPLETED, lacks, missing_attribute
from ..fitting.class_predictions import class_predictions
from ..fitting.class_worths import MOST_ROWS, ClassWorths
from ..fitting.estimates import Solved
from ..fitting.fit_part import FitPart, part_of
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.specification import Specification
from ..fitting.unsupported_questions import FIGURES_OF_CLASSES, OF_CLASSES, no_profile
from ..fitting.wald import Estimated, others_of
from ..formulas.design import Design
from ..formulas.grid import At
from ..inference.scales import Scale
from ..inference.worth import worth
from ..kernel.mixture import Answers, Mixture, curvature
from ..kernel.robust import Covariance
from .association import Association, association
from .class_covariance import infinite_classes, joint_covariance

_CLASS = "class"
LONE = Qualifying("Only one start reached the best likelihood. More starts= may find a better one.")
_NEVER = 1e-100  # a posterior: comparisons of a class have a total above 0


def counted_classes(k: int) -> str:
    """Return a number of classes in words."""
    return f"{k} latent class{'' if k == 1 else 'es'}"


@dataclass(frozen=True, eq=False)
class ByJudge:
    """The judgments of each judge, in the form that the likelihood of a mixture uses.

    Attributes
    ----------
    name : str
        The column whose levels are the judges.
    levels : tuple, length G
    answers : Answers
    lines : ndarray of int, shape (L,)
        The comparison of each line of the counts by judge.
    codes : ndarray of int, shape (L,)
        The judge of each line.
    counts : ndarray, shape (L, C)
    """

    name: str
    levels: tuple[Label, ...]
    answers: Answers
    lines: IntArray
    codes: IntArray
    counts: FloatArray


@lacks(FIGURES_OF_CLASSES)
@dataclass(frozen=True, repr=False, eq=False)
class LatentClasses(Record):
    """K latent classes of judges. Each class has its own log-worths; class 1 is the largest.

    Made by `classes`: ``llbt.judges.classes(formula, c)[3]``.

    Attributes
    ----------
    pooled : LLBTResults
        The fit of all judges alike.
    by_judge : ByJudge
    mixture : Mixture
    """

    _made_by: ClassVar[str] = "llbt.judges.classes(formula, c)[k]"
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = OF_CLASSES

    pooled: PlainEstimates
    by_judge: ByJudge
    mixture: Mixture

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.mixture.shares)

    @property
    def labels(self) -> range:
        """The numbers of the classes, 1 … K."""
        return range(1, self.k + 1)

    @property
    def shares(self) -> pd.Series[float]:
        """The share of the judges that belong to each class, shape (K,)."""
        return pd.Series(self.mixture.shares, index=pd.Index(self.labels, name=_CLASS), name="share")

    @property
    def params(self) -> pd.DataFrame:
        """The parameters of each class, shape (K, p)."""
        return self._frame(self.mixture.params)

    @property
    def bse(self) -> pd.DataFrame:
        """Standard errors of `params`, shape (K, p); NaN in a class with infinite estimates."""
        error = np.sqrt(np.diag(self.covariance))[: self.mixture.params.size]
        return self._frame(error.reshape(self.mixture.params.shape))

    @property
    def tvalues(self) -> pd.DataFrame:
        """Estimates over standard errors (z values), shape (K, p)."""
        return self.params / self.bse

    @property
    def pvalues(self) -> pd.DataFrame:
        """Two-sided p-values of `tvalues`, shape (K, p)."""
        return self._frame(2 * special.ndtr(-np.abs(self.tvalues.to_numpy())))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the K·p parameters, ``object[A]:class[1]``, and of the log ratios of shares, ``log_share[2]``."""
        of_classes = [f"{name}:{_CLASS}[{label}]" for label in self.labels for name in self.pooled.names]
        return (*of_classes, *(f"log_share[{label}]" for label in self.labels[1:]))

    @property
    def estimated(self) -> Estimated:
        """The parameters of all classes, and log π_k/π_1 of their shares, with their joint covariance."""
        ratios = np.log(self.mixture.shares[1:] / self.mixture.shares[0])
        values = np.concatenate([self.mixture.params.ravel(), ratios])
        known = np.flatnonzero(np.isfinite(np.diag(self.covariance)))
        size = self.mixture.params.shape[1]
        others = {
            f"{name}:{_CLASS}[{label}]": tuple(k + (label - 1) * size for k in columns)
            for label in self.labels
            for name, columns in others_of(self.design).items()
        }
        covariance = Covariance(self.covariance[np.ix_(known, known)])
        return Estimated(self.names, values, known, covariance, others=others)

    df_inference = wald.df_inference
    aliased = wald.aliased
    cov_params = wald.Methods.cov_params
    conf_int = wald.Methods.conf_int
    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test
    formula = attributes.formula
    objects = attributes.objects
    reference = attributes.reference

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Raise: profile intervals do not exist, because a mixture's likelihood has several maxima; see `conf_int`."""
        raise no_profile(type(self))

    @property
    def specification(self) -> Specification:
        """The options of the fit, the same for the pooled fit and for every class."""
        return self.pooled.specification

    @property
    def comparisons(self) -> Comparisons:
        """The table that was fitted."""
        return self.pooled.comparisons

    @property
    def design(self) -> Design:
        """The design of the parameters of a class."""
        return self.pooled.design

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters held at a value: none."""
        return self.pooled.fixed

    @property
    def share_errors(self) -> pd.Series[float]:
        """Standard errors of the shares, by the delta method from the covariance of their log ratios, shape (K,)."""
        shares, size = self.mixture.shares, self.mixture.params.size
        slope = (np.diag(shares) - np.outer(shares, shares))[:, 1:]
        cov = self.covariance[size:, size:]
        return pd.Series(np.sqrt(np.diag(slope @ cov @ slope.T)), index=self.shares.index, name="std_error")

    @property
    def posterior(self) -> pd.DataFrame:
        """The posterior probability that each judge belongs to each class, shape (G, K)."""
        index = pd.Index(self.by_judge.levels, name=self.by_judge.name)
        posterior = self.mixture.posterior[self.by_judge.answers.index]
        return pd.DataFrame(posterior, index=index, columns=pd.Index(self.labels, name=_CLASS))

    @property
    def llf(self) -> float:
        """Log-likelihood of the judgments, Σ_g log Σ_k π_k P(judgments of g | class k), without the prior."""
        return self.mixture.log_likelihood

    @property
    def n_params(self) -> int:
        """The number of parameters, including K − 1 shares."""
        return self.by_judge.answers.size(self.k)

    effective_params = criteria.effective_params
    answers = attributes.answers
    n_judgments = attributes.n_judgments
    basis = attributes.basis
    nobs = criteria.nobs
    df_model = criteria.df_model
    aic = criteria.aic
    bic = criteria.bic
    bic_of = criteria.Methods.bic_of
    fit_statistics = criteria.Methods.fit_statistics
    counts = attributes.counts
    n_cells = attributes.n_cells

    @property
    def converged(self) -> bool:
        """Whether the best start converged."""
        return self.mixture.converged

    @property
    def n_iter(self) -> int:
        """Steps of EM from the best start."""
        return self.mixture.steps

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score of the parameters and the log ratios of shares, including the prior."""
        return float(np.linalg.norm(curvature(self.by_judge.answers, self.mixture.shares, self.mixture.params).score))

    @property
    def bic_judges(self) -> float:
        """−2 `llf` + log(judges) · parameters: the sample size is the number of judges, not of judgments."""
        return basis.bic(self.llf, self.n_params, len(self.by_judge.levels))

    @property
    def _uncertainty(self) -> float:
        return float(special.entr(self.posterior.to_numpy()).sum())

    @property
    def icl(self) -> float:
        """`bic_judges` + 2 Σ_g Σ_k −p_gk log p_gk: a penalty for judges whose class is uncertain."""
        return self.bic_judges + 2 * self._uncertainty

    @property
    def entropy(self) -> float:
        """Entropy of the classification, 1 − Σ −p log p/(G log K): 1 where the class of every judge is certain."""
        return 1.0 if self.k == 1 else float(1 - self._uncertainty / (len(self.by_judge.levels) * np.log(self.k)))

    @cached_property
    def infinite(self) -> tuple[int, ...]:
        """The classes without finite estimates."""
        return infinite_classes(self.by_judge.answers, self.mixture)

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the K·p parameters, class by class, and of the K − 1 log ratios of shares.

        It is NaN for classes without finite estimates, whose parameters are taken as fixed.
        """
        return joint_covariance(self.by_judge.answers, self.mixture, self.infinite)

    @checked
    def summary(self, *, confidence: Confidence = 0.95) -> Table:
        """Return a table of the estimates: class, share, term, estimate, std_error, conf_low, conf_high."""
        params, errors = self.mixture.params.ravel(), self.bse.to_numpy().ravel()
        half = critical_values(confidence, np.full(len(params), np.inf)) * errors
        size = self.mixture.params.shape[1]
        fields = (
            Field(_CLASS, _CLASS, np.repeat(list(self.labels), size), "count"),
            Field("share", "share", np.repeat(self.mixture.shares, size), "estimate", 3),
            Field("term", "term", list(self.pooled.names) * self.k),
            Field("estimate", "estimate", params, "estimate"),
            Field("std_error", "std_error", errors, "estimate"),
            *interval_fields(params - half, params + half, confidence),
        )
        return Table(fields, title=self._title, head=self._head(), foot=self._foot(), notes=self._notes()).first(
            MOST_ROWS
        )

    @checked
    def worths(self, *, at: At = None, scale: Scale = "probability", confidence: Confidence = 0.95) -> Table:
        """Return the worth of every object in each class, as `llbt.worth` does, with the share of the class.

        Parameters
        ----------
        at : mapping or "average", optional
            Covariate values, as in `llbt.worth`.
        scale : {"probability", "log_worth", "log_odds", "odds_ratio", "elo"}
        confidence : float

        Returns
        -------
        Table
            class, share, covariates, object, estimate, std_error, conf_low, conf_high, sorted by size of class and
            then by worth. The standard errors allow for uncertain class membership. They are NaN in a class without
            finite estimates.

        Raises
        ------
        DesignError
            For a formula without worths.
        OptionError
            For unknown options.
        """
        return worth(self, at, scale, confidence=confidence)

    def class_worths(self) -> ClassWorths:
        """Return the log-worths of every class with their joint covariance."""
        each = tuple(self.results(label) for label in self.labels)
        notes = tuple(self.infinite_notes())
        return ClassWorths(self.by_judge.name, self.mixture.shares, each, self.pooled, self.covariance, notes)

    @checked
    def predict(
        self,
        frame: Any = None,
        *,
        at: At = None,
        by: By | None = None,
        weights: Weights = None,
        confidence: Confidence = 0.95,
    ) -> Table:
        """Return the probability of each outcome in every class, and of a judge drawn from all.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict, as `LLBTResults.predict` takes them. By default the comparisons of the table.
        at : mapping, optional
            Instead of a frame: all pairs of objects at these covariate values.
        by : str or sequence of str, optional
            Instead of a frame: all pairs for each level of these covariates, or for each value that `at` lists.
        weights : data frame, optional
            A target mix: covariate values and a column ``weight`` of sum 1, over which probabilities are averaged.
        confidence : float

        Returns
        -------
        Table
            class (1, 2, …, and ``"all"``: the mixture Σ π_k P_k), share, object_i, object_j, covariates, outcome,
            estimate (probability), std_error (delta method), conf_low, conf_high.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> said = ["i", "i", "j", "i", "j", "j", "j", "i"]
        >>> rows = [(f"J{n}", "A", "B", said[(n % 2) * 4 + k]) for n in range(20) for k in range(4)]
        >>> frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
        >>> c = llbt.from_judgments(frame, clusters="judge")
        >>> classes = llbt.judges.classes("object", c, k=2, prior=1, rng=1)[2]
        >>> table = classes.predict().to_frame()
        >>> table.loc[table["class"] == "all", "estimate"].round(2).tolist()
        [0.5, 0.5]
        """
        return class_predictions(self.class_worths(), frame, at, confidence, by, weights)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    @property
    def _title(self) -> str:
        return f"{counted_classes(self.k)} of {self.by_judge.name}"

    def _head(self) -> tuple[str, ...]:
        judges = counted(len(self.by_judge.levels), "judge")
        distinct = len(self.by_judge.answers.repeats)
        distinct_text = f", {distinct} different in their answers" if distinct < len(self.by_judge.levels) else ""
        shares = ", ".join(
            f"{label}: {format_percent(share)}" + (f" ± {format_percent(error)}" if np.isfinite(error) else "")
            for label, share, error in zip(self.labels, self.shares, self.share_errors, strict=True)
        )
        return (
            f"Formula: {self.pooled.specification.formula}",
            f"{judges}{distinct_text}, {counted(self.pooled.comparisons.n_judgments, 'judgment')}",
            f"Share of judges (± std. error): {shares}",
        )

    def _foot(self) -> tuple[str, ...]:
        mixture = self.mixture
        return (
            f"Log-likelihood: {format_number(self.llf, 7)} on {self.n_params} parameters   "
            f"AIC: {format_number(self.aic, 6)}   BIC of judges: {format_number(self.bic_judges, 6)}   "
            f"ICL: {format_number(self.icl, 6)}   "
            f"Entropy: {format_number(self.entropy, 3)}",
            f"Best of {counted(mixture.starts, 'start')}, reached by {mixture.reached}",
        )

    def _notes(self) -> tuple[str, ...]:
        notes = [
            "Log-worths λ: odds of A over B are exp(2(λ_A − λ_B)).",
            "BIC of judges and ICL take the number of judges as sample size.",
        ]
        notes += self.infinite_notes()
        if not np.isfinite(self.share_errors).all():
            notes.append(
                Qualifying(
                    "No standard errors: the judgments do not determine all estimates. For example, the judges of a "
                    "class may not connect all objects. Take fewer classes, or prior=0.1."
                )
            )
        if self.by_judge.answers.prior.any():
            notes.append(Qualifying("The prior shrinks the estimates. Log-likelihood, BIC and ICL do not include it."))
        if self.k > 1 and self.mixture.reached == 1 and self.mixture.starts > 1:
            notes.append(LONE)
        return (*notes, *self.pooled.comparisons.notes)

    def infinite_notes(self) -> list[str]:
        """Return a note that names the classes without finite estimates, if there are any."""
        if not self.infinite:
            return []
        which = " and ".join(map(str, self.infinite))
        return [
            Qualifying(
                f"No finite estimates and no standard errors in class {which}: its judges never contradict each other "
                "about some objects. Take fewer classes, or prior=0.1."
            )
        ]

    @checked
    def results(self, label: Count) -> FitPart:
        """Return the worths of one class with their covariance, for worth, leaderboard, pairwise and predictions.

        Parameters
        ----------
        label : int
            The number of the class, 1 being the largest.

        Returns
        -------
        LLBTResults
            Each judgment is weighted by the probability that its judge belongs to the class. The covariance comes from
            the whole mixture, so it allows for uncertain class membership. Functions that refit, resample or test a
            fit do not accept the result, because it is only part of a fit.

        Raises
        ------
        OptionError
            When there is no class with this number.
        """
        if label not in self.labels:
            raise OptionError(f"class {label!r}", expected=f"the number of a class, 1 to {self.k}")
        at, size = label - 1, self.mixture.params.shape[1]
        params = self.mixture.params[at]
        table = self.pooled.comparisons
        weight = np.maximum(self.posterior.to_numpy()[self.by_judge.codes, at], _NEVER)
        by_line = np.zeros((len(table), self.by_judge.counts.shape[1]))
        np.add.at(by_line, self.by_judge.lines, self.by_judge.counts * weight[:, None])
        counts = counts_of_cells(by_line, table.response)
        note = f"each judgment counts with the probability that its judge belongs to class {label}"
        weighted = replace(table, counts=counts, cluster_counts=None, notes=(*table.notes, note))
        cov = self.covariance[at * size : (at + 1) * size, at * size : (at + 1) * size]
        of_class = replace(self.pooled, comparisons=weighted)
        return part_of(LatentClasses, of_class, Solved(params, cov), Covariance(cov, notes=(f"of class {label}",)))

    @checked
    def association(self, covariate: str) -> Association:
        """Return the association of the classes with a covariate of the judges, corrected for misclassified judges.

        Parameters
        ----------
        covariate : str
            A covariate in the table that has the same value in all judgments of a judge: labels or numbers.

        Returns
        -------
        Association
            The share of each class at each level, or at the quartiles of a number, with standard errors; log-odds of
            the classes; a likelihood-ratio test.

        Raises
        ------
        OptionError
            For a column that the table does not have, and for one class.
        DesignError
            For a covariate that is the same for all judges, or differs between judgments of a judge. Also if judges'
            most probable classes do not separate all classes.

        Notes
        -----
        This is the three-step ML method with most probable classes (Vermunt 2010, Political Analysis 18(4), 450-469).
        Every judge counts once, so the last step is an ordinary likelihood. Without the correction, a table of most
        probable classes understates the association.

        The standard errors treat the classes as known, so they are too small when classes overlap. With 89 % of 150
        judges classified correctly, they are .7 times the true errors, and 95 % intervals have a coverage of .89. With
        96 %, the values are .9 and .95.

        The method assumes that judgments depend on the covariate only through the class. If worths within a class
        depend on the covariate, add it to the formula.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> pairs = [("A", "B"), ("A", "C"), ("B", "C")]
        >>> orders = ["ABC", "ABC", "ACB", "CBA", "CBA", "CAB", "BAC", "BCA"]
        >>> rows = [
        ...     (f"judge{k}", i, j, "i" if order.index(i) < order.index(j) else "j")
        ...     for k, order in enumerate(orders * 3)
        ...     for i, j in pairs
        ... ]
        >>> frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
        >>> frame["age"] = ["old" if order in ("ABC", "ACB") else "young" for order in orders * 3 for _ in pairs]
        >>> c = llbt.from_judgments(frame, clusters="judge", covariates="age")
        >>> association = llbt.judges.classes("object", c, k=2, prior=1, rng=1)[2].association("age")
        >>> association.df, association.p_value < 0.05
        (1, True)
        """
        return association(self.pooled.comparisons, self.posterior, self.mixture.shares, covariate)

    def _frame(self, values: FloatArray) -> pd.DataFrame:
        return pd.DataFrame(values, index=pd.Index(self.labels, name=_CLASS), columns=list(self.pooled.names))
