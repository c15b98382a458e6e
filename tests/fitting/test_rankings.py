"""Fits to lists: R's PlackettLuce, today's `fit` where lists are of two, and a likelihood by enumeration."""

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import f
from statsmodels.discrete.conditional_models import ConditionalLogit

import llbt
from llbt.core.rankings import gathered_rankings
from llbt.fitting.ranking_estimates import RankingSpecification
from llbt.fitting.ranking_model import rankings_of_terms
from llbt.kernel.list_draws import drawn_tied

NONE = np.empty(0, dtype=int)


def lists_of(rows, objects="ABCDE", **keywords):
    """Rankings from lists of places, 0 for objects shown and not ranked and None for objects that were not."""
    shown = [(k, label, place) for k, row in enumerate(rows) for label, place in row.items() if place is not None]
    entries = [(k, objects.index(label), place) for k, label, place in shown]
    lists, items, places = (np.array(column) for column in zip(*entries, strict=True))
    return gathered_rankings(tuple(objects), lists, items, places, **keywords)


def drawn_lists(rng, number=80, objects=5, size=4, ties=True, **keywords):
    """Lists of some of the objects, drawn from unequal worths, rounded to make ties."""
    worths = np.linspace(0.5, -0.5, objects)
    rows = []
    for _ in range(number):
        shown = rng.permutation(objects)[:size]
        said = 2 * worths[shown] + rng.gumbel(size=size)
        ranks = np.argsort(np.argsort(-np.round(said) if ties else -said, kind="stable"))
        if ties:
            ranks = np.unique(-np.round(said), return_inverse=True)[1]
        rows.append({"ABCDEFGH"[k]: int(r) + 1 for k, r in zip(shown, ranks, strict=True)})
    return lists_of(rows, "ABCDEFGH"[:objects], **keywords)


# -- R's PlackettLuce ----------------------------------------------------------------------------------------


@pytest.mark.shared
def test_salad_is_what_r_fits(shared):
    expected = json.loads((shared / "reference" / "models" / "pl_salad.json").read_text())
    salad = pd.read_csv(shared / "data" / "patterns" / "salad.csv")
    res = llbt.fit("object", llbt.from_rankings(salad, objects=list("ABCD")), reference="A")
    for name in "BCD":
        assert 2 * res.params[f"object[{name}]"] == pytest.approx(expected["coefficients"][name], abs=1e-6)
        assert 2 * res.bse[f"object[{name}]"] == pytest.approx(expected["se"][name], abs=1e-6)
    assert res.llf == pytest.approx(expected["logLik"], abs=1e-6)
    assert res.aic == pytest.approx(expected["AIC"], abs=1e-6)
    cov = np.array(expected["vcov"]["values"])
    np.testing.assert_allclose(4 * res.cov_params().to_numpy(), cov[1:, 1:], atol=1e-6)


def test_puddings_are_what_r_fits(reference):
    """Lists of two with ties: R's PlackettLuce prints 2λ and log δ₂."""
    expected = reference("pl_pudding_davidson")
    rows, counts = [], []
    for line in llbt.load_dataset("puddings").to_frame().to_dict("records"):
        for places, column in (((1, 2), "wins_i"), ((1, 1), "ties"), ((2, 1), "wins_j")):
            rows.append({line["object_i"]: places[0], line["object_j"]: places[1]})
            counts.append(float(line[column]))
    objects = sorted({label for row in rows for label in row})
    entries = [(k, objects.index(label), place) for k, row in enumerate(rows) for label, place in row.items()]
    lists, items, places = (np.array(column) for column in zip(*entries, strict=True))
    r = gathered_rankings(tuple(objects), lists, items, places, counts=np.array(counts))
    res = llbt.fit("object + tie", r, reference=objects[0])
    found = [*(2 * res.params.iloc[:5]), res.params["tie"]]
    errors = [*(2 * res.bse.iloc[:5]), res.bse["tie"]]
    names = [f"B{k}" for k in range(2, 7)] + ["tie2"]
    np.testing.assert_allclose(found, [expected["coefficients"][name] for name in names], atol=1e-6)
    np.testing.assert_allclose(errors, [expected["se"][name] for name in names], atol=1e-6)


# -- lists of two are comparisons ----------------------------------------------------------------------------


