"""Joint tests of dependent judgments: flips of clusters' scores by their definition, against other tests, by size."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.tools.numdiff import approx_fprime, approx_hess
from support.fits import fit_by

import llbt
from llbt.inference.terms import add1, drop1
from llbt.kernel.cluster_tests import Scores, _enumerated, _root, _statistics, all_signs, flipped, hotelling_p

NUMERIC = 1e-4  # second derivatives by finite differences
CLOSE = 1e-7


def fit(formula, c, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.LLBTWarning)
        return fit_by(formula, c, **keywords)


def table(judges, objects="abcd", seed=3, sd=1.0, sizes=None):
    """Judges who differ, in two groups, each with judgments of every pair; the order is kept."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(judges):
        worth = dict(zip(objects, sd / 2 * rng.standard_normal(len(objects)), strict=True))
        size = 4 + k if sizes is None else sizes[k]
        for i, j in itertools.combinations(objects, 2):
            p = np.exp([worth[i] - worth[j], -0.2, worth[j] - worth[i]])
            rows.append((i, j, f"J{k:03d}", "xy"[k % 2], *rng.multinomial(size, p / p.sum())))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "group", "wins_i", "ties", "wins_j"])
    return llbt.from_counts(frame, covariates="group", clusters="judge", order=True), frame


@pytest.fixture(scope="module")
def six():
    return table(6)


# -- by its definition -------------------------------------------------------------------------------------------------


def log_likelihood(frame, large):
    """Log-likelihood of some rows of the frame in all parameters of a fit, nuisance parameters profiled out."""
    rows = large.comparisons.to_frame().reset_index()[["object_i", "object_j", "group"]].reset_index()
    lines = frame.merge(rows, on=["object_i", "object_j", "group"], how="left", validate="many_to_one")["index"]
    signed, tie = (x.toarray()[lines] for x in (large.design.signed_rows(), large.design.shared[1].of_comparisons()))
    counts = frame[["wins_i", "ties", "wins_j"]].to_numpy(float)

    def value(params):
        predictors = np.stack([signed @ params, tie @ params, -(signed @ params)], axis=1)
        return float(np.sum(counts * (predictors - np.log(np.exp(predictors).sum(axis=1, keepdims=True)))))

    return value


def flips_by_definition(frame, small, large):
    """Statistic and p-value, each sum, each V_s and its inverse written out."""
    point = small.params.reindex(large.names).fillna(0.0).to_numpy()
    parts = [log_likelihood(part, large) for _, part in frame.groupby("judge")]
    scores = [approx_fprime(point, value, centered=True) for value in parts]
    informations = [-approx_hess(point, value) for value in parts]
    tested = [k for k, name in enumerate(large.names) if name not in small.names]
    rest = [k for k in range(len(large.names)) if k not in tested]
    whole = sum(informations)
    efficient = np.linalg.inv(whole)[tested]
    variance = np.linalg.inv(whole)[np.ix_(tested, tested)]
    found = []
    for signs in itertools.product([1, -1], repeat=len(parts)):
        e = efficient @ sum(s * u for s, u in zip(signs, scores, strict=True))
        lost = efficient @ sum(s * i[:, rest] for s, i in zip(signs, informations, strict=True))
        spread = variance - lost @ np.linalg.inv(whole[np.ix_(rest, rest)]) @ lost.T
        found.append(e @ np.linalg.solve(spread, e))
    return found[0], np.mean(np.array(found) >= found[0] * (1 - 1e-6))


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ("tie", "object + tie"),
        ("object + tie", "object * group + tie"),
        ("object + tie", "object * group + tie * group + order"),
        ("object", "object + tie"),
        ("tie", "object * group + tie * group + order"),  # more parameters than clusters
    ],
)
def test_flips_by_definition(six, small, large):
    c, frame = six
    m0, m1 = fit(small, c), fit(large, c, cov_type="cluster", groups="judge")
    statistic, p_value = flips_by_definition(frame, m0, m1)
    row = llbt.anova(m0, m1).to_frame().iloc[1]
    assert row["statistic"] == pytest.approx(statistic, rel=NUMERIC)
    assert row["p_value"] == pytest.approx(p_value, abs=1e-12)  # a multiple of 1/32


