"""Robust standard errors against literal loops over judgments and clusters, and against statsmodels.

The rows of the design are read off the names of the parameters in `cell_row`, never taken from llbt.
"""

import itertools
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM
from support.clusters import DRAS, close, free_cov, free_places, judged, quietly

import llbt
from llbt import Comparisons, LLBTResults
from llbt.kernel.robust import Clustered, effective_clusters

# The same sums in another order, at estimates that either route knows to about 1e-9 standard errors.
SAME = 1e-8
OUTCOMES = {True: ("i", "tie", "j"), False: ("i", "j")}
COUNT = {"i": "wins_i", "tie": "ties", "j": "wins_j"}


# -- by hand ---------------------------------------------------------------------------------------------------------


def cell_value(name: str, row: Mapping, outcome: str) -> float:
    """What a parameter adds to the log mean of an outcome: ``object[A]:judge[J2]``, ``tie``, ``order``."""
    factors = name.split(":")
    value = float(outcome == "tie") if "tie" in factors else {"i": 1.0, "tie": 0.0, "j": -1.0}[outcome]
    for factor in factors:
        if factor in ("tie", "order"):
            continue
        if "[" not in factor:
            value *= float(row[factor])
            continue
        head, level = factor.removesuffix("]").split("[")
        if head == "object":
            value *= float(str(row["object_i"]) == level) - float(str(row["object_j"]) == level)
        else:
            value *= float(str(row[head]) == level)
    return value


def cell_row(names: tuple[str, ...], row: Mapping, outcome: str) -> np.ndarray:
    return np.array([cell_value(name, row, outcome) for name in names])


def lines(c: Comparisons, *, clusters: bool = False) -> list[dict]:
    return c.to_frame(clusters=clusters).to_dict("records")


def probabilities_by_hand(res: LLBTResults, row: Mapping) -> tuple[list[np.ndarray], np.ndarray]:
    cells = [cell_row(res.names, row, outcome) for outcome in OUTCOMES[res.comparisons.has_ties]]
    return cells, special.softmax([z @ res.params.to_numpy() for z in cells])


def bread(res: LLBTResults) -> np.ndarray:
    """Inverse information of the free parameters, the nuisance eliminated: a loop over comparisons and cells."""
    found = np.zeros((len(res.names), len(res.names)))
    for row in lines(res.comparisons):
        cells, p = probabilities_by_hand(res, row)
        mean = sum(q * z for q, z in zip(p, cells, strict=True))
        total = row["wins_i"] + row["ties"] + row["wins_j"]
        for q, z in zip(p, cells, strict=True):
            found += total * q * np.outer(z - mean, z - mean)
    free = free_places(res)
    return np.linalg.inv(found[np.ix_(free, free)])


def judgments(res: LLBTResults, *, clusters: bool = False) -> Iterator[tuple[dict, np.ndarray, float]]:
    """Each judgment of the table (or each kind of a line with its count, where counts are fractional) and its score."""
    free = free_places(res)
    for row in lines(res.comparisons, clusters=clusters):
        cells, p = probabilities_by_hand(res, row)
        mean = sum(q * z for q, z in zip(p, cells, strict=True))
        for outcome, z in zip(OUTCOMES[res.comparisons.has_ties], cells, strict=True):
            count = row[COUNT[outcome]]
            repeats = int(count) if float(count).is_integer() else 1
            for _ in range(repeats):
                yield row, (z - mean)[free], count / repeats if repeats else 0.0


def literal_judgment_sandwich(res: LLBTResults) -> np.ndarray:
    meat = sum(weight * np.outer(s, s) for _, s, weight in judgments(res))
    v = bread(res)
    return v @ meat @ v


def literal_cluster_sandwich(res: LLBTResults, *names: str, kept: bool = True) -> np.ndarray:
    """One row per judgment, summed within the clusters that some columns tell apart; G/(G − 1)."""
    sums: dict[tuple, np.ndarray] = {}
    for row, s, weight in judgments(res, clusters=kept):
        key = tuple(row[name] for name in names)
        sums[key] = sums.get(key, 0.0) + weight * s
    meat = sum(np.outer(s, s) for s in sums.values())
    v = bread(res)
    return len(sums) / (len(sums) - 1) * v @ meat @ v


