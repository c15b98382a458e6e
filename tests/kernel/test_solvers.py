"""Second routes to the same numbers: both solvers, hand-made GLMs, conditional Poisson, finite differences.

Nothing here takes a design from llbt where an own one is promised: the dummies are made by hand from ``to_frame()``.
"""

import gc
import itertools
import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array
from statsmodels.discrete.conditional_models import ConditionalPoisson
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM
from support.fits import fit_by

import llbt
from llbt import Comparisons, LLBTResults
from llbt.core.response import THREE, TWO
from llbt.kernel import explicit, likelihood, solvers
from llbt.kernel.indexed_rows import Gathered
from llbt.kernel.pairtable import pair_table

# The promise of the design: estimates against their size or standard error, covariances against the standard errors,
# deviances against their size.
SOLVERS = 1e-8
# A GLM with hand-made dummies runs to tol=1e-12 on the deviance, so its estimates are about √1e-12 standard errors off.
GLM_ESTIMATE = 1e-6
# Deviances are flat at the maximum: there they agree to the square of that.
GLM_DEVIANCE = 1e-8
# ConditionalPoisson is run by Newton steps, so it is exact to rounding in sums of thousands of counts.
CONDITIONAL = 1e-9
# Central differences of step h are off by h² and by rounding of the log-likelihood over h.
DIFFERENCE = 1e-6
# The same sums taken twice.
ROUNDING = 1e-10

METHODS = ("glm", "eliminate")
every_method = pytest.mark.parametrize("method", METHODS)