def test_two_cells_by_definition():
    _, frame = table(7, "abc", seed=8)
    c = llbt.from_counts(frame.drop(columns="ties"), ties_column=None, covariates="group", clusters="judge")
    m0, m1 = fit("object", c), fit("object * group", c, cov_type="cluster", groups="judge")
    rows = m1.comparisons.to_frame().reset_index()
    assert len(rows) == 6
    row = llbt.anova(m0, m1).to_frame().iloc[1]
    signed = m1.design.signed_rows().toarray()
    lines = frame.merge(rows.reset_index(), on=["object_i", "object_j", "group"], how="left")["level_0"]
    point = m0.params.reindex(m1.names).fillna(0.0).to_numpy()
    d, counts = signed[lines], frame[["wins_i", "wins_j"]].to_numpy(float)
    p = 1 / (1 + np.exp(-2 * d @ point))
    n = counts.sum(axis=1)
    masks = [frame["judge"].to_numpy() == k for k in sorted(set(frame["judge"]))]
    u = [(d * (2 * (counts[:, 0] - n * p))[:, None])[mask].sum(axis=0) for mask in masks]
    infos = [(d[mask].T * (4 * n * p * (1 - p))[mask]) @ d[mask] for mask in masks]
    whole = sum(infos)
    a = np.linalg.inv(whole)[2:]
    found = []
    for signs in all_signs(7):
        e = a @ (signs @ np.array(u))
        s = a @ np.tensordot(signs, np.array(infos)[:, :, :2], 1)
        spread = np.linalg.inv(whole)[2:, 2:] - s @ np.linalg.inv(whole[:2, :2]) @ s.T
        found.append(e @ np.linalg.solve(spread, e))
    assert row["statistic"] == pytest.approx(found[0], rel=1e-8)
    assert row["p_value"] == np.mean(np.array(found) >= found[0] * (1 - 1e-7))


# -- against other tests -----------------------------------------------------------------------------------------------


def test_the_statistic_is_raos(six):
    c, _ = six
    m0, m1 = fit("object + tie", c), fit("object * group + tie", c, cov_type="cluster", groups="judge")
    found = [llbt.anova(m0, m1, test=test).to_frame()["statistic"][1] for test in ("cluster", "score")]
    assert found[0] == pytest.approx(found[1], rel=CLOSE)


def test_many_equal_clusters_of_independent_judgments_give_the_p_value_of_chi2():
    c, _ = table(300, seed=4, sd=0.0, sizes=[3] * 300)
    for formula in ("object * group + tie", "object + tie * group + order"):
        m0, m1 = fit("object + tie", c), fit(formula, c, cov_type="cluster", groups="judge")
        cluster, score = (llbt.anova(m0, m1, test=test).to_frame()["p_value"][1] for test in ("cluster", "score"))
        assert cluster == pytest.approx(score, abs=0.03)


def test_the_sum_of_many_small_clusters_is_drawn_from_the_normal():
    """Beyond 500 clusters; two routes to one p-value, each with the error of 999 draws or more."""
    rng = np.random.default_rng(1)
    own = rng.standard_normal((700, 2)) / np.sqrt(700) + [0.0025, 0.001]
    order = np.argsort(-np.sum(own**2, axis=1))
    nothing = np.zeros((700, 2, 0))
    parted = flipped(Scores(own[order[:500]], nothing[:500], own[order[500:]]), 2)
    whole = flipped(Scores(own, nothing, np.empty((0, 2))), 2)
    assert parted.statistic == pytest.approx(whole.statistic)
    assert parted.clusters == whole.clusters == 700
    assert 0.01 < whole.p_value < 0.9
    assert parted.p_value == pytest.approx(whole.p_value, abs=0.02)


