"""Both bad and its formula words: against explicit Poisson GLMs, finite differences, exact relations and simulation."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.special import softmax
from support.fits import fit_by

import llbt
from llbt import Comparisons
from llbt.core.response import THREE, Response, both_bad, graded
from llbt.errors import DesignError, FormulaError, OptionError, SeparationError, TiesWarning
from llbt.fitting.hypotheses import estimated
from llbt.kernel.batch import fit_many

OBJECTS = "ABCDE"
WORTHS = np.array([0.5, 0.1, -0.2, -0.3, 0.0])
ON_TIES = np.array([0.3, -0.2, 0.1, -0.2, 0.0])
ON_BAD = np.array([-0.5, 0.2, 0.4, -0.2, 0.1])
APART = {"ties": "tie", "bad": "bad"}


def chances(response: Response, pairs: np.ndarray, shift: np.ndarray | float = 0.0) -> np.ndarray:
    """Probabilities of the outcomes of pairs, (S, K), with planted effects of objects on ties and both bad."""
    i, j = pairs.T
    levels = {"tie": -0.4 + ON_TIES[i] + ON_TIES[j], "bad": -0.7 + ON_BAD[i] + ON_BAD[j] + shift}
    predictors = [WORTHS[i] - WORTHS[j]]
    predictors += [np.broadcast_to(levels.get(word, -0.5), len(pairs)) for word in response.shared]
    return response.probabilities(predictors)[0].T


def table(response: Response, n: int = 60, seed: int = 5) -> Comparisons:
    """All pairs of five objects by two judges, the second of whom finds more pairs bad."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(5), 2)) * 2)
    judge = np.repeat(["J1", "J2"], 10)
    counts = np.array([rng.multinomial(n, p) for p in chances(response, pairs, 0.4 * (judge == "J2"))])
    labels = np.array(list(OBJECTS))
    frame = pd.DataFrame({"object_i": labels[pairs[:, 0]], "object_j": labels[pairs[:, 1]], "judge": judge})
    names = list(response.outcomes)
    if response.has_bad:
        names = ["wins_i", *(["ties"] if response.has_ties else []), "bad", "wins_j"]
        options = {"ties_column": {name: said for name, said in APART.items() if name in names}}
    elif response == THREE:
        names, options = ["wins_i", "ties", "wins_j"], {}
    else:
        options = {"grades": names}
    return llbt.from_counts(frame.join(pd.DataFrame(counts, columns=names)), covariates="judge", **options)


def by_hand(c: Comparisons, words: dict[str, str]) -> tuple[np.ndarray, list[str]]:
    """Rows of the cells of an expanded table, and names: `words` says of tie and bad what their terms hold."""
    response, size = c.response, len(c)
    worth = np.zeros((size, 5))
    worth[range(size), c.pairs[:, 0]] += 1
    worth[range(size), c.pairs[:, 1]] -= 1
    both = np.abs(worth)
    second = c.columns[0].values == "J2"
    names = [f"object[{label}]" for label in OBJECTS[:4]]
    columns = [np.kron(np.ones(1), np.outer(worth[:, k], response.loadings[:, 0])).ravel() for k in range(4)]
    for word, b in response.shared.items():
        parts = {"": np.ones(size)}
        if "judge" in words.get(word, ""):
            parts[":judge[J2]"] = second.astype(float)
        if "object" in words.get(word, ""):  # effects that sum to 0: the last object has minus the others'
            parts |= {f":object[{OBJECTS[k]}]": both[:, k] - both[:, 4] for k in range(4)}
        if word in words or word.startswith("grade"):
            names += [word + part for part in parts]
            columns += [np.outer(values, response.loadings[:, b] != 0).ravel() for values in parts.values()]
    return np.column_stack(columns), names


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize(
    ("response", "formula", "words"),
    [
        (both_bad(), "object + tie + bad", {"tie": "", "bad": ""}),
        (both_bad(), "object + tie * judge + bad * judge + bad:object", {"tie": "judge", "bad": "judge object"}),
        (both_bad(), "object * tie + object * bad", {"tie": "object", "bad": "object"}),
        (both_bad(ties=False), "object + bad * judge + object:bad", {"bad": "judge object"}),
        (THREE, "object + tie + tie:object", {"tie": "object"}),
        (graded(2, middle=True), "object + tie * judge + object:tie + grade", {"tie": "judge object"}),
    ],
    ids=["levels", "judges and objects", "both by object", "no ties", "three", "five grades"],
)
def test_fits_are_those_of_an_explicit_poisson_model(
    response: Response, formula: str, words: dict[str, str], method: str
) -> None:
    c = table(response)
    res = fit_by(formula, c, method=method)
    rows, names = by_hand(c, words)
    nuisance = np.kron(np.eye(len(c)), np.ones((len(response.outcomes), 1)))
    glm = sm.GLM(c.outcome_counts.ravel(), np.hstack([rows, nuisance]), family=sm.families.Poisson()).fit(tol=1e-12)
    assert sorted(res.names) == sorted(names)
    np.testing.assert_allclose(res.params[names], glm.params[: len(names)], atol=1e-8)
    np.testing.assert_allclose(res.bse[names], glm.bse[: len(names)], rtol=1e-7)
    assert res.deviance == pytest.approx(glm.deviance, abs=1e-8)
    assert res.df_resid == glm.df_resid
    assert res.llf_poisson == pytest.approx(glm.llf, rel=1e-10)