def assert_cov(found: np.ndarray, expected: np.ndarray, tolerance: float = SAME) -> None:
    spread = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    close(found / spread, expected / spread, atol=tolerance)


# -- tables ----------------------------------------------------------------------------------------------------------

ANALYSED = llbt.load_dataset("dras_table1_as_analysed")


# -- HC0 -------------------------------------------------------------------------------------------------------------

HC0_CASES = {
    "dras pooled": ("object + tie", DRAS.pool(), {}),
    "judges": ("object * judge + tie * judge", DRAS, {}),
    "tie held": ("object + tie", DRAS.pool(), {"fixed": {"tie": -1.0}}),
    "order, no ties": ("object + order", llbt.load_dataset("baseball"), {}),
    "order and ties": ("object + tie + order", judged(order=True), {}),
    "a number": ("object + object:age + tie", judged(covariates="age"), {}),
    "half wins": ("object", DRAS.pool().split_ties(), {}),
    "one pair": ("object + tie", llbt.load_dataset("dras_modpref"), {}),
}


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize("case", list(HC0_CASES))
def test_hc0_is_the_sandwich_of_single_judgments(case: str, method: str) -> None:
    formula, c, options = HC0_CASES[case]
    res = quietly(formula, c, cov_type="HC0", method=method, **options)
    assert_cov(free_cov(res), literal_judgment_sandwich(res))
    close(res.bse[res.bse.notna()], np.sqrt(np.diag(literal_judgment_sandwich(res))), rtol=SAME)
    assert np.isinf(res.df_inference)


def test_hc0_of_a_saturated_model_is_the_usual_covariance() -> None:
    """With one pair the model holds exactly, so the meat is the information."""
    c = llbt.load_dataset("dras_modpref")
    assert_cov(
        free_cov(quietly("object + tie", c, cov_type="HC0")), free_cov(quietly("object + tie", c)), tolerance=1e-7
    )


def test_hc0_does_not_depend_on_how_finely_the_table_is_split() -> None:
    rng = np.random.default_rng(3)
    whole = DRAS.pool().to_frame()
    part = whole.copy()
    for column in ("wins_i", "ties", "wins_j"):
        part[column] = rng.binomial(whole[column], 0.3)
    rest = whole.copy()
    rest[["wins_i", "ties", "wins_j"]] -= part[["wins_i", "ties", "wins_j"]]
    split = llbt.from_counts(pd.concat([part.assign(batch="x"), rest.assign(batch="y")]), covariates="batch")
    pooled = quietly("object + tie", DRAS.pool(), cov_type="HC0")
    for c in (split, DRAS):
        assert len(c) > len(pooled.comparisons)
        again = quietly("object + tie", c, cov_type="HC0")
        close(again.params, pooled.params, rtol=SAME)
        assert_cov(free_cov(again), free_cov(pooled))


def test_hc0_of_dras() -> None:
    """The figures asked for, and not the .265 of A that a sandwich of cells gives on the table by judge."""
    res = quietly("object + tie", ANALYSED.pool(), cov_type="HC0")
    close(res.bse, [0.079, 0.086, 0.110, 0.161], atol=5e-4)
    assert list(res.bse.index) == ["object[A]", "object[B]", "object[C]", "tie"]
    glm, _ = explicit(ANALYSED.to_frame(), res.names)
    close(glm.fit(cov_type="HC0", tol=1e-12).bse[0], 0.265, atol=5e-4)
    close(quietly("object + tie", ANALYSED, cov_type="HC0").bse, res.bse, rtol=SAME)


# -- statsmodels -----------------------------------------------------------------------------------------------------


def explicit(frame: pd.DataFrame, names: tuple[str, ...]) -> tuple[GLM, int]:
    """The Poisson GLM of the long data, with a dummy for every line of the frame; and the number of parameters."""
    rows = frame.to_dict("records")
    z = np.array([cell_row(names, row, outcome) for row in rows for outcome in OUTCOMES[True]])
    nuisance = np.kron(np.eye(len(rows)), np.ones((3, 1)))
    y = np.array([row[COUNT[outcome]] for row in rows for outcome in OUTCOMES[True]], dtype=float)
    return GLM(y, np.hstack([z, nuisance]), family=Poisson()), len(names)