def test_random_flips_are_near_all_flips():
    rng = np.random.default_rng(5)
    own, shared = rng.standard_normal((13, 3)) / np.sqrt(13) + 0.1, 0.1 * rng.standard_normal((13, 3, 2))
    shared -= shared.mean(axis=0)
    nothing = np.empty((0, 3))
    every = flipped(Scores(own, shared, nothing), 3)
    one = np.concatenate([own, 1e-12 * own[:1]]), np.concatenate([shared, 0 * shared[:1]])  # a fourteenth of no weight
    some = flipped(Scores(*one, nothing), 3)
    assert (every.every, some.every) == (True, False)
    assert some.p_value == pytest.approx(every.p_value, abs=4 * np.sqrt(0.25 / 9999))
    assert flipped(Scores(*one, nothing), 3).p_value == some.p_value


def test_all_signs_are_all_up_to_the_sign_of_all():
    signs = all_signs(5)
    assert signs.shape == (16, 5)
    assert (signs[:, 0] == 1).all()
    assert len({tuple(row) for row in signs}) == 16


def test_the_joint_test_of_hypotheses_is_that_of_two_fits(six):
    c, _ = six
    small, large = fit("object + tie", c), fit("object * group + tie", c, cov_type="cluster", groups="judge")
    row = llbt.anova(small, large).to_frame().iloc[1]
    names = ["object[a]:group[y]", "object[b]:group[y]", "object[c]:group[y]"]
    found = large.wald_test(names)
    assert (found.statistic, found.p_value) == pytest.approx((row["statistic"], row["p_value"]), rel=1e-6)
    assert (found.df, found.distribution) == (3, "flips of 6 clusters' scores")
    # the same hypotheses otherwise written, and others than that parameters are 0
    again = large.wald_test([f"{names[0]} = {names[1]}", f"{names[0]} + {names[1]} = 0", f"2 * {names[2]} = 0"])
    assert (again.statistic, again.p_value) == pytest.approx((found.statistic, found.p_value), rel=1e-6)
    at_estimate = large.wald_test([f"{name} = {large.params[name]:.12f}" for name in names])
    assert at_estimate.statistic == pytest.approx(0, abs=1e-6)


def test_one_hypothesis_is_the_t_test_of_the_coefficient(six):
    c, _ = six
    res = fit("object + tie", c, cov_type="cluster", groups="judge")
    assert res.wald_test("tie = 0").p_value == pytest.approx(res.pvalues["tie"], rel=1e-9)


def test_penalized_fits_are_tested_at_penalized_estimates(six):
    """A prior of next to nothing changes nothing; bias reduction changes a little."""
    c, _ = six
    plain, prior, firth = (
        fit("object * group + tie", c, cov_type="cluster", groups="judge", **o).wald_test(
            ["object[a]:group[y]", "object[b]:group[y]"]
        )
        for o in ({}, {"prior": 1e-8}, {"prior": "jeffreys"})
    )
    assert (prior.statistic, prior.p_value) == pytest.approx((plain.statistic, plain.p_value), rel=1e-5)
    assert firth.statistic == pytest.approx(plain.statistic, rel=0.05)
    assert firth.statistic != pytest.approx(plain.statistic, rel=1e-6)


# -- where it is used --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_default_follows_the_fit(six):
    c, _ = six
    formula = "object * group + tie + order"
    expected = {
        "cluster": {"cov_type": "cluster", "groups": "judge"},
        "wald": {"cov_type": "HC0"},
        "F": {"cov_type": "quasi"},
        "chi2": {},
    }
    for test, options in expected.items():
        res = fit(formula, c, **options)
        for ask in (llbt.anova, drop1, lambda res, **o: add1(res, "tie * group", **o)):
            pd.testing.assert_frame_equal(ask(res).to_frame(), ask(res, test=test).to_frame())
    small = fit("object + tie", c)
    clustered = fit(formula, c, cov_type="cluster", groups="judge")
    pd.testing.assert_frame_equal(
        llbt.anova(small, clustered).to_frame(), llbt.anova(small, clustered, test="cluster").to_frame()
    )


