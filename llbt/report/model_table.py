"""Several fits side by side, as papers print them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ..arguments import JUDGED_INSIDE, Confidence, Digits, checked
from ..core.columns import FloatArray
from ..errors import OptionError, kind_of
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.fitted import WithWorths, average_of
from ..fitting.mixed_results import MixedResults
from ..fitting.results import LLBTResults, bic_reservation
from ..fitting.worth_estimates import WorthEstimates
from ..table import Field, Record, Table, counted, format_count, format_estimates, format_number, stars
from .model_terms import called, chosen

BoolArray = npt.NDArray[np.bool_]
Below = Literal["std_error", "statistic", "conf_int"]

_BLOCKS = ("worth", "tie", "bad", "grade", "order")
_BELOW = {
    "std_error": "in brackets: standard errors",
    "statistic": "in brackets: estimates over their standard errors",
    "conf_int": "in brackets: {level} confidence intervals",
}
_STARS = "*** p < 0.001, ** p < 0.01, * p < 0.05"
_FIGURES = {
    "deviance": "Residual deviance",
    "df_resid": "Residual df",
    "aic": "AIC",
    "bic": "BIC",
    "llf": "Log-likelihood",
    "n_judgments": "Judgments",
    "n_comparisons": "Comparisons",
    "n_ties": "Ties",
}
_COUNTS = ("df_resid", "n_judgments", "n_comparisons", "n_ties")
_WHOLE = "whole answers"  # in place of a link
_ROUNDING = 1e-7  # a deviance below that is 0


@dataclass(frozen=True, eq=False)
class MaketablesFit:
    """A fit with the attributes that maketables' plug-in format names, and no others.

    A fit itself has ``params``, ``bse`` and ``pvalues``: maketables (0.2) takes it for one of statsmodels' before it
    looks for these attributes, and prints the number of cells as observations.

    Attributes
    ----------
    coefficients : DataFrame
        term, estimate, std_error, statistic, p_value, conf_low, conf_high.
    figures : mapping of str to float
    """

    coefficients: pd.DataFrame
    figures: Mapping[str, float]

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        names = {"estimate": "b", "std_error": "se", "statistic": "t", "p_value": "p"}
        renamed = self.coefficients.rename(columns=names | {"conf_low": "ci95l", "conf_high": "ci95u"})
        return renamed.set_index("term").rename_axis("Coefficient")

    @property
    def __maketables_depvar__(self) -> str:
        return "log-worths λ"

    @property
    def __maketables_default_stat_keys__(self) -> list[str]:
        return list(_FIGURES)

    @property
    def __maketables_stat_labels__(self) -> dict[str, str]:
        return dict(_FIGURES)

    def __maketables_stat__(self, key: str) -> float | int | None:
        key = {"N": "n_judgments", "ll": "llf"}.get(key, key)
        value = self.figures.get(key, np.nan)
        if np.isnan(value):
            return None
        return int(value) if key in _COUNTS and float(value).is_integer() else value


@dataclass(frozen=True, repr=False, eq=False)
class ModelTable(Record):
    """Fits side by side. M fits, T terms.

    Made by `model_table`.

    Attributes
    ----------
    names : tuple of str
        Headings of the M fits.
    formulas, links : tuple of str
    terms : tuple of str
        Names of all parameters: those of the worth, then of ties, then of order; then σ of effects, by their brackets,
        and discriminations, by judge.
    estimate, std_error, statistic, p_value, conf_low, conf_high : ndarray, shape (T, M)
        As each fit has them; NaN where it does not have the term.
    has_term : ndarray of bool, shape (T, M)
    figures : DataFrame
        deviance, df_resid, aic, bic, llf, n_judgments, n_comparisons, n_ties; one row per fit.
    below : str or None
        What is printed below the estimates.
    stars : bool
    digits : int
    confidence : float
    notes : tuple of str
    """

    names: tuple[str, ...]
    formulas: tuple[str, ...]
    links: tuple[str, ...]
    terms: tuple[str, ...]
    estimate: FloatArray
    std_error: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    has_term: BoolArray
    figures: pd.DataFrame
    below: Below | None
    stars: bool
    digits: int
    confidence: float
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return model, term, estimate, std_error, statistic, p_value, conf_low, conf_high; a row per parameter."""
        m, t = np.nonzero(self.has_term.T)
        columns = ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")
        labels = {"model": [self.names[k] for k in m], "term": [self.terms[k] for k in t]}
        return pd.DataFrame(labels | {name: getattr(self, name)[t, m] for name in columns})

    def for_maketables(self) -> list[MaketablesFit]:
        """Return the fits as the library maketables takes them, for tables in Word and Typst: ``ETable(…)``."""
        frame, figures = self.to_frame(), self.figures.T.to_dict()
        return [
            MaketablesFit(frame[frame["model"] == name].drop(columns="model"), {f: figures[name][f] for f in _FIGURES})
            for name in self.names
        ]

    def _in_digits(self, digits: int) -> ModelTable:
        return replace(self, digits=digits)

    def table(self) -> Table:
        """Return the terms with what is below them in the rows, then the figures of fit."""
        each = 1 if self.below is None else 2
        labels = [label for term in self.terms for label in (term, "")[:each]]
        rows = [*labels, "", *_FIGURES.values()]
        printed = enumerate(zip(self.names, *self._printed(), strict=True))
        columns = [
            Field(name, name, self._column(k, at, below), "composed", self.digits) for k, (name, at, below) in printed
        ]
        return Table(
            (Field("term", "", rows), *columns),
            title=_title(set(self.links)),
            head=tuple(f"{name}: {formula}" for name, formula in zip(self.names, self.formulas, strict=True)),
            notes=self.notes,
        )

    def _column(self, k: int, estimates: list[str], below: list[str]) -> list[str]:
        """Return the printed cells of one fit."""
        each = 1 if self.below is None else 2
        cells = [text for pair in zip(estimates, below, strict=True) for text in pair[:each]]
        return [*cells, "", *(_figure(name, self.figures[name].iloc[k]) for name in _FIGURES)]

    def _printed(self) -> tuple[list[list[str]], list[list[str]]]:
        """Return what stands at each term and below it, a list for each fit; all have the same decimals."""
        inside = [self.conf_low, self.conf_high] if self.below == "conf_int" else [self.std_error]
        blocks = _formatted([self.estimate, *inside], self.digits)
        if self.below == "statistic":
            blocks[1:] = _formatted([self.statistic], self.digits)
        marks = [[stars(p).strip(".") if self.stars else "" for p in column] for column in self.p_value.T]
        room = 3 if self.stars else 0  # so that decimals stand below each other
        estimates = _joined([blocks[0], marks], lambda text, mark: f"{text}{mark:<{room}}")
        if self.below == "conf_int":
            below = _joined(blocks[1:], lambda low, high: f"[{low}, {high}]" + " " * max(0, room - 1))
        else:
            below = _joined(blocks[1:], lambda text: f"({text})" + " " * max(0, room - 1))
        return _where(self.has_term, estimates), _where(self.has_term & ~np.isnan(self.std_error), below)


