"""A fit to patterns in words: probabilities by enumerating all patterns here, other numbers from the fit itself."""

import itertools

import numpy as np
import pandas as pd
import pytest
from support.questions import answered, fit_of

import llbt
from llbt.report.pattern_shares import pattern_shares, shares_table
from llbt.report.pattern_words import dependence_of, dependence_test

DEPENDENT = fit_of("patterns")


def ranked(number=60, **more):
    said = np.random.default_rng(2).gumbel(size=(number, 4)) + np.array([0.8, 0.4, 0.0, -0.5])
    frame = pd.DataFrame((-said).argsort(axis=1).argsort(axis=1) + 1, columns=list("ABCD"))
    return frame.assign(sex=["f", "m"] * (number // 2), **more)


def by_enumeration(res, params):
    """Return P(first preferred | decided) of each pair, from the sum over all patterns, of log-worths and θ."""
    p = res.patterns
    objects, pairs = p.objects, [tuple(pair) for pair in p.pairs]
    value = {o: params.get(f"object[{o}]", 0.0) for o in objects}
    if p.kind == "rankings":
        orders = itertools.permutations(range(len(objects)))
        patterns = [[1 if order.index(i) < order.index(j) else -1 for i, j in pairs] for order in orders]
    else:
        patterns = list(itertools.product((1, 0, -1), repeat=len(pairs)))
    products = list(itertools.combinations(range(len(pairs)), 2))
    names = [name for name in res.names if name.startswith("I")]
    shared = [(a, b) for a, b in products if set(pairs[a]) & set(pairs[b])]
    theta = dict(zip(shared, names, strict=True)) if names else {}
    logs = []
    for y in patterns:
        log = sum(v * (value[objects[i]] - value[objects[j]]) for v, (i, j) in zip(y, pairs, strict=True))
        log += params.get("tie", 0.0) * sum(v == 0 for v in y)
        logs.append(log + sum(params[name] * y[a] * y[b] for (a, b), name in theta.items()))
    weight = np.exp(logs)
    patterns = np.array(patterns)
    won, lost = weight @ (patterns == 1), weight @ (patterns == -1)
    return won / (won + lost)


@pytest.mark.parametrize("kind", ["dependent", "rankings", "independent"])
def test_probabilities_are_those_of_all_patterns(kind):
    """The estimate by enumeration, the error by numerical derivatives of the enumeration."""
    res = {
        "dependent": lambda: DEPENDENT,
        "rankings": lambda: llbt.fit("object", llbt.from_patterns(ranked(), "rankings", objects=list("ABCD"))),
        "independent": lambda: llbt.fit("object + tie", answered()),
    }[kind]()
    shares = pattern_shares(res)
    params = dict(res.params)
    assert shares.preferred == pytest.approx(by_enumeration(res, params), rel=1e-9)
    slopes = []
    for name in res.names:
        ends = [by_enumeration(res, params | {name: params[name] + sign * 1e-5}) for sign in (1, -1)]
        slopes.append((ends[0] - ends[1]) / 2e-5)
    variance = np.einsum("qp,qr,rp->p", slopes, res.cov_params().to_numpy(), slopes)
    assert shares.std_error == pytest.approx(np.sqrt(variance), rel=1e-6)
    assert shares.share(0, 1) + shares.share(1, 0) == pytest.approx(1)
    assert (shares.pairs == res.patterns.pairs).all()


def test_classes_of_judges_are_averaged():
    data = llbt.from_patterns(ranked(60), "rankings", objects=list("ABCD"), covariates="sex")
    both = pattern_shares(llbt.fit("object * sex", data)).preferred
    alone = [
        pattern_shares(
            llbt.fit("object", llbt.from_patterns(half.drop(columns="sex"), "rankings", objects=list("ABCD")))
        ).preferred
        for _, half in ranked(60).groupby("sex")
    ]
    assert both == pytest.approx(np.mean(alone, axis=0), rel=1e-6)


def test_observed_shares_are_counted():
    frame = pd.DataFrame({"AB": [1, 1, -1, 0], "AC": [1, np.nan, 1, 1], "BC": [1, -1, 1, 1]})
    data = llbt.from_patterns(frame, "comparisons", objects=list("ABC"), columns=["AB", "AC", "BC"])
    shares = pattern_shares(llbt.fit("object + tie", pd_doubled(data)))
    assert shares.observed[:2].tolist() == [2 / 3, 1.0]
    assert shares.observed_ties[0] == 1 / 4
    assert shares.answers.tolist() == [8, 6, 8]


def pd_doubled(data):
    """Return patterns and, as often, the opposite of each, but for the pairs that are counted here."""
    return type(data)(data.objects, data.answers, 2 * data.counts, data.kind, data.levels)


def test_the_numbers_are_those_of_the_fit():
    said = llbt.interpret(DEPENDENT)
    figures = said.figures
    pairs = llbt.pairwise(DEPENDENT).to_frame()
    low, high = DEPENDENT.conf_int().loc["tie"]
    assert figures["judges"] == DEPENDENT.n_judgments
    assert figures["odds first"] == pytest.approx(np.exp(pairs["estimate"][0]))
    assert figures["p first"] == pairs["p_adjusted"][0]
    assert figures["share first"] == pattern_shares(DEPENDENT).preferred[0]
    assert [figures[f"{x} of a tie"] for x in ("odds", "low", "high")] == pytest.approx(
        np.exp([DEPENDENT.params["tie"], low, high])
    )
    ties = answered().counts @ (answered().answers == 0)
    assert figures["share of ties"] == pytest.approx(ties.sum() / 600)
    assert "apart from their dependence on other answers" in said.sentences["differences"]
    assert "of decisions" in said.sentences["differences"]


def test_dependence_is_tested_by_wald():
    names = [name for name in DEPENDENT.names if name.startswith("I")]
    cov = DEPENDENT.cov_params().loc[names, names]
    theta = DEPENDENT.params[names]
    found = dependence_test(DEPENDENT)
    assert found.statistic == pytest.approx(theta @ np.linalg.inv(cov) @ theta)
    assert found.df == 3
    assert dependence_of(DEPENDENT)["I12.13"] == ("A to B", "A to C")
    assert "do not depend significantly on each other" in llbt.interpret(DEPENDENT).sentences["dependence"]
    apart = llbt.fit("object + tie", answered())
    assert "+ dependence" in llbt.interpret(apart).sentences["dependence"]
    assert llbt.interpret(apart).sentences["differences"].startswith("The odds of A over B are ")


def test_odds_leave_out_dependence():
    """log P(y = 1 | the other answers) − log P(y = −1 | the others) is 2Δ where the others are ties, and 2Δ + 2Σθy."""
    params = DEPENDENT.params

    def log_weight(first, second, third):
        value = {"A": params["object[A]"], "B": params["object[B]"], "C": 0.0}
        answers = dict(zip(("AB", "AC", "BC"), (first, second, third), strict=True))
        log = sum(y * (value[pair[0]] - value[pair[1]]) for pair, y in answers.items())
        log += params["tie"] * sum(y == 0 for y in answers.values())
        log += params["I12.13"] * first * second + params["I12.23"] * first * third + params["I13.23"] * second * third
        return log

    odds = llbt.interpret(DEPENDENT).figures["odds first"]
    assert np.exp(log_weight(1, 0, 0) - log_weight(-1, 0, 0)) == pytest.approx(odds)
    more = 2 * (params["I12.13"] + params["I12.23"])
    assert np.exp(log_weight(1, 1, 1) - log_weight(-1, 1, 1) - more) == pytest.approx(odds)
    logs = np.array([log_weight(*y) for y in DEPENDENT.patterns.answers.tolist()])
    norm = np.log(sum(np.exp(log_weight(*y)) for y in itertools.product((1, 0, -1), repeat=3)))
    np.testing.assert_allclose(logs - norm, DEPENDENT.log_probabilities)


def test_strong_dependence_names_what_goes_together():
    rng = np.random.default_rng(0)
    ab = rng.choice([1, -1], 200)
    frame = pd.DataFrame({"AB": ab, "AC": np.where(rng.random(200) < 0.9, ab, -ab), "BC": rng.choice([1, -1], 200)})
    data = llbt.from_patterns(frame, "comparisons", objects=list("ABC"), columns=list(frame))
    res = llbt.fit("object + dependence", data)
    said = llbt.interpret(res)
    assert "most of all preferring A to B goes with preferring A to C" in said.sentences["dependence"]
    assert said.figures["largest theta"] == res.params["I12.13"]


def test_missing_answers_are_said():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.choice([1, 0, -1], 120) for name in ("AB", "AC", "BC")}).astype(float)
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    frame = frame[frame.notna().any(axis=1)]
    data = llbt.from_patterns(frame, "comparisons", objects=list("ABC"), columns=list(frame))
    said = llbt.interpret(llbt.fit("object + tie", data))
    assert said.figures["share of missing answers"] == pytest.approx(frame.isna().to_numpy().mean())
    assert "taken as independent of what they would be" in said.sentences["missing"]
    by_common = llbt.fit("object + tie", data, missing="common")
    assert "modelled as independent" in llbt.interpret(by_common).sentences["missing"]
    res = llbt.fit("object + tie", data, missing="common", not_at_random="object")
    figures = llbt.interpret(res).figures
    names = [name for name in res.names if name.startswith("missing:preferred")]
    beta, cov = res.params[names], res.cov_params().loc[names, names]
    assert figures["chi2 of missing"] == pytest.approx(beta @ np.linalg.inv(cov) @ beta)
    assert figures["df of missing"] == len(names)


def test_rankings_say_where_odds_hold():
    res = llbt.fit("object", llbt.from_patterns(ranked(), "rankings", objects=list("ABCD")))
    assert "where they stand next to each other" in llbt.interpret(res).sentences["differences"]
    assert "the rankings of 60 judges" in llbt.interpret(res).sentences["model"]


def test_the_table_has_a_row_for_each_pair():
    table = shares_table(DEPENDENT, pattern_shares(DEPENDENT), 0.95, 1.96).to_frame()
    assert len(table) == 3
    assert (table["conf_low"] < table["estimate"]).all()
    assert (table["estimate"] < table["conf_high"]).all()
    assert {"tie", "observed_tie"} <= set(table)
