"""Hints for names from R, statsmodels, scikit-learn and pandas: what to type here."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ..errors import OptionError, listed, safe_repr

_ALIKE = 0.75  # difflib's ratio from which two names are similar
_LONGEST = 40  # most characters of a value that a hint repeats

# Other packages' names for arguments that several functions have.
ARGUMENTS: dict[str, str] = {
    **dict.fromkeys(("B", "R", "n_boot", "nboot", "n_resamples", "n_bootstrap", "nsim", "n_sim", "reps"), "n"),
    **dict.fromkeys(("seed", "random_state", "random_seed"), "rng"),
    **dict.fromkeys(("level", "conf_level", "confidence_level", "ci"), "confidence"),
    **dict.fromkeys(("cores", "ncpus", "n_cores", "n_workers", "workers"), "n_jobs"),
    **dict.fromkeys(("newdata", "X", "exog", "df"), "frame"),
    **dict.fromkeys(("ref", "refcat", "base", "baseline", "reference_level"), "reference"),
    **dict.fromkeys(("by", "strata", "cluster", "unit"), "resample"),
    **dict.fromkeys(("padjust", "p_adjust", "adjust_method", "correction"), "adjust"),
    **dict.fromkeys(("verbose", "disp"), "progress"),
    **dict.fromkeys(("title",), "caption"),
    **dict.fromkeys(("type", "units"), "scale"),
}
_WEIGHTS = ("weights", "weight", "sample_weight", "sample_weights", "freq_weights", "var_weights", "pweights")
_CLUSTERED = "cov_type='cluster', groups={judge}"
# What to type for arguments that one function lacks; {judge} is a column of clusters, {value} what was passed.
OF_FUNCTION: dict[tuple[str, str], str] = {
    **dict.fromkeys((("fit", name) for name in ("cluster", "clusters", "vcov", "cov_kwds", "vcov_type")), _CLUSTERED),
    **dict.fromkeys((("fit", name) for name in ("robust", "se", "cov")), "cov_type='cautious'"),
    **dict.fromkeys((("fit", name) for name in ("alpha", "ridge", "C", "br")), "prior='jeffreys'"),
    ("fit", "family"): "link='probit'",
    **dict.fromkeys(
        (("fit", name) for name in _WEIGHTS),
        "llbt.fit({formula}, llbt.from_judgments(frame, weights={value}, clusters={judge}), "
        "cov_type='cluster', groups={judge})",
    ),
}

# Other packages' names for attributes of a fit, and what to type.
OF_FITS: dict[str, str] = {
    **dict.fromkeys(("coef", "coef_", "coefs", "coefficients", "beta", "estimate"), "res.params"),
    **dict.fromkeys(("vcov", "cov", "covariance_matrix"), "res.cov_params()"),
    **dict.fromkeys(("logLik", "loglik", "loglike", "log_likelihood", "loglikelihood"), "res.llf"),
    **dict.fromkeys(("AIC",), "res.aic"),
    **dict.fromkeys(("BIC",), "res.bic"),
    **dict.fromkeys(("confint", "conf", "ci"), "res.conf_int()"),
    **dict.fromkeys(("se", "std_err", "std_errors", "stderr"), "res.bse"),
    **dict.fromkeys(("p_values", "pvalue", "p_value"), "res.pvalues"),
    **dict.fromkeys(("zvalues", "tstat", "t_values", "z_values"), "res.tvalues"),
    **dict.fromkeys(("n", "n_obs", "size"), "res.nobs"),
    **dict.fromkeys(("fitted", "fitted_values", "predict_proba", "probabilities"), "res.predict()"),
    **dict.fromkeys(("resid", "resids"), "llbt.residuals(res)"),
    **dict.fromkeys(("ranking", "ranks", "ratings", "board"), "llbt.leaderboard(res)"),
    **dict.fromkeys(("elo",), "llbt.leaderboard(res, scale='elo')"),
    **dict.fromkeys(("worths", "strengths", "abilities", "theta", "pi"), "llbt.worth(res)"),
    **dict.fromkeys(("compare", "emmeans", "pairs"), "llbt.pairwise(res)"),
    **dict.fromkeys(("boot",), "llbt.bootstrap(res)"),
    **dict.fromkeys(("tidy", "summary2", "coeftable"), "res.summary()"),
    **dict.fromkeys(("data", "frame"), "res.comparisons"),
    **dict.fromkeys(("plot", "plots"), "llbt.plot.worth(res)"),
    **dict.fromkeys(("save", "dump"), "pandas.to_pickle(res, 'fit.pickle')"),
    "fit": "llbt.fit('object', res.answers)",
    "audit": "llbt.audit(res.answers)",
    "power": "llbt.planning.needed(res, top=1)",
}
# Methods that data have in other packages but are functions here, and what to type.
OF_DATA: dict[tuple[str, str], str] = {
    **dict.fromkeys(((data, "fit") for data in ("Comparisons", "Patterns", "Rankings")), "llbt.fit('object', c)"),
    ("Judgments", "fit"): "llbt.fit('object', llbt.from_judgments(judgments))",
    **dict.fromkeys(((data, "audit") for data in ("Comparisons", "Rankings")), "llbt.audit(c)"),
    ("Judgments", "audit"): "llbt.audit(judgments)",
    ("Comparisons", "leaderboard"): "llbt.leaderboard(llbt.fit('object', c))",
    ("Comparisons", "worth"): "llbt.worth(llbt.fit('object', c))",
}
# Other packages' names for ways to write an answer.
_WRITTEN = {
    "to_latex": "as_latex()",
    "to_html": "as_html()",
    "to_markdown": "as_markdown()",
    "to_string": "as_text()",
    "to_pandas": "to_frame()",
    "save": "to_csv('table.csv')",
    "df": "to_frame()",
    "style": "as_html()",
    "print": "as_text()",
}


class UnknownArgumentError(OptionError, TypeError):
    """An argument that a function does not have, with what to type instead."""


class ArgumentCountError(OptionError, TypeError):
    """A call without a required argument, or with more arguments without names than the function takes."""


class UnknownColumnError(OptionError, KeyError):
    """A column that a table does not have."""


def refuse_count(
    function: str, plain: Sequence[str], named: Sequence[str], required: Sequence[str], passed: Collection[str], n: int
) -> None:
    """Raise if a required argument is missing, or if more values without names are passed than the function takes.

    Parameters
    ----------
    function : str
        The name of the function, without a class.
    plain, named, required : sequence of str
        The arguments that may be passed without a name, in their order; those that may not; those without a default.
    passed : collection of str
        The passed arguments.
    n : int
        How many values were passed without a name.
    """
    missing = [name for name in required if name not in passed]
    if missing:
        call = f"{function}({', '.join(name for name in required if name not in ('self', 'cls'))})"
        raise ArgumentCountError(f"no {' and no '.join(map(repr, missing))} was passed", expected=call)
    if n > len(plain):
        owner = sum(name in ("self", "cls") for name in plain[:1])
        raise ArgumentCountError(
            f"{n - owner} value{'s' * (n - owner > 1)} without a name",
            f"Pass the others by name: {', '.join(f'{name}=…' for name in named)}." if named else "",
            expected=f"at most {len(plain) - owner} ({listed(plain[owner:])})" if len(plain) > owner else "none",
        )


def unknown_argument(
    function: str, name: str, value: object, known: Sequence[str], passed: Mapping[str, object]
) -> UnknownArgumentError:
    """Return the error for an argument that a function does not have.

    Parameters
    ----------
    function : str
        The name of the function, without a class.
    name : str
        The name of the argument.
    value : object
        The passed value.
    known : sequence of str
        The arguments that the function has.
    passed : mapping
        The passed arguments; one may hold the judgments with their clusters.
    """
    fault = f"there is no argument {name!r}"
    remedy = OF_FUNCTION.get((function, name), "")
    if remedy:
        column = _cluster(None if "{value}" in remedy else value, passed)
        formula = passed.get("formula", "object + tie")
        words = {
            "{value}": _short(value if isinstance(value, str) else "weight"),
            "{formula}": _short(formula),
            "{judge}": repr(column),
        }
        for word, text in words.items():
            remedy = remedy.replace(word, text)
        return UnknownArgumentError(fault, f"Type {remedy}.")
    other = ARGUMENTS.get(name, "")
    if name == "alpha" and "confidence" in known and isinstance(value, float):
        return UnknownArgumentError(fault, f"Type confidence={1 - value:.6g}.")
    if other in known:
        return UnknownArgumentError(fault, f"Type {other}={_short(value)}.")
    close = difflib.get_close_matches(name, known, 1, _ALIKE)
    if close:
        return UnknownArgumentError(fault, f"Did you mean {close[0]!r}?")
    return UnknownArgumentError(fault, expected=f"some of {listed(known, 20)}")


def _short(value: object) -> str:
    text = safe_repr(value)
    return text if len(text) <= _LONGEST and "\n" not in text else "…"


def _cluster(value: object, passed: Mapping[str, object]) -> object:
    """Return the column of clusters that was probably meant: the passed text, else the first cluster of a table.

    A text that is no cluster of the table is the name of an estimator, such as ``"HC1"``.
    """
    clusters = [name for table in passed.values() for name in getattr(table, "clusters", ())]
    if isinstance(value, str) and (value in clusters or not clusters):
        return value
    return next(iter(clusters), "judge")


def _hint(kind: type, name: str) -> str:
    """Return what to type for a name that a kind of record does not have; empty if unknown."""
    of_fit = OF_FITS.get(name, "") if hasattr(kind, "params") else ""
    first = of_fit.removeprefix("res.").partition("(")[0] if of_fit.startswith("res.") else ""
    if of_fit and (not first or hasattr(kind, first)):
        return f"Type {of_fit}."
    if (kind.__name__, name) in OF_DATA:
        return f"Type {OF_DATA[kind.__name__, name]}."
    if name == "plot":
        return _picture_of(kind)
    if name in _WRITTEN:
        return f"Type .{_WRITTEN[name]}."
    if hasattr(pd.DataFrame, name):
        return f"It belongs to the data frame: .to_frame().{name}."
    known = [one for one in (*dir(kind), *getattr(kind, "__dataclass_fields__", ())) if one[0] != "_"]
    close = difflib.get_close_matches(name, known, 1, _ALIKE)
    return f"Did you mean {close[0]!r}?" if close else ""


def _picture_of(kind: type) -> str:
    """Return the plot whose first argument is a record of this kind."""
    plot = getattr(sys.modules.get("llbt"), "plot", None)
    for name in getattr(plot, "__all__", ()):
        first = next(iter(inspect.signature(getattr(plot, name)).parameters.values()))
        if re.search(rf"\b{kind.__name__}\b", str(first.annotation)) and kind.__name__ != "Table":
            return f"Type llbt.plot.{name}(…)."
    return "Pictures are functions: llbt.plot.worth(res)."


def unknown_attribute(kind: type, name: str) -> AttributeError:
    """Return the error for a name that a kind of record does not have, with what to type instead."""
    return AttributeError(_Missing(kind, name))


@dataclass(frozen=True, repr=False)
class _Missing:
    """The message of the error, composed only when it is read, because `hasattr` asks often and reads none."""

    kind: type
    name: str

    def __str__(self) -> str:
        message = f"{self.kind.__name__} has no attribute {self.name!r}"
        hint = "" if self.name.startswith("_") else _hint(self.kind, self.name)
        return f"{message}. {hint}" if hint else message

    def __repr__(self) -> str:
        return repr(str(self))


def unknown_column(name: object, known: Sequence[str]) -> UnknownColumnError:
    """Return the error for a name that is no column of a table, or for the position of a row."""
    if isinstance(name, int | slice | tuple):
        return UnknownColumnError(f"[{name!r}] is not a column", "Get a row by its position: .to_frame().iloc[0].")
    close = difflib.get_close_matches(str(name), known, 1)
    hint = f"Did you mean {close[0]!r}?" if close else ""
    return UnknownColumnError(f"no column {safe_repr(name)}", hint, expected=f"one of {listed(known, 20)}")