def _title(links: set[str]) -> str:
    if links == {_WHOLE}:
        return "Models of lists and patterns"
    return "Log-linear Bradley-Terry models" if links == {"adjacent"} else "Bradley-Terry models"


def _formatted(blocks: Sequence[FloatArray], digits: int) -> list[list[list[str]]]:
    """Return blocks (T, M) as texts with the same decimals: block, fit, term."""
    stacked = np.stack([block.T for block in blocks])
    texts = np.array(format_estimates(stacked.ravel(), digits), dtype=object).reshape(stacked.shape)
    return cast("list[list[list[str]]]", texts.tolist())


def _joined(blocks: Sequence[list[list[str]]], join: Callable[..., str]) -> list[list[str]]:
    return [[join(*cells) for cells in zip(*columns, strict=True)] for columns in zip(*blocks, strict=True)]


def _where(there: BoolArray, columns: list[list[str]]) -> list[list[str]]:
    """Return columns with nothing where nothing is there."""
    return [
        [text if kept else "" for text, kept in zip(column, keep, strict=True)]
        for column, keep in zip(columns, there.T, strict=True)
    ]


@checked
def model_table(
    results: Annotated[Sequence[WithWorths], JUDGED_INSIDE],
    *,
    names: Sequence[str] | None = None,
    below: Below | None = "std_error",
    stars: bool = True,
    digits: Digits = 3,
    confidence: Confidence = 0.95,
    keep: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    rename: Mapping[Any, str] | None = None,
) -> ModelTable:
    """Return fits side by side, as papers print them: terms in the rows, a column per fit, figures of fit at the foot.

    Parameters
    ----------
    results : sequence of LLBTResults, MixedResults, DiscriminationResults, RankingResults or PatternResults
        The standard deviations of effects of judges are rows of their own, beside those of fits without, named by their
        brackets; figures of fit are then those of the judgments, Σ n log p. Discriminations are rows of their own, too.
        Fits of lists and of patterns have a likelihood of whole answers, which compares with that of the same answers
        alone.
    names : sequence of str, optional
        Headings of the fits; by default (1), (2), …
    below : {"std_error", "statistic", "conf_int"} or None
        What stands in brackets below an estimate.
    stars : bool
        Whether to mark p-values below 0.05, 0.01 and 0.001.
    digits : int
        Significant digits of the smallest number; all have the same decimals.
    confidence : float
        Level of the intervals.
    keep, drop : sequence of str, optional
        Parameters that stay, or go: ``"tie"``, ``"object[A]"``, or a term of a formula for all of its parameters:
        ``"object:judge"``. A note says how many went.
    rename : mapping, optional
        Other names of parameters, or of labels in them: ``{"tie": "Ties", "gpt-4-0613": "GPT-4"}``.

    Returns
    -------
    ModelTable
        ``to_frame()`` has a row per fit and parameter (model, term, estimate, std_error, statistic, p_value, conf_low,
        conf_high), ``figures`` a row per fit, both unrounded; ``as_text()``, ``as_html()``, ``as_latex()`` and
        ``as_markdown()`` print.

    Raises
    ------
    OptionError
        For anything but fits, names that are not one for each, parameters to keep or drop that there are not, and two
        parameters renamed to one name.

    Notes
    -----
    Estimates are on the log-worth scale λ. For Word and Typst:
    ``maketables.ETable(model_table([m1, m2]).for_maketables()).save(type="docx", file_name="models.docx")``.

    Examples
    --------
    >>> import llbt
    >>> table = llbt.load_dataset("dras_table1")
    >>> fits = [llbt.fit("object + tie", table), llbt.fit("object * judge + tie", table)]
    >>> llbt.model_table(fits).figures[["df_resid", "n_judgments"]].values.tolist()
    [[44, 960], [35, 960]]
    """
    fits = _checked(results, below)
    headings = _headings(names, len(fits))
    every = _terms(fits)
    terms = chosen(every, fits, keep, drop)
    gone = len(every) - len(terms)
    columns = [_columns_of(fit, confidence) for fit in fits]
    values = {name: _spread(terms, [column[name] for column in columns]) for name in columns[0]}
    return ModelTable(
        headings,
        tuple(fit.specification.formula for fit in fits),
        tuple(_kind(fit) for fit in fits),
        called(terms, rename),
        values["estimate"],
        values["std_error"],
        values["statistic"],
        values["p_value"],
        values["conf_low"],
        values["conf_high"],
        np.array([[term in column.index for column in columns] for term in terms]),
        pd.DataFrame([_figures_of(fit) for fit in fits], index=list(headings)),
        below,
        stars,
        int(digits),
        confidence,
        _notes(fits, headings, below, stars, confidence)
        + ((f"{counted(gone, 'parameter')} left out",) if gone else ()),
    )