def quietly(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    """Fit with every warning an error, but for ties without a tie term."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        return fit_by(formula, c, **options)


def close(found, expected, *, rtol=0.0, atol=0.0):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=rtol, atol=atol)


def assert_same_fit(a: LLBTResults, b: LLBTResults, tolerance: float = SOLVERS) -> None:
    assert (a.names, a.aliased, a.df_resid, a.df_model, a.df_null, a.n_cells) == (
        *(b.names, b.aliased, b.df_resid, b.df_model, b.df_null, b.n_cells),
    )
    error = b.bse.to_numpy()
    size = np.fmax(np.abs(b.params.to_numpy()), error)
    close(a.params / size, b.params / size, atol=tolerance)
    spread = np.outer(error, error)
    close(a.cov_params() / spread, b.cov_params() / spread, atol=tolerance)
    # a saturated fit has a deviance of 0, to the rounding of sums of counts
    close(a.deviance, b.deviance, rtol=tolerance, atol=1e-13 * b.comparisons.n_judgments)
    close([a.llf, a.llf_poisson], [b.llf, b.llf_poisson], rtol=tolerance)
    close(a.null_deviance, b.null_deviance, rtol=tolerance)
    close(a.fittedvalues, b.fittedvalues, rtol=tolerance)
    close(a.hat_diag, b.hat_diag, atol=tolerance)


# -- (1) two solvers, one answer -------------------------------------------------------------------------------------

FORMULAS = {
    "dras_modpref": ["object + tie", "object", "tie"],
    "dras_collins": ["object + tie", "object", "tie"],
    "dras_table1": [
        *("object", "object + tie", "object * judge", "object * judge + tie", "object * judge + tie * judge"),
        *("object:judge + tie", "tie:judge", "C(object, Sum) + tie", "object + tie:pair"),
    ],
    "dras_table1_as_analysed": [
        *("object", "object + tie", "object * judge + tie", "object * judge + tie * judge", "object + tie:pair"),
    ],
    "baseball": [
        "object",
        "object + order",
        "order",
        "object + order:object",
        "C(object, Treatment('Boston')) + order",
    ],
    "citations": ["object", "C(object, Sum)", "C(object, Treatment('JASA'))"],
    "cems": [
        *("object", "object + tie", "object + tie:pair", "object * ENG + tie", "object * (ENG + SEX) + tie"),
        *("object * ENG * SEX + tie * ENG * SEX", "object * ENG * SEX", "tie * ENG", "LAT + EC + LAT:ENG + tie"),
        *("LAT:ENG + tie:SEX", "object + LAT + tie", "object + object:ENG:SEX + tie:pair"),
    ],
    "puddings": ["object", "object + tie", "object + tie:pair", "tie"],
    "bojar_six_annotators": ["object + tie + bad", "object * judge + tie + bad", "object * judge + tie * judge + bad"],
}


@cache
def bundled(name: str, formula: str, method: str) -> LLBTResults:
    return quietly(formula, llbt.load_dataset(name), method=method)


def test_every_bundled_set_has_formulas():
    assert set(FORMULAS) == set(llbt.list_datasets().to_frame()["name"])


every_fit = pytest.mark.parametrize(
    ("name", "formula"), [(name, formula) for name, formulas in FORMULAS.items() for formula in formulas]
)


@pytest.mark.slow
@every_fit
def test_solvers_agree_on_bundled_sets(name, formula):
    explicit, eliminated = (bundled(name, formula, method) for method in METHODS)
    assert (explicit.solution.solver, eliminated.solution.solver) == METHODS
    assert_same_fit(eliminated, explicit)


@pytest.mark.slow
@every_fit
def test_auto_is_one_of_them(name, formula):
    """statsmodels while cells × (p + S) ≤ 10⁵ (design.md, section 4), else eliminate."""
    res = quietly(formula, llbt.load_dataset(name))
    entries = res.n_cells * (len(res.comparisons) + res.n_params)
    assert res.solution.solver == ("eliminate, glm" if entries <= 1e5 else "eliminate")
    assert_same_fit(res, bundled(name, formula, "eliminate"))


def test_auto_eliminates_when_the_matrix_is_large():
    c = random_counts(np.random.default_rng(3), objects=20)
    res = quietly("object + tie", c)
    assert res.n_cells * (len(res.comparisons) + res.n_params) > 1e5
    assert res.solution.solver == "eliminate"
    assert_same_fit(res, quietly("object + tie", c, method="glm"))


def random_counts(rng: np.random.Generator, *, objects: int) -> Comparisons:
    """All pairs of `objects` with positive counts, so that every estimate exists."""
    i, j = np.array(list(itertools.combinations(range(objects), 2))).T
    counts = rng.integers(1, 30, size=(len(i), 3))
    frame = pd.DataFrame({"object_i": i, "object_j": j, "wins_i": counts[:, 0], "wins_j": counts[:, 2]})
    return llbt.from_counts(frame.assign(ties=counts[:, 1]))


@dataclass(frozen=True)
class Drawn:
    """A random table and a formula whose estimates exist by construction."""

    table: Comparisons
    formula: str


WORTHS = ("object", "object * g", "object:g", "object + object:x", "object * g + object:x", "price", "price + price:x")
SIDED = ("object + length", "length", "price + length", "object * g + length")
TIES = ("", "tie", "tie * g", "tie:g", "tie + tie:x", "tie:g:x")
ORDERS = ("", "order", "order * g", "order:g", "order:x", "order:g + order:x")
positive = st.integers(1, 60) | st.sampled_from([0.25, 0.5, 1.5, 1000])
any_count = st.integers(0, 12)


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """Every object meets the last one in every class, both ways round, with positive counts in all cells.

    These rows alone determine every parameter of the formulas above, or it is aliased in the whole table too: whatever
    the other rows hold, zeros among it, the estimates are finite.
    """
    size = draw(st.integers(2, 5))
    labels = draw(st.sampled_from(["ABCDE", (1, 2, 10, 20, 30), ("e", "d", "c", "b", "a")]))[:size]
    groups = ["g1", "g2", "g3"][: draw(st.integers(2, 3))]
    numbers = draw(st.lists(st.floats(-2, 2).map(lambda x: round(x, 2)), min_size=2, max_size=2, unique=True))
    sides = draw(st.lists(st.integers(-6, 6), min_size=2, max_size=2, unique=True))
    prices = draw(st.permutations(range(size)))
    ties, order, sided = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    star = [(a, size - 1) for a in range(size - 1)]
    others = [p for p in itertools.combinations(range(size - 1), 2) if draw(st.booleans())]
    rows = []
    for a, b in [*star, *((b, a) for a, b in star), *others]:
        cells = positive if size - 1 in (a, b) else any_count
        for g, x, s in itertools.product(groups, numbers, sides if sided else [0]):
            counts = [draw(cells), draw(cells), draw(cells)]
            rows.append((labels[a], labels[b], g, x, 0.5 * s + a, 1.0 * b, *counts))
    names = ["object_i", "object_j", "g", "x", "length_i", "length_j", "wins_i", "ties", "wins_j"]
    frame = pd.DataFrame(rows, columns=names)
    table = llbt.from_counts(
        frame,
        ties_column="ties" if ties else None,
        covariates=("g", "x"),
        object_covariates=pd.DataFrame({"object": list(labels), "price": [float(p) for p in prices]}),
        side_covariates={"length": ("length_i", "length_j")} if sided else None,
        order=order,
    )
    parts = [draw(st.sampled_from(SIDED if sided else WORTHS))]
    parts += [draw(st.sampled_from(TIES))] if ties else []
    parts += [draw(st.sampled_from(ORDERS))] if order else []
    return Drawn(table, " + ".join(part for part in parts if part))


@pytest.mark.slow
@settings(max_examples=40)
@given(drawn())
def test_solvers_agree_on_random_designs(example):
    explicit, eliminated = (quietly(example.formula, example.table, method=method) for method in METHODS)
    assert explicit.converged
    assert eliminated.converged
    assert_same_fit(eliminated, explicit)


# -- (2) and (3): statsmodels with dummies made by hand --------------------------------------------------------------

Row = Mapping[str, float]


@dataclass(frozen=True)
class ByHand:
    """A model written out without llbt: columns of the signed and of the tie predictor of one row of ``to_frame()``."""

    data: str
    formula: str
    signed: Callable[[pd.Series], Row]
    tie: Callable[[pd.Series], Row]
    reference: str | int | None = None


def dummies(row: pd.Series, objects: str | tuple, suffix: str = "") -> dict[str, float]:
    """+1 for object i and −1 for object j, the reference left out by not being among `objects`."""
    return {f"object[{o}]{suffix}": float(row.object_i == o) - float(row.object_j == o) for o in objects}


def no_ties(row: pd.Series) -> Row:
    return {}


def one_gamma(row: pd.Series) -> Row:
    return {"tie": 1.0}


def judges(row: pd.Series) -> Row:
    found = dummies(row, "ABC")
    for judge in ("J2", "J3", "J4"):
        by_judge = dummies(row, "ABC", f":judge[{judge}]")
        found |= {name: value * (row.judge == judge) for name, value in by_judge.items()}
    return found


def gamma_by_judge(row: pd.Series) -> Row:
    return {"tie": 1.0} | {f"tie:judge[{j}]": float(row.judge == j) for j in ("J2", "J3", "J4")}


LATIN = {"LO": 0, "PA": 1, "MI": 1, "SG": 0, "BA": 1, "ST": 0}
EC = {"LO": 1, "PA": 0, "MI": 1, "SG": 0, "BA": 0, "ST": 1}


def latin(row: pd.Series) -> Row:
    lat, ec = (float(table[row.object_i] - table[row.object_j]) for table in (LATIN, EC))
    return {"LAT": lat, "EC": ec, "LAT:ENG[2]": lat * (row.ENG == 2)}


def home(row: pd.Series) -> Row:
    return dummies(row, ("Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")) | {"order": 1.0}


def home_of_each(row: pd.Series) -> Row:
    teams = ("Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")
    own = {f"order:object[{team}]": float(row.object_i == team) for team in ("Baltimore", *teams)}
    return dummies(row, teams) | own


def gamma_by_pair(row: pd.Series) -> Row:
    pairs = itertools.combinations(range(1, 7), 2)
    return {f"tie:pair[{i}:{j}]": float((row.object_i, row.object_j) == (i, j)) for i, j in pairs}


BY_HAND = [
    ByHand("dras_modpref", "object + tie", lambda row: dummies(row, "+"), one_gamma),
    ByHand("dras_table1", "object", lambda row: dummies(row, "ABC"), no_ties),
    ByHand("dras_table1", "object + tie", lambda row: dummies(row, "BCD"), one_gamma, reference="A"),
    ByHand("dras_table1", "object * judge + tie * judge", judges, gamma_by_judge),
    ByHand("cems", "LAT + EC + LAT:ENG + tie", latin, one_gamma),
    ByHand("baseball", "object + order", home, no_ties, reference="Baltimore"),
    ByHand("baseball", "object + order:object", home_of_each, no_ties, reference="Baltimore"),
    ByHand("puddings", "object + tie:pair", lambda row: dummies(row, (1, 2, 3, 4, 5)), gamma_by_pair),
]
by_hand = pytest.mark.parametrize("model", BY_HAND, ids=[f"{m.data}-{m.formula}" for m in BY_HAND])


def cells(model: ByHand, frame: pd.DataFrame) -> tuple[pd.Series, pd.DataFrame, np.ndarray]:
    """Counts, columns and comparison of every cell, from the frame of the table alone."""
    ties = frame["ties"].any()
    outcomes = {"wins_i": 1.0, "ties": 0.0, "wins_j": -1.0} if ties else {"wins_i": 1.0, "wins_j": -1.0}
    y, x, comparison = [], [], []
    for s, row in frame.iterrows():
        signed, tie = model.signed(row), model.tie(row)
        for outcome, sign in outcomes.items():
            y.append(row[outcome])
            tied = {name: value * (outcome == "ties") for name, value in tie.items()}
            x.append({name: value * sign for name, value in signed.items()} | tied)
            comparison.append(s)
    return pd.Series(y, dtype=float), pd.DataFrame(x, dtype=float), np.array(comparison)


@by_hand
@every_method
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::statsmodels.tools.sm_exceptions.ModelWarning")
def test_glm_with_dummies_made_by_hand(model, method):
    y, x, comparison = cells(model, llbt.load_dataset(model.data).to_frame())
    glm = GLM(y, x.join(pd.get_dummies(comparison, prefix="mu", dtype=float)), family=Poisson()).fit(tol=1e-12)
    res = quietly(model.formula, llbt.load_dataset(model.data), reference=model.reference, method=method)
    names = list(x.columns)
    assert sorted(res.params.index) == sorted(names)
    close((res.params[names] - glm.params[names]) / glm.bse[names], np.zeros(len(names)), atol=GLM_ESTIMATE)
    close(res.bse[names], glm.bse[names], rtol=GLM_ESTIMATE)
    close(res.cov_params().loc[names, names], glm.cov_params().loc[names, names], atol=GLM_ESTIMATE)
    close(res.deviance, glm.deviance, rtol=GLM_DEVIANCE, atol=GLM_DEVIANCE)
    close(res.pearson_chi2, glm.pearson_chi2, rtol=GLM_ESTIMATE, atol=GLM_ESTIMATE)
    close(res.llf_poisson, glm.llf, rtol=GLM_DEVIANCE)
    assert (res.df_resid, len(res.comparisons) + res.df_model - 1, res.n_cells) == (
        glm.df_resid,
        glm.df_model,
        glm.nobs,
    )
    close(res.fittedvalues, glm.fittedvalues, rtol=GLM_ESTIMATE, atol=GLM_ESTIMATE)


@by_hand
@every_method
def test_conditional_poisson(model, method):
    """The nuisance parameters conditioned out by statsmodels: an estimate without any of them.

    statsmodels leaves out groups of equal counts, which is right for logits and wrong for counts: so does the table.
    """
    c = llbt.load_dataset(model.data)
    frame = c.to_frame()
    counts = frame[["wins_i", "ties", "wins_j"] if c.has_ties else ["wins_i", "wins_j"]]
    frame = frame[counts.nunique(axis=1) > 1].reset_index(drop=True)
    schools = pd.DataFrame({"object": list(LATIN), "LAT": list(LATIN.values()), "EC": list(EC.values())}, dtype=object)
    table = llbt.from_counts(
        frame,
        ties_column="ties" if c.has_ties else None,
        covariates=c.covariates,
        object_covariates=schools.astype({"LAT": float, "EC": float}) if c.object_covariates else None,
        order=c.keeps_order,
    )
    res = quietly(model.formula, table, reference=model.reference, method=method)
    y, x, comparison = cells(model, frame)
    conditional = ConditionalPoisson(y.to_numpy(), x.to_numpy(), groups=comparison)
    found = conditional.fit(method="newton", tol=1e-10, maxiter=100, disp=False)
    close(res.params[list(x.columns)], found.params, atol=CONDITIONAL)
    # its score at our estimates is 0: the same maximum, said without an optimizer
    close(conditional.score(res.params[list(x.columns)].to_numpy()), np.zeros(x.shape[1]), atol=CONDITIONAL)


def test_a_side_covariate_by_hand():
    """`length` of each side: its difference is one column, whichever object is i."""
    rng = np.random.default_rng(20)
    pairs = list(itertools.permutations("ABCD", 2)) * 2
    frame = pd.DataFrame(pairs, columns=["object_i", "object_j"])
    frame["a"], frame["b"] = rng.normal(size=(2, len(frame)))
    frame[["wins_i", "ties", "wins_j"]] = rng.integers(1, 20, size=(len(frame), 3))
    c = llbt.from_counts(frame, side_covariates={"length": ("a", "b")})
    y, x = [], []
    for s, row in frame.iterrows():
        signed = [*dummies(row, "ABC").values(), row.a - row.b]
        nuisance = [float(s == k) for k in range(len(frame))]
        y += [row.wins_i, row.ties, row.wins_j]
        x += [[*signed, 0, *nuisance], [0, 0, 0, 0, 1, *nuisance], [*(-v for v in signed), 0, *nuisance]]
    glm = GLM(y, np.array(x, dtype=float), family=Poisson()).fit(tol=1e-12)
    for method in METHODS:
        res = fit_by("object + length + tie", c, method=method)
        assert res.params.index.tolist() == ["object[A]", "object[B]", "object[C]", "length", "tie"]
        close(res.params, glm.params[:5], atol=GLM_ESTIMATE)
        close(res.bse, glm.bse[:5], rtol=GLM_ESTIMATE)
        close(res.deviance, glm.deviance, rtol=GLM_DEVIANCE)
        assert res.df_resid == glm.df_resid


# -- (4) score and information by finite differences -----------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn) -> tuple[likelihood.Problem, np.ndarray]:
    """Any problem, offsets and fractional counts among it, and a point that is not its maximum."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, p = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    ties = draw(st.booleans())
    counts = rng.choice([0, 1, 2.5, 7, 40], size=(size, 3 if ties else 2))
    counts[:, 0] += 1  # every comparison has a judgment
    rows = [rng.normal(size=(size, p)) * (rng.random((size, p)) < 0.7) for _ in range(1 + ties)]
    problem = likelihood.Problem(
        tuple(Gathered.of(csr_array(part)) for part in rows),
        counts,
        rng.normal(size=(1 + ties, size)),
        THREE if ties else TWO,
    )
    return problem, rng.normal(size=p)


def log_likelihood(problem: likelihood.Problem, point: np.ndarray) -> float:
    """Σ y log p, written out cell by cell."""
    total = 0.0
    signed, tie = (
        problem.predictors[b].toarray() @ point + problem.offsets[b] for b in (0, problem.response.width - 1)
    )
    for s, y in enumerate(problem.counts):
        logs = [signed[s], tie[s], -signed[s]] if len(y) == 3 else [signed[s], -signed[s]]
        norm = math.log(sum(math.exp(value) for value in logs))
        total += sum(n * (value - norm) for n, value in zip(y, logs, strict=True))
    return total


@given(problems())
@pytest.mark.slow
def test_log_likelihood_score_and_information(drawn_problem):
    problem, point = drawn_problem
    found = likelihood.probabilities(problem, point)
    close(found.sum(axis=1), np.ones(len(found)), atol=1e-14)
    close(likelihood.log_likelihood(problem, found), log_likelihood(problem, point), rtol=ROUNDING)
    step = 1e-5 * np.eye(len(point))
    slope = [(log_likelihood(problem, point + h) - log_likelihood(problem, point - h)) / 2e-5 for h in step]
    scale = 1 + problem.totals.sum()
    close(likelihood.score(problem, found) / scale, np.array(slope) / scale, atol=DIFFERENCE)

    def score(at):
        return likelihood.score(problem, likelihood.probabilities(problem, at))

    curvature = [(score(point + h) - score(point - h)) / 2e-5 for h in step]
    information = likelihood.information(problem, found, problem.totals)
    close(information / scale, -np.array(curvature) / scale, atol=DIFFERENCE)
    close(information, information.T, atol=ROUNDING * scale)


@every_method
def test_score_is_zero_and_covariance_is_inverse_information_at_the_estimates(method):
    res = bundled("cems", "object * ENG + tie", method)
    problem, point = res.problem(), res.params.to_numpy()
    step = 1e-4 * np.eye(len(point))
    slope = [(log_likelihood(problem, point + h) - log_likelihood(problem, point - h)) / 2e-4 for h in step]
    close(np.array(slope) * res.bse.to_numpy(), np.zeros(len(point)), atol=1e-5)  # h² times third derivatives

    def score(at):
        return likelihood.score(problem, likelihood.probabilities(problem, at))

    curvature = -np.array([(score(point + h) - score(point - h)) / 2e-4 for h in step])
    close(curvature @ res.cov_params().to_numpy(), np.eye(len(point)), atol=1e-5)


# -- (5) what statsmodels says of the explicit model -----------------------------------------------------------------


@every_fit
@every_method
def test_to_glm_is_the_same_fit(name, formula, method):
    res = bundled(name, formula, method)
    glm = res.to_glm()
    assert type(glm._results).__name__ == "GLMResults"
    free = [n for n in res.names if n not in res.aliased]
    close((glm.params[free] - res.params[free]) / res.bse[free], np.zeros(len(free)), atol=SOLVERS)
    close(glm.bse[free], res.bse[free], rtol=SOLVERS)
    close(glm.deviance, res.deviance, rtol=SOLVERS, atol=1e-13 * res.comparisons.n_judgments)
    close([glm.llf, glm.aic, glm.bic_llf], [res.llf_poisson, res.aic_poisson, res.bic_poisson], rtol=SOLVERS)
    close(glm.pearson_chi2, res.pearson_chi2, rtol=SOLVERS, atol=ROUNDING)
    assert (glm.df_resid, glm.df_model + 1, glm.nobs) == (
        res.df_resid,
        len(res.comparisons) + res.df_model,
        res.n_cells,
    )
    assert (glm.converged, res.converged) == (True, True)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::statsmodels.tools.sm_exceptions.ModelWarning")
def test_statsmodels_comes_there_from_its_own_start_and_by_its_own_way(name):
    """The second route: reweighted least squares from the counts, which knows nothing of elimination."""
    res = bundled(name, FORMULAS[name][0], "glm")
    theirs = res.to_glm().model.fit(method="IRLS", tol=1e-10, tol_criterion="params")
    free = [n for n in res.names if n not in res.aliased]
    close((theirs.params[free] - res.params[free]) / res.bse[free], np.zeros(len(free)), atol=SOLVERS)
    close(theirs.bse[free], res.bse[free], rtol=SOLVERS)


def test_to_glm_returns_the_fit_that_was_made():
    c = llbt.load_dataset("dras_table1").pool()
    res = fit_by("object + tie", c, method="glm")
    assert res.to_glm() is res.to_glm()


@pytest.mark.parametrize("prior", [1.0, "jeffreys"])
def test_a_prior_has_no_glm(prior):
    """On the README's separated counts, too, where there was a LinAlgError; what to type runs where there is a GLM."""
    never = pd.DataFrame({"object_i": ["A", "A", "B"], "object_j": ["B", "C", "C"], "wins_i": [9, 8, 6]})
    separated = llbt.from_counts(never.assign(wins_j=[0, 0, 3]))
    c = llbt.load_dataset("dras_table1").pool()
    for formula, table in (("object", separated), ("object + tie", c)):
        res = llbt.fit(formula, table, prior=prior)
        with pytest.raises(llbt.errors.OptionError, match=r"prior=.*, and a GLM has no prior") as error:
            res.to_glm()
    typed = error.value.remedy[error.value.remedy.index("llbt.fit") :].removesuffix(".")
    close(eval(typed, {"llbt": llbt, "res": res}).params[:4], llbt.fit("object + tie", c).params, atol=SOLVERS)


@pytest.mark.filterwarnings("ignore::llbt.errors.ClusterWarning")
@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize(
    ("cov_type", "groups"),
    [("cluster", "judge"), ("CR1", "judge"), ("HC0", ()), ("quasi", ()), ("cluster", ("judge", "prompt"))],
)
def test_to_glm_has_the_covariance_of_the_fit(cov_type, groups, method):
    """Of the parameters as the fit has it, with its df; the probabilities that it implies have those of `predict`."""
    rng = np.random.default_rng(4)
    pairs = np.array([("A", "B"), ("A", "C"), ("B", "C")])
    frame = pd.DataFrame(pairs[rng.integers(3, size=400)], columns=["object_i", "object_j"])
    frame["judge"], frame["prompt"] = rng.integers(20, size=400), rng.integers(25, size=400)
    won = np.where(rng.random(400) < 0.3 + 0.4 * (frame["judge"] % 2), "i", "j")
    c = llbt.from_judgments(
        frame.assign(outcome=np.where(rng.random(400) < 0.2, "tie", won)), clusters=["judge", "prompt"]
    )
    model = llbt.LLBT.from_formula("object + tie", c)
    plain, res = model.fit(method=method), model.fit(method=method, cov_type=cov_type, groups=groups)
    glm, names = res.to_glm(), list(res.names)
    close(glm.bse[names], res.bse, rtol=SOLVERS)
    close(glm.cov_params().loc[names, names], res.cov_params(), rtol=1e-6, atol=1e-12)
    assert (glm.cov_type, plain.to_glm().cov_type) == (cov_type, "nonrobust")
    assert abs(glm.bse / plain.to_glm().bse - 1).max() > 1e-4
    theirs, ours = glm.t_test([1.0, *[0.0] * 5]), res.t_test("object[A]").to_frame()
    close([theirs.sd.item(), theirs.pvalue.item()], ours[["std_error", "p_value"]].iloc[0], rtol=1e-6)
    close(glm.conf_int().loc[names, 0], res.conf_int()["conf_low"], rtol=1e-6)
    chance = res.predict().to_frame()
    log_means = np.einsum("np,pq,nq->n", glm.model.exog, glm.cov_params(), glm.model.exog)
    dispersion = res.pearson_chi2 / res.df_resid if cov_type == "quasi" else 1.0
    of_totals = np.repeat(dispersion / c.totals, 3)
    close(np.sqrt(log_means - of_totals), chance["std_error"] / chance["estimate"], rtol=1e-6)


def test_the_covariance_of_the_nuisance_parameters_is_statsmodels():
    """By the delta method from that of θ: of independent judgments, and of quasi by statsmodels' own scale."""
    c = llbt.load_dataset("baseball")
    quasi = llbt.fit("object + order", c, cov_type="quasi")
    theirs = llbt.fit("object + order", c).to_glm().model.fit(scale="X2", tol=1e-12)
    close(quasi.to_glm().cov_params(), theirs.cov_params(), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("fixed", [{"tie": 15.0}, {"object[A]": 25.0}, {"object[A]": -29.0}], ids=str)
def test_a_glm_that_leaves_the_estimates_is_refused(fixed):
    """Held so far away that fitted counts are 0 to statsmodels, whose deviance would be off by thousands."""
    model = llbt.LLBT.from_formula("object + tie", llbt.load_dataset("dras_table1").pool())
    assert model.fit(method="eliminate", fixed=fixed).converged
    with pytest.raises(llbt.errors.DesignError, match=r"finds no maximum from its own start.*eliminate"):
        model.fit(method="glm", fixed=fixed)
    with pytest.raises(llbt.errors.DesignError, match=r"leaves the estimates .*eliminate"):
        model.fit(fixed=fixed).to_glm()


@every_fit
@pytest.mark.slow
def test_cells_of_the_explicit_model(name, formula):
    res, glm = bundled(name, formula, "eliminate"), bundled(name, formula, "glm").to_glm()
    close(res.fittedvalues, glm.fittedvalues, rtol=SOLVERS)
    # a saturated fit has residuals of 0, to the rounding of counts of hundreds
    close(res.resid_response, glm.resid_response, atol=1e-6)
    close(res.resid_pearson, glm.resid_pearson, atol=1e-6)
    close(res.resid_deviance, glm.resid_deviance, atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hat = glm.get_influence(observed=False).hat_matrix_diag
    close(res.hat_diag, hat, atol=SOLVERS)
    close(res.hat_diag.sum(), len(res.comparisons) + res.n_params, rtol=SOLVERS)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::statsmodels.tools.sm_exceptions.ModelWarning")
def test_null_deviance_is_that_of_the_nuisance_alone(name):
    """λ = γ = δ = 0: a Poisson GLM with one dummy per comparison and nothing else."""
    res = bundled(name, FORMULAS[name][0], "eliminate")
    y = res.comparisons.counts[:, res.comparisons.counts.any(axis=0)]
    glm = GLM(y.ravel(), np.repeat(np.eye(len(y)), y.shape[1], axis=0), family=Poisson()).fit(tol=1e-12)
    close(res.null_deviance, glm.deviance, rtol=GLM_DEVIANCE)
    assert res.df_null == glm.df_resid == y.size - len(y)
    assert res.df_model == len(res.names) - len(res.aliased)


@every_fit
def test_multinomial_log_likelihood(name, formula):
    """scipy's multinomial (binomial for two cells) of each comparison, given its total."""
    res = bundled(name, formula, "eliminate")
    probability = res.fittedvalues.to_numpy().reshape(res.counts.shape) / res.counts.sum(axis=1, keepdims=True)
    expected = sum(stats.multinomial.logpmf(y, y.sum(), p) for y, p in zip(res.counts, probability, strict=True))
    close(res.llf_multinomial, expected, rtol=SOLVERS)


# -- (6) parameters held at a value ----------------------------------------------------------------------------------


def dras_cells() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, columns object[A], object[B], object[C], tie, and nuisance dummies of Dras (2015), Table 1."""
    frame = llbt.load_dataset("dras_table1").to_frame()
    model = ByHand("dras_table1", "object + tie", lambda row: dummies(row, "ABC"), one_gamma)
    y, x, comparison = cells(model, frame)
    return y.to_numpy(), x.to_numpy(), (comparison[:, None] == np.arange(len(frame))).astype(float)


DRAS_NAMES = ["object[A]", "object[B]", "object[C]", "tie"]


@every_method
@pytest.mark.parametrize(
    "held", [{"tie": -0.5}, {"tie": 0}, {"object[B]": 0.3}, {"object[A]": -0.1, "tie": 1.25}, {"object[C]": -2}]
)
def test_a_profile_is_a_glm_with_an_offset(held, method):
    y, x, nuisance = dras_cells()
    free = [k for k, name in enumerate(DRAS_NAMES) if name not in held]
    offset = sum(value * x[:, DRAS_NAMES.index(name)] for name, value in held.items())
    glm = GLM(y, np.column_stack([x[:, free], nuisance]), family=Poisson(), offset=offset).fit(tol=1e-12)
    res = quietly("object + tie", llbt.load_dataset("dras_table1"), fixed=held, method=method)
    names = [DRAS_NAMES[k] for k in free]
    close(res.params[names], glm.params[: len(free)], atol=GLM_ESTIMATE)
    close(res.bse[names], glm.bse[: len(free)], rtol=GLM_ESTIMATE)
    close(res.deviance, glm.deviance, rtol=GLM_DEVIANCE)
    close(res.llf_poisson, glm.llf, rtol=GLM_DEVIANCE)
    assert (res.df_resid, len(res.comparisons) + res.df_model - 1) == (glm.df_resid, glm.df_model)
    assert res.params[list(held)].to_dict() == held
    assert res.bse[list(held)].isna().all()
    assert res.pvalues[list(held)].isna().all()
    assert (res.cov_params().loc[list(held)] == 0).all(axis=None)
    assert res.fixed == held
    close(res.to_glm().deviance, glm.deviance, rtol=GLM_DEVIANCE)
    close(res.null_deviance, quietly("object", llbt.load_dataset("dras_table1")).null_deviance, rtol=ROUNDING)


@every_method
@pytest.mark.parametrize(
    ("name", "formula", "held"),
    [
        ("dras_table1", "object + tie", ("tie",)),
        ("dras_table1", "object * judge + tie * judge", ("object[A]:judge[J3]", "tie:judge[J2]")),
        ("baseball", "object + order", ("order",)),
        ("cems", "LAT + EC + LAT:ENG + tie", ("LAT",)),
        ("puddings", "object + tie", ("object[1]", "object[2]", "object[3]", "object[4]", "object[5]", "tie")),
    ],
)
def test_held_at_the_estimate_gives_the_same_fit(name, formula, held, method):
    c = llbt.load_dataset(name)
    free = quietly(formula, c, method=method)
    res = quietly(formula, c, method=method, fixed={n: free.params[n] for n in held})
    close(res.params, free.params, atol=SOLVERS)
    close(res.deviance, free.deviance, rtol=SOLVERS)
    close(res.fittedvalues, free.fittedvalues, rtol=SOLVERS)
    assert res.df_resid == free.df_resid + len(held)
    assert res.bse.isna().sum() == len(held)
    estimated = [n for n in res.names if n not in held]
    assert (res.bse[estimated] <= free.bse[estimated] * (1 + SOLVERS)).all()  # knowing a parameter costs no precision


@every_method
def test_a_held_zero_is_a_term_left_out(method):
    c = llbt.load_dataset("dras_table1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the ties are modelled: by a γ that is said to be 0
        held = fit_by("object + tie", c, fixed={"tie": 0.0}, method=method)
    without = quietly("object", c, method=method)
    close(held.params[DRAS_NAMES[:3]], without.params, atol=SOLVERS)
    close(held.deviance, without.deviance, rtol=SOLVERS)
    assert held.df_resid == without.df_resid


def test_fixed_names_a_parameter_and_a_number():
    c = llbt.load_dataset("dras_table1")
    with pytest.raises(llbt.errors.OptionError, match=r"no parameter .*object\[Z\].*object\[A\]"):
        llbt.fit("object + tie", c, fixed={"object[Z]": 0.0})
    with pytest.raises(llbt.errors.OptionError, match="finite number"):
        llbt.fit("object + tie", c, fixed={"tie": math.inf})


@every_method
def test_holding_what_is_infinite_makes_the_rest_finite(method):
    """Without ties of judge J2 tie:judge[J2] is −∞; at a large negative value the rest is that of its limit."""
    frame = llbt.load_dataset("dras_table1").to_frame()
    frame.loc[frame["judge"] == "J2", "ties"] = 0
    c = llbt.from_counts(frame, covariates="judge")
    with pytest.raises(llbt.errors.SeparationError, match="J2"):
        fit_by("object + tie * judge", c, method=method)
    res = fit_by("object + tie * judge", c, method=method, fixed={"tie:judge[J2]": -40.0})
    assert np.isfinite(res.bse.drop("tie:judge[J2]")).all()
    for judge in ("J1", "J3", "J4"):  # the score of each γ is 0: as many ties are fitted as were seen
        ties = res.fittedvalues.xs((judge, "tie"), level=("judge", "outcome")).sum()
        close(ties, frame.loc[frame["judge"] == judge, "ties"].sum(), rtol=SOLVERS)
    close(res.fittedvalues.xs(("J2", "tie"), level=("judge", "outcome")), np.zeros(6), atol=1e-12)


# -- (7) aliased parameters ------------------------------------------------------------------------------------------


def with_wards() -> Comparisons:
    """Dras (2015), Table 1, with the judges in two wards: W1 has J1 and J2."""
    frame = llbt.load_dataset("dras_table1").to_frame()
    frame["ward"] = frame["judge"].map({"J1": "W1", "J2": "W1", "J3": "W2", "J4": "W2"})
    return llbt.from_counts(frame, covariates=("judge", "ward"))


WARDS = [
    # formula, aliased, the same model without them
    ("object + tie * judge + tie:ward", ["tie:ward[W2]"], "object + tie * judge"),
    ("object + tie * ward + tie:judge", ["tie:judge[J4]"], "object + tie * judge"),
    ("object * judge + object:ward + tie", [f"object[{o}]:ward[W2]" for o in "ABC"], "object * judge + tie"),
    ("object * ward + object:judge + tie", [f"object[{o}]:judge[J4]" for o in "ABC"], "object * judge + tie"),
]


@every_method
@pytest.mark.parametrize(("formula", "aliased", "without"), WARDS)
def test_aliased_parameters(formula, aliased, without, method):
    c = with_wards()
    res, smaller = (quietly(f, c, method=method) for f in (formula, without))
    assert list(res.aliased) == aliased
    assert set(aliased) < set(res.params.index)
    assert res.params.index[res.params.isna()].tolist() == aliased
    for column in (res.bse, res.tvalues, res.pvalues, res.conf_int()["conf_low"]):
        assert column.index[column.isna()].tolist() == aliased
    close(res.deviance, smaller.deviance, rtol=SOLVERS)
    assert (res.df_resid, res.df_model) == (smaller.df_resid, smaller.df_model)
    close(res.fittedvalues, smaller.fittedvalues, rtol=SOLVERS)
    note = next(note for note in res.summary().notes if "singularities" in note)
    assert f"{len(aliased)} not defined" in note
    assert aliased[0] in note


def hand_columns(c: Comparisons, formula: str) -> dict[str, np.ndarray]:
    """Columns of the tie or worth terms with wards, cell by cell, and the nuisance dummies before them."""
    frame = c.to_frame()
    columns = {f"mu[{s}]": np.repeat(frame.index == s, 3).astype(float) for s in frame.index}
    is_tie = np.tile([0.0, 1.0, 0.0], len(frame))
    sign = np.tile([1.0, 0.0, -1.0], len(frame))
    worths = {
        f"object[{o}]": sign * np.repeat((frame["object_i"] == o).astype(float) - (frame["object_j"] == o), 3)
        for o in "ABC"
    }
    classes = {
        f"{factor}[{level}]": np.repeat(frame[factor] == level, 3).astype(float)
        for factor, levels in (("judge", ["J2", "J3", "J4"]), ("ward", ["W2"]))
        for level in levels
    }
    columns |= worths | {"tie": is_tie}
    factors = ("ward", "judge") if formula.index("ward") < formula.index("judge") else ("judge", "ward")
    for factor in factors:
        for level, inside in classes.items():
            if level.startswith(factor):
                block = {"tie": is_tie} if "tie *" in formula else worths
                columns |= {f"{name}:{level}": column * inside for name, column in block.items()}
    return columns


@pytest.mark.parametrize(("formula", "aliased", "without"), WARDS)
def test_the_later_column_goes_as_in_r(formula, aliased, without):
    """R's rule: a column that those before it span has the coefficient NA. Here by ranks of the hand-made columns."""
    columns = hand_columns(with_wards(), formula)
    kept: list[np.ndarray] = []
    gone = []
    for name, column in columns.items():
        if np.linalg.matrix_rank(np.column_stack([*kept, column])) > len(kept):
            kept.append(column)
        else:
            gone.append(name)
    assert gone == aliased


@every_method
def test_an_object_covariate_beside_the_objects(method):
    """LAT is a combination of the objects: NA, and the rest is the fit without it."""
    c = llbt.load_dataset("cems")
    res, without = (quietly(f, c, method=method) for f in ("object + LAT + tie", "object + tie"))
    assert res.aliased == ("LAT",)
    close(res.params.drop("LAT"), without.params, atol=SOLVERS)
    close(res.bse.drop("LAT"), without.bse, rtol=SOLVERS)
    close(res.deviance, without.deviance, rtol=SOLVERS)


@every_method
def test_an_object_that_a_judge_never_saw(method):
    """Without C in the table of J4, object[C]:judge[J4] multiplies a column of zeros: R's NA."""
    frame = llbt.load_dataset("dras_table1").to_frame()
    seen = (frame["judge"] != "J4") | ((frame["object_i"] != "C") & (frame["object_j"] != "C"))
    c = llbt.from_counts(frame[seen], covariates="judge")
    res = quietly("object * judge + tie", c, method=method)
    assert res.aliased == ("object[C]:judge[J4]",)
    assert res.names.index("object[C]:judge[J4]") < res.names.index("tie")
    assert math.isnan(res.params["object[C]:judge[J4]"])
    assert res.df_resid == 3 * 21 - 21 - (12 - 1) - 1


# -- (8) limits and the record of convergence ------------------------------------------------------------------------


def test_the_explicit_glm_has_a_limit(reference):
    """design.md, section 4: refused beyond 5·10⁷ entries; here 14,850 cells × (4,950 + 100) columns."""
    frame = reference("bench_agg_100.csv.gz")
    c = llbt.from_counts(frame, objects=("i", "j"), wins=("win", "loss"), ties_column="tie")
    with pytest.raises(llbt.errors.DesignError, match=r"14,850 cells × 5,050 columns .*eliminate"):
        fit_by("object + tie", c, method="glm")
    res = quietly("object + tie", c, method="eliminate")
    with pytest.raises(llbt.errors.DesignError, match=r"14,850 cells × 5,050 columns .*eliminate"):
        res.to_glm()


def test_the_limit_counts_cells_times_columns(monkeypatch):
    c = random_counts(np.random.default_rng(5), objects=4)
    entries = 18 * (6 + 4)
    assert explicit.MAX_EXPLICIT_ENTRIES == 5e7
    monkeypatch.setattr(explicit, "MAX_EXPLICIT_ENTRIES", entries)
    assert quietly("object + tie", c, method="glm").to_glm().model.exog.size == entries
    monkeypatch.setattr(explicit, "MAX_EXPLICIT_ENTRIES", entries - 1)
    with pytest.raises(llbt.errors.DesignError, match="18 cells × 10 columns"):
        quietly("object + tie", c, method="glm")


def test_an_unknown_method_is_refused():
    with pytest.raises(llbt.errors.OptionError, match=r"'newton'.*'auto', 'glm' or 'eliminate'"):
        fit_by("object + tie", llbt.load_dataset("dras_modpref"), method="newton")


@every_fit
@every_method
def test_record_of_convergence(name, formula, method):
    res = bundled(name, formula, method)
    assert res.converged is True
    assert isinstance(res.n_iter, int)
    assert 1 <= res.n_iter <= 30
    # the score, in counts: below a millionth of a judgment
    assert 0 <= res.gradient_norm < 1e-6
    problem = res.problem()
    means = res.fittedvalues.to_numpy().reshape(res.counts.shape)
    excess = res.counts - means
    gradient = problem.signed.transposed(excess[:, 0] - excess[:, -1])
    if res.comparisons.has_ties:
        gradient = gradient + problem.predictors[1].transposed(excess[:, 1])
    close(res.gradient_norm, np.linalg.norm(gradient), atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "eliminate"])
def test_a_fit_that_stops_early_says_so(method, monkeypatch):
    for module in (explicit, solvers):  # statsmodels goes on where elimination stops
        monkeypatch.setattr(module, "_MAX_ITERATIONS", 0 if module is explicit else 2)
    with pytest.warns(llbt.errors.ConvergenceWarning, match="stopped after 2 steps with a gradient"):
        res = fit_by("object * judge + tie", llbt.load_dataset("dras_table1"), method=method)
    assert (res.converged, res.n_iter) == (False, 2)
    assert res.gradient_norm > 1e-3


def test_statsmodels_that_stops_early_is_refused(monkeypatch):
    monkeypatch.setattr(explicit, "_MAX_ITERATIONS", 1)
    with pytest.raises(llbt.errors.DesignError, match=r"finds no maximum .*method='eliminate'"):
        fit_by("object * judge + tie", llbt.load_dataset("dras_table1"), method="glm")


def test_each_method_runs_what_the_printout_says(monkeypatch):
    """Which of both solvers ran, with its steps: those of statsmodels' own way, of elimination, or of nothing else."""
    c = llbt.load_dataset("dras_table1")
    said = {method: llbt.fit("object * judge + tie", c, method=method).summary().foot[-1] for method in METHODS}
    res = llbt.fit("object * judge + tie", c, method="glm")
    theirs = res.to_glm().model.fit(method="IRLS", tol=1e-8, tol_criterion="params")
    assert said["glm"] == f"statsmodels GLM: {theirs.fit_history['iteration']} Fisher scoring iterations"
    assert llbt.fit("object * judge + tie", c).summary().foot[-1] == said["eliminate"] + "; checked by statsmodels GLM"

    def refused(*args):
        raise AssertionError("the other solver ran")

    monkeypatch.setattr(explicit, "eliminate", refused)
    monkeypatch.setattr(solvers, "eliminate", refused)
    llbt.fit("object * judge + tie", c, method="glm")
    monkeypatch.undo()
    monkeypatch.setattr(explicit, "_fitted", refused)
    llbt.fit("object * judge + tie", c, method="eliminate")


@pytest.mark.parametrize("asked", [{"formula": "object + tie + (object | judge)"}, {"discrimination": "judge"}])
def test_a_glm_with_judges_who_differ_is_refused(asked):
    with pytest.raises(llbt.errors.OptionError, match=r"method='glm' does not go with .*judge"):
        llbt.fit(**{"formula": "object + tie", **asked}, data=llbt.load_dataset("dras_table1"), method="glm")


@every_method
def test_no_warning_of_statsmodels_reaches_the_user(method):
    """Saturated and nearly perfect fits, where statsmodels warns of separation and divides by no degrees of freedom."""
    for name in ("dras_modpref", "dras_collins"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            res = fit_by("object + tie", llbt.load_dataset(name), method=method)
            glm = res.to_glm()
        assert res.df_resid == 0
        close(glm.params[list(res.names)], res.params, atol=SOLVERS)


# -- (9) the table of all pairs --------------------------------------------------------------------------------------


def random_orders(ties: bool, judges: int, seed: int = 3) -> Comparisons:
    """Six objects, each pair in both orders (but one), by some judges; an object covariate."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a in "ABCDEF" for b in "ABCDEF" if a != b and (a, b) != ("C", "B")]
    rows = [(a, b, judge, *rng.integers(1, 30, 3)) for a, b in pairs for judge in range(judges)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])
    frame["judge"] = frame["judge"].map("J{}".format)
    table = pd.DataFrame({"object": list("ABCDEF"), "price": [1.0, 2.5, 0.5, 3.0, 1.5, 4.0]})
    return llbt.from_counts(
        frame if ties else frame.drop(columns="ties"), covariates="judge", order=True, object_covariates=table
    )


@pytest.mark.parametrize("ties", [True, False], ids=["ties", "no ties"])
@pytest.mark.parametrize(
    ("formula", "reference"),
    [
        ("object", None),
        ("object + order", None),
        ("object + order", "C"),
        ("price + order", None),
        ("C(object, Sum)", None),
    ],
)
def test_the_table_of_all_pairs_says_what_the_comparisons_do(ties: bool, formula: str, reference: str | None) -> None:
    """Value, score and information of `pair_table` against those summed over comparisons; three judges are pooled."""
    c = random_orders(ties, judges=3)
    res = quietly(formula + (" + tie" if ties else ""), c, method="eliminate", reference=reference)
    problem = res.problem()
    pairs = pair_table(problem.predictors, problem.totals)
    assert pairs is not None
    for seed in range(3):
        params = np.random.default_rng(seed).normal(0, 0.8, len(res.params))
        found = likelihood.probabilities(problem, params)
        value, gradient, information = pairs.moments(params)
        observed = likelihood.score(problem, np.zeros_like(found))  # the sufficient statistics
        close(observed @ params - value, likelihood.log_likelihood(problem, found), rtol=ROUNDING)
        close(observed - gradient, likelihood.score(problem, found), atol=1e-9)
        close(pairs.expected(params), gradient, rtol=1e-12, atol=1e-9)
        close(information, likelihood.information(problem, found, problem.totals), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "formula", ["object * judge + tie * judge", "object + tie:judge", "object + tie + order:object"]
)
def test_predictors_that_differ_in_more_than_the_objects_have_no_such_table(formula: str) -> None:
    problem = quietly(formula, random_orders(True, judges=2), method="eliminate").problem()
    assert pair_table(problem.predictors, problem.totals) is None


def test_few_of_many_pairs_have_no_such_table() -> None:
    frame = pd.DataFrame(
        [(k, k + 1, 3, 2, 4) for k in range(40)], columns=["object_i", "object_j", "wins_i", "ties", "wins_j"]
    )
    problem = quietly("object + tie", llbt.from_counts(frame), method="eliminate").problem()
    assert pair_table(problem.predictors, problem.totals) is None


@pytest.mark.parametrize("far", [200.0, -200.0, 400.0])
def test_exponentials_do_not_overflow_far_from_the_maximum(far: float) -> None:
    """A start at which e^u is beyond the largest number: the way back is the one of single comparisons."""
    c = random_orders(True, judges=1)
    res = quietly("object + tie + order", c, method="eliminate")
    problem = res.problem()
    pairs = pair_table(problem.predictors, problem.totals)
    start = np.zeros(len(res.params))
    start[0] = far
    assert (pairs.moments(start) is None) == (abs(far) > 300) == (pairs.expected(start) is None)
    expectation = likelihood.Likelihood.of(problem)
    found = likelihood.probabilities(problem, start)
    close(expectation.score(start), likelihood.score(problem, found), rtol=1e-9, atol=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of a process is read from Linux's /proc")
@pytest.mark.parametrize("method", ["glm", "eliminate"])
def test_a_thousand_fits_leave_nothing_behind(method):
    """Neither objects of patsy and statsmodels nor memory: a fit's results hold some 50 kB, a thousand 50 MB."""
    table = llbt.load_dataset("dras_table1")

    def kept(n: int) -> tuple[int, int]:
        for _ in range(n):
            fit_by("object + tie", table, method=method)
        gc.collect()
        return len(gc.get_objects()), int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    objects, size = kept(50)  # what is loaded and kept once
    more_objects, more_size = kept(1_000)
    assert more_objects - objects < 100
    assert more_size - size < 20e6
