"""Several fits side by side, as papers print them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, Confidence, Digits, checked
from ..base.frame_styles import FrameStyle, in_style
from ..base.table import (
    Field,
    Record,
    Table,
    about,
    counted,
    format_count,
    format_estimates,
    format_number,
    format_percent,
    stars,
)
from ..core.columns import FloatArray
from ..errors import OptionError, kind_of
from ..fitting.fitted import AnyFit, ClassSource, OneSource
from .model_columns import WHOLE, ModelColumn, model_columns
from .model_terms import called, chosen

BoolArray = npt.NDArray[np.bool_]
Below = Literal["std_error", "statistic", "conf_int"]

_BLOCKS = ("worth", "tie", "bad", "grade", "order")
_BELOW = {
    "std_error": "in parentheses: standard errors",
    "statistic": "in parentheses: estimates over their standard errors",
    "conf_int": "in parentheses: {level} confidence intervals",
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
_MORE = {  # where a fit has them
    "share": "Share of judges",
    "n_labels": "Labelled units",
    "n_units": "Units",
    "effective_labels": "Effective labels",
}
_COUNTS = ("df_resid", "n_judgments", "n_comparisons", "n_ties", "n_labels", "n_units")
_VALUES = ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")
_ROUNDING = 1e-7  # a deviance below that is 0


@dataclass(frozen=True, eq=False)
class MaketablesFit:
    """A fit with only the attributes that maketables' plug-in format names.

    A fit of llbt also has ``params``, ``bse`` and ``pvalues``. So maketables (0.2) would take it for a fit of
    statsmodels before it looks for the plug-in attributes, and print the number of cells as observations.

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
        Headings of the M fits; for latent classes one for each class.
    formulas, links : tuple of str
    terms : tuple of str
        Names of all parameters, in this order: worths, ties, order effects, σ of effects (named by their brackets), and
        discriminations (by judge).
    estimate, std_error, statistic, p_value, conf_low, conf_high : ndarray, shape (T, M)
        The values of each fit; NaN where a fit does not have the term.
    has_term : ndarray of bool, shape (T, M)
    figures : DataFrame
        deviance, df_resid, aic, bic, llf, n_judgments, n_comparisons, n_ties; share (of judges) for latent classes;
        n_labels, n_units, effective_labels for calibrated worths. One row per heading, NaN where a fit has none.
    below : str or None
        The figures printed below the estimates.
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

    @checked
    def to_frame(self, style: FrameStyle = "llbt") -> pd.DataFrame:
        """Return model, term, estimate, std_error, statistic, p_value, conf_low, conf_high; a row per parameter.

        Parameters
        ----------
        style : {"llbt", "broom"}
            The column names: the names above, or the names of `tidy` in R's package broom: ``std.error``, ``p.value``,
            ….
        """
        m, t = np.nonzero(self.has_term.T)
        labels = {"model": [self.names[k] for k in m], "term": [self.terms[k] for k in t]}
        return in_style(pd.DataFrame(labels | {name: getattr(self, name)[t, m] for name in _VALUES}), style)

    def for_maketables(self) -> list[MaketablesFit]:
        """Return the fits as input for ``ETable(…)`` of the library maketables, for tables in Word and Typst."""
        frame, figures = self.to_frame(), self.figures.T.to_dict()
        return [
            MaketablesFit(frame[frame["model"] == name].drop(columns="model"), figures[name]) for name in self.names
        ]

    def _in_digits(self, digits: int) -> ModelTable:
        return replace(self, digits=digits)

    def table(self) -> Table:
        """Return the terms with the figures below them, then the figures of fit."""
        each = 1 if self.below is None else 2
        labels = [label for term in self.terms for label in (term, "")[:each]]
        rows = [
            *labels,
            "",
            *(figure_label for name, figure_label in (_FIGURES | _MORE).items() if name in self.figures),
        ]
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
        return [*cells, "", *(_figure(str(name), self.figures[name].iloc[k]) for name in self.figures)]

    def _printed(self) -> tuple[list[list[str]], list[list[str]]]:
        """Return the estimates and the figures below them as texts, one list for each fit, with the same decimals."""
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
    if links == {WHOLE}:
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
    """Return columns of texts, with an empty text where a fit lacks the term."""
    return [
        [text if is_there else "" for text, is_there in zip(column, keep, strict=True)]
        for column, keep in zip(columns, there.T, strict=True)
    ]