def test_the_gradient_and_the_information_are_those_of_finite_differences() -> None:
    c = table(both_bad())
    res = fit_by("object + tie + tie:object + bad * judge + bad:object", c, method="eliminate")
    rows, names = by_hand(c, {"tie": "object", "bad": "judge object"})
    rows = rows.reshape(len(c), 4, -1)

    def value(params: np.ndarray) -> float:
        logs = rows @ params
        return float((c.counts * (logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))).sum())

    estimate, step = res.params[names].to_numpy(), 1e-3
    units = np.eye(len(names)) * step
    slopes = np.array([value(estimate + unit) - value(estimate - unit) for unit in units]) / (2 * step)
    np.testing.assert_allclose(slopes, 0, atol=2e-3)
    curved = np.array([
        [value(estimate + a + b) - value(estimate + a - b) - value(estimate - a + b) + value(estimate - a - b)
         for b in units] for a in units
    ]) / (4 * step**2)  # fmt: skip
    np.testing.assert_allclose(np.linalg.inv(-curved), res.cov_params().loc[names, names], atol=1e-6)


def test_the_object_without_a_parameter_has_minus_the_sum_and_its_error() -> None:
    c = table(both_bad())
    formula = "object + tie + bad * judge + bad:object"
    last, first = llbt.fit(formula, c), llbt.fit(formula, c, reference="A")
    assert "bad:object[E]" not in last.names
    assert "bad:object[A]" not in first.names
    for name in ("bad:object[B]", "bad:object[E]", "bad:object[A]", "bad"):
        one, other = (res.t_test(f"{name} = 0").to_frame().iloc[0] for res in (last, first))
        assert one["estimate"] == pytest.approx(other["estimate"], abs=1e-9)
        assert one["std_error"] == pytest.approx(other["std_error"], rel=1e-8)
    lines = last.summary().to_frame().set_index("term")
    own = lines.loc[[f"bad:object[{label}]" for label in OBJECTS]]
    assert own["estimate"].sum() == pytest.approx(0, abs=1e-12)
    assert lines.loc["bad:object[E]", "std_error"] == pytest.approx(first.bse["bad:object[E]"], rel=1e-8)
    assert lines.loc["bad:object[E]", "p_value"] == pytest.approx(first.pvalues["bad:object[E]"], rel=1e-6)
    test = last.wald_test(["bad:object[A] = bad:object[E]", "bad:object[B] = bad:object[E]"])
    again = first.wald_test(["bad:object[A] = bad:object[E]", "bad:object[B] = bad:object[E]"])
    assert test.statistic == pytest.approx(again.statistic, rel=1e-8)
    assert last.deviance == pytest.approx(first.deviance, abs=1e-9)


def test_without_a_difference_between_ties_and_both_bad_the_likelihood_parts_in_two() -> None:
    # undecided outcomes have e^γ_tie + e^γ_bad together, so λ and γ are those of three outcomes, and the rest is how
    # undecided judgments are shared out, one binomial share for all comparisons
    c = table(both_bad()).pool()
    four, three = llbt.fit("object + tie + bad", c), llbt.fit("object + tie", c.collapse())
    worths = [f"object[{label}]" for label in OBJECTS[:4]]
    np.testing.assert_allclose(four.params[worths], three.params[worths], atol=1e-9)
    np.testing.assert_allclose(four.cov_params().loc[worths, worths], three.cov_params().loc[worths, worths], rtol=1e-7)
    assert np.logaddexp(four.params["tie"], four.params["bad"]) == pytest.approx(three.params["tie"], abs=1e-9)
    undecided = c.ties + c.bad
    share = c.n_bad / undecided.sum()
    assert four.params["bad"] - four.params["tie"] == pytest.approx(np.log(share / (1 - share)), abs=1e-9)
    split = 2 * (
        (c.bad * np.log(c.bad / (undecided * share))).sum()
        + (c.ties * np.log(c.ties / (undecided * (1 - share)))).sum()
    )
    assert four.deviance - three.deviance == pytest.approx(split, abs=1e-8)
    assert llbt.worth(four).to_frame()["estimate"].tolist() == pytest.approx(
        llbt.worth(three).to_frame()["estimate"].tolist()
    )


