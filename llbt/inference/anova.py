"""Analysis of deviance: nested fits compared, or the terms of one fit in sequence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import linalg, stats

from ..arguments import Jobs, Number, Rng, checked
from ..core.columns import FloatArray
from ..core.statistics import chi2_p_value, chi2_reservation
from ..errors import DesignError, OptionError, kind_of
from ..fitting.clusters import clustered
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.fitted import WithWorths
from ..fitting.hypotheses import few_for_hotelling
from ..fitting.pattern_results import PatternResults
from ..fitting.ranking_results import RankingResults
from ..fitting.results import LLBTResults, bic_reservation
from ..kernel.cluster_tests import FlipTest, flip_test, hotelling_p
from ..kernel.likelihood import information, probabilities, score, weighted_gram
from ..resampling import Resampler
from ..table import Field, Table, format_number
from .answers_anova import compared_answers
from .discrimination_anova import compared_discriminations
from .mixed_anova import compared_effects
from .nesting import check_links, check_tables, side_by_side, within
from .refit import cuts_apart, own_terms, refit_terms

_FEW = 15  # judgments per parameter below which the likelihood ratio is too far from χ²

Test = Literal["chi2", "F", "wald", "score", "cluster"]


@checked
def anova(
    *results: WithWorths,
    test: Test | None = None,
    n: Number = 0,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    progress: bool = False,
) -> Table:
    """Compare nested fits of one table, or the terms of one fit in sequence.

    Parameters
    ----------
    *results : LLBTResults, MixedResults, DiscriminationResults, RankingResults or PatternResults
        Several fits, in any order: each is tested against the next larger one. One fit: the terms of its formula are
        added one by one to the nuisance parameters, those of the worth first, then those of ties, then of order;
        parameters that are held stay in every model. Fits with effects of judges are compared with each other, and with
        fits without, by their likelihoods. Fits with discriminations are compared by their deviances with each other
        and with fits without; one of them is put between its neighbours, judges alike and worths of each judge.
    test : {"chi2", "F", "wald", "score", "cluster"}, optional
        ``"chi2"``: difference of the deviances (likelihood ratio). ``"F"``: the same per df, over the dispersion, which
        is Pearson's X²/df of the largest model. ``"wald"``: that the larger model reduces to the smaller, with the
        covariance of the larger fit, so robust where the fit is; F where the fit has finite degrees of freedom, in
        Hotelling's form where they are those of clusters. ``"score"``: Rao's test of the larger model at the estimates
        of the smaller. ``"cluster"``: Rao's statistic, its distribution that under flips of the signs of the clusters'
        scores; for fits with ``cov_type="cluster"`` and one way of clustering.
        By default what the covariance of the largest fit asks for: ``"cluster"``; ``"wald"`` for two ways of clustering
        and HC0; ``"F"`` for ``cov_type="quasi"``; else ``"chi2"``, but ``"score"`` with fewer than 15 judgments per
        parameter.
    n : int
        Of fits with effects: number of tables to draw from the smaller fit, with new judges, 199 say; both fits are
        fitted to each, and p = (1 + number of likelihood ratios at least as large) / (n + 1). 0 takes χ².
    rng : numpy.random.Generator or int, optional
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Table
        One row per model, by falling residual df: model (formula; for one fit term, the one added), df_resid,
        deviance, df (difference to the row above), delta_deviance (fall of the deviance; left out for ``"chi2"``, where
        it is the statistic), statistic, df_denom (of F), delta_aic and delta_bic (value less that of the row above:
        below 0 this row's model is better) and p_value. Of fits with effects, to lists and to patterns: model, df_model
        (estimated parameters, σ among them), llf, aic, bic, df, statistic, p_value.

    Raises
    ------
    DesignError
        For fits of different tables, fits that are not nested, and an F test where the largest model is saturated; with
        effects also for a `prior`.
    OptionError
        For what is no fit, one fit with effects, another test than ``"chi2"`` with effects, `n` without, and flips of
        clusters where the fit has none, or two ways of clustering.

    Notes
    -----
    Dras (2015, section 5) compares models by differences of their deviances. In the parameters β of the larger model
    the smaller one is β = a + Bb; with the rows of R spanning what is orthogonal to B, Wald's statistic is
    dᵀ(RVRᵀ)⁻¹d with d = R(β̂ − a). The score statistic sᵀI⁻¹s, with score s and information I at the smaller fit, is
    the same form of the scoring step I⁻¹s with V = I⁻¹.

    The likelihood ratio wants judgments: of ten judges with 3 judgments per pair of four objects, 6 per parameter of
    ``object * judge + tie``, it rejected at level 5 % 12 % of true models without the interaction, Rao's score 3 %;
    with 10 per parameter 10 and 5 %, with 15 both at most 4 % (300 tables each).

    A standard deviation of effects cannot be below 0, so that the likelihood ratio of one more of them, and of q other
    parameters, is on ½χ²_q + ½χ²_{q+1} (Self & Liang 1987; χ²_0 is 0). That of several more at once is a mixture whose
    weights depend on the table: it has a p-value by simulation alone (`n`).

    Judgments of a cluster need not be independent of each other for ``"cluster"``, nor clusters of one size. With 8, 12
    and 30 clusters, 3 to 9 parameters and 5 % asked for, it rejected 3 to 8 % of true models; the F test of Wald's
    statistic with G − 1 denominator df up to 97 %.

    References
    ----------
    Hemerik, J., Goeman, J. J. & Finos, L. (2020). Robust testing in generalized linear models by sign flipping score
    contributions. Journal of the Royal Statistical Society B 82(3), 841-864.

    Dras, M. (2015). Evaluating human pairwise preference judgments. Computational Linguistics 41(2), 337-345.

    Rao, C. R. (1948). Large sample tests of statistical hypotheses concerning several parameters with applications to
    problems of estimation. Proceedings of the Cambridge Philosophical Society 44(1), 50-57.

    Self, S. G. & Liang, K.-Y. (1987). Asymptotic properties of maximum likelihood estimators and likelihood ratio tests
    under nonstandard conditions. Journal of the American Statistical Association 82(398), 605-610.

    Examples
    --------
    >>> import llbt
    >>> table = llbt.load_dataset("dras_table1")
    >>> m0, m1 = llbt.fit("object + tie", table), llbt.fit("object * judge + tie", table)
    >>> llbt.anova(m0, m1).to_frame()[["df_resid", "df"]].iloc[1].tolist()
    [35.0, 9.0]
    >>> llbt.anova(m1).to_frame()["term"].tolist()
    ['NULL', 'object', 'object:judge', 'tie']
    """
    if not results:
        raise OptionError("no fit", expected="two or more, or one whose terms are tested")
    for k, res in enumerate(results):
        if not isinstance(res, WithWorths):
            raise OptionError(f"m{k} is {kind_of(res)}", expected="a fit, as llbt.fit returns it")
    of_pairs = [res for res in results if not isinstance(res, RankingResults | PatternResults)]
    if len(of_pairs) < len(results):
        return compared_answers(results, test, n)
    maybe = [res for res in of_pairs if not isinstance(res, DiscriminationResults)]
    if len(maybe) < len(results):
        return compared_discriminations(of_pairs, test, n)
    plain = [res for res in maybe if isinstance(res, LLBTResults)]
    if len(plain) < len(maybe):
        return compared_effects(maybe, test, n, Resampler.of("anova", rng, n_jobs, progress))
    return _compared(plain, test, n)


def _compared(plain: Sequence[LLBTResults], test: Test | None, n: int) -> Table:
    """Return the analysis of deviance of fits in which judges are alike."""
    if n:
        raise OptionError(f"n={n!r} beside fits without effects of judges", "Leave n out; they are tested by χ².")
    if len(plain) == 1:
        return _in_sequence(plain[0], chosen_test(test, plain[0]))
    check_tables(plain)
    check_links(plain)
    ranked = sorted(enumerate(plain), key=lambda numbered: -numbered[1].df_resid)
    for (a, small), (b, large) in itertools.pairwise(ranked):
        _check_nested(f"m{a}", small, f"m{b}", large)
    fits = [fit for _, fit in ranked]
    test = chosen_test(test, fits[-1])
    if test == "wald" and len({math.isinf(fit.df_inference) for fit in fits[1:]}) > 1:
        raise DesignError("test='wald': some fits give χ², others F, by their cov_type", "Fit all in one way.")
    names = Field("model", "Model", [fit.specification.formula for fit in fits])
    return _analysis(names, fits, test, title="Analysis of deviance")


def chosen_test(test: Test | None, res: LLBTResults) -> Test:
    """Return the test of nested fits that is asked for, by default the one that the covariance of a fit goes with.

    Raises
    ------
    OptionError
        For flips of clusters where the fit has none, or two ways of clustering.
    """
    spec = res.specification
    if test is None:
        return _default_test(res)
    if test == "cluster" and len(spec.groups) != 1:
        found = f"clusters by {' and '.join(spec.groups)}" if spec.groups else "judgments that are independent"
        raise OptionError(
            f"test='cluster', but {spec.formula!r} was fitted with {found}",
            expected="one way of clustering: fit(…, cov_type='cluster', groups='judge')",
        )
    return test


def _default_test(res: LLBTResults) -> Test:
    spec = res.specification
    if spec.groups:
        return "cluster" if len(spec.groups) == 1 else "wald"
    if spec.cov_type == "HC0":
        return "wald"
    if spec.cov_type == "quasi":
        return "F"
    return "score" if few_judgments(res) else "chi2"


def few_judgments(res: LLBTResults) -> bool:
    """Return whether a fit has so few judgments per parameter that only the score test holds its level."""
    return bool(res.comparisons.n_judgments < _FEW * len(res.free))


def _in_sequence(res: LLBTResults, test: Test) -> Table:
    """Return the analysis by term: the nuisance parameters, then one term more in each row."""
    added, _ = own_terms(res)
    if not added:
        raise DesignError(f"all parameters of {res.specification.formula!r} are held, so no term can be tested.")
    cuts, added = cuts_apart(res, added)
    if not added:
        raise DesignError(f"{res.specification.formula!r} has no term beside its cuts to test.")
    fits = [refit_terms(res, [*cuts, *added[:size]]) for size in range(len(added))]
    names = Field("term", "", ["NULL", *(term.name for term in added)])
    title = "Analysis of deviance, terms added in sequence"
    return _analysis(names, [*fits, res], test, title=title, head=(f"Model: {res.specification.formula}",))


def _analysis(
    names: Field, fits: Sequence[LLBTResults], test: Test, *, title: str, head: tuple[str, ...] = ()
) -> Table:
    """Return one row per fit, each tested against the one above."""
    pairs = list(itertools.pairwise(fits))
    tests = [None, *(compared(small, large, test, fits[-1]) for small, large in pairs)]

    def change(name: str) -> list[float]:
        return [math.nan, *(getattr(large, name) - getattr(small, name) for small, large in pairs)]

    fall = Field("delta_deviance", "Deviance", [-x for x in change("deviance")], "statistic")
    return Table(
        (
            names,
            Field("df_resid", "Resid. Df", [fit.df_resid for fit in fits], "count"),
            Field("deviance", "Resid. Dev", [fit.deviance for fit in fits], "statistic"),
            Field("df", "Df", [math.nan if t is None else t.df for t in tests], "count"),
            *(() if test == "chi2" else (fall,)),
            *statistic_fields(test, tests, likelihood_ratio="Deviance"),
            Field("delta_aic", "Delta AIC", change("aic"), "statistic"),
            Field("delta_bic", "Delta BIC", change("bic"), "statistic"),
            *p_value_fields(tests),
        ),
        title=title,
        head=head,
        notes=(
            *empty_notes(list(names.values), tests),
            *dispersion_notes(test, fits[-1:]),
            *flip_notes(tests, fits[-1]),
            *reservations(test, fits),
            *bic_reservation(fits),
        ),
    )


# -- tests of two nested fits --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """A test of the smaller of two nested fits against the larger.

    Attributes
    ----------
    df : int
    statistic : float
        NaN, as is the p-value, where the larger model is no larger.
    p_value : float
    df_denom : float
        Denominator df of an F statistic; NaN for χ².
    flips : FlipTest or None
        How the p-value was found, where clusters' scores were flipped.
    """

    df: int
    statistic: float = math.nan
    p_value: float = math.nan
    df_denom: float = math.nan
    flips: FlipTest | None = None


def compared(small: LLBTResults, large: LLBTResults, test: Test, scaled_by: LLBTResults) -> Compared:
    """Test a fit against a larger one that it is nested in; dispersion (of F) and clusters are those of `scaled_by`."""
    df = small.df_resid - large.df_resid
    if df == 0:
        return Compared(df)
    fall = small.deviance - large.deviance
    if test == "chi2":
        return Compared(df, fall, chi2_p_value(fall, df))
    if test == "F":
        return _f_test(df, fall / df / dispersion(scaled_by), scaled_by.df_resid)
    if test == "cluster":
        return _flipped(small, large, scaled_by)
    return _wald(small, large) if test == "wald" else _score(small, large)


def dispersion(res: LLBTResults) -> float:
    """Return Pearson's X² over the residual df.

    Raises
    ------
    DesignError
        For a saturated model.
    """
    if res.df_resid == 0:
        raise DesignError(
            f"test='F': {res.specification.formula!r} is saturated, so there is no dispersion to estimate",
            "Use test='chi2'.",
        )
    return res.pearson_chi2 / res.df_resid


def _f_test(df: int, statistic: float, df_denom: float) -> Compared:
    return Compared(df, statistic, float(stats.f.sf(statistic, df, df_denom)), df_denom)


def _wald(small: LLBTResults, large: LLBTResults) -> Compared:
    contrasts, point = _reduction(small, large)
    cov = contrasts @ large.covariance.matrix @ contrasts.T
    df, rank = len(cov), int(np.linalg.matrix_rank(cov))
    clustered_fit = bool(large.specification.groups)
    if rank < df or (clustered_fit and not large.df_inference + 1 > df):
        raise few_for_hotelling(df, large.df_inference + 1, large.specification.groups)
    if large.covariance.unknown(contrasts).any():  # of some a single cluster says all that is known
        return Compared(df)
    statistic = _squared_length(contrasts @ (large.solution.params - point), cov)
    if math.isinf(large.df_inference):
        return Compared(df, statistic, chi2_p_value(statistic, df))
    if not clustered_fit:
        return _f_test(df, statistic / df, large.df_inference)
    value, df_denom, p_value = hotelling_p(statistic, df, large.df_inference)
    return Compared(df, value, p_value, df_denom)


def _flipped(small: LLBTResults, large: LLBTResults, scaled_by: LLBTResults) -> Compared:
    contrasts, point = _reduction(small, large)
    if large.covariance.unknown(contrasts).any():
        return Compared(len(contrasts))
    problem = large.problem()
    restricted = replace(large.solution, params=point, means=problem.totals[:, None] * probabilities(problem, point))
    (name,) = scaled_by.specification.groups
    found = flip_test(problem, restricted, clustered(scaled_by.comparisons, name, (name,)), contrasts)
    return Compared(found.df, found.statistic, found.p_value, flips=found)


def _score(small: LLBTResults, large: LLBTResults) -> Compared:
    contrasts, point = _reduction(small, large)
    problem = large.problem()
    probability = probabilities(problem, point)
    factor = linalg.cho_factor(information(problem, probability, problem.totals))
    step, spread = linalg.cho_solve(factor, score(problem, probability)), linalg.cho_solve(factor, contrasts.T)
    statistic = _squared_length(contrasts @ step, contrasts @ spread)
    return Compared(len(contrasts), statistic, chi2_p_value(statistic, len(contrasts)))


def _squared_length(difference: FloatArray, cov: FloatArray) -> float:
    return float(difference @ linalg.solve(cov, difference, assume_a="pos"))


def _reduction(small: LLBTResults, large: LLBTResults) -> tuple[FloatArray, FloatArray]:
    """Return how a model reduces to a smaller one: R of the hypothesis R(β − β₀) = 0, shape (q, p), and β₀, shape (p,).

    β₀ are the smaller fit's estimates in the parameters of the larger. Since the larger model's predictors span the
    smaller one's, and what held parameters add, projecting loses nothing.
    """
    both = side_by_side(large.problem(), small.problem())
    p, width = len(large.free), both.response.width
    gram = weighted_gram(both, np.broadcast_to(np.eye(width)[:, :, None], (width, *both.offsets.shape)))
    length = np.sqrt(np.diag(gram))
    length[length == 0] = 1
    gram = gram / np.outer(length, length)
    basis = linalg.solve(gram[:p, :p], gram[:p, p:], assume_a="pos")
    point = basis @ (length[p:] * np.append(small.solution.params, 1.0)) / length[:p]
    complement = np.linalg.qr(basis[:, :-1], mode="complete")[0][:, len(small.free) :]
    return complement.T * length[:p], point


# -- columns and notes ---------------------------------------------------------------------------------------


def statistic_fields(test: Test, tests: Sequence[Compared | None], *, likelihood_ratio: str) -> tuple[Field, ...]:
    """Return the columns of the statistic, and of the denominator df where some test has them."""
    denominators = [math.nan if t is None else t.df_denom for t in tests]
    heading = {"chi2": likelihood_ratio, "F": "F", "wald": "Wald", "score": "Rao score", "cluster": "Rao score"}[test]
    known = not np.isnan(denominators).all()
    statistic = Field(
        "statistic", "F" if known else heading, [math.nan if t is None else t.statistic for t in tests], "statistic"
    )
    return (statistic, Field("df_denom", "Den. Df", denominators, "count")) if known else (statistic,)


def p_value_fields(tests: Sequence[Compared | None]) -> tuple[Field, ...]:
    """Return the columns of the p-value and of its stars."""
    p = [math.nan if t is None else t.p_value for t in tests]
    heading = "Pr(>Chi)"
    if any(t is not None and t.flips is not None for t in tests):
        heading = "Pr(flips)"
    elif any(t is not None and not math.isnan(t.df_denom) for t in tests):
        heading = "Pr(>F)"
    return Field("p_value", heading, p, "p_value"), Field("", "", p, "stars")


def flip_notes(tests: Sequence[Compared | None], res: LLBTResults) -> tuple[str, ...]:
    """Return how many clusters' scores were flipped, and how often; and where clusters have no answer."""
    found = [t.flips for t in tests if t is not None and t.flips is not None]
    groups = " and ".join(res.specification.groups)
    found.sort(key=lambda flips: flips.clusters)  # a cluster whose score is 0 has none to flip
    notes = [found[0].said(groups, most=found[-1].clusters)] if found else []
    if any(t is not None and t.df > 0 and math.isnan(t.p_value) for t in tests):
        notes.append(
            f"NA: of some parameter that is tested a single cluster of {groups} says all that is known, or all of them "
            "say the same, so they do not tell a difference from the dependence within them; test='score' takes the "
            "judgments as independent"
        )
    return tuple(notes)


def empty_notes(names: Sequence[str], tests: Sequence[Compared | None]) -> tuple[str, ...]:
    """Return which terms make the model no larger."""
    empty = [name for name, t in zip(names, tests, strict=True) if t is not None and t.df == 0]
    return (f"nothing beyond what the other terms describe: {', '.join(empty)}",) if empty else ()


def dispersion_notes(test: Test, scaled_by: Sequence[LLBTResults]) -> tuple[str, ...]:
    """Return what an F test took as the dispersion."""
    if test != "F":
        return ()
    notes = [
        f"dispersion {format_number(dispersion(fit), 4)}, Pearson's X²/df of {fit.specification.formula}"
        for fit in scaled_by
    ]
    possible, reservation = chi2_reservation(scaled_by[-1].solution.means)
    return tuple(notes) if possible else (*notes, f"it means little: {reservation}")


def reservations(test: Test, fits: Sequence[LLBTResults]) -> tuple[str, ...]:
    """Return what a test does not take from the fits: their covariance, or that they are no maximum likelihood fits."""
    specs = [fit.specification for fit in fits]
    if test in ("wald", "cluster"):
        return _sparse_notes(test, fits)
    name = "the score test" if test == "score" else "the likelihood ratio"
    notes = []
    dependent = next((fit for fit in fits if fit.specification.cov_type not in ("nonrobust", "quasi")), None)
    if dependent is not None:
        robust = dependent.specification
        kind = " ".join([robust.cov_type, *([f"({', '.join(robust.groups)})"] if robust.groups else [])])
        better = _default_test(dependent)
        what = "flips the scores of its clusters" if better == "cluster" else "uses the fit's covariance"
        notes.append(f"{name} takes the judgments as independent; test={better!r} {what}, {kind}")
    else:
        notes += _kept_notes(name, fits[-1])
    if test != "F" and any(s.cov_type == "quasi" for s in specs):
        notes.append(f"{name} takes the dispersion as 1; test='F' and test='wald' use the estimated one")
    shrunk = ["bias reduction"] if any(s.reduces_bias for s in specs) else []
    shrunk += ["a prior"] if any(s.prior is not None and not s.reduces_bias for s in specs) else []
    if shrunk and test != "score":
        notes.append(
            f"estimates with {' and '.join(shrunk)} do not maximize the likelihood, and {name} takes the judgments as "
            "independent; test='wald' uses the fit's estimates and covariance"
        )
    return (*notes, *_sparse_notes(test, fits))


def _kept_notes(name: str, fit: LLBTResults) -> list[str]:
    """Say that judgments are taken as independent although the table keeps clusters, where nobody decided so."""
    kept = fit.comparisons.clusters
    if not kept or fit.specification.cov_type != "nonrobust" or fit.covariance.notes:
        return []
    return [
        f"{name} takes the judgments as independent, and the table keeps {' and '.join(kept)}; of fits with "
        "cov_type='cautious' the test allows for clusters"
    ]


def _sparse_notes(test: Test, fits: Sequence[LLBTResults]) -> tuple[str, ...]:
    """Return what few judgments do to a test that takes them as independent."""
    largest = max(fits, key=lambda fit: len(fit.free))
    if not few_judgments(largest) or any(fit.specification.groups for fit in fits):
        return ()
    each = format_number(largest.comparisons.n_judgments / len(largest.free), 2)
    found = f"{each} judgments per parameter of {largest.specification.formula}"
    if test == "score":
        why = "the likelihood ratio rejects true models too often, Wald's test too rarely"
        return (f"{found}: with fewer than {_FEW} Rao's score holds its level, while {why}",)
    how = "too rarely" if test == "wald" else "too often"
    return (f"{found}: with fewer than {_FEW} this test rejects true models {how}; test='score' holds its level",)


# -- checks --------------------------------------------------------------------------------------------------


def _check_nested(a: str, small: LLBTResults, b: str, large: LLBTResults) -> None:
    """Check that the linear predictors of the small model are among those of the large one."""
    inside = within(small, large)
    if inside and small.df_resid > large.df_resid:
        return
    what = "the same model" if inside else "not nested"
    raise DesignError(
        f"{a} ({small.specification.formula}) and {b} ({large.specification.formula}) are {what}, so their "
        "deviances cannot be tested against each other",
        "Compare their .aic or .bic.",
    )
