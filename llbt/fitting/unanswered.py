"""Questions that a fit of another kind than `LLBTResults` has no answer to: why, and what to ask in their place."""

from __future__ import annotations

from collections.abc import Mapping

_NO_COUNTS = "a fit with effects of judges has no fitted counts, for each judge has probabilities of his own"
_ONE_BY_ONE = "terms of a fit with effects of judges are not refitted one by one"
_COMPARE = "Fit both formulas with their brackets and compare them: llbt.anova(smaller, larger)."
_OF_EFFECTS = "judges differ by normal effects here, and have no parameters of their own"

# asker → why it does not answer, and what to do
OF_EFFECTS: Mapping[str, tuple[str, str]] = {
    "add1": (_ONE_BY_ONE, _COMPARE),
    "drop1": (_ONE_BY_ONE, _COMPARE),
    "drift": (
        "paths of worths are not fitted together with effects of judges",
        "Ask it of the fit without them: llbt.drift(res.without, time=…).",
    ),
    "fragility": (
        "what is left out of a fit with effects of judges changes the effects, too",
        "Ask it of the fit without them: llbt.fragility(res.without).",
    ),
    "goodness_of_fit": (
        _NO_COUNTS,
        "Compare it with the fit without them, llbt.anova(res.without, res), or test that: "
        "llbt.goodness_of_fit(res.without).",
    ),
    "grade_tests": (
        "scores of grades are tested by judgments that are independent, and effects of judges make them depend",
        "Ask llbt.grade_tests of a fit without brackets, with cov_type='cluster' and groups= the judges.",
    ),
    "held_out": (
        "folds of judgments leave out parts of what the effects of judges are known from, and folds of judges have no "
        "effects",
        "Compare fits by .aic or llbt.anova(smaller, larger); llbt.held_out(res.without) is of that without effects.",
    ),
    "influence": (
        "what is left out of a fit with effects of judges changes the effects, too",
        "Resample judges, llbt.bootstrap(res, resample='judge'), or ask llbt.influence(res.without).",
    ),
    "intransitivity": (_NO_COUNTS, "Pass the table, res.comparisons, or res.without for its deviance."),
    "judges.summary": (
        "the model is to say what others expect of a judge, and by his effects it says what he does himself",
        "Pass model=res.without; llbt.judge_effects(res) has what the effects say.",
    ),
    "level_tests": (
        "levels are held against a fit that takes them as alike, and effects of judges make them differ",
        "Ask llbt.judge_effects(res) how each judge differs, or llbt.level_tests(res.without).",
    ),
    "planning.next_pairs": (
        "what a judgment tells depends on whether its judge is a new one, and of one known his effects are known, too",
        "Ask it of the fit without them: llbt.planning.next_pairs(res.without).",
    ),
    "plot.judges": (_OF_EFFECTS, "Draw llbt.plot.judge_effects(llbt.judge_effects(res))."),
    "plot.network": (_NO_COUNTS, "Draw the fit without them: llbt.plot.network(res.without)."),
    "plot.residuals": (_NO_COUNTS, "Draw those of the fit without them: llbt.plot.residuals(res.without)."),
    "plot.ties": (_OF_EFFECTS, "Draw llbt.plot.judge_effects(llbt.judge_effects(res), of='tie'), with (tie | judge)."),
    "sensitivity": (
        "what is left out of a fit with effects of judges changes the effects, too",
        "Ask it of the fit without them: llbt.sensitivity(res.without).",
    ),
    "residuals": (_NO_COUNTS, "Ask for those of the fit without them: llbt.residuals(res.without)."),
}

_NO_COVARIANCE = "the covariance of all estimates of so many objects is not made"
_SELECT = "Ask llbt.pairwise(res, objects=[…]) or res.t_test, which solve for few; or fit up to 10,000 objects."
_REFITS = "a fit of so many objects is not made again and again"
_RESAMPLE = "Fit up to 10,000 objects: c.select(objects=[…])."