def test_a_level_of_both_bad_for_every_pair_says_of_the_rest_what_judgments_without_it_say() -> None:
    c = table(both_bad()).pool()
    frame = c.to_frame().drop(columns="bad")
    four, three = (
        llbt.fit("object + tie + tie:object + bad:pair", c),
        llbt.fit("object + tie + tie:object", llbt.from_counts(frame)),
    )
    np.testing.assert_allclose(four.params[list(three.names)], three.params, atol=1e-8)
    np.testing.assert_allclose(four.bse[list(three.names)], three.bse, rtol=1e-6)
    assert four.deviance == pytest.approx(three.deviance, abs=1e-8)


def drawn_from(edges: list[tuple[str, str]], **columns: object) -> Comparisons:
    counts = np.random.default_rng(3).integers(3, 20, (len(edges), 4))
    frame = pd.DataFrame(edges, columns=["object_i", "object_j"])
    frame[["wins_i", "ties", "bad", "wins_j"]] = counts
    return llbt.from_counts(frame.assign(**columns), ties_column=APART)


@pytest.mark.parametrize("word", ["bad", "tie"])
@pytest.mark.parametrize(
    ("edges", "sides"),
    [
        ([("A", "B"), ("A", "C"), ("A", "D")], (r"\{A\}", r"\{B, C, D\}")),
        ([("A", "C"), ("B", "C"), ("A", "D"), ("B", "D")], (r"\{A, B\}", r"\{C, D\}")),
        ([("A", "B")], (r"\{A\}", r"\{B\}")),
    ],
    ids=["a baseline", "two camps", "one pair"],
)
def test_two_sides_that_were_never_compared_within_are_named(
    edges: list[tuple[str, str]], sides: tuple[str, str], word: str
) -> None:
    c = drawn_from(edges)
    llbt.fit("object + tie + bad", c)
    with pytest.raises(DesignError, match=f"{word}:object: objects {sides[0]} were compared only with {sides[1]}"):
        llbt.fit(f"object + tie + bad + {word}:object", c)


def test_an_odd_cycle_in_every_component_is_enough() -> None:
    three, others = [("A", "B"), ("B", "C"), ("A", "C")], [("D", "E"), ("D", "F"), ("E", "F")]
    llbt.fit("object + tie + bad + bad:object", drawn_from([*three, ("C", "D"), ("D", "E")]))
    apart = llbt.fit("tie + bad + bad:object", drawn_from([*three, *others]))
    assert not apart.aliased
    with pytest.raises(DesignError, match=r"\{D\} were compared only with \{E\}"):
        llbt.fit("tie + bad + bad:object", drawn_from([*three, ("D", "E")]))
    # a pair without a judgment closes no cycle
    c = drawn_from(three)
    counts = c.counts * (np.arange(3) != 1)[:, None]
    with pytest.raises(DesignError, match="compared only with"):
        llbt.fit("object + tie + bad + bad:object", replace(c, counts=counts))


@pytest.mark.parametrize(("word", "what"), [("bad", "judgments of both bad"), ("tie", "ties")])
def test_an_object_that_is_never_bad_or_never_tied_is_named_and_made_finite(word: str, what: str) -> None:
    c = table(both_bad()).pool()
    column = c.response.outcomes.index(word)
    counts = c.counts.copy()
    counts[(c.pairs == 1).any(axis=1), column] = 0
    c = replace(c, counts=counts)
    formula = f"object + tie + bad + {word}:object"
    judgments = int(c.totals[(c.pairs == 1).any(axis=1)].sum())
    said = f"object 'B' has no {what} among {judgments} judgments, so {word}:object\\[B\\] is −∞"
    with pytest.raises(SeparationError, match=said):
        llbt.fit(formula, c)
    for prior in ("jeffreys", 1.0):
        res = llbt.fit(formula, c, prior=prior)
        assert np.isfinite(res.bse).all()
        assert res.params[f"{word}:object[B]"] < -1
    none = replace(c, counts=np.where(np.arange(4) == column, 0, c.counts))
    if word == "bad":
        with pytest.raises(SeparationError, match=r"the table has no judgments of both bad among .*, so bad is −∞"):
            llbt.fit("object + tie + bad", none)