def test_clustered_judgments_are_not_taken_as_independent():
    """True null, judges who differ much: independent judgments reject it beyond doubt, clusters do not."""
    c, _ = table(12, seed=11, sd=1.5, sizes=[40] * 12)
    res = fit("object * group + tie", c, cov_type="cluster", groups="judge")
    for ask in (llbt.anova, drop1):
        frame = ask(res).to_frame().set_index("term")
        assert frame.loc["object:group", "p_value"] > 0.01
        assert ask(res, test="chi2").to_frame().set_index("term").loc["object:group", "p_value"] < 1e-6


@pytest.mark.parametrize("judges", [7, 16])
def test_fit_is_tested_against_the_saturated_model(judges):
    """X² is Rao's statistic of the saturated model, which can be written for two objects."""
    c, _ = table(judges, "ab", seed=6)
    m0, m1 = (fit(f, c, cov_type="cluster", groups="judge") for f in ("object + tie", "object * group + tie * group"))
    assert m1.df_resid == 0
    row, found = llbt.anova(m0, m1).to_frame().iloc[1], llbt.goodness_of_fit(m0)
    assert (found.pearson.statistic, found.pearson.df) == pytest.approx((row["statistic"], row["df"]), rel=1e-6)
    assert found.pearson.p_value == pytest.approx(row["p_value"], abs=1e-12)
    assert np.isnan(found.deviance.p_value)
    assert "Pr(flips)" in found.table().as_text()
    assert any("χ² assumes independent judgments" in note for note in found.notes)
    said = llbt.interpret(m0).sentences["fit"]
    assert f"by flips of {judges} clusters' scores" in said
    assert "deviance" not in said


def test_fit_has_no_test_where_each_comparison_is_one_clusters(six):
    _, frame = six
    by_judge = llbt.from_counts(frame.drop(columns="group"), covariates="judge")
    found = llbt.goodness_of_fit(fit("object * judge + tie", by_judge, cov_type="cluster", groups="judge"))
    assert np.isnan([found.deviance.p_value, found.pearson.p_value]).all()
    assert any("several clusters judged" in note for note in found.notes)
    pooled = llbt.goodness_of_fit(fit("object + tie", by_judge, cov_type="cluster", groups="judge"))
    assert np.isnan(pooled.pearson.p_value)
    assert 0 < pooled.pooled_pearson.p_value <= 1
    c, _ = six
    both = llbt.goodness_of_fit(fit("object + tie", c, cov_type="cluster", groups=["judge", "group"]))
    assert np.isnan(both.pooled_pearson.p_value)
    assert any("two ways of clustering" in note for note in both.notes)


def test_parameters_of_single_clusters_have_no_test_by_clusters(six):
    """Each judge's own worths: nothing tells that he differs from the dependence of his judgments."""
    _, frame = six
    c = llbt.from_counts(frame.drop(columns="group"), covariates="judge")
    res = fit("object * judge + tie", c, cov_type="cluster", groups="judge")
    for ask in (llbt.anova, drop1):
        table = ask(res)
        frame = table.to_frame().set_index("term")
        assert np.isnan(frame.loc["object:judge", "p_value"])
        assert frame.loc["tie", "p_value"] <= 1
        assert any("a single cluster of judge" in note for note in table.notes)
    found = res.wald_test(["object[a]:judge[J001]", "object[a]:judge[J002]"])
    assert np.isnan(found.p_value)
    assert "by judge" not in llbt.interpret(res).sentences.get("covariates", "")


