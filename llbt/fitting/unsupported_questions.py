"""Questions that some kinds of fit cannot answer: the reason, and what to ask instead.

The suggested call runs when it is pasted. In it ``{plain}`` stands for the call that fits the pairs of the fit's table
as plain judgments, ``{formula}`` for the formula of that call, and ``{judge}`` for the grouping that has effects, or
else the first cluster or covariate of the data.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import OptionError

_NO_COUNTS = "a fit with normal effects has no fitted counts: its probabilities differ by the effects"
_OF_EFFECTS = "judges differ by normal effects here, and have no parameters of their own"

_WITHOUT = "Ask a fit without effects, which takes the judgments as independent"

# function → why it does not answer, and what to do
OF_EFFECTS: Mapping[str, tuple[str, str]] = {
    "drift": (
        "paths of worths are not fitted together with normal effects",
        f"{_WITHOUT}: res = {{plain}}.",
    ),
    "grade_tests": (
        "scores of grades are tested with independent judgments, and normal effects make them dependent",
        "Ask a fit without brackets that allows for it: llbt.grade_tests(llbt.fit({formula}, res.comparisons, "
        "cov_type='cluster', groups={judge})).",
    ),
    "tie_tests": (
        "ties are tested with independent judgments, and normal effects make them dependent",
        "Ask a fit without brackets that allows for it: llbt.tie_tests(llbt.fit({formula}, res.comparisons, "
        "cov_type='cluster', groups={judge})).",
    ),
    "judges.summary": (
        "the model contains this judge's own effects, so it cannot serve as the others' expectation",
        "Pass a fit without effects, llbt.judges.summary(res.comparisons, model={plain}), or ask "
        "llbt.judge_effects(res).",
    ),
    "planning.next_pairs": (
        "what a judgment tells depends on whether its judge is new or has effects that are known",
        f"{_WITHOUT}: llbt.planning.next_pairs({{plain}}).",
    ),
    "planning.needed": (
        "judgments are planned for log-worths over all judges, and with normal effects they are of the average judge",
        "Ask a fit without brackets that allows for judges who differ: llbt.planning.needed(llbt.fit({formula}, "
        "res.comparisons, cov_type='cluster', groups={judge}), split=1).",
    ),
    "reliability": (
        "with normal effects the worths are those of the average judge, and judges have no residuals of their own",
        "Ask a fit without brackets that allows for judges who differ: llbt.reliability(llbt.fit({formula}, "
        "res.comparisons, cov_type='cluster', groups={judge}), judge={judge}).",
    ),
    "plot.judges": (_OF_EFFECTS, "Draw llbt.plot.judge_effects(llbt.judge_effects(res))."),
    "plot.network": (_NO_COUNTS, f"{_WITHOUT}: llbt.plot.network({{plain}})."),
    "plot.residuals": (_NO_COUNTS, f"{_WITHOUT}: llbt.plot.residuals({{plain}})."),
    "plot.ties": (
        _OF_EFFECTS,
        "Draw effects on ties, of judges named judge: llbt.plot.judge_effects(llbt.judge_effects("
        "llbt.fit('object + tie + (tie | judge)', res.comparisons)), of='tie').",
    ),
}

_NO_COVARIANCE = "the covariance of all estimates of so many objects is not made"
_SELECT = "Ask for few of them: llbt.pairwise(res, objects=res.comparisons.objects[:20]); or fit up to 10,000 objects."
_REFITS = "a fit of so many objects is not made again and again"
_RESAMPLE = (
    "Fit up to 10,000 objects, those of a table such as res.comparisons.select(objects=res.comparisons.objects[:1000])."
)

OF_LARGE: Mapping[str, tuple[str, str]] = {
    "add1": (_REFITS, _RESAMPLE),
    "bootstrap": (_REFITS, _RESAMPLE),
    "drift": (_NO_COVARIANCE, _RESAMPLE),
    "drop1": (_REFITS, _RESAMPLE),
    "fragility": (_REFITS, _RESAMPLE),
    "goodness_of_fit": (
        _REFITS,
        "Ask for res.deviance, res.df_resid and res.pearson_chi2; or fit up to 10,000 objects.",
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

_OF_PAIRS = "a fit of lists has no counts of pairs, for pairs of one list are not independent"
_ON_PAIRS = "of the pairs that the lists imply: res = {plain}"

OF_LISTS: Mapping[str, tuple[str, str]] = {
    "drift": ("paths of worths are fitted to judgments of pairs", f"Ask it of a fit {_ON_PAIRS}."),
    "grade_tests": ("lists have no grades", f"Ask it of a fit {_ON_PAIRS}."),
    "tie_tests": ("ties of lists are of several objects", f"Ask it of a fit {_ON_PAIRS}."),
    "intransitivity": (_OF_PAIRS, "Pass the table of the pairs that the lists imply: res.comparisons."),
    "judge_effects": (
        "judges have no normal effects in a fit of lists",
        "Fit worths of their own, to be compared by llbt.anova with one for all; normal effects are fitted to pairs: "
        "llbt.fit('object + (object | judge)', res.comparisons), where the judges are named judge.",
    ),
    "judges.summary": (
        "the model must predict judgments of pairs, and a model of lists predicts lists",
        "Pass a fit of the pairs: llbt.judges.summary(res.comparisons, model={plain}).",
    ),
    "planning.needed": ("what is added is judgments of pairs or their clusters", f"Ask it of a fit {_ON_PAIRS}."),
    "plot.judges": ("the picture is of judgments of pairs", f"Draw that of a fit {_ON_PAIRS}."),
    "plot.network": (
        "the picture is of judgments of pairs",
        f"Draw the picture of a fit {_ON_PAIRS}.",
    ),
    "plot.residuals": (_OF_PAIRS, "Ask llbt.goodness_of_fit(res), which has observed and expected counts of pairs."),
    "reliability": ("residuals are of judgments of pairs", f"Ask it of a fit {_ON_PAIRS}."),
    "plot.ties": ("ties of lists have one δ for each number of objects, whoever judges", "Read them in res.summary()."),
}

_MORE_THAN_WORTHS = (
    "add1", "drift", "fragility", "goodness_of_fit", "grade_tests", "intransitivity",
    "judge_effects", "judges.summary", "level_tests", "planning.needed", "planning.next_pairs", "plot.discrimination",
    "plot.judges", "plot.network", "plot.residuals", "plot.ties", "posterior", "reliability", "residuals",
    "sensitivity", "tie_tests",
)  # fmt: skip

OF_CALIBRATED: Mapping[str, tuple[str, str]] = dict.fromkeys(
    (*_MORE_THAN_WORTHS, "simulate"),
    (
        "calibrated worths have no likelihood and no counts: their table holds the judgments of people and of machines "
        "together",
        "Ask a fit of the labels alone, what calibrate was given as human: llbt.fit('object + tie', "
        "llbt.from_judgments(human)).",
    ),
)

OF_CLASSES: Mapping[str, tuple[str, str]] = dict.fromkeys(
    (*_MORE_THAN_WORTHS, "distribution", "drop1"),
    (
        "a latent class has no judgments of its own: every judge belongs to each class with some probability",
        "Ask the fit of all judges or the classes themselves, with classes what llbt.judges.classes returned: "
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


_PLAIN_HAS = "Ask a fit of the pairs, which takes the judgments as independent: {plain}.{name}."
_GLM = "it is no log-linear model of the counts"
_RESIDUAL_DF = "it counts the cells of a log-linear model, but this model is not log-linear"

FIGURES_OF_EFFECTS: Figures = {
    **_figures(_FITTED_COUNTS, "probabilities differ by the effects, so there are no fitted counts", _PLAIN_HAS),
    **_figures(_POISSON, _GLM + ", for judgments of one judge depend on each other", _PLAIN_HAS),
    "df_resid": (_RESIDUAL_DF, _PLAIN_HAS),
    "to_glm": (_GLM, "Ask a fit of the pairs: {plain}.to_glm()."),
}

_NOT_LINEAR = "discriminations multiply the worths, so the model is no GLM"

FIGURES_OF_DISCRIMINATION: Figures = {
    "hat_diag": (_NOT_LINEAR, _PLAIN_HAS),
    "to_glm": (_NOT_LINEAR, "Ask a fit of the pairs: {plain}.to_glm()."),
}

_CELLS_OF_ANSWERS = "a ranking or pattern is one observation, and has no cells of pairs"
_OF_IMPLIED_PAIRS = "Ask a fit of the pairs that they imply: {plain}.{name}."

FIGURES_OF_ANSWERS: Figures = {
    **_figures((*_FITTED_COUNTS, "n_cells", "df_resid"), _CELLS_OF_ANSWERS, _OF_IMPLIED_PAIRS),
    **_figures(_POISSON, _CELLS_OF_ANSWERS, _OF_IMPLIED_PAIRS),
    "counts": (_CELLS_OF_ANSWERS, "Ask for the pairs that they imply: res.comparisons.outcome_counts."),
    "to_glm": (_GLM, "Ask a fit of the pairs that they imply: {plain}.to_glm()."),
}

_SELECTED = "llbt.fit({formula}, res.comparisons.select(objects=res.comparisons.objects[:100]))"

FIGURES_OF_LARGE: Figures = {
    "hat_diag": ("leverages need the covariance of all estimates", f"Fit fewer objects: {_SELECTED}.hat_diag."),
    "to_glm": ("a GLM of so many objects is not made", f"Fit fewer objects: {_SELECTED}.to_glm()."),
}

_WEIGHTED = "the judgments of a judge belong to each class with some probability, so classes have no fitted counts"
_POOLED = "Ask the fit of all judges alike: res.pooled.{name}."

FIGURES_OF_CLASSES: Figures = {
    **_figures((*_FITTED_COUNTS, "df_resid", "to_glm"), _WEIGHTED, _POOLED),
    **_figures(_POISSON, _GLM + ", for judgments of one judge depend on each other", _POOLED),
    "to_glm": (_GLM, "Ask the fit of all judges alike: res.pooled.to_glm()."),
}

_NO_LIKELIHOOD = "calibrated estimates do not maximize a likelihood of labels and verdicts"
_LABELS = "llbt.fit({formula}, llbt.from_judgments(human))"
_OF_LABELS = f"Fit the labels alone, what calibrate was given as human: {_LABELS}.{{name}}."
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
        "labels and verdicts are counted apart",
        "Ask for the labelled units, res.n_labels, or for all, res.n_units.",
    ),
    "n_iter": ("an equation is solved for each weight that is tried, so steps are not counted", _OF_LABELS),
    "bic_of": (_NO_LIKELIHOOD, f"Fit the labels alone: {_LABELS}.bic."),
    "to_glm": (_NO_LIKELIHOOD, f"Fit the labels alone: {_LABELS}.to_glm()."),
}


def no_profile(kind: type, part: str = "") -> OptionError:
    """Return why a kind of fit, or a `part` of a fit, has no profile intervals."""
    return OptionError(
        f"method='profile', but intervals of {part}a {kind.__name__} are not by profile likelihood",
        "Take Wald's: res.conf_int().",
    )