@pytest.mark.parametrize("formula", ["object + tie", "object * judge + tie"])
def test_lists_of_two_are_the_comparisons_of_fit(formula):
    table = llbt.load_dataset("dras_table1")
    frame = table.to_frame()
    rows, counts, judge = [], [], []
    for _, line in frame.iterrows():
        for places, column in (((1, 2), "wins_i"), ((1, 1), "ties"), ((2, 1), "wins_j")):
            if line[column]:
                rows.append({line["object_i"]: places[0], line["object_j"]: places[1]})
                counts.append(float(line[column]))
                judge.append(line["judge"])
    column = llbt.from_counts(frame, covariates="judge").columns[0]
    judges = type(column)("judge", column.levels, np.array([column.levels.tolist().index(j) for j in judge]))
    r = lists_of(rows, "ABCD", columns=(judges,), counts=np.array(counts))
    res, plain = llbt.fit(formula, r), llbt.fit(formula, table)
    assert list(res.names) == list(plain.names)
    np.testing.assert_allclose(res.params, plain.params, atol=1e-10)
    np.testing.assert_allclose(res.bse, plain.bse, atol=1e-8)
    assert res.llf == pytest.approx(plain.llf, abs=1e-8)
    np.testing.assert_allclose(
        llbt.worth(res).to_frame()["estimate"], llbt.worth(plain).to_frame()["estimate"], atol=1e-9
    )


@pytest.mark.parametrize("best_worst", ["joint", "sequential"])
def test_a_best_and_a_worst_of_two_are_a_comparison(best_worst):
    table = llbt.load_dataset("dras_table1").pool().drop_ties()
    rows = [
        ({i: 1, j: 2} if first else {i: 2, j: 1}, n)
        for i, j, wins, _, losses in table.to_frame().itertuples(index=False)
        for first, n in ((True, wins), (False, losses))
    ]
    counts = np.array([float(n) for _, n in rows])
    r = lists_of([row for row, _ in rows], "ABCD", kind="best_worst", counts=counts)
    res = llbt.fit("object", r, best_worst=best_worst)
    np.testing.assert_allclose(res.params, llbt.fit("object", table).params, atol=1e-10)


# -- enumeration ---------------------------------------------------------------------------------------------


def every_weak_order(size, most):
    """All ways to put so many objects in order, with at most so many in a place."""
    if not size:
        return [()]
    found = []

    def extend(left, so_far):
        if not left:
            found.append(tuple(so_far))
            return
        for d in range(1, most + 1):
            for some in itertools.combinations(sorted(left), d):
                extend(left - set(some), [*so_far, some])

    extend(frozenset(range(size)), [])
    return found


def log_probability(order, worths, deltas):
    left, total = sorted(k for some in order for k in some), 0.0
    most = max([1, *deltas])
    for some in order:
        norm = sum(
            np.exp(2 * np.mean(worths[list(c)]) + deltas.get(d, 0.0 if d == 1 else -np.inf))
            for d in range(1, min(most, len(left)) + 1)
            for c in itertools.combinations(left, d)
        )
        total += 2 * np.mean(worths[list(some)]) + (deltas[len(some)] if len(some) > 1 else 0.0) - np.log(norm)
        left = [k for k in left if k not in some]
    return total


def orders_in(r):
    found = []
    for k in range(len(r)):
        inside = slice(r.starts[k], r.starts[k + 1])
        items, places = r.items[inside], r.places[inside]
        found.append([tuple(items[places == p].tolist()) for p in range(1, places.max() + 1)])
    return found


def test_probabilities_of_all_outcomes_of_a_set_sum_to_one():
    deltas = {2: -0.4, 3: -1.1}
    worths = np.array([0.3, -0.2, 0.5, 0.0])
    assert sum(np.exp(log_probability(o, worths, deltas)) for o in every_weak_order(4, 3)) == pytest.approx(1)