def test_a_prior_counts_four_outcomes_of_a_pair() -> None:
    c = table(both_bad()).pool()
    res = llbt.fit("object + tie + bad + bad:object", c, prior=2.0)
    added = llbt.fit("object + tie + bad + bad:object", replace(c, counts=c.counts + 2.0 / 4))
    np.testing.assert_allclose(res.params, added.params, atol=1e-8)


def test_questions_know_four_outcomes() -> None:
    c = table(both_bad(), n=200)
    res = llbt.fit("object + tie + tie:object + bad * judge + bad:object", c)
    frame = res.predict().to_frame()
    assert frame["outcome"].tolist()[:4] == ["i", "tie", "bad", "j"]
    means = frame["estimate"].to_numpy().reshape(-1, 4) * c.totals[:, None]
    np.testing.assert_allclose(means, res.solution.means, rtol=1e-9)
    new = c.to_frame()[["object_i", "object_j", "judge"]].iloc[::-1]
    turned = new.rename(columns={"object_i": "object_j", "object_j": "object_i"})
    one, other = (res.predict(x).to_frame()["estimate"].to_numpy().reshape(-1, 4) for x in (new, turned))
    np.testing.assert_allclose(one, res.solution.means[::-1] / c.totals[::-1, None], rtol=1e-9)
    np.testing.assert_allclose(other, one[:, [3, 1, 2, 0]], rtol=1e-9)
    board = llbt.leaderboard(res).to_frame()
    assert board["bad"].sum() == 2 * c.n_bad
    assert (board[["wins", "ties", "bad", "losses"]].sum(axis=1) == board["judgments"]).all()
    # what is asked of a decision is λ's, as with three outcomes
    pairs = llbt.pairwise(res, scale="probability").to_frame()
    share = frame.pivot_table(index=["object_i", "object_j"], columns="outcome", values="estimate", aggfunc="first")
    for pair in pairs.itertuples():
        row = share.loc[(pair.object_i, pair.object_j)]
        assert pair.estimate == pytest.approx(row["i"] / (row["i"] + row["j"]), rel=1e-9)
    assert llbt.anova(res).to_frame()["term"].tolist()[-1] == "bad:object"
    assert llbt.drop1(res).to_frame()["df"].tolist()[1:] == [4, 4, 1, 4]
    replicates = llbt.bootstrap(res, n=300, rng=1).replicates
    np.testing.assert_allclose(replicates.std(axis=0, ddof=1), res.bse, rtol=0.25)
    assert llbt.simulate(res, n=2, rng=1)[1].response == c.response
    words = llbt.residuals(res).as_text()
    assert "are both bad more often" in words or "are both bad less often" in words
    shares = llbt.intransitivity(res).to_frame()
    assert len(shares)
    scores = llbt.held_out(res, folds=3, rng=1).to_frame()
    assert np.isfinite(scores.select_dtypes("number").iloc[0, 0])
    said = llbt.interpret(res).sentences
    assert "of the judgments are 'both bad'; between equally good objects of the average pair" in said["bad"]
    assert "bad" in llbt.level_tests(res, by="judge").to_frame()
    assert "bad:object[A]" in llbt.model_table([res]).to_frame()["term"].tolist()
    assert llbt.default_formula(c) == "object + tie + bad"
    assert 0.001 < llbt.goodness_of_fit(res, 99, rng=2).to_frame()["p_value"].max() <= 1


def test_clusters_move_the_errors_of_effects_by_object() -> None:
    rng = np.random.default_rng(4)
    pairs = np.array(list(itertools.combinations(range(5), 2)) * 30)
    item = np.repeat(np.arange(30), 10)
    p = chances(both_bad(), pairs, rng.normal(0, 1.5, 30)[item])
    said = np.array(["x", "same", "neither", "y"])[[rng.choice(4, p=row) for row in p]]
    frame = pd.DataFrame({"a": np.array(list(OBJECTS))[pairs[:, 0]], "b": np.array(list(OBJECTS))[pairs[:, 1]]})
    c = llbt.from_judgments(
        frame.assign(winner=said, item=item.astype(str)),
        objects=("a", "b"), outcome="winner", clusters="item",
        outcomes={"x": "i", "y": "j", "same": "tie", "neither": "bad"},
    )  # fmt: skip
    plain = llbt.fit("object + tie + bad + bad:object", c)
    robust = llbt.fit("object + tie + bad + bad:object", c, cov_type="CR1", groups="item")
    # the sandwich by hand: scores of the items in the parameters
    problem = plain.problem()
    rows = np.stack(c.response.log_weights([part.toarray() for part in problem.predictors]), axis=1)
    probability = plain.solution.means / c.totals[:, None]
    kept = c.cluster_counts
    codes = kept.columns[0].codes
    scores = np.zeros((30, rows.shape[2]))
    np.add.at(scores, codes, np.einsum(
        "nk,nkp->np", kept.counts - kept.counts.sum(axis=1)[:, None] * probability[kept.rows], rows[kept.rows]
    ))  # fmt: skip
    bread = plain.cov_params().to_numpy()
    np.testing.assert_allclose(robust.cov_params(), bread @ (scores.T @ scores) @ bread * 30 / 29, rtol=1e-7)
    assert robust.bse["bad"] > 1.3 * plain.bse["bad"]
    assert not np.allclose(robust.t_test("bad:object[E] = 0").to_frame()["std_error"], plain.bse["bad:object[A]"])


