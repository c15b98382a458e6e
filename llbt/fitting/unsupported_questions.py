"""Questions that some kinds of fit cannot answer: the reason, and what to ask instead.

The suggested call runs when it is pasted. In it ``{plain}`` stands for the call that fits the pairs of the fit's table
as plain judgments, ``{formula}`` for the formula of that call, and ``{judge}`` for the grouping that has effects, or
else the first cluster or covariate of the data.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import OptionError

_NO_COUNTS = "a fit with normal effects has no fitted counts: its probabilities depend on the effects"
_OF_EFFECTS = "judges differ by normal effects here, and have no parameters of their own"

_WITHOUT = "Use a fit without effects, which takes the judgments as independent"

# function → why it does not answer, and what to do
OF_EFFECTS: Mapping[str, tuple[str, str]] = {
    "drift": (
        "paths of worths are not fitted together with normal effects",
        f"{_WITHOUT}: res = {{plain}}.",
    ),
    "grade_tests": (
        "scores of grades are tested with independent judgments, and normal effects make judgments dependent",
        "Use a clustered fit without brackets: llbt.grade_tests(llbt.fit({formula}, res.comparisons, "
        "cov_type='cluster', groups={judge})).",
    ),
    "tie_tests": (
        "ties are tested with independent judgments, and normal effects make judgments dependent",
        "Use a clustered fit without brackets: llbt.tie_tests(llbt.fit({formula}, res.comparisons, "
        "cov_type='cluster', groups={judge})).",
    ),
    "judges.summary": (
        "the model contains this judge's own effects, so it does not describe how the other judges would answer",
        "Pass a fit without effects, llbt.judges.summary(res.comparisons, model={plain}), or use "
        "llbt.judge_effects(res).",
    ),
    "planning.next_pairs": (
        "the information in a judgment depends on whether its judge is new or has known effects",
        f"{_WITHOUT}: llbt.planning.next_pairs({{plain}}).",
    ),
    "planning.needed": (
        "plans are for log-worths over all judges, and with normal effects log-worths are those of the average judge",
        "Use a clustered fit without brackets: llbt.planning.needed(llbt.fit({formula}, res.comparisons, "
        "cov_type='cluster', groups={judge}), split=1).",
    ),
    "reliability": (
        "with normal effects the worths are those of the average judge, and judges have no residuals of their own",
        "Use a clustered fit without brackets: llbt.reliability(llbt.fit({formula}, res.comparisons, "
        "cov_type='cluster', groups={judge}), judge={judge}).",
    ),
    "plot.judges": (_OF_EFFECTS, "Draw llbt.plot.judge_effects(llbt.judge_effects(res))."),
    "plot.network": (_NO_COUNTS, f"{_WITHOUT}: llbt.plot.network({{plain}})."),
    "plot.residuals": (_NO_COUNTS, f"{_WITHOUT}: llbt.plot.residuals({{plain}})."),
    "plot.ties": (
        _OF_EFFECTS,
        "Draw effects on ties, if the judge column is named judge: llbt.plot.judge_effects(llbt.judge_effects("
        "llbt.fit('object + tie + (tie | judge)', res.comparisons)), of='tie').",
    ),
}

_NO_COVARIANCE = "the covariance of all estimates is not computed for so many objects"
_SELECT = "Choose a few objects: llbt.pairwise(res, objects=res.comparisons.objects[:20]); or fit up to 10,000 objects."
_REFITS = "many refits of so many objects would take too long"
_RESAMPLE = (
    "Fit up to 10,000 objects: select them first, res.comparisons.select(objects=res.comparisons.objects[:1000])."
)

OF_LARGE: Mapping[str, tuple[str, str]] = {
    "add1": (_REFITS, _RESAMPLE),
    "bootstrap": (_REFITS, _RESAMPLE),
    "drift": (_NO_COVARIANCE, _RESAMPLE),
    "drop1": (_REFITS, _RESAMPLE),
    "fragility": (_REFITS, _RESAMPLE),
    "goodness_of_fit": (
        _REFITS,
        "Use res.deviance, res.df_resid and res.pearson_chi2; or fit up to 10,000 objects.",
    ),
    "best": (_NO_COVARIANCE, _RESAMPLE),
    "distribution": (_NO_COVARIANCE, _RESAMPLE),
    "posterior": (_NO_COVARIANCE, _RESAMPLE),
    "planning.needed": (_NO_COVARIANCE, _RESAMPLE),
    "planning.next_pairs": (_NO_COVARIANCE, _RESAMPLE),
    "quasi_variances": (_NO_COVARIANCE, _SELECT),
    "reliability": (_NO_COVARIANCE, _RESAMPLE),
    "sensitivity": (_REFITS, _RESAMPLE),
}

_OF_PAIRS = "a fit of lists has no counts of pairs, because pairs of one list are not independent"
_USE_PAIRS = "Use a fit of the pairs that the lists imply: res = {plain}."

_NO_EFFECTS = (
    "this fit of lists has no normal effects of judges",
    "Fit separate worths for each judge, and compare this fit with a fit of common worths by llbt.anova. Or fit normal "
    "effects to the pairs: llbt.fit('object + (object | judge)', res.comparisons), if the judge column is named judge.",
)

OF_LISTS: Mapping[str, tuple[str, str]] = {
    "drift": ("paths of worths are fitted to judgments of pairs", _USE_PAIRS),
    "grade_tests": ("lists have no grades", _USE_PAIRS),
    "tie_tests": ("in lists, more than two objects can be tied", _USE_PAIRS),
    "intransitivity": (_OF_PAIRS, "Pass the table of the pairs that the lists imply: res.comparisons."),
    "judge_effects": _NO_EFFECTS,
    "judges.dimension": _NO_EFFECTS,
    "judges.summary": (
        "the model must predict judgments of pairs, and a model of lists predicts lists",
        "Pass a fit of the pairs: llbt.judges.summary(res.comparisons, model={plain}).",
    ),
    "planning.needed": ("plans are for more judgments of pairs, or more clusters of them", _USE_PAIRS),
    "plot.judges": ("the picture shows judgments of pairs", _USE_PAIRS),
    "plot.network": ("the picture shows judgments of pairs", _USE_PAIRS),
    "plot.residuals": (_OF_PAIRS, "Use llbt.goodness_of_fit(res), which has observed and expected counts of pairs."),
    "reliability": ("reliability needs residuals of judgments of pairs", _USE_PAIRS),
    "plot.ties": ("lists have one δ for each number of tied objects, the same for all judges", "See res.summary()."),
}

_MORE_THAN_WORTHS = (
    "add1", "drift", "fragility", "goodness_of_fit", "grade_tests", "intransitivity",
    "judge_effects", "judges.dimension", "judges.summary", "level_tests", "planning.needed", "planning.next_pairs",
    "plot.discrimination", "plot.judges", "plot.network", "plot.residuals", "plot.ties", "posterior", "reliability",
    "residuals", "sensitivity", "tie_tests",
)  # fmt: skip

OF_CALIBRATED: Mapping[str, tuple[str, str]] = dict.fromkeys(
    (*_MORE_THAN_WORTHS, "simulate"),
    (
        "calibrated worths have no likelihood and no counts: their table holds the judgments of people and of machines "
        "together",
        "Use a fit of the labels alone, where human is what you passed to calibrate: llbt.fit('object + tie', "
        "llbt.from_judgments(human)).",
    ),
)

OF_CLASSES: Mapping[str, tuple[str, str]] = dict.fromkeys(
    (*_MORE_THAN_WORTHS, "distribution", "drop1"),
    (
        "a latent class has no judgments of its own: every judge belongs to each class with some probability",
        "Use the fit of all judges, or the classes themselves, where classes is the result of llbt.judges.classes: "
        "classes.best.pooled, classes.best.summary(), classes.best.worths().",
    ),
)


# -- attributes --------------------------------------------------------------------------------------------------------

# attribute → why a kind of fit does not have it, and what to use; {name} is the attribute
Figures = Mapping[str, tuple[str, str]]

_FITTED_COUNTS = (
    "df_null", "deviance", "null_deviance", "pearson_chi2", "fittedvalues", "resid_response", "resid_pearson",
    "resid_deviance", "hat_diag",
)  # fmt: skip
_POISSON = ("llf_poisson", "llf_multinomial", "aic_poisson", "bic_poisson")


def _figures(names: tuple[str, ...], why: str, remedy: str) -> Figures:
    return dict.fromkeys(names, (why, remedy))


_PLAIN_HAS = "Use a fit of the pairs, which takes the judgments as independent: {plain}.{name}."
_GLM = "the model is not a log-linear model of the counts"
_RESIDUAL_DF = "it would count the cells of a log-linear model, but this model is not log-linear"

FIGURES_OF_EFFECTS: Figures = {
    **_figures(_FITTED_COUNTS, "probabilities depend on the effects, so there are no fitted counts", _PLAIN_HAS),
    **_figures(_POISSON, _GLM + ", because judgments of one judge depend on each other", _PLAIN_HAS),
    "df_resid": (_RESIDUAL_DF, _PLAIN_HAS),
    "to_glm": (_GLM, "Use a fit of the pairs: {plain}.to_glm()."),
}

_NOT_LINEAR = "discriminations multiply the worths, so the model is not a GLM"

FIGURES_OF_DISCRIMINATION: Figures = {
    "hat_diag": (_NOT_LINEAR, _PLAIN_HAS),
    "to_glm": (_NOT_LINEAR, "Use a fit of the pairs: {plain}.to_glm()."),
}

_CELLS_OF_ANSWERS = "a ranking or pattern is one observation, and has no cells of pairs"
_OF_IMPLIED_PAIRS = "Use a fit of the pairs that the answers imply: {plain}.{name}."

FIGURES_OF_ANSWERS: Figures = {
    **_figures((*_FITTED_COUNTS, "n_cells", "df_resid"), _CELLS_OF_ANSWERS, _OF_IMPLIED_PAIRS),
    **_figures(_POISSON, _CELLS_OF_ANSWERS, _OF_IMPLIED_PAIRS),
    "counts": (_CELLS_OF_ANSWERS, "Use the pairs that the answers imply: res.comparisons.outcome_counts."),
    "to_glm": (_GLM, "Use a fit of the pairs that the answers imply: {plain}.to_glm()."),
}

_SELECTED = "llbt.fit({formula}, res.comparisons.select(objects=res.comparisons.objects[:100]))"

FIGURES_OF_LARGE: Figures = {
    "hat_diag": ("leverages need the covariance of all estimates", f"Fit fewer objects: {_SELECTED}.hat_diag."),
    "to_glm": ("a GLM of so many objects would be too large", f"Fit fewer objects: {_SELECTED}.to_glm()."),
}

_WEIGHTED = "the judgments of a judge belong to each class with some probability, so classes have no fitted counts"
_POOLED = "Use the fit in which all judges have the same worths: res.pooled.{name}."

FIGURES_OF_CLASSES: Figures = {
    **_figures((*_FITTED_COUNTS, "df_resid", "to_glm"), _WEIGHTED, _POOLED),
    **_figures(_POISSON, _GLM + ", because judgments of one judge depend on each other", _POOLED),
    "to_glm": (_GLM, "Use the fit in which all judges have the same worths: res.pooled.to_glm()."),
}

_NO_LIKELIHOOD = "calibrated estimates do not maximize a likelihood of labels and verdicts"
_LABELS = "llbt.fit({formula}, llbt.from_judgments(human))"
_OF_LABELS = f"Fit the labels alone, where human is what you passed to calibrate: {_LABELS}.{{name}}."
_BOTH = "its table holds the judgments of people and of machines together"

FIGURES_OF_CALIBRATED: Figures = {
    **_figures(
        (*_POISSON, "llf", "aic", "bic", "basis", "effective_params", "gradient_norm"),
        _NO_LIKELIHOOD,
        _OF_LABELS,
    ),
    **_figures((*_FITTED_COUNTS, "n_cells", "counts", "df_resid"), _BOTH, _OF_LABELS),
    **_figures(
        ("nobs", "n_judgments"),
        "labels and verdicts are counted separately",
        "Use the number of labelled units, res.n_labels, or of all units, res.n_units.",
    ),
    "n_iter": ("one equation is solved for each weight tried, so there is no single number of steps", _OF_LABELS),
    "bic_of": (_NO_LIKELIHOOD, f"Fit the labels alone: {_LABELS}.bic."),
    "to_glm": (_NO_LIKELIHOOD, f"Fit the labels alone: {_LABELS}.to_glm()."),
}


def no_profile(kind: type, part: str = "") -> OptionError:
    """Return the error that a kind of fit, or a `part` of a fit, has no profile intervals."""
    return OptionError(
        f"method='profile', but there are no profile likelihood intervals for {part}a {kind.__name__}",
        "Use Wald intervals: res.conf_int().",
    )