def clustered_glm(glm: GLM, k: int, codes: np.ndarray) -> np.ndarray:
    """Statsmodels' cluster-robust covariance of the parameters, without its factor G/(G − 1) · (n − 1)/(n − k).

    Ours has G/(G − 1) alone, for the nuisance parameters would count in k. The nuisance parameters belong to one
    cluster each (a dummy for every comparison *and* cluster), so at the estimate their scores are 0 in every cluster
    and the block of the other parameters is exactly the sandwich of the conditional likelihood.
    """
    kwds = {"groups": np.repeat(codes, 3), "use_correction": False}
    fitted = glm.fit(cov_type="cluster", cov_kwds=kwds, tol=1e-12)
    return np.asarray(fitted.cov_params())[:k, :k]


def test_clusters_equal_statsmodels() -> None:
    c = judged(judges=8, rows=300, clusters="judge")
    res = quietly("object + tie", c, cov_type="CR1", groups="judge")
    frame = c.to_frame(clusters=True)
    codes, labels = pd.factorize(frame["judge"])
    glm, k = explicit(frame, res.names)
    assert len(labels) == 8
    assert_cov(free_cov(res), 8 / 7 * clustered_glm(glm, k, codes), 1e-6)


def test_hc0_equals_statsmodels_with_a_cluster_for_every_judgment() -> None:
    frame = llbt.load_dataset("puddings").select(objects=[1, 2, 3]).to_frame()
    rows = [
        {**row, "wins_i": 0, "ties": 0, "wins_j": 0, COUNT[outcome]: 1}
        for row in frame.to_dict("records")
        for outcome in OUTCOMES[True]
        for _ in range(row[COUNT[outcome]])
    ]
    one_each = pd.DataFrame(rows)
    res = quietly("object + tie", llbt.from_counts(frame), cov_type="HC0")
    glm, k = explicit(one_each, res.names)
    assert len(one_each) == res.comparisons.n_judgments
    assert_cov(free_cov(res), clustered_glm(glm, k, np.arange(len(one_each))), 1e-6)


def test_scale_x2_equals_statsmodels() -> None:
    for formula, c in (("object + tie", DRAS), ("object + order", llbt.load_dataset("baseball"))):
        res = quietly(formula, c, cov_type="quasi")
        plain = quietly(formula, c)
        theirs = plain.to_glm().model.fit(scale="X2", tol=1e-12)
        close(res.bse, theirs.bse[: len(res.names)], rtol=1e-6)
        assert_cov(free_cov(res), free_cov(plain) * plain.pearson_chi2 / plain.df_resid)
        assert res.df_inference == plain.df_resid
        close(res.pvalues, 2 * stats.t.sf(np.abs(res.params / res.bse), plain.df_resid), rtol=SAME)
        assert "dispersion" in res.as_text()


# -- clusters --------------------------------------------------------------------------------------------------------

CLUSTER_CASES = {
    "a kept cluster": ("object + tie", judged(clusters="judge"), "judge", True),
    "a covariate": ("object + tie", judged(covariates="judge"), "judge", False),
    "a covariate of the model": ("object * judge + tie", DRAS, "judge", False),
    "a number": ("object + tie", judged(covariates="age"), "age", False),
    "a cluster beside a covariate": ("object * judge + tie", judged(4, covariates="judge", clusters="item"), "item", 1),
    "with order": ("object + tie + order", judged(order=True, clusters=["judge", "item"]), "item", True),
    "half wins": ("object", judged(clusters="judge").split_ties(), "judge", True),
}


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize("case", list(CLUSTER_CASES))
def test_clusters_are_summed(case: str, method: str) -> None:
    formula, c, group, kept = CLUSTER_CASES[case]
    res = quietly(formula, c, cov_type="CR1", groups=group, method=method)
    assert_cov(free_cov(res), literal_cluster_sandwich(res, group, kept=bool(kept)), 1e-7)


def test_a_cluster_and_a_covariate_give_the_same() -> None:
    beside = quietly("object + tie", judged(clusters="judge"), cov_type="CR1", groups="judge")
    splits = quietly("object + tie", judged(covariates="judge"), cov_type="CR1", groups="judge")
    finer = quietly("object + tie", judged(covariates="item", clusters="judge"), cov_type="CR1", groups="judge")
    assert len(beside.comparisons) < len(splits.comparisons)
    for other in (splits, finer):
        assert_cov(free_cov(other), free_cov(beside))
        assert other.df_inference == beside.df_inference == 11


