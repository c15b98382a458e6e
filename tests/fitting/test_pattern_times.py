"""Patterns of judges who answer at several times: an explicit GLM of all patterns, BFGS, and fits of single times."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

import llbt
from llbt.core.patterns import MISSING, pairs_of
from llbt.errors import DesignError, FormulaError, JudgmentError, OptionError
from llbt.kernel.patterns import products_of, rankings_of, signs_of

OBJECTS = ["A", "B", "C"]
PAIRS = ["AB", "AC", "BC"]


def answered(times=2, judges=150, *, ties=True, seed=1):
    """One row for each judge and week; judges have tastes of their own that last, so they repeat their answers."""
    rng = np.random.default_rng(seed)
    taste, rows = rng.normal(scale=0.7, size=(judges, 3)), []
    for week in range(1, times + 1):
        worths = np.array([0.5, 0.1, -0.4]) / week + taste
        columns = {}
        for i, j in pairs_of(3):
            odds = np.exp(2 * (worths[:, i] - worths[:, j]))
            u = rng.random(judges) * (odds + 1 + (0.6 * np.sqrt(odds) if ties else 0))
            columns[OBJECTS[i] + OBJECTS[j]] = np.select([u < odds, u < odds + 1], [1.0, -1.0], 0.0)
        who = [f"J{g:03d}" for g in range(judges)]
        rows.append(pd.DataFrame(columns).assign(who=who, week=week, sex=["fm"[g % 2] for g in range(judges)]))
    return pd.concat(rows, ignore_index=True)


def patterns(frame, **keywords):
    named = {"objects": OBJECTS, "columns": PAIRS, "judge": "who", "time": "week"} | keywords
    return llbt.from_patterns(frame, "comparisons", **named)


def statistics(space, times, *, ties, dependence, by_week, persistence):
    """The sufficient statistics of patterns (C, 3T): worths of A and B (by week), ties, products within and across."""
    own = np.array([[1, -1], [1, 0], [0, 1]])
    weeks = space.reshape(len(space), times, 3)
    parts = [weeks.sum(axis=1) @ own]
    parts += [weeks[:, t] @ own for t in range(1, times)] if by_week else []
    parts += [(space == 0).sum(axis=1, keepdims=True)] if ties else []
    both = products_of(pairs_of(3))
    within = (weeks[:, :, both[:, 0]] * weeks[:, :, both[:, 1]]).sum(axis=1)
    across = (weeks[:, 1:] * weeks[:, :-1]).sum(axis=1)
    return np.column_stack([*parts, *([within] if dependence else []), *([across] if persistence else [])]).astype(
        float
    )


def possible(answers, space):
    return ((space[:, None] == answers[None]) | (answers == MISSING)[None]).all(axis=2)  # (C, N)


def minus_of(p, space, rows):
    some = possible(p.answers, space)

    def minus(x):
        logs = rows @ x
        seen = np.logaddexp.reduce(np.where(some, logs[:, None], -np.inf))
        return float(p.n_judges * np.logaddexp.reduce(logs) - p.counts @ seen)

    return minus


# -- an explicit GLM, and BFGS -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("object + tie + persistence", {"dependence": False, "by_week": False}),
        ("object * week + tie + dependence + persistence", {"dependence": True, "by_week": True}),
    ],
)
def test_two_times_are_an_explicit_glm(formula, terms):
    p = patterns(answered())
    space = np.array(list(itertools.product((-1, 0, 1), repeat=6)))
    rows = statistics(space, 2, ties=True, persistence=True, **terms)
    counts = possible(p.answers, space) @ p.counts
    glm = sm.GLM(counts, sm.add_constant(rows, prepend=False), family=sm.families.Poisson()).fit(tol=1e-12)
    res = llbt.fit(formula, p)
    np.testing.assert_allclose(res.params, glm.params[:-1], atol=1e-7)
    np.testing.assert_allclose(res.bse, glm.bse[:-1], rtol=1e-6)
    assert res.names[-3:] == ("persistence[A:B]", "persistence[A:C]", "persistence[B:C]")
    seen = counts > 0
    assert res.llf == pytest.approx(counts[seen] @ np.log(glm.fittedvalues[seen] / p.n_judges), abs=1e-7)
    assert p.counts @ res.log_probabilities == pytest.approx(res.llf)


def test_three_times_with_gaps_are_an_explicit_likelihood():
    frame = answered(3, 100, ties=False)
    gone = np.random.default_rng(2).random((len(frame), 3)) < 0.1
    frame[PAIRS] = frame[PAIRS].mask(gone)
    p = patterns(frame.drop(index=frame.index[frame["week"] == 3][:20]))
    assert (p.answers == MISSING)[:, 6:].all(axis=1) @ p.counts >= 20
    space = np.array(list(itertools.product((-1, 1), repeat=9)))
    rows = statistics(space, 3, ties=False, dependence=True, by_week=True, persistence=True)
    minus = minus_of(p, space, rows)
    best = minimize(minus, np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-5})
    res = llbt.fit("object * week + dependence + persistence", p)
    assert res.llf == pytest.approx(-best.fun, abs=1e-7)
    np.testing.assert_allclose(res.params, best.x, atol=1e-4)
    at, eye = res.params.to_numpy(), 1e-4 * np.eye(len(best.x))
    second = [[minus(at + a + b) - minus(at + a - b) - minus(at - a + b) + minus(at - a - b) for b in eye] for a in eye]
    np.testing.assert_allclose(res.bse, np.sqrt(np.diag(np.linalg.inv(np.array(second) / 4e-8))), rtol=1e-3)


@pytest.mark.parametrize("kind", ["rankings", "ratings"])
def test_orders_at_two_times_are_an_explicit_likelihood(kind):
    rng = np.random.default_rng(4)
    taste, rows = rng.normal(size=(120, 3)), []
    for week in (1, 2):
        values = np.linspace(0.5, -0.5, 3) + taste + rng.normal(size=(120, 3))
        frame = pd.DataFrame(values if kind == "rankings" else np.round(values), columns=OBJECTS)
        frame = (-frame).rank(axis=1) if kind == "rankings" else frame.clip(-1, 1)
        rows.append(frame.assign(who=np.arange(120), week=week))
    p = llbt.from_patterns(pd.concat(rows), kind, objects=OBJECTS, judge="who", time="week")
    once = signs_of(rankings_of(3), pairs_of(3)) if kind == "rankings" else np.unique(p.answers.reshape(-1, 3), axis=0)
    assert len(once) == {"rankings": 6, "ratings": 13}[kind]
    space = np.array([np.concatenate(two) for two in itertools.product(once, once)])
    rows = statistics(space, 2, ties=kind == "ratings", dependence=False, by_week=False, persistence=True)
    best = minimize(minus_of(p, space, rows), np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-5})
    res = llbt.fit(f"object{' + tie' if kind == 'ratings' else ''} + persistence", p)
    assert res.llf == pytest.approx(-best.fun, abs=1e-7)
    np.testing.assert_allclose(res.params, best.x, atol=1e-4)


# -- fits of single times ------------------------------------------------------------------------------------


def test_without_dependence_it_is_the_fit_of_the_pairs_and_enumerates_nothing(monkeypatch):
    frame = answered(5, 40)
    p = patterns(frame)
    monkeypatch.setattr("llbt.kernel.patterns.Halves.moments", None)
    res = llbt.fit("object * week + tie", p)
    plain = llbt.fit("object * week + tie", p.to_comparisons())
    pd.testing.assert_series_equal(res.params, plain.params)
    np.testing.assert_allclose(res.bse, plain.bse)
    assert p.to_comparisons().covariates == ("week",)
    assert p.counts @ res.log_probabilities == pytest.approx(res.llf)


def test_independent_times_are_fits_of_each_time():
    frame = answered(2, 200)
    res = llbt.fit("object * week + tie * week + dependence * week", patterns(frame))
    apart = [
        llbt.fit("object + tie + dependence", patterns(frame[frame["week"] == week], judge=None, time=None))
        for week in (1, 2)
    ]
    assert res.llf == pytest.approx(sum(one.llf for one in apart), abs=1e-7)
    names = ["object[A]", "I12.13", "I12.23", "I13.23"]
    np.testing.assert_allclose(res.params[names], apart[0].params[names], atol=1e-6)
    differences = [f"{name}:week[2]" for name in names]
    np.testing.assert_allclose(res.params[differences], apart[1].params[names] - apart[0].params[names], atol=1e-6)


def test_numbers_of_times_have_one_slope():
    p = patterns(answered(3), numeric="week")
    res = llbt.fit("object * week + tie + persistence", p)
    assert [name for name in res.names if "week" in name] == ["object[A]:week", "object[B]:week"]
    classes = llbt.fit("object * week + tie + persistence", patterns(answered(3)))
    assert llbt.anova(res, classes).to_frame()["df"].iloc[1] == 2


def test_covariates_of_judges_and_objects_go_with_times():
    table = pd.DataFrame({"object": OBJECTS, "price": [1.0, 2.0, 4.0], "size": [1.0, 0.0, 1.0]})
    p = patterns(answered(2), covariates="sex", object_covariates=table)
    free, spanned = (llbt.fit(f"{text} + tie + persistence", p) for text in ("object * week", "(price + size) * week"))
    assert spanned.llf == pytest.approx(free.llf, abs=1e-7)
    res = llbt.fit("price * week * sex + tie + dependence * sex + persistence", p)
    assert {"price:week[2]:sex[m]", "I12.13:sex[m]", "persistence[B:C]"} <= set(res.names)


# -- questions -----------------------------------------------------------------------------------------------


def test_probabilities_are_sums_over_all_patterns():
    p = patterns(answered(2, 100))
    res = llbt.fit("object * week + tie + dependence + persistence", p)
    space = np.array(list(itertools.product((-1, 0, 1), repeat=6)))
    logs = statistics(space, 2, ties=True, dependence=True, by_week=True, persistence=True) @ res.params.to_numpy()
    share = np.exp(logs - np.logaddexp.reduce(logs))
    found = res.predict().to_frame()
    expected = [share[space[:, k] == y].sum() for k in range(6) for y in (1, 0, -1)]
    np.testing.assert_allclose(found["estimate"], expected, atol=1e-10)
    assert found["week"].tolist() == [1] * 9 + [2] * 9
    means = [np.mean([share[space[:, k + 3 * t] == y].sum() for t in (0, 1)]) for k in range(3) for y in (1, -1)]
    decided = [means[2 * k] / (means[2 * k] + means[2 * k + 1]) for k in range(3)]
    from llbt.report.pattern_shares import pattern_shares

    np.testing.assert_allclose(pattern_shares(res).preferred, decided, atol=1e-10)


def test_equal_worths_are_not_equal_shares_where_times_have_two_neighbours():
    res = llbt.fit("object + tie + persistence", patterns(answered(3, 400)))
    assert res.params.filter(like="persistence").min() > 0.3
    found = res.predict().to_frame()
    shares = found[(found["object_i"] == "A") & (found["object_j"] == "C") & (found["outcome"] == "i")]["estimate"]
    assert shares.round(3).tolist() == [0.583, 0.613, 0.583]  # docs/decisions/042


def test_persistence_is_tested_and_described():
    p = patterns(answered(2, 200), covariates="sex")
    small, large = (llbt.fit(f"object * week + tie{more}", p) for more in ("", " + persistence"))
    dropped = llbt.drop1(large).to_frame().set_index("term")
    assert dropped.loc["persistence", "statistic"] == pytest.approx(2 * (large.llf - small.llf), abs=1e-6)
    assert llbt.add1(small, "persistence").to_frame()["df"].iloc[1] == 3
    assert llbt.anova(small, large).to_frame()["df"].iloc[1] == 3
    words = llbt.interpret(large)
    assert "3 pairs of 3 objects at 2 times (week)" in words.text
    assert "at consecutive times depend on each other" in words.sentences["persistence"]
    assert "judges repeat whether they prefer" in words.sentences["persistence"]
    assert "Add + persistence if they are not" in llbt.interpret(small).sentences["persistence"]
    assert "Compare times by res.predict()" in words.sentences["persistence"]
    text = large.summary().as_text(notes="all")
    assert "every sequence of answers at 2 times, 729" in text
    assert "Compare times: res.predict()" in " ".join(text.split())


def test_drawn_patterns_persist():
    p = patterns(answered(2, 400))
    res = llbt.fit("object + tie + persistence", p)
    table = llbt.simulate(res, 1, rng=2)[0]
    assert table.times.values.tolist() == [1, 2]
    again = llbt.fit("object + tie + persistence", table)
    names = ["persistence[A:B]", "persistence[A:C]", "persistence[B:C]"]
    assert (np.abs(again.params[names] - res.params[names]) < 4 * res.bse[names]).all()
    assert (res.params[names] > 2 * res.bse[names]).all()
    assert "|" in llbt.influence(res).to_frame()["pattern"].iloc[0]


@pytest.mark.parametrize("missing", ["common", "object", "comparison"])
def test_missing_answers_have_the_same_odds_at_all_times(missing):
    frame = answered(2, 150)
    frame[PAIRS] = frame[PAIRS].mask(np.random.default_rng(3).random((len(frame), 3)) < 0.2)
    p = patterns(frame)
    res, plain = (llbt.fit("object + tie + persistence", p, missing=asked) for asked in (missing, "ignorable"))
    np.testing.assert_allclose(res.params[list(plain.names)], plain.params, atol=1e-6)
    gone = (p.counts @ (p.answers == MISSING)).reshape(2, 3)
    incident = np.array([[k in pair for k in range(3)] for pair in pairs_of(3)], dtype=float)
    design = {"common": np.ones((3, 1)), "object": incident, "comparison": np.eye(3)}[missing]
    rows = np.column_stack([gone.ravel(), p.n_judges - gone.ravel()])
    glm = sm.GLM(rows, np.tile(design, (2, 1)), family=sm.families.Binomial()).fit(tol=1e-13)
    np.testing.assert_allclose(res.params[[n for n in res.names if n.startswith("missing")]], glm.params, atol=1e-7)


# -- reading, and refusals -----------------------------------------------------------------------------------


def test_rows_of_judges_become_one_pattern():
    frame = pd.DataFrame(
        {"AB": [1, -1, 0, 1], "AC": [1, 1, None, -1], "BC": [1, 0, 1, 1], "who": ["K", "L", "K", "M"],
         "week": [2, 1, 1, 2], "sex": ["f", "m", "f", "m"]}
    )  # fmt: skip
    p = patterns(frame, covariates="sex")
    assert p.n_judges == 3
    assert p.times.values.tolist() == [1, 2]
    shown = p.to_frame()
    assert shown.columns.tolist()[:4] == ["A:B (week 1)", "A:C (week 1)", "B:C (week 1)", "A:B (week 2)"]
    rows = {tuple(row) for row in p.answers.tolist()}
    assert rows == {(0, 2, 1, 1, 1, 1), (-1, 1, 0, 2, 2, 2), (2, 2, 2, 1, -1, 1)}
    assert "0.+|+++" in str(p)
    c = p.to_comparisons()
    assert (c.n_judgments, c.covariates) == (11, ("sex", "week"))


def test_times_and_objects_without_answers_are_left_out():
    frame = answered(3, 30)
    frame.loc[frame["week"] == 2, PAIRS] = np.nan
    frame[["AC", "BC"]] = np.nan
    p = patterns(frame)
    assert p.objects == ("A", "B")
    assert p.times.values.tolist() == [1, 3]
    assert p.notes == ("left out: 1 object without any answer ('C')", "left out: 1 time without any answer (2)")
    assert p.answers.shape[1] == 2


@pytest.mark.parametrize(
    ("change", "keywords", "error", "match"),
    [
        ({}, {"time": None}, OptionError, "judge='who' without time="),
        ({}, {"judge": None}, OptionError, "time='week' without judge="),
        ({}, {"weight": "n"}, OptionError, "a row is one judge at one time"),
        ({"week": 1}, {}, JudgmentError, "column 'week' has one value, 1"),
        ({"who": "K"}, {}, JudgmentError, r"another row, the first at row 1: who 'K', week 1"),
        (
            {"sex": ["f", "m", "m", "m"]},
            {"covariates": "sex"},
            JudgmentError,
            "'sex' has several values for who 'J000'",
        ),
        ({}, {"time": "weak"}, JudgmentError, r"no column 'weak' \(time=\)"),
        ({"week": [1, None, 2, 2]}, {}, JudgmentError, "week"),
        ({}, {"covariates": "week"}, OptionError, "named twice"),
        ({"persistence": 1.0}, {"covariates": "persistence"}, JudgmentError, "a word that llbt uses itself"),
    ],
)
def test_rows_that_are_no_times_are_refused(change, keywords, error, match):
    frame = answered(2, 2).assign(**change)
    with pytest.raises(error, match=match):
        patterns(frame, **keywords)


def test_terms_that_need_times_are_refused_without():
    frame = answered(2, 60)
    once = patterns(frame[frame["week"] == 1], judge=None, time=None)
    with pytest.raises(DesignError, match="persistence is the dependence of answers at consecutive times"):
        llbt.fit("object + tie + persistence", once)
    p = patterns(frame, covariates="sex")
    with pytest.raises(FormulaError, match="persistence is part of another term"):
        llbt.fit("object + tie + persistence * sex", p)
    with pytest.raises(DesignError, match=r"dependence by 'weak' \(did you mean 'week'\?\)"):
        llbt.fit("object + tie + dependence * weak", p)
    res = llbt.fit("object + tie + persistence", p)
    with pytest.raises(OptionError, match="the answers of a judge at different times are one pattern"):
        llbt.level_tests(res, by="week")
    many = patterns(answered(6, 10))
    with pytest.raises(DesignError, match="answers to the 3 pairs of 3 objects at 6 times, more than"):
        llbt.fit("object + tie + persistence", many)


def test_the_order_of_times_is_part_of_the_data():
    p = patterns(answered(2, 50))
    other = replace(p, answers=np.roll(p.answers, 3, axis=1))
    one, two = (llbt.fit("object + tie + persistence", data) for data in (p, other))
    assert one.llf == pytest.approx(two.llf)
    assert one.basis != two.basis