@pytest.mark.slow
def test_the_fit_is_the_maximum_of_the_enumerated_likelihood():
    r = drawn_lists(np.random.default_rng(1))
    orders = np.unique(r.tied)[1:].tolist()
    assert len(orders) >= 2
    res = llbt.fit("object + tie", r)
    said = orders_in(r)

    def minus(x):
        worths, deltas = np.append(x[:4], 0.0), dict(zip(orders, x[4:], strict=True))
        return -sum(n * log_probability(o, worths, deltas) for n, o in zip(r.counts, said, strict=True))

    assert list(res.names) == [f"object[{o}]" for o in "ABCD"] + [f"tie[{d}]" for d in orders]
    assert res.llf == pytest.approx(-minus(res.params.to_numpy()), abs=1e-9)
    other = minimize(minus, np.zeros(4 + len(orders)), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(res.params, other.x, atol=1e-4)
    params = res.params.to_numpy()
    worths, deltas = np.append(params[:4], 0.0), dict(zip(orders, params[4:], strict=True))
    np.testing.assert_allclose(res.probabilities, [np.exp(log_probability(o, worths, deltas)) for o in said], rtol=1e-9)


def test_terms_without_worths_are_those_of_equal_worths():
    """Every order of a set of three or four has the same probability where nothing is tied."""
    r = drawn_lists(np.random.default_rng(3), ties=False)
    equal = rankings_of_terms(RankingSpecification("0"), r)
    assert equal.llf == pytest.approx(-float(r.counts @ gammaln(r.sizes + 1)))
    assert equal.n_params == 0
    tied = drawn_lists(np.random.default_rng(3))
    found = rankings_of_terms(RankingSpecification("tie"), tied)
    orders, said = np.unique(tied.tied)[1:].tolist(), orders_in(tied)

    def llf(x):
        deltas = dict(zip(orders, x, strict=True))
        return sum(n * log_probability(o, np.zeros(5), deltas) for n, o in zip(tied.counts, said, strict=True))

    best = found.params.to_numpy()
    assert found.llf == pytest.approx(llf(best), abs=1e-9)
    for step in 0.01 * np.eye(len(best)):
        assert max(llf(best + step), llf(best - step)) < found.llf


@pytest.mark.shared
def test_wmt10_is_the_maximum_of_the_enumerated_likelihood(shared):
    frame = pd.read_csv(shared / "data" / "wmt10_expert_RNK.csv.gz")
    frame = frame[(frame["srclang"] == "Spanish") & (frame["trglang"] == "English")].head(150)
    five = range(1, 6)
    r = llbt.from_rankings(
        frame, object=[f"system{k}Id" for k in five], rank=[f"system{k}rank" for k in five], missing=-1
    )
    orders = np.unique(r.tied)[1:].tolist()
    res = llbt.fit("object + tie", r, prior=0.5)
    said = orders_in(r)
    params, J = res.params.to_numpy(), len(r.objects)
    deltas = dict(zip(orders, params[J - 1 :], strict=True))
    direct = sum(
        n * log_probability(o, np.append(params[: J - 1], 0.0), deltas) for n, o in zip(r.counts, said, strict=True)
    )
    assert res.llf == pytest.approx(direct, rel=1e-11)


@pytest.mark.parametrize("best_worst", ["joint", "sequential"])
def test_best_and_worst_against_conditional_logit(best_worst):
    rng = np.random.default_rng(2)
    sets = [rng.permutation(5)[:4] for _ in range(150)]
    r = lists_of(
        [{"ABCDE"[s[0]]: 1, "ABCDE"[s[1]]: 2, "ABCDE"[s[2]]: 0, "ABCDE"[s[3]]: 0} for s in sets], kind="best_worst"
    )
    res = llbt.fit("object", r, best_worst=best_worst)
    chosen, group, matrix = [], [], []
    for k, shown in enumerate(sets):
        eye = np.eye(5)[shown]
        if best_worst == "joint":
            for b, w in itertools.permutations(range(4), 2):
                chosen.append(int((b, w) == (0, 1)))
                group.append(k)
                matrix.append(eye[b] - eye[w])
            continue
        for stage, alternatives, sign in ((0, range(4), 2), (1, range(1, 4), -2)):
            for a in alternatives:
                chosen.append(int(a == stage))
                group.append(2 * k + stage)
                matrix.append(sign * eye[a])
    fit = ConditionalLogit(np.array(chosen), np.array(matrix)[:, :4], groups=np.array(group)).fit(
        disp=False, method="newton", maxiter=100
    )
    np.testing.assert_allclose(res.params, fit.params, atol=1e-6)
    np.testing.assert_allclose(res.bse, fit.bse, atol=1e-5)


def test_the_best_of_a_set_is_a_softmax():
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(60):
        shown = rng.permutation(5)[:3]
        rows.append({"ABCDE"[shown[0]]: 1, "ABCDE"[shown[1]]: 0, "ABCDE"[shown[2]]: 0})
    res = llbt.fit("object", lists_of(rows))

    def minus(x):
        worths = dict(zip("ABCDE", np.append(x, 0.0), strict=True))
        total = 0.0
        for row in rows:
            best = next(label for label, place in row.items() if place == 1)
            total += 2 * worths[best] - np.log(sum(np.exp(2 * worths[label]) for label in row))
        return -total

    other = minimize(minus, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(res.params, other.x, atol=1e-5)


# -- formulas, existence, priors -----------------------------------------------------------------------------


def test_object_covariates_take_the_place_of_objects():
    r = drawn_lists(np.random.default_rng(4), ties=False)
    price = pd.DataFrame({"object": list("ABCDE"), "price": [1.0, 2.0, 4.0, 3.0, 6.0]})
    rows = [
        {"list": k, "object": r.objects[i], "rank": p}
        for k, lo, hi in zip(range(len(r)), r.starts[:-1], r.starts[1:], strict=True)
        for i, p in zip(r.items[lo:hi], r.places[lo:hi], strict=True)
    ]
    described = llbt.from_rankings(pd.DataFrame(rows), block="list", object_covariates=price)
    res = llbt.fit("price", described)

    def minus(x):
        worths = x[0] * price["price"].to_numpy()
        return -sum(log_probability(o, worths, {}) for o in orders_in(described))

    expected = minimize(minus, [0.0], method="BFGS", options={"gtol": 1e-8}).x[0]
    assert res.params["price"] == pytest.approx(expected, abs=1e-5)
    table = llbt.anova(res, llbt.fit("object", described)).to_frame()
    assert table["df"].iloc[1] == 3
    assert table["statistic"].iloc[1] == pytest.approx(2 * (table["llf"].iloc[1] - table["llf"].iloc[0]))


def test_judges_with_worths_of_their_own_are_fitted_as_apart():
    rng = np.random.default_rng(5)
    one, other = drawn_lists(rng, 120, ties=False), drawn_lists(rng, 90, ties=False)
    frames = [r.to_frame().assign(judge=j) for j, r in (("J1", one), ("J2", other))]
    copies = [
        lines.assign(copy=f"{judge} {k} {n}")
        for (judge, k), lines in pd.concat(frames).groupby(["judge", "list"])
        for n in range(lines["count"].iloc[0])
    ]
    both = llbt.from_rankings(pd.concat(copies), block="copy", rank="place", covariates="judge")
    res = llbt.fit("object:judge", both)
    worths = llbt.worth(res, scale="log_worth").to_frame().set_index(["judge", "object"])["estimate"]
    for judge, r in (("J1", one), ("J2", other)):
        fit = llbt.fit("object", r)
        alone = llbt.worth(fit, scale="log_worth").to_frame().set_index("object")["estimate"]
        for label in "ABCD":
            assert worths[judge, label] == pytest.approx(alone[label], abs=1e-8)


def test_an_object_that_is_always_first_is_named():
    r = lists_of([{"A": 1, "B": 2, "C": 3}, {"A": 1, "C": 2, "B": 3}, {"A": 1, "B": 2, "C": 2}])
    with pytest.raises(llbt.errors.SeparationError, match=r"\{A\} won all 6 judgments against \{B, C\}") as caught:
        llbt.fit("object + tie", r)
    assert "llbt.fit(…, prior=1.0)" in str(caught.value)
    res = llbt.fit("object + tie", r, prior=0.5)
    assert res.converged
    assert res.params["object[A]"] > 0


def test_a_prior_is_a_ghost_that_wins_and_loses():
    rng = np.random.default_rng(6)
    r = drawn_lists(rng, 30, ties=False)
    res = llbt.fit("object", r, prior=0.7)
    said = orders_in(r)

    def minus(x):
        worths, ghost = np.append(x[:4], 0.0), x[4]
        total = sum(n * log_probability(o, worths, {}) for n, o in zip(r.counts, said, strict=True))
        for w in worths:
            total += 0.7 * (2 * w + 2 * ghost - 2 * np.logaddexp(2 * w, 2 * ghost))
        return -total

    other = minimize(minus, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(res.params, other.x[:4], atol=1e-5)
    assert res.llf == pytest.approx(
        sum(n * log_probability(o, np.append(res.params, 0.0), {}) for n, o in zip(r.counts, said, strict=True))
    )


@pytest.mark.parametrize(
    ("formula", "error", "said"),
    [
        ("object + order", llbt.errors.FormulaError, "order"),
        ("object + tie:judge", llbt.errors.FormulaError, "one δ for each number"),
        ("object + (object | judge)", llbt.errors.FormulaError, "brackets"),
        ("tie", llbt.errors.DesignError, "no term for the worths"),
        ("object + nobody", llbt.errors.FormulaError, "nobody"),
    ],
)
def test_what_lists_do_not_tell_is_refused(formula, error, said):
    frame = pd.DataFrame({"A": [1, 2, 1, 2], "B": [2, 1, 1, 1], "C": [3, 3, 2, 3], "judge": ["J1", "J1", "J2", "J2"]})
    r = llbt.from_rankings(frame, objects=list("ABC"), covariates="judge")
    with pytest.raises(error, match=said):
        llbt.fit(formula, r)


def test_ties_without_a_term_are_told():
    r = drawn_lists(np.random.default_rng(7))
    with pytest.warns(llbt.errors.TiesWarning, match="every δ = 1"):
        res = llbt.fit("object", r)
    assert "tie" not in res.names
    assert "not modelled" in str(res)
    with pytest.raises(llbt.errors.FormulaError, match="no ties"):
        llbt.fit("object + tie", drawn_lists(np.random.default_rng(8), ties=False))


def test_ties_in_every_place_have_no_finite_estimate():
    rows = [{"A": 1, "B": 1, "C": 2, "D": 2}, {"A": 2, "B": 1, "C": 2, "D": 1}, {"A": 1, "B": 2, "C": 1, "D": 2}]
    rows += [{"A": 2, "B": 2, "C": 1, "D": 1}]
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object + tie", lists_of(rows, "ABCD"))


# -- clusters ------------------------------------------------------------------------------------------------


def with_judges(rng, judges=12, each=8, sd=0.0):
    frames = []
    for g in range(judges):
        worths = np.linspace(0.5, -0.5, 4) + rng.normal(scale=sd, size=4)
        said = -(2 * worths + rng.gumbel(size=(each, 4)))
        ranks = np.argsort(np.argsort(said, axis=1), axis=1) + 1
        frames.append(pd.DataFrame(ranks, columns=list("ABCD")).assign(judge=f"J{g}"))
    return llbt.from_rankings(pd.concat(frames), objects=list("ABCD"), clusters="judge")


def test_leaving_out_each_cluster_by_one_step():
    r = with_judges(np.random.default_rng(9))
    res = llbt.fit("object", r, cov_type="cluster", groups="judge")
    plain = llbt.fit("object", r)
    codes = r.cluster_columns[0].codes
    moved = []
    for g in range(12):
        left = plain.lists.of_lists(codes != g).moments(plain.solution.params)
        moved.append(np.linalg.solve(left.information, left.gradient))
    expected = 11 / 12 * np.array(moved).T @ np.array(moved)
    np.testing.assert_allclose(res.cov_params(), expected, rtol=1e-8)
    assert res.df_inference == pytest.approx(11)


def test_the_sandwich_of_clusters():
    r = with_judges(np.random.default_rng(10))
    res = llbt.fit("object", r, cov_type="CR1", groups="judge")
    plain = llbt.fit("object", r)
    codes = r.cluster_columns[0].codes
    scores = [plain.lists.of_lists(codes == g).moments(plain.solution.params).gradient for g in range(12)]
    cov = plain.cov_params().to_numpy()
    np.testing.assert_allclose(res.cov_params(), 12 / 11 * cov @ np.array(scores).T @ np.array(scores) @ cov, rtol=1e-8)


def test_clusters_that_are_not_kept_are_asked_after():
    r = with_judges(np.random.default_rng(11))
    with pytest.raises(llbt.errors.OptionError, match="judge"):
        llbt.fit("object", r, cov_type="cluster", groups="jugde")
    with pytest.raises(llbt.errors.OptionError, match="together"):
        llbt.fit("object", r, groups="judge")


@pytest.mark.exhaustive
def test_intervals_hold_and_pairs_are_too_sure():
    """Plackett-Luce intervals cover what they say; errors of the implied pairs, taken as independent, are smaller."""
    rng = np.random.default_rng(12)
    truth, held, of_pairs = 0.5 - (-0.5), [], []
    for _ in range(400):
        said = -(2 * np.linspace(0.5, -0.5, 5) + rng.gumbel(size=(60, 5)))
        frame = pd.DataFrame(np.argsort(np.argsort(said, axis=1), axis=1) + 1, columns=list("ABCDE"))
        r = llbt.from_rankings(frame, objects=list("ABCDE"))
        res = llbt.fit("object", r)
        held.append(abs(res.params["object[A]"] - truth) < 1.96 * res.bse["object[A]"])
        pairs = llbt.fit("object", r.to_comparisons())
        of_pairs.append(pairs.bse["object[A]"] / res.bse["object[A]"])
    assert 0.92 < np.mean(held) < 0.98
    assert np.mean(of_pairs) < 0.8


@pytest.mark.exhaustive
def test_intervals_hold_with_ties():
    """Of λ, log δ₂ and the probability of being first alone, in lists that are drawn with ties of two and three."""
    rng, worths, deltas = np.random.default_rng(15), np.linspace(0.6, -0.6, 5), np.array([-1.2, -1.8])
    sets = [list(c) for d in (1, 2, 3) for c in itertools.combinations(range(5), d)]
    norm = sum(np.exp(2 * worths[c].mean() + np.append(0.0, deltas)[len(c) - 1]) for c in sets)
    lists, items = np.divmod(np.arange(300), 5)
    held = []
    for _ in range(300):
        places = drawn_tied(np.tile(worths, (60, 1)), np.full(60, 5), deltas, np.array([2, 3]), rng)
        res = llbt.fit("object + tie", gathered_rankings(tuple("ABCDE"), lists, items, places.ravel()))
        bounds = res.conf_int()
        first = res.first().to_frame().set_index("object").loc["A"]
        truth = {"object[A]": 1.2, res.names_beside[0]: -1.2}
        held.append([bounds["conf_low"][name] < at < bounds["conf_high"][name] for name, at in truth.items()])
        held[-1].append(first["conf_low"] < np.exp(2 * worths[0]) / norm < first["conf_high"])
    assert np.all(np.abs(np.mean(held, axis=0) - 0.95) < 0.04)


@pytest.mark.slow
def test_intervals_by_judge_hold_where_judges_differ():
    rng = np.random.default_rng(13)
    truth = llbt.fit("object", with_judges(rng, judges=4000, each=10, sd=0.5)).params["object[A]"]
    held = {"nonrobust": [], "cluster": []}
    for _ in range(200):
        r = with_judges(rng, judges=20, each=10, sd=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for cov_type, found in held.items():
                groups = "judge" if cov_type == "cluster" else ""
                res = llbt.fit("object", r, cov_type=cov_type, groups=groups)
                bounds = res.conf_int().loc["object[A]"]
                found.append(bounds["conf_low"] < truth < bounds["conf_high"])
    assert np.mean(held["cluster"]) > 0.9
    assert np.mean(held["nonrobust"]) < 0.85


# -- answers -------------------------------------------------------------------------------------------------


def test_questions_about_worths_are_answered():
    r = drawn_lists(np.random.default_rng(14), 150)
    res = llbt.fit("object + tie", r)
    worths = llbt.worth(res).to_frame().set_index("object")["estimate"]
    expected = np.exp(2 * np.append(res.params.to_numpy()[:4], 0.0))
    np.testing.assert_allclose(worths.loc[list("ABCDE")], expected / expected.sum(), rtol=1e-10)
    board = llbt.leaderboard(res, rng=1)
    assert "the comparisons that the lists imply" in str(board)
    pairs = llbt.pairwise(res, rng=1).to_frame().set_index(["object_i", "object_j"])
    assert pairs.loc[("A", "B"), "estimate"] == pytest.approx(2 * (res.params["object[A]"] - res.params["object[B]"]))
    assert llbt.quasi_variances(res).to_frame()["object"].tolist() == list("ABCDE")
    assert res.t_test("object[A] = object[B]").to_frame()["estimate"].iloc[0] == pytest.approx(
        res.params["object[A]"] - res.params["object[B]"]
    )


def test_the_summary_prints_as_r_does():
    frame = pd.DataFrame({"A": [1, 2, 1, 3, 1], "B": [2, 1, 1, 1, 3], "C": [3, 3, 2, 2, 2]})
    text = str(llbt.fit("object + tie", llbt.from_rankings(frame, objects=list("ABC"))))
    assert text.startswith("Plackett-Luce model\nFormula: object + tie\nData: 3 objects (reference C), 5 lists of 3")
    assert "Log-likelihood: -10.362 (of the lists, Σ n log p) with 3 parameters" in text
    assert "tie is log δ" in text


def test_joint_tests_by_clusters_are_of_hotellings_form():
    """T² of q hypotheses, by G* clusters: (G* − q)/(q(G* − 1)) T² is F with q and G* − q df."""
    r = with_judges(np.random.default_rng(16), judges=9, each=10, sd=0.4)
    res = llbt.fit("object", r, cov_type="cluster", groups="judge")
    test = res.wald_test("object[A] = 0, object[B] = 0")
    some = ["object[A]", "object[B]"]
    at, cov = res.params[some].to_numpy(), res.cov_params().loc[some, some].to_numpy()
    df = res.df_inference
    value = at @ np.linalg.solve(cov, at) * (df - 1) / (2 * df)
    assert test.statistic == pytest.approx(value)
    assert test.p_value == pytest.approx(f.sf(value, 2, df - 1))
    two = with_judges(np.random.default_rng(17), judges=2, each=40)
    few = llbt.fit("object", two, cov_type="CR1", groups="judge")
    with pytest.raises(
        llbt.errors.DesignError, match="2 parameters are tested at once, but the effective number of clusters is 2"
    ):
        few.wald_test("object[A] = 0, object[B] = 0")


def test_groups_without_a_list_in_common_are_named():
    rows = pd.DataFrame(
        {"A": [1, 2, None, None], "B": [2, 1, None, None], "C": [None, None, 1, 2], "D": [None, None, 2, 1]}
    )
    with pytest.raises(llbt.errors.DesignError, match=r"\{A, B\}, \{C, D\}.* Fit each group separately, to lists of"):
        llbt.fit("object", llbt.from_rankings(rows, objects=list("ABCD")))


def test_choices_one_after_the_other_are_another_likelihood():
    rng = np.random.default_rng(3)
    sets = pd.DataFrame(np.argsort(rng.random((200, 4)), axis=1), columns=["best", "worst", "o1", "o2"])
    sets = sets.replace(dict(enumerate("ABCD"))).assign(z=rng.random(200))
    shown = pd.DataFrame([list("ABCD")] * 200, columns=["s1", "s2", "s3", "s4"])
    r = llbt.from_choices(
        shown.assign(best=sets["best"], worst=sets["worst"], z=sets["z"]),
        objects=["s1", "s2", "s3", "s4"],
        best="best",
        worst="worst",
        covariates="z",
    )
    small, large = llbt.fit("object", r), llbt.fit("object * z", r)
    assert len(llbt.anova(small, large).to_frame()) == 2
    with pytest.raises(llbt.errors.DesignError, match="different answers"):
        llbt.anova(small, llbt.fit("object * z", r, best_worst="sequential"))


def test_a_note_says_where_ties_turn_the_order_of_ranks_round():
    """B and C share a place above D in three of four lists, as counted by hand, and have the lower estimate."""
    row = dict(zip("ABCDEFGHIJKL", (1, 2, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9), strict=True))
    turned = {label: 10 - place for label, place in row.items()}
    res = llbt.fit("object + tie", lists_of([row] * 3 + [turned], "ABCDEFGHIJKL"), prior=0.5)
    assert res.params["object[D]"] > res.params["object[B]"]
    said = "Estimates reverse the order of ranks (B above D in 3 of 4, C above D in 3 of 4, E above G in 3 of 4 lists"
    for table in (res.summary(), llbt.leaderboard(res)):
        assert [note for note in table.notes if note.startswith(said)]
    untied = llbt.fit("object", lists_of([{"A": 1, "B": 2, "C": 3}, {"A": 2, "B": 3, "C": 1}], "ABC"))
    assert not any("reverse the order" in note for note in llbt.leaderboard(untied).notes)