def _checked(results: object, below: object) -> list[WithWorths]:
    if isinstance(results, WithWorths) or not isinstance(results, Sequence) or not results:
        raise OptionError(
            f"found {'nothing' if isinstance(results, Sequence) else kind_of(results)}",
            expected="a list of fits: llbt.model_table([m0, m1])",
        )
    for k, res in enumerate(results):
        if not isinstance(res, WithWorths):
            raise OptionError(f"number {k} is {kind_of(res)}", expected="fits, as llbt.fit returns")
    return list(results)


def _headings(names: Sequence[str] | None, size: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"({k})" for k in range(1, size + 1))
    given = [names] if isinstance(names, str) else list(names)
    if len(given) != size or len(set(map(str, given))) != size:
        raise OptionError(f"names={given!r}", expected=f"{counted(size, 'name')}, another one for each fit")
    return tuple(map(str, given))


def _kind(fit: WithWorths) -> str:
    """Return the link of a fit, or that it is of whole answers."""
    return _WHOLE if isinstance(fit, WorthEstimates) else fit.specification.link


def _terms(fits: Sequence[WithWorths]) -> tuple[str, ...]:
    """Return all parameters: by what they describe, then as they first appear; then what judges differ by."""
    block: dict[str, str] = {n: b for fit in fits for n, b in zip(fit.design.names, fit.design.blocks, strict=True)}
    block = {n: "tie" for fit in fits if isinstance(fit, WorthEstimates) for n in fit.names_beside} | block
    names = sorted(dict.fromkeys(n for fit in fits for n in fit.names), key=lambda n: _BLOCKS.index(block[n]))
    return (*names, *dict.fromkeys(name for fit in fits for name in _differing(fit)))


def _differing(fit: WithWorths) -> list[str]:
    """Return what the rows of effects and discriminations are called."""
    if isinstance(fit, DiscriminationResults):
        return [f"σ[{level}]" for level in fit.judging.levels]
    return [str(bracket) for bracket in fit.brackets] if isinstance(fit, MixedResults) else []