@checked
def model_table(
    results: Annotated[Sequence[AnyFit | OneSource | ClassSource], JUDGED_INSIDE],
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
    results : sequence of fits of any kind, Calibration or LatentClasses
        The standard deviations of effects of judges have their own rows, named by their brackets. Figures of fit then
        use the likelihood of the judgments, Σ n log p. Discriminations have their own rows, too. Fits of lists and of
        patterns have a likelihood of lists or patterns, which can be compared only with fits of the same data. Latent
        classes have a column for each class, with the likelihood of all classes together. Calibrated worths have no
        likelihood; they show the number of labels with the same precision. For very many objects, only log-worths named
        in `keep` are shown.
    names : sequence of str, optional
        Headings of the fits; by default (1), (2), …
    below : {"std_error", "statistic", "conf_int"} or None
        The figure in parentheses below an estimate.
    stars : bool
        Whether to mark p-values below 0.05, 0.01 and 0.001.
    digits : int
        Significant digits of the smallest number; all numbers have the same number of decimals.
    confidence : float
        Level of the intervals.
    keep, drop : sequence of str, optional
        Parameters to keep or to drop: ``"tie"``, ``"object[A]"``, or a term of a formula for all of its parameters:
        ``"object:judge"``. A note states the number of rows left out.
    rename : mapping, optional
        New names of parameters, or of labels in them: ``{"tie": "Ties", "gpt-4-0613": "GPT-4"}``.

    Returns
    -------
    ModelTable
        ``to_frame()`` has a row per fit and parameter (model, term, estimate, std_error, statistic, p_value, conf_low,
        conf_high), ``figures`` a row per fit, both unrounded; ``as_text()``, ``as_html()``, ``as_latex()`` and
        ``as_markdown()`` print.

    Raises
    ------
    OptionError
        For arguments that are not fits, a wrong number of names, unknown parameters in `keep` or `drop`, and two
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
    fits = _checked(results)
    columns = [column for fit in fits for column in fit]
    headings = tuple(
        " ".join(filter(None, (name, column.label)))
        for name, fit in zip(_headings(names, len(fits)), fits, strict=True)
        for column in fit
    )
    every = _terms(columns)
    terms = chosen(every, columns, keep, drop)
    gone = len(every) - len(terms)
    frames = [column.values(terms, confidence) for column in columns]
    values = {name: _spread(terms, [frame[name] for frame in frames]) for name in _VALUES}
    return ModelTable(
        headings,
        tuple(column.formula for column in columns),
        tuple(column.link for column in columns),
        called(terms, rename),
        values["estimate"],
        values["std_error"],
        values["statistic"],
        values["p_value"],
        values["conf_low"],
        values["conf_high"],
        np.array([[term in frame.index for frame in frames] for term in terms]),
        _figures_of(columns, headings),
        below,
        stars,
        int(digits),
        confidence,
        _notes(columns, headings, below, stars, confidence)
        + ((f"{counted(gone, 'parameter')} left out",) if gone else ()),
    )


def _checked(results: object) -> list[tuple[ModelColumn, ...]]:
    """Return the columns of each fit."""
    if _is_a_fit(results) or not isinstance(results, Sequence) or not results:
        raise OptionError(
            f"results= is {'empty' if isinstance(results, Sequence) else kind_of(results)}",
            expected="a list of fits: llbt.model_table([m0, m1])",
        )
    for k, res in enumerate(results):
        if not _is_a_fit(res):
            raise OptionError(f"number {k} is {kind_of(res)}", expected="fits, as llbt.fit returns")
    return [model_columns(res) for res in results]


def _is_a_fit(value: object) -> bool:
    return model_columns.dispatch(type(value)) is not model_columns.dispatch(object)


def _headings(names: Sequence[str] | None, size: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"({k})" for k in range(1, size + 1))
    given = [names] if isinstance(names, str) else list(names)
    if len(given) != size or len(set(map(str, given))) != size:
        raise OptionError(f"names={given!r}", expected=f"{counted(size, 'name')}, a different one for each fit")
    return tuple(map(str, given))


def _terms(columns: Sequence[ModelColumn]) -> tuple[str, ...]:
    """Return all parameters: by block, then by first appearance; then the parameters of judges."""
    block: dict[str, str] = {}
    for column in columns:
        block = {**block, **column.blocks}
    names = sorted(dict.fromkeys(n for column in columns for n in column.blocks), key=lambda n: _BLOCKS.index(block[n]))
    return (*names, *dict.fromkeys(name for column in columns for name in column.beside))


def _spread(terms: Sequence[str], columns: Sequence[pd.Series[float]]) -> FloatArray:
    """Return the values of each fit at its terms, shape (T, M)."""
    return np.column_stack([column.reindex(list(terms)).to_numpy(dtype=float) for column in columns])


def _figures_of(columns: Sequence[ModelColumn], headings: Sequence[str]) -> pd.DataFrame:
    """Return the figures of all fits, NaN where a fit has none; figures of special kinds only if a fit has them."""
    more = [name for name in _MORE if any(name in column.figures for column in columns)]
    figures = pd.DataFrame([dict(column.figures) for column in columns], index=list(headings))
    return figures.reindex(columns=[*_FIGURES, *more])


def _bases(columns: Sequence[ModelColumn], names: Sequence[str]) -> tuple[str, ...]:
    """Return notes on fits whose likelihood cannot be compared with the likelihood of the first fit, and why."""
    there = [(name, column.basis) for name, column in zip(names, columns, strict=True) if column.basis is not None]
    if not there:
        return ()
    first, basis = there[0]
    others = {name: basis.difference(other) for name, other in there}
    return tuple(
        f"AIC, BIC and log-likelihood of {name} and {first} cannot be compared: {reason}"
        for name, reason in others.items()
        if reason
    )


def _figure(name: str, value: float) -> str:
    if np.isnan(value):
        return "—"
    if name == "share":
        return format_percent(float(value))
    if name in _COUNTS:
        return format_count(float(value))
    return format_number(0.0 if abs(value) < _ROUNDING else float(value))


def _notes(
    columns: Sequence[ModelColumn], names: Sequence[str], below: Below | None, marked: bool, confidence: float
) -> tuple[str, ...]:
    graded = any(column.comparisons.response.grades for column in columns)
    odds = "the odds of i over j" + (", both of the first grade," if graded else "")
    links = ["adjacent" if column.link == WHOLE else column.link for column in columns]
    notes = [f"estimates are on the log-worth scale λ: {odds} are exp(2(λᵢ − λⱼ))"]
    if set(links) != {"adjacent"}:
        notes = [
            "estimates are on the log-worth scale λ of their own link, and tie and grade are γ, or cuts: "
            + ", ".join(f"{name} {link}" for name, link in zip(names, links, strict=True))
        ]
    whole = any(column.link == WHOLE for column in columns)
    if any(column.basis is not None for column in columns):
        notes.append(
            "AIC, BIC and log-likelihood are of the judgments, Σ n log p"
            + ("; a whole ranking or pattern is one judgment" if whole else "")
        )
    notes += _bases(columns, names)
    notes += dict.fromkeys(remark for column in columns for remark in column.remarks)
    notes += [] if below is None else [_BELOW[below].format(level=f"{100 * confidence:.4g} %")]
    notes += [_STARS] if marked else []
    references = [column.reference for column in columns if column.reference]
    if len(set(references)) == 1:
        notes.append(f"reference object {references[0]}")
    elif references:
        notes.append("reference objects differ, and so do the estimates: " + ", ".join(references))
    deviances = [column.comparisons for column in columns if "deviance" in column.figures]
    if any(not table.same_counts(deviances[0]) for table in deviances):
        notes.append("the fits are not all of one table, so deviances cannot be compared")
    notes += dict.fromkeys(note for column in columns for note in column.reservations)
    for name, column in zip(names, columns, strict=True):
        notes += [about(name, note) for note in column.notes]
    return tuple(notes)