def test_clusters_of_one_judgment_are_hc0() -> None:
    frame = llbt.load_dataset("puddings").select(objects=[1, 2, 3]).to_frame()
    rows = [
        (row["object_i"], row["object_j"], outcome)
        for row in frame.to_dict("records")
        for outcome in OUTCOMES[True]
        for _ in range(row[COUNT[outcome]])
    ]
    said = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])
    said["who"] = [f"w{k}" for k in range(len(said))]
    c = llbt.from_judgments(said, clusters="who")
    robust = quietly("object + tie", c, cov_type="CR1", groups="who")
    number = len(said)
    hc0 = quietly("object + tie", c, cov_type="HC0")
    assert_cov(free_cov(robust), free_cov(hc0) * number / (number - 1))


@pytest.mark.parametrize("role", ["clusters", "covariates"])
def test_clusters_without_a_judgment_do_not_count(role: str) -> None:
    """A judge with zeros alone says nothing: neither G nor the degrees of freedom change, whichever way it is kept."""
    frame = DRAS.to_frame()
    nobody = frame[frame["judge"] == "J1"].assign(judge="J9", wins_i=0, ties=0, wins_j=0)
    with_zeros = llbt.from_counts(pd.concat([frame, nobody]), **{role: "judge"})
    found = quietly("object + tie", with_zeros, cov_type="CR1", groups="judge")
    expected = quietly("object + tie", DRAS, cov_type="CR1", groups="judge")
    assert found.df_inference == expected.df_inference == 3
    assert_cov(free_cov(found), free_cov(expected))


# -- two ways --------------------------------------------------------------------------------------------------------


def positive(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0)) @ vectors.T


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.slow
def test_two_way_is_one_plus_other_less_both(method: str) -> None:
    c = judged(30, 25, 900, clusters=["judge", "item", "both"])
    formula = "object + tie"
    one, other, both = (
        quietly(formula, c, cov_type="CR1", groups=name, method=method) for name in ("judge", "item", "both")
    )
    res = quietly(formula, c, cov_type="CR1", groups=("judge", "item"), method=method)
    by_hand = free_cov(one) + free_cov(other) - free_cov(both)
    assert np.linalg.eigvalsh(by_hand).min() > 0
    assert_cov(free_cov(res), by_hand)
    literal = (
        literal_cluster_sandwich(res, "judge")
        + literal_cluster_sandwich(res, "item")
        - literal_cluster_sandwich(res, "judge", "item")
    )
    assert_cov(free_cov(res), literal, 1e-7)
    assert res.df_inference == min(one.df_inference, other.df_inference) == 24
    assert "semidefinite" not in res.as_text()
    swapped = quietly(formula, c, cov_type="CR1", groups=["item", "judge"], method=method)
    assert_cov(free_cov(swapped), free_cov(res))


def test_two_way_of_a_cluster_and_a_covariate() -> None:
    beside = judged(30, 25, 900, clusters=["judge", "item"])
    mixed = judged(30, 25, 900, covariates="judge", clusters="item")
    a, b = (quietly("object + tie", c, cov_type="CR1", groups=("judge", "item")) for c in (beside, mixed))
    assert_cov(free_cov(b), free_cov(a))


def test_two_way_is_made_positive_semidefinite_with_a_note() -> None:
    for seed in range(40):
        c = judged(4, 3, 60, seed=seed, clusters=["judge", "item", "both"])
        fits = [quietly("object + tie", c, cov_type="CR1", groups=name) for name in ("judge", "item", "both")]
        by_hand = free_cov(fits[0]) + free_cov(fits[1]) - free_cov(fits[2])
        if np.linalg.eigvalsh(by_hand).min() < -1e-3 * np.linalg.eigvalsh(by_hand).max():
            break
    res = quietly("object + tie", c, cov_type="CR1", groups=("judge", "item"))
    assert np.linalg.eigvalsh(by_hand).min() < 0
    assert np.linalg.eigvalsh(free_cov(res)).min() > -1e-12 * np.linalg.eigvalsh(free_cov(res)).max()
    close(free_cov(res), positive(by_hand), atol=SAME * np.abs(by_hand).max())
    assert any("semidefinite" in note and "set to 0" in note for note in res.summary().notes)


