"""Questions that a fit with effects of judges has no answer to: why, and what to ask in their place."""

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
    "plot.judges": (_OF_EFFECTS, "Draw llbt.plot.judge_effects(llbt.judge_effects(res))."),
    "plot.network": (_NO_COUNTS, "Draw the fit without them: llbt.plot.network(res.without)."),
    "plot.residuals": (_NO_COUNTS, "Draw those of the fit without them: llbt.plot.residuals(res.without)."),
    "plot.ties": (_OF_EFFECTS, "Draw llbt.plot.judge_effects(llbt.judge_effects(res), of='tie'), with (tie | judge)."),
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
    "drop1": (_REFITS, _RESAMPLE),
    "goodness_of_fit": (_REFITS, "Ask for .deviance, .df_resid and .pearson_chi2; or fit up to 10,000 objects."),
    "held_out": (_REFITS, _RESAMPLE),
    "influence": (_REFITS, _RESAMPLE),
    "quasi_variances": (_NO_COVARIANCE, _SELECT),
}