def _columns_of(fit: WithWorths, confidence: float) -> pd.DataFrame:
    """Return estimate, std_error, statistic, p_value, conf_low and conf_high by term, those of σ by its logarithm."""
    columns = (fit.params, fit.bse, fit.tvalues, fit.pvalues)
    found = pd.DataFrame({str(column.name): column for column in columns}).join(fit.conf_int(1 - confidence))
    if isinstance(fit, LLBTResults | WorthEstimates):
        return found
    if isinstance(fit, DiscriminationResults):
        factors = fit.by_judge(confidence=confidence).to_frame().set_axis(_differing(fit))
        return pd.concat([found, factors.reindex(columns=found.columns)])
    sigma, error = fit.scales, fit.scale_errors
    reach = np.exp(stats.norm.isf((1 - confidence) / 2) * error / sigma.where(sigma > 0))
    scales = {"estimate": sigma, "std_error": error, "conf_low": sigma / reach, "conf_high": sigma * reach}
    return pd.concat([found, pd.DataFrame(scales).reindex(columns=found.columns)])


def _spread(terms: Sequence[str], columns: Sequence[pd.Series[float]]) -> FloatArray:
    """Return the values of each fit at its terms, shape (T, M)."""
    return np.column_stack([column.reindex(list(terms)).to_numpy(dtype=float) for column in columns])


def _figures_of(res: WithWorths) -> dict[str, float]:
    """Return the figures of a fit; AIC, BIC and likelihood are those of the judgments, Σ n log p."""
    c, none = res.comparisons, {"deviance": np.nan, "df_resid": np.nan}
    figures = {"aic": res.aic, "bic": res.bic, "llf": res.llf}
    if isinstance(res, WorthEstimates):
        counts = {"n_judgments": res.n_judgments, "n_comparisons": np.nan, "n_ties": np.nan}
        return {**none, **figures, **counts}
    counts = {"n_judgments": c.n_judgments, "n_comparisons": len(c), "n_ties": c.n_ties if c.has_ties else np.nan}
    deviance = none if isinstance(res, MixedResults) else {"deviance": res.deviance, "df_resid": res.df_resid}
    return {**deviance, **figures, **counts}


def _bases(fits: Sequence[WithWorths], names: Sequence[str]) -> tuple[str, ...]:
    """Say which fits have likelihoods of something else than the first, and of what."""
    first = fits[0].basis
    others = {name: first.difference(fit.basis) for name, fit in zip(names, fits, strict=True)}
    return tuple(
        f"AIC, BIC and log-likelihood of {name} and {names[0]} do not compare: {reason}"
        for name, reason in others.items()
        if reason
    )


def _figure(name: str, value: float) -> str:
    if np.isnan(value):
        return "none"
    if name in _COUNTS:
        return format_count(float(value))
    return format_number(0.0 if abs(value) < _ROUNDING else float(value))


def _notes(
    results: Sequence[WithWorths], names: Sequence[str], below: Below | None, marked: bool, confidence: float
) -> tuple[str, ...]:
    fits = [average_of(res) for res in results]
    graded = any(fit.comparisons.response.grades for fit in fits)
    odds = "the odds of i over j" + (", both of the first grade," if graded else "")
    links = [fit.specification.link for fit in fits]
    notes = [f"estimates are on the log-worth scale λ: {odds} are exp(2(λᵢ − λⱼ))"]
    if any(not fit.log_linear for fit in fits):
        notes = [
            "estimates are on the log-worth scale λ of their own link, and tie and grade are γ, or cuts: "
            + ", ".join(f"{name} {link}" for name, link in zip(names, links, strict=True))
        ]
    whole = any(isinstance(res, WorthEstimates) for res in results)
    notes.append(
        "AIC, BIC and log-likelihood are of the judgments, Σ n log p"
        + ("; a whole ranking or pattern is one judgment" if whole else "")
    )
    notes += _bases(results, names)
    if any(isinstance(res, MixedResults) for res in results):
        notes.append("rows such as (object | judge) are the standard deviations σ of normal effects of judges")
    if any(isinstance(res, DiscriminationResults) for res in results):
        notes.append("σ[…] are discriminations: factors on the log-worths of a judge, their mean square 1")
    notes += [] if below is None else [_BELOW[below].format(level=f"{100 * confidence:.4g} %")]
    notes += [_STARS] if marked else []
    references = [str(fit.design.reference) for fit in fits if "worth" in fit.design.blocks]
    if len(set(references)) == 1:
        notes.append(f"reference object {references[0]}")
    elif references:
        notes.append("reference objects differ, and so do the estimates: " + ", ".join(references))
    if any(not fit.comparisons.same_counts(fits[0].comparisons) for fit in fits):
        notes.append("the fits are not all of one table, so deviances do not compare")
    notes += bic_reservation(fits)
    for name, fit in zip(names, fits, strict=True):
        notes += [f"{name}: {note}" for note in fit.covariance.notes]
        notes += [f"{name}: held: {', '.join(fit.fixed)}"] if fit.fixed else []
        notes += [f"{name}: NA: aliased, not determined by the table: {', '.join(fit.aliased)}"] if fit.aliased else []
    return tuple(notes)
