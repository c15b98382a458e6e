"""Analysis of deviance: compare nested fits, or add the terms of one fit in sequence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.arguments import Jobs, Number, Rng, checked
from ..base.table import Field, Qualifying, Table, format_count, format_number, named
from ..core.statistics import chi2_reservation
from ..errors import DesignError, OptionError
from ..fitting.estimates import Estimates
from ..fitting.fitted import AnyFit, ClassSource, OneSource
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.results import bic_reservation
from ..resampling import Resampler
from .kinds import tested
from .nested import (
    FEW,
    Compared,
    Reference,
    Test,
    chosen_test,
    default_test,
    dispersion,
    few_judgments,
    nested,
    too_few,
)
from .tested_models import TestedModel, check_comparable, check_maximum, check_nested, slope_notes


@checked
def anova(
    *results: AnyFit | ClassSource | OneSource,
    test: Test | None = None,
    n: Number = 0,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    progress: bool = False,
) -> Table:
    """Compare nested fits of one table, or the terms of one fit in sequence.

    Parameters
    ----------
    *results : fits of one kind of data, latent classes or calibrated worths
        Several fits, in any order: each is tested against the next larger one. One fit: the terms of its formula are
        added one by one to the nuisance parameters. Terms of the worth come first, then ties, then order; held
        parameters stay in every model. Fits with effects of judges, with discriminations or of very many objects are
        compared by their likelihoods, with each other and with plain fits. So are fits of rankings and of patterns. One
        fit with discriminations is compared with its two neighbours: equal discriminations, and separate worths for
        each judge. `LatentClasses` are compared if their formulas are nested and they have the same number of classes;
        ``bootstrap_test`` tests that number. Calibrated worths of nested formulas are compared by Wald's test.
    test : {"chi2", "F", "wald", "score", "cluster"}, optional
        ``"chi2"``: difference of the deviances (likelihood ratio). ``"F"``: that difference per df, divided by the
        dispersion, which is Pearson's X²/df of the largest model. ``"wald"``: Wald's test with the covariance of the
        larger fit, which is robust if the fit is. It is an F test if the fit has finite degrees of freedom, in
        Hotelling's form for clusters. ``"score"``: Rao's test of the larger model at the estimates of the smaller.
        ``"cluster"``: Rao's statistic, compared with its distribution under random signs of the clusters' scores; for
        fits with ``cov_type="cluster"`` and one way of clustering.
        The default depends on the covariance of the largest fit: ``"cluster"`` for one way of clustering; ``"wald"``
        for two ways of clustering and HC0; ``"F"`` for ``cov_type="quasi"``; else ``"chi2"``, but ``"score"`` with
        fewer than 15 judgments per parameter.
    n : int
        For fits with effects: the number of tables to draw from the smaller fit, with new judges, for example 199. Both
        models are fitted to each table, and p = (1 + number of likelihood ratios at least as large) / (n + 1). 0 uses
        χ².
    rng : numpy.random.Generator or int, optional
    n_jobs : int
        The number of processes, −1 for one per core. The result depends only on `rng`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Table
        One row per model, by falling residual df: model (the formula; for a single fit: term, the added term),
        df_resid, deviance, df (difference from the row above), delta_deviance (decrease of the deviance; absent for
        ``"chi2"``, where it is the statistic), statistic, df_denom (of F), delta_aic and delta_bic (change from the row
        above; below 0 this row's model is better) and p_value. For fits with effects, of rankings, of patterns and of
        latent classes: model, df_model (estimated parameters, σ and shares among them), llf, aic, bic, df, statistic,
        p_value. For calibrated worths: model, df_model, df, statistic (F), df_denom, p_value.

    Raises
    ------
    DesignError
        For fits of different data, fits that are not nested, an F test if the largest model is saturated, and a `prior`
        if only likelihoods can be compared.
    OptionError
        For a single fit of a kind without sequential tests, and for a test that the kind does not have. For `n` without
        effects. For ``"cluster"`` if the fit has no clusters or two-way clustering.

    Notes
    -----
    Dras (2015, section 5) compares models by differences of their deviances. In the parameters β of the larger model,
    the smaller model is β = a + Bb. Let the rows of R span the space orthogonal to B. Then Wald's statistic is
    dᵀ(RVRᵀ)⁻¹d with d = R(β̂ − a). The score statistic sᵀI⁻¹s, with score s and information I at the smaller fit, is
    the same quadratic form with d = RI⁻¹s, from the scoring step I⁻¹s, and V = I⁻¹.

    The likelihood ratio needs many judgments. In simulations with ten judges and four objects (300 tables each), models
    without the interaction of ``object * judge + tie`` were true. With 6 judgments per parameter, the likelihood ratio
    at level 5 % rejected 12 % of them, and Rao's score test 3 %. With 10 judgments per parameter the rates were 10 and
    5 %; with 15, both were at most 4 %.

    A standard deviation of effects cannot be below 0. So the likelihood ratio for one more standard deviation and q
    other parameters has the distribution ½χ²_q + ½χ²_{q+1} (Self & Liang 1987; χ²_0 is 0). For several more standard
    deviations it is a mixture whose weights depend on the table; the p-value then needs simulation (`n`). The
    hypothesis that the levels of ``(object | gr(judge, by=expert))`` have equal σ, as in ``(object | judge)``, is
    tested by χ²: σ is then above 0. With 12 judges at each level this test rejected 8 % of 300 true hypotheses at level
    5 %, with 30 judges 6.7 %.

    For ``"cluster"`` judgments of a cluster need not be independent, and clusters need not have equal sizes. With 8, 12
    and 30 clusters and 3 to 9 parameters this test rejected 3 to 8 % of true models at level 5 %. The F test of Wald's
    statistic with G − 1 denominator df rejected up to 97 %.

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
    models = [tested(res) for res in results]
    by = Reference(asked_test(models, test), n, Resampler.of("anova", rng, n_jobs, progress))
    if n and not any(model.n_scales for model in models):
        names = "res" if len(models) == 1 else ", ".join(f"m{k}" for k in range(len(models)))
        raise OptionError(
            f"n={n!r} with {models[0].what}",
            f"Leave n= out: tables are drawn only from fits with effects of judges. Type llbt.anova({names}).",
        )
    if len(models) == 1:
        return _of_one(models[0], by)
    check_comparable(models)
    if not all(model.plain for model in models):
        check_maximum(models)
    ranked = sorted(enumerate(models), key=lambda numbered: numbered[1].n_params)
    check_nested(ranked)
    models = [model for _, model in ranked]
    if by.test == "wald" and len({math.isinf(model.base.df_inference) for model in models[1:]}) > 1:
        raise DesignError(
            "test='wald': some fits give χ², others F, by their cov_type", "Fit all models with the same cov_type."
        )
    return _analysis(models, by)


def asked_test(models: Sequence[TestedModel], test: Test | None) -> Test:
    """Return the requested test of models, by default the one that suits the largest model.

    Raises
    ------
    OptionError
        For a test that some of the models do not have.
    """
    odd = [model for model in models if not model.plain]
    if not odd:
        return chosen_test(test, max(models, key=lambda model: model.n_params).base)
    only: Test = "wald" if odd[0].family == "calibrated worths" else "chi2"
    if test not in (None, only):
        how = "Wald's test" if only == "wald" else "their likelihoods"
        raise OptionError(f"test={test!r}, but {odd[0].what} are compared by {how}", f"Pass test={only!r}.")
    return only


def _of_one(model: TestedModel, by: Reference) -> Table:
    """Return sequential tests of a plain fit's terms; a fit with discriminations is compared with its neighbours."""
    if model.plain:
        return _in_sequence(model, by)
    if model.neighbours:
        return _analysis([tested(fit) for fit in model.neighbours], by)
    way = "Test each term given the others, llbt.drop1(res), or compare" if model.terms else "Compare"
    raise OptionError(
        f"{model.formula!r} is a single fit, and terms of {model.what} are not tested in sequence",
        f"{way} with a smaller fit: llbt.anova(smaller, larger).",
    )


def _in_sequence(whole: TestedModel, by: Reference) -> Table:
    """Return the analysis by term: first the nuisance parameters, then one more term in each row."""
    added = [term for term in whole.terms if term.name not in whole.staying]
    tested_terms = [term for term in whole.terms if term.name in whole.staying]
    if not added:
        raise DesignError(
            f"all parameters of {whole.formula!r} are held, or are cuts that every model has, so no term can be tested."
        )
    models = [*(whole.refitted([*tested_terms, *added[:size]]) for size in range(len(added))), whole]
    names = ["NULL", *(term.name for term in added)]
    title = "Analysis of deviance, terms added in sequence"
    return _deviances(Field("term", "", names), models, by, title=title, head=(f"Model: {whole.formula}",))


def _analysis(models: Sequence[TestedModel], by: Reference) -> Table:
    """Return one row per model, each tested against the row above."""
    names = Field("model", "Model", [model.formula for model in models])
    if not any(math.isnan(model.deviance) for model in models):
        return _deviances(names, models, by, title="Analysis of deviance")
    return _walds(names, models, by) if by.test == "wald" else _likelihoods(names, models, by)


def _tests(models: Sequence[TestedModel], by: Reference) -> list[Compared | None]:
    by = replace(by, scaled_by=models[-1].base)
    return [None, *(nested(small, large, by) for small, large in itertools.pairwise(models))]


def _deviances(
    names: Field, models: Sequence[TestedModel], by: Reference, *, title: str, head: tuple[str, ...] = ()
) -> Table:
    pairs = list(itertools.pairwise(models))
    tests = _tests(models, by)

    def change(name: str) -> list[float]:
        return [math.nan, *(getattr(large.fit, name) - getattr(small.fit, name) for small, large in pairs)]

    fall = Field("delta_deviance", "Deviance", [-x for x in change("deviance")], "statistic")
    return Table(
        (
            names,
            Field("df_resid", "Resid. Df", [model.fit.df_resid for model in models], "count"),
            Field("deviance", "Resid. Dev", [model.deviance for model in models], "statistic"),
            Field("df", "Df", df_of(tests), "count"),
            *(() if by.test == "chi2" else (fall,)),
            *statistic_fields(by.test, tests, likelihood_ratio="Deviance"),
            Field("delta_aic", "Delta AIC", change("aic"), "statistic"),
            Field("delta_bic", "Delta BIC", change("bic"), "statistic"),
            *p_value_fields(tests),
        ),
        title=title,
        head=head,
        notes=(*empty_notes(list(names.values), tests), *_deviance_notes(models, tests, by)),
    )


def _deviance_notes(models: Sequence[TestedModel], tests: Sequence[Compared | None], by: Reference) -> tuple[str, ...]:
    bases = [model.base for model in models]
    if not all(model.plain for model in models):
        return (*_beside_notes(models, tests), *_few_notes(models[-1]), *bic_reservation(bases))
    return (
        *dispersion_notes(by.test, bases[-1:]),
        *flip_notes(tests, bases[-1]),
        *reservations(by.test, bases),
        *bic_reservation(bases),
    )


def _few_notes(largest: TestedModel) -> tuple[str, ...]:
    """Return a note that a likelihood ratio rests on few judgments."""
    judgments = largest.fit.n_judgments
    if not too_few(judgments, largest.n_params):
        return ()
    each = format_number(judgments / largest.n_params, 2)
    return (Qualifying(f"{each} judgments per parameter of {largest.formula}: this test rejects too often."),)


def _likelihoods(names: Field, models: Sequence[TestedModel], by: Reference) -> Table:
    tests = _tests(models, by)
    odd = next(model for model in models if math.isnan(model.deviance))
    p_values, stars = p_value_fields(tests)
    if by.n:
        p_values = replace(p_values, heading="Pr(drawn)")
    return Table(
        (
            names,
            Field("df_model", "Df model", [model.n_params for model in models], "count"),
            Field("llf", "logLik", [model.fit.llf for model in models], "statistic"),
            Field("aic", "AIC", [model.fit.aic for model in models], "statistic"),
            Field("bic", "BIC", [model.fit.bic for model in models], "statistic"),
            Field("df", "Df", df_of(tests), "count"),
            *statistic_fields(by.test, tests, likelihood_ratio="Chisq"),
            p_values,
            stars,
        ),
        title=f"Likelihood-ratio tests of {odd.what}",
        notes=(*_likelihood_notes(models), *_beside_notes(models, tests), *_drawn_notes(by), *_bic_notes(models)),
    )


def _likelihood_notes(models: Sequence[TestedModel]) -> tuple[str, ...]:
    if not any(model.n_scales for model in models):
        return ()
    return ("log-likelihood, AIC and BIC: of the judgments (Σ n log p), effects integrated out",)


def _drawn_notes(by: Reference) -> tuple[str, ...]:
    return (
        (
            f"p-values: {format_count(by.n)} tables drawn from the smaller fit with new judges",
            "A table without finite estimates counts as one with a larger likelihood ratio.",
        )
        if by.n
        else ()
    )


def _bic_notes(models: Sequence[TestedModel]) -> tuple[str, ...]:
    return bic_reservation([model.base for model in models if model.family == "comparisons"])


def _walds(names: Field, models: Sequence[TestedModel], by: Reference) -> Table:
    tests = _tests(models, by)
    return Table(
        (
            names,
            Field("df_model", "Df model", [model.n_params for model in models], "count"),
            Field("df", "Df", df_of(tests), "count"),
            *statistic_fields(by.test, tests, likelihood_ratio=""),
            *p_value_fields(tests),
        ),
        title=f"Wald tests of {models[-1].what}",
        notes=_beside_notes(models, tests),
    )


def _beside_notes(models: Sequence[TestedModel], tests: Sequence[Compared | None]) -> tuple[str, ...]:
    """Return the notes of the tests and of the models, without repetitions."""
    notes = [note for test in tests if test is not None for note in test.notes]
    notes += [note for model in models for note in model.notes]
    return tuple(dict.fromkeys([*notes, *slope_notes(models)]))


# -- columns and notes ---------------------------------------------------------------------------------------


def df_of(tests: Sequence[Compared | None]) -> list[float]:
    """Return the degrees of freedom of tests; NaN in a row without a test."""
    return [math.nan if t is None else t.df for t in tests]


def statistic_fields(test: Test, tests: Sequence[Compared | None], *, likelihood_ratio: str) -> tuple[Field, ...]:
    """Return the column of the statistic, and a column of the denominator df if a test has one."""
    denominators = [math.nan if t is None else t.df_denom for t in tests]
    heading = {"chi2": likelihood_ratio, "F": "F", "wald": "Wald", "score": "Rao score", "cluster": "Rao score"}[test]
    known = not np.isnan(denominators).all()
    statistic = Field(
        "statistic", "F" if known else heading, [math.nan if t is None else t.statistic for t in tests], "statistic"
    )
    return (statistic, Field("df_denom", "Den. Df", denominators, "count")) if known else (statistic,)


def p_value_fields(tests: Sequence[Compared | None]) -> tuple[Field, ...]:
    """Return the column of the p-values and the column of their stars."""
    p = [math.nan if t is None else t.p_value for t in tests]
    heading = "Pr(>Chi)"
    if any(t is not None and t.flips is not None for t in tests):
        heading = "Pr(flips)"
    elif any(t is not None and not math.isnan(t.df_denom) for t in tests):
        heading = "Pr(>F)"
    return Field("p_value", heading, p, "p_value"), Field("", "", p, "stars")


def flip_notes(tests: Sequence[Compared | None], res: Estimates) -> tuple[str, ...]:
    """Return notes on the sign flips: the numbers of clusters and flips, and why some tests have no p-value."""
    n_flips = [t.flips for t in tests if t is not None and t.flips is not None]
    groups = " and ".join(res.specification.groups)
    n_flips.sort(key=lambda flips: flips.clusters)  # a cluster whose score is 0 has nothing to flip
    notes = [n_flips[0].note(groups, most=n_flips[-1].clusters)] if n_flips else []
    if any(t is not None and t.df > 0 and math.isnan(t.p_value) for t in tests):
        notes.append(
            Qualifying(
                f"NA: a tested parameter depends on a single cluster of {groups}, or all clusters give the same value. "
                "The test then cannot separate a difference from dependence. test='score' takes judgments as "
                "independent."
            )
        )
    return tuple(notes)


def empty_notes(names: Sequence[str], tests: Sequence[Compared | None]) -> tuple[str, ...]:
    """Return a note that names the terms that do not enlarge the model."""
    empty = [name for name, t in zip(names, tests, strict=True) if t is not None and t.df == 0]
    return (f"These terms add nothing to the other terms: {named(empty)}.",) if empty else ()


def dispersion_notes(test: Test, scaled_by: Sequence[PlainEstimates]) -> tuple[str, ...]:
    """Return a note on the dispersion that an F test used."""
    if test != "F":
        return ()
    notes = [
        f"dispersion {format_number(dispersion(fit), 4)}, Pearson's X²/df of {fit.specification.formula}"
        for fit in scaled_by
    ]
    possible, reservation = chi2_reservation(scaled_by[-1].solution.means)
    return tuple(notes) if possible else (*notes, Qualifying(f"The dispersion means little. {reservation}"))


def reservations(test: Test, fits: Sequence[Estimates]) -> tuple[str, ...]:
    """Return notes on what a test ignores: the fits' covariance, dispersion, or shrunk estimates."""
    specs = [fit.specification for fit in fits]
    if test in ("wald", "cluster"):
        return _sparse_notes(test, fits)
    name = "The score test" if test == "score" else "The likelihood ratio"
    notes: list[str] = []
    dependent = next((fit for fit in fits if fit.specification.cov_type not in ("nonrobust", "quasi")), None)
    if dependent is not None:
        robust = dependent.specification
        kind = " ".join([f"{robust.cov_type!r}", *([f"({', '.join(robust.groups)})"] if robust.groups else [])])
        better = default_test(dependent)
        what = "flips the scores of its clusters" if better == "cluster" else "uses the fit's covariance"
        notes.append(
            Qualifying(
                f"{name} takes judgments as independent, but the fit has cov_type={kind}; test={better!r} {what}."
            )
        )
    else:
        notes += _kept_notes(name, fits[-1])
    if test != "F" and any(s.cov_type == "quasi" for s in specs):
        notes.append(Qualifying(f"{name} takes the dispersion as 1; test='F' and test='wald' use the estimated one."))
    shrunk = ["bias reduction"] if any(s.reduces_bias for s in specs) else []
    shrunk += ["a prior"] if any(s.prior is not None and not s.reduces_bias for s in specs) else []
    if shrunk and test != "score":
        notes.append(
            Qualifying(
                f"{name} takes judgments as independent, and estimates with {' and '.join(shrunk)} do not maximize the "
                "likelihood. test='wald' uses the fit's estimates and covariance."
            )
        )
    return (*notes, *_sparse_notes(test, fits))


def _kept_notes(name: str, fit: Estimates) -> list[str]:
    """Return a note that judgments are taken as independent by default, although the table has clusters."""
    clusters = fit.comparisons.clusters
    if not clusters or fit.specification.cov_type != "nonrobust" or fit.covariance.notes:
        return []
    return [
        Qualifying(
            f"{name} takes judgments as independent, and the table keeps {' and '.join(clusters)}. "
            "To allow for clusters, fit with cov_type='cautious'."
        )
    ]


def _sparse_notes(test: Test, fits: Sequence[Estimates]) -> tuple[str, ...]:
    """Return a note on the size of a test with few judgments."""
    largest = max(fits, key=lambda fit: len(fit.free))
    if not few_judgments(largest) or any(fit.specification.groups for fit in fits):
        return ()
    each = format_number(largest.comparisons.n_judgments / len(largest.free), 2)
    ratio = f"{each} judgments per parameter of {largest.specification.formula}"
    if test == "score":
        return (f"{ratio}: with fewer than {FEW}, Rao's score test keeps its level.",)
    how = "too rarely" if test == "wald" else "too often"
    return (
        Qualifying(
            f"{ratio}: with fewer than {FEW}, this test rejects true models {how}. test='score' keeps its level."
        ),
    )