# -- both solvers ----------------------------------------------------------------------------------------------------

OPTIONS = {
    "HC0": {"cov_type": "HC0"},
    "cluster": {"cov_type": "CR1", "groups": "judge"},
    "two-way": {"cov_type": "CR1", "groups": ("judge", "item")},
    "X2": {"cov_type": "quasi"},
}


@pytest.mark.parametrize("options", list(OPTIONS.values()), ids=list(OPTIONS))
def test_both_solvers_give_the_same(options: dict) -> None:
    c = judged(6, 40, 500, covariates="judge", clusters="item", order=True)
    formula = "object * judge + tie + order"
    a, b = (quietly(formula, c, method=method, **options) for method in ("glm", "eliminate"))
    assert (a.solution.solver, b.solution.solver) == ("glm", "eliminate")
    assert_cov(free_cov(a), free_cov(b))
    assert a.df_inference == b.df_inference


@pytest.mark.parametrize("options", list(OPTIONS.values()), ids=list(OPTIONS))
def test_only_the_covariance_changes(options: dict) -> None:
    c = judged(6, 40, 500, covariates="judge", clusters="item")
    plain, res = quietly("object * judge + tie", c), quietly("object * judge + tie", c, **options)
    for name in ("params", "fittedvalues", "hat_diag", "resid_pearson", "resid_deviance", "resid_response"):
        assert getattr(res, name).equals(getattr(plain, name)), name
    for name in ("deviance", "llf", "aic", "bic", "pearson_chi2", "df_resid", "df_model", "nobs"):
        assert getattr(res, name) == getattr(plain, name), name
    assert not np.allclose(res.bse, plain.bse, rtol=1e-3)
    assert llbt.residuals(res).to_frame().equals(llbt.residuals(plain).to_frame())
    assert llbt.influence(res).to_frame().equals(llbt.influence(plain).to_frame())


# -- clusters of unequal size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judgments", "number", "effective"),
    [([7.0] * 9, 9, 9.0), ([30.0, 10.0], 2, 1.6), ([100.0, 1.0, 1.0], 3, 102**2 / 10002), ([5.0, 0.0, 5.0], 2, 2.0)],
)
def test_effective_clusters(judgments: list[float], number: int, effective: float) -> None:
    found = effective_clusters(np.array(judgments))
    assert found[0] == number
    close(found[1], effective, rtol=1e-12)
    close(found[1], number / (1 + np.var([n for n in judgments if n]) / (sum(judgments) / number) ** 2), rtol=1e-12)


def test_judgments_of_each_cluster() -> None:
    found = Clustered(np.array([0, 1, 1, 2]), np.arange(12.0).reshape(4, 3), np.array([1, 0, 1, 0]))
    close(found.judgments, [12 + 30, 3 + 21])


# -- t with G − 1 df -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few() -> LLBTResults:
    """Twelve clusters, so t with 11 df everywhere."""
    return quietly("object + tie", judged(12, clusters="judge"), cov_type="CR1", groups="judge")


T11 = stats.t.isf(0.025, 11)


def test_t_in_coefficients(few: LLBTResults) -> None:
    assert few.df_inference == 11
    close(few.tvalues, few.params / few.bse, rtol=1e-12)
    close(few.pvalues, 2 * stats.t.sf(np.abs(few.params / few.bse), 11), rtol=1e-10)
    close(few.conf_int(), np.column_stack([few.params - T11 * few.bse, few.params + T11 * few.bse]), rtol=1e-10)
    half = stats.t.isf(0.05, 11) * few.bse
    close(few.conf_int(alpha=0.1)["conf_low"], few.params - half, rtol=1e-10)
    text = few.as_text()
    assert "t value" in text
    assert "Pr(>|t|)" in text
    assert "Standard errors: CR1 by judge (G = 12, G* = 11.7), t with 11 df." in text