def test_the_plot_of_ties_shows_each_object_beside_an_average_one() -> None:
    res = llbt.fit("object + tie + bad + bad:object", table(both_bad()).pool())
    ax = llbt.plot.ties(res)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["all", *OBJECTS]
    drawn = np.concatenate([line.get_xdata() for line in ax.get_lines()])
    effects = [res.t_test(f"bad + bad:object[{label}] = 0").to_frame()["estimate"][0] for label in OBJECTS]
    for effect in effects:
        assert np.abs(np.exp(effect) - drawn).min() < 1e-9 or np.abs(effect - drawn).min() < 1e-9


def test_unmodelled_and_misplaced_words_say_so() -> None:
    c = table(both_bad())
    with pytest.warns(TiesWarning, match=r"are 'both bad' and the formula has no bad term.*c\.collapse\(\)"):
        llbt.fit("object + tie", c)
    with pytest.raises(FormulaError, match="the term bad cannot be estimated"):
        llbt.fit("object + tie + bad", c.collapse())
    with pytest.raises(FormulaError, match=r"write bad \+ bad:object"):
        llbt.fit("object + tie + bad:object", c)
    with pytest.raises(FormulaError, match=r"a term describes ties \(tie\) or both bad \(bad\), not both"):
        llbt.fit("object + tie:bad", c)
    with pytest.raises(OptionError, match="link='cumulative' needs outcomes that are ordered"):
        llbt.fit("object + tie + bad", c, link="cumulative")
    with pytest.raises(OptionError, match="has one cut for ties, but the formula has tie:object"):
        llbt.fit("object + tie + tie:object", table(THREE), link="cumulative")
    with pytest.raises(FormulaError, match="grade:object has no meaning"):
        llbt.fit("object + tie + grade + grade:object", table(graded(2, middle=True)))


def test_intervals_of_what_objects_add_hold_as_often_as_they_say() -> None:
    base = table(both_bad()).pool()
    res = fit_by("object + tie + tie:object + bad + bad:object", base, method="eliminate")
    truth = {f"bad:object[{label}]": effect - ON_BAD.mean() for label, effect in zip(OBJECTS, ON_BAD, strict=True)}
    truth |= {f"tie:object[{label}]": effect - ON_TIES.mean() for label, effect in zip(OBJECTS, ON_TIES, strict=True)}
    truth |= {"bad": -0.7 + 2 * ON_BAD.mean(), "tie": -0.4 + 2 * ON_TIES.mean(), "object[A]": 0.5}
    asked = estimated(res, [f"{name} = 0" for name in truth]).matrix
    p, runs = chances(both_bad(), base.pairs), 2000
    counts = np.random.default_rng(20261123).multinomial(60, p, size=(runs, len(p))).astype(float)
    problem = res.problem()
    params = fit_many(problem, counts, res.params.to_numpy()).params
    rows = np.stack(base.response.log_weights([part.toarray() for part in problem.predictors]), axis=1)
    fitted = softmax(np.einsum("skp,rp->rsk", rows, params), axis=2)
    mean = np.einsum("rsk,skp->rsp", fitted, rows)
    information = 60 * (
        np.einsum("rsk,skp,skq->rpq", fitted, rows, rows, optimize=True) - np.einsum("rsp,rsq->rpq", mean, mean)
    )
    error = np.sqrt(np.einsum("ap,rpq,aq->ra", asked, np.linalg.inv(information), asked, optimize=True))
    held = (np.abs(params @ asked.T - list(truth.values())) <= stats.norm.ppf(0.975) * error).sum(axis=0)
    shares = held / runs
    assert ((shares > 0.93) & (shares < 0.97)).all(), json.dumps(dict(zip(truth, shares.tolist(), strict=True)))
    assert stats.binomtest(int(held.sum()), len(asked) * runs, 0.95).proportion_estimate == pytest.approx(
        0.95, abs=0.01
    )