def test_a_note_says_how_many_flips_and_what_the_least_p_value_is(six):
    c, _ = six
    res = fit("object + tie", c, cov_type="cluster", groups="judge")
    said = "p-values by all 32 sign flips of 6 judges' scores; none is below 0.031"
    assert said in llbt.anova(res).notes
    assert said in drop1(res).notes
    assert said in res.wald_test("object[a] = object[b] = object[c]").notes
    assert "Pr(flips)" in llbt.anova(res).as_text()


def test_a_note_counts_the_clusters_that_say_something_of_any_term():
    """A judge who sees each pair in both orders and always prefers the same object says nothing of the order."""
    shown = [*itertools.combinations("abc", 2), *itertools.combinations("cba", 2)]
    kept = [("J0", i, j, "ij"["abc".index(i) > "abc".index(j)]) for i, j in shown]
    rng = np.random.default_rng(5)
    others = [(f"J{k}", i, j, rng.choice(["i", "tie", "j"])) for k in range(1, 7) for i, j in shown]
    frame = pd.DataFrame(kept + others, columns=["judge", "object_i", "object_j", "outcome"])
    res = fit(
        "object + tie + order",
        llbt.from_judgments(frame, clusters="judge", order=True),
        cov_type="cluster",
        groups="judge",
    )
    assert any("sign flips of 6 to 7 judges' scores" in note for note in llbt.anova(res).notes)


def test_random_numbers_are_its_own():
    c, _ = table(16)
    m0, m1 = fit("tie", c), fit("object + tie", c, cov_type="cluster", groups="judge")
    state = np.random.get_state  # the global one, which stays as it is
    before = state()[1].copy()
    found = [llbt.anova(m0, m1).to_frame()["p_value"][1] for _ in range(2)]
    assert found[0] == found[1]
    assert (state()[1] == before).all()
    assert any("9,999 random" in note for note in llbt.anova(m0, m1).notes)


def test_wald_in_hotellings_form():
    """T² of means: F is what SciPy's one-sample tests and Hotelling's definition give."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((9, 3)) + 0.4
    mean, cov = x.mean(axis=0), np.cov(x.T) / 9
    t2 = mean @ np.linalg.solve(cov, mean)
    value, rest, p = hotelling_p(t2, 3, 8)
    assert (value, rest) == pytest.approx((t2 * 6 / (8 * 3), 6))
    assert p == pytest.approx(stats.f.sf(t2 * (9 - 3) / ((9 - 1) * 3), 3, 6))
    one = stats.ttest_1samp(x[:, 0], 0)
    assert hotelling_p(one.statistic**2, 1, 8)[2] == pytest.approx(one.pvalue)


def test_wald_without_an_answer_is_refused_with_the_numbers(six):
    c, _ = six
    res = fit("object * group + tie * group + order", c, cov_type="cluster", groups="judge")
    small = fit("tie", c)
    with pytest.raises(llbt.errors.DesignError, match=r"8 parameters are tested at once.*judge.*test='cluster'"):
        llbt.anova(small, res, test="wald")
    with pytest.raises(llbt.errors.OptionError, match="expected one way of clustering"):
        drop1(small, test="cluster")


@pytest.mark.parametrize("rows", [3, 40])
def test_small_clusters_are_drawn_with_the_covariance_of_their_scores(rows):
    """Few of them by themselves, many by a root of their sums of squares: both have the same products."""
    rest = np.random.default_rng(1).normal(size=(rows, 6))
    root = _root(rest)
    np.testing.assert_allclose(root.T @ root, rest.T @ rest, rtol=1e-10, atol=1e-12)
    assert len(root) == min(rows, 6)


def test_flips_of_few_clusters_are_a_quadratic_form_of_their_signs():
    """Summed over the directions once, or for each flip: the same statistics."""
    rng = np.random.default_rng(2)
    scores = Scores(rng.normal(size=(5, 90)), 0.01 * rng.normal(size=(5, 90, 7)), np.zeros((0, 90)))
    signs = all_signs(5)
    np.testing.assert_allclose(_enumerated(scores, signs), _statistics(scores, signs, None), rtol=1e-9)