OF_LARGE: Mapping[str, tuple[str, str]] = {
    "add1": (_REFITS, _RESAMPLE),
    "anova": (_NO_COVARIANCE, "Compare .deviance and .aic of two fits; or fit up to 10,000 objects."),
    "bootstrap": (_REFITS, _RESAMPLE),
    "contrasts": (_NO_COVARIANCE, _SELECT),
    "drift": (_NO_COVARIANCE, _RESAMPLE),
    "drop1": (_REFITS, _RESAMPLE),
    "fragility": (_REFITS, _RESAMPLE),
    "goodness_of_fit": (_REFITS, "Ask for .deviance, .df_resid and .pearson_chi2; or fit up to 10,000 objects."),
    "held_out": (_REFITS, _RESAMPLE),
    "influence": (_REFITS, _RESAMPLE),
    "planning.next_pairs": (_NO_COVARIANCE, _RESAMPLE),
    "quasi_variances": (_NO_COVARIANCE, _SELECT),
    "sensitivity": (_REFITS, _RESAMPLE),
}

_OF_PAIRS = "a fit of lists has no counts of pairs, for pairs of one list are not independent"
_ON_PAIRS = "of the pairs that the lists imply, llbt.fit(formula, res.comparisons)"
_NO_REFITS = "lists are not drawn or left out and fitted again"
_BOTH_FORMULAS = "Fit both formulas and compare them: llbt.anova(smaller, larger)."
_WITH_CLUSTERS = (
    "Standard errors by clusters allow for judges that differ: fit_rankings(…, cov_type='cluster', groups=…)."
)

OF_LISTS: Mapping[str, tuple[str, str]] = {
    "add1": ("terms of a fit of lists are not refitted one by one", _BOTH_FORMULAS),
    "bootstrap": (_NO_REFITS, _WITH_CLUSTERS),
    "drift": ("paths of worths are fitted to judgments of pairs", f"Ask it of a fit {_ON_PAIRS}."),
    "drop1": ("terms of a fit of lists are not refitted one by one", _BOTH_FORMULAS),
    "fragility": (_NO_REFITS, f"Ask it of a fit {_ON_PAIRS}."),
    "sensitivity": (_NO_REFITS, f"Ask it of a fit {_ON_PAIRS}."),
    "goodness_of_fit": (_OF_PAIRS, "Ask llbt.goodness_of_lists(res)."),
    "grade_tests": ("lists have no grades", f"Ask it of a fit {_ON_PAIRS}."),
    "held_out": (_NO_REFITS, "Compare fits by .aic and .bic, or by llbt.anova(smaller, larger)."),
    "influence": (_NO_REFITS, f"Ask it of a fit {_ON_PAIRS}."),
    "intransitivity": (_OF_PAIRS, "Pass the table of the pairs that the lists imply: res.comparisons."),
    "judge_effects": (
        "judges have no normal effects in a fit of lists",
        "Fit worths of their own, fit_rankings('object * judge', …); normal effects are fitted to pairs, "
        "llbt.fit('object + (object | judge)', rankings.to_comparisons()).",
    ),
    "judges.summary": (
        "the model is to say what is expected of each judgment of a pair, and one of lists says it of lists",
        "Pass model=llbt.fit(formula, c), a fit of the pairs.",
    ),
    "level_tests": (
        "levels are tested by scores of independent judgments",
        "Compare with the fit of worths by level: llbt.anova(llbt.fit_rankings('object', …), llbt.fit_rankings('object "
        "* judge', …)).",
    ),
    "planning.next_pairs": (
        "it plans pairs, and a fit of lists knows what a list of several objects tells",
        f"Ask it of a fit {_ON_PAIRS}.",
    ),
    "plot.judges": ("the picture is of judgments of pairs", f"Draw that of a fit {_ON_PAIRS}."),
    "plot.network": (
        "the picture is of judgments of pairs",
        f"Draw that of a fit {_ON_PAIRS}.",
    ),
    "plot.residuals": (_OF_PAIRS, "Ask llbt.goodness_of_lists(res), which has observed and expected counts of pairs."),
    "plot.ties": ("ties of lists have one δ for each number of objects, whoever judges", "Read them in res.summary()."),
    "residuals": (_OF_PAIRS, "Ask llbt.goodness_of_lists(res), which has observed and expected counts of pairs."),
    "simulate": ("tables of pairs are not drawn from a fit of lists", f"Draw them from a fit {_ON_PAIRS}."),
}