def test_t_in_hypotheses(few: LLBTResults) -> None:
    row = few.t_test("object[A] = object[B]").to_frame().iloc[0]
    weights = np.array([1.0, -1.0, 0.0, 0.0])
    estimate = weights @ few.params
    error = np.sqrt(weights @ free_cov(few) @ weights)
    close(row[["estimate", "std_error", "statistic"]], [estimate, error, estimate / error], rtol=1e-10)
    close(row["p_value"], 2 * stats.t.sf(abs(estimate / error), 11), rtol=1e-10)
    close(row[["conf_low", "conf_high"]], [estimate - T11 * error, estimate + T11 * error], rtol=1e-10)


def test_joint_hypotheses_flip_scores(few: LLBTResults) -> None:
    """Of one way of clustering; of two ways Wald's statistic in Hotelling's form."""
    asked = "object[A] = 0, object[B] = 0, object[C] = 0"
    assert "flips of 12 clusters' scores" in few.wald_test(asked).distribution
    single = few.wald_test("tie = 0")
    close(single.p_value, few.pvalues["tie"], rtol=1e-8)  # F(1, 11) is t(11) squared
    c = judged(12, clusters=["judge", "item"])
    both = quietly("object + tie", c, cov_type="cluster", groups=["judge", "item"])
    test, params = both.wald_test(asked), both.params.to_numpy()[:3]
    df = both.df_inference
    statistic = params @ np.linalg.solve(free_cov(both)[:3, :3], params) * (df - 2) / (3 * df)
    close([test.statistic, test.df], [statistic, 3], rtol=1e-10)
    close(test.p_value, stats.f.sf(statistic, 3, df - 2), rtol=1e-8)


def test_more_hypotheses_than_clusters() -> None:
    """Flips have an answer, its bounds said; Hotelling's form has none."""
    asked = "object[A] = 0, object[B] = 0, object[C] = 0, tie = 0"
    found = quietly("object + tie", DRAS, cov_type="cluster", groups="judge").wald_test(asked)
    assert found.p_value >= 0.125
    assert "none is below 0.12" in found.notes[0]
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "outcome": rng.choice(["i", "tie", "j"], 90)})
    frame = frame.assign(judge=[f"J{k % 3}" for k in range(90)], item=[f"s{k % 7}" for k in range(90)])
    frame["object_j"] = rng.choice(["B", "C", "D"], 90)
    c = llbt.from_judgments(frame, clusters=["judge", "item"])
    both = quietly("object + tie", c, cov_type="cluster", groups=["judge", "item"])
    with pytest.raises(
        llbt.errors.DesignError,
        match=r"wald_test: 4 parameters .* number of clusters of judge and item",
    ):
        both.wald_test(asked)


def test_t_in_worths(few: LLBTResults) -> None:
    frame = llbt.worth(few, scale="log_worth").to_frame().set_index("object")
    for label in "ABC":
        estimate, error = few.params[f"object[{label}]"], few.bse[f"object[{label}]"]
        found = frame.loc[label, ["estimate", "std_error", "conf_low", "conf_high"]]
        close(found, [estimate, error, estimate - T11 * error, estimate + T11 * error], rtol=1e-10)


def test_t_in_predictions(few: LLBTResults) -> None:
    frame = few.predict().to_frame()
    p, error = frame["estimate"], frame["std_error"]
    half = T11 * error / (p * (1 - p))
    close(frame["conf_low"], special.expit(special.logit(p) - half), rtol=1e-10)
    close(frame["conf_high"], special.expit(special.logit(p) + half), rtol=1e-10)
    # the errors themselves come from the robust covariance
    plain = quietly("object + tie", judged(12, clusters="judge")).predict().to_frame()
    close(plain["estimate"], p, rtol=SAME)
    assert not np.allclose(plain["std_error"], error, rtol=1e-2)


# -- the warning -----------------------------------------------------------------------------------------------------


def test_few_clusters_of_the_sandwich_name_what_covers() -> None:
    with pytest.warns(llbt.errors.ClusterWarning) as caught:
        llbt.fit("object + tie", judged(29, clusters="judge"), cov_type="CR1", groups="judge")
    assert len(caught) == 1
    said = str(caught[0].message)
    assert said.startswith("judge (G = 29, G* = ")
    assert "cov_type='cluster' leaves out each cluster" in said
    assert caught[0].filename == __file__


def test_many_clusters_do_not_warn() -> None:
    c = judged(33, 34, clusters=["judge", "item"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert llbt.fit("object + tie", c, cov_type="CR1", groups="judge").df_inference == 32
        assert llbt.fit("object + tie", c, cov_type="CR1", groups=("item", "judge")).df_inference == 32


@pytest.mark.parametrize("groups", list(itertools.permutations(["judge", "item"])))
def test_of_two_ways_the_one_with_few_clusters_is_named(groups: tuple[str, str]) -> None:
    """The ways out are about the groups that are few, in whichever place they stand."""
    c = judged(40, 5, clusters=["judge", "item"])
    with pytest.warns(llbt.errors.ClusterWarning, match=r"^item \(G = 5, ") as caught:
        llbt.fit("object + tie", c, cov_type="CR1", groups=groups)
    said = str(caught[0].message)
    assert "judge" not in said


# -- errors ----------------------------------------------------------------------------------------------------------

REFUSED = {
    "unknown": (
        {"cov_type": "cluster", "groups": "juge"},
        "'juge'.*did you mean 'judge'.* is not a column.*'judge', 'item', 'both'",
    ),
    "the second unknown": ({"cov_type": "cluster", "groups": ("judge", "who")}, "'who' is not a column"),
    "cluster without groups": ({"cov_type": "cluster"}, "groups= together"),
    "groups without cluster": ({"groups": "judge"}, "groups= together"),
    "groups with HC0": ({"cov_type": "HC0", "groups": "judge"}, "groups= together"),
    "three groups": ({"cov_type": "cluster", "groups": ("judge", "item", "both")}, "two names"),
    "groups with quasi": ({"cov_type": "quasi", "groups": "judge"}, "groups= together"),
    "unknown covariance": ({"cov_type": "HC3"}, "cov_type='HC3'.*'HC0'"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_contradictory_options_are_refused(what: str) -> None:
    options, said = REFUSED[what]
    with pytest.raises(llbt.errors.OptionError, match=said):
        llbt.fit("object + tie", judged(clusters=["judge", "item", "both"]), **options)


@pytest.mark.parametrize("groups", [None, 3])
def test_groups_of_a_wrong_type(groups: object) -> None:
    with pytest.raises(llbt.errors.OptionError, match="groups"):
        llbt.fit("object + tie", judged(clusters="judge"), cov_type="cluster", groups=groups)


def test_groups_that_the_table_has_pooled_away_name_the_door() -> None:
    pooled = DRAS.pool()
    with pytest.raises(
        llbt.errors.OptionError, match=r"'judge' is not a column.*none.*from_judgments\(…, clusters='judge'\)"
    ):
        llbt.fit("object + tie", pooled, cov_type="cluster", groups="judge")
    forgotten = judged(clusters=["judge", "item"]).pool("judge")
    with pytest.raises(llbt.errors.OptionError, match=r"'item'.*clusters='judge'"):
        llbt.fit("object + tie", forgotten, cov_type="cluster", groups="judge")


def test_one_cluster_is_refused() -> None:
    for role in ("clusters", "covariates"):
        c = judged(**{role: "judge"}).select(where={"judge": "J03"})
        with pytest.raises(llbt.errors.DesignError, match="groups='judge' has one cluster"):
            llbt.fit("object + tie", c, cov_type="cluster", groups="judge")


def test_x2_of_a_saturated_model_is_refused() -> None:
    with pytest.raises(llbt.errors.DesignError, match="saturated"):
        llbt.fit("object + tie", llbt.load_dataset("dras_modpref"), cov_type="quasi")


def test_clusters_with_missing_values_are_refused_at_the_door() -> None:
    frame = DRAS.to_frame()
    frame.loc[[3, 5], "judge"] = None
    with pytest.raises(llbt.errors.JudgmentError, match="'judge': 2 missing values, the first at row 3"):
        llbt.from_counts(frame, clusters="judge")


def test_a_table_without_counts_by_cluster_has_no_clusters() -> None:
    c = replace(judged(clusters="judge"), cluster_counts=None)
    with pytest.raises(llbt.errors.OptionError, match="not a column"):
        llbt.fit("object + tie", c, cov_type="cluster", groups="judge")
