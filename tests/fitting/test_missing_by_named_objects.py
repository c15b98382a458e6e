"""Missing answers by named objects, against a table of all answers times all gaps, maximized by BFGS."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import special
from scipy.optimize import minimize

import llbt
from llbt.core.patterns import MISSING, pairs_of
from llbt.kernel.patterns import products_of

OBJECTS = ["Ann", "Bob", "Cem", "Dee"]
ERROR = llbt.errors.OptionError


def answered(objects=3, judges=600, seed=1, alpha=(0.8, 0.0, 0.0, 0.0), beta=(0.0, 0.0, 0.0, 0.0)):
    rng, worths = np.random.default_rng(seed), np.linspace(0.5, -0.5, objects)
    own = worths + rng.normal(scale=0.3, size=(judges, objects))
    columns = {}
    for i, j in pairs_of(objects):
        odds = np.exp(2 * (own[:, i] - own[:, j]))
        u = rng.random(judges) * (odds + 1 + 0.6 * np.sqrt(odds))
        y = np.select([u < odds, u < odds + 1], [1.0, -1.0], 0.0)
        gone = rng.random(judges) < special.expit(-1.2 + alpha[i] + alpha[j] + y * (beta[i] - beta[j]))
        columns[f"{i}{j}"] = np.where(gone, np.nan, y)
    return llbt.from_patterns(pd.DataFrame(columns), "comparisons", objects=OBJECTS[:objects], columns=list(columns))


def explicit(p, level, slope, dependence=False):
    """Minus log P(answers, gaps) of all judges: P(y) times the probabilities of the gaps given y, summed over y."""
    space = np.array(list(itertools.product((-1, 0, 1), repeat=len(p.pairs))))
    own = np.zeros((len(p.pairs), len(p.objects)))
    own[np.arange(len(p.pairs)), p.pairs[:, 0]], own[np.arange(len(p.pairs)), p.pairs[:, 1]] = 1.0, -1.0
    both = products_of(p.pairs) if dependence else np.empty((0, 2), dtype=int)
    second = space[:, both[:, 0]] * space[:, both[:, 1]]
    gone = p.answers == MISSING
    possible = ((space[:, None] == p.answers[None]) | gone[None]).all(axis=2)  # (Y, N)
    cut = np.cumsum([len(p.objects) - 1, 1, len(both), level.shape[1]])

    def minus(x):
        worths, tie, theta, alpha, beta = np.split(x, cut)
        logs = space @ (own[:, :-1] @ worths) + tie * (space == 0).sum(axis=1) + second @ theta
        logs = logs - np.logaddexp.reduce(logs)
        odds = level @ alpha + space * (slope @ beta)  # (Y, P)
        gap, answer = special.log_expit(odds), special.log_expit(-odds)
        each = np.where(possible, logs[:, None] + gap @ gone.T + answer @ ~gone.T, -np.inf)
        return -float(p.counts @ np.logaddexp.reduce(each))

    return minus, cut[-1] + slope.shape[1]


def incident(p, *which):
    return np.array([[float(k in pair) for k in which] for pair in p.pairs.tolist()])


def sided(p, *which):
    return np.array([[float(k == i) - float(k == j) for k in which] for i, j in p.pairs.tolist()]).reshape(
        len(p.pairs), len(which)
    )


@pytest.mark.parametrize(
    ("missing", "not_at_random", "dependence", "alpha", "beta"),
    [
        (["Ann"], None, False, (0,), ()),
        (["Cem", "Ann"], None, True, (0, 2), ()),
        (["Ann"], ["Bob"], False, (0,), (1,)),
        ("common", ["Ann"], True, (), (0,)),
    ],
)
def test_named_objects_are_an_explicit_likelihood(missing, not_at_random, dependence, alpha, beta):
    p = answered(beta=(0.0, 1.0, 0.0) if beta == (1,) else (1.0, 0.0, 0.0) if beta else (0.0, 0.0, 0.0))
    formula = "object + tie + dependence" if dependence else "object + tie"
    res = llbt.fit(formula, p, missing=missing, not_at_random=not_at_random)
    level = np.column_stack([np.ones(3), incident(p, *alpha)])
    minus, size = explicit(p, level, sided(p, *beta), dependence)
    best = minimize(minus, np.append(res.params.to_numpy()[: size - 2] + 0.03, [0.1, 0.1]), method="BFGS")
    assert res.llf == pytest.approx(-best.fun, abs=1e-6)
    assert minus(res.params.to_numpy()) == pytest.approx(best.fun, abs=1e-6)
    np.testing.assert_allclose(res.params, best.x, atol=2e-3)
    names = [f"missing[{OBJECTS[k]}]" for k in alpha] + [f"missing:preferred[{OBJECTS[k]}]" for k in beta]
    assert [name for name in res.names if "missing" in name] == ["missing", *names]


def test_standard_errors_are_finite_differences():
    p = answered(beta=(0.0, 1.0, 0.0))
    res = llbt.fit("object + tie", p, missing=["Ann"], not_at_random=["Bob"])
    minus, size = explicit(p, np.column_stack([np.ones(3), incident(p, 0)]), sided(p, 1))
    at, steps = res.params.to_numpy(), 1e-3 * np.eye(size)
    second = [
        [minus(at + a + b) - minus(at + a - b) - minus(at - a + b) + minus(at - a - b) for b in steps] for a in steps
    ]
    np.testing.assert_allclose(res.bse, np.sqrt(np.diag(np.linalg.inv(np.array(second) / 4e-6))), rtol=1e-3)


def test_all_but_one_object_are_all_of_them():
    """Three of four α and a common one span the log-odds of `"object"`; so do β of all but the reference."""
    p = answered(4, judges=300)
    one, other = (llbt.fit("object + tie", p, missing=missing) for missing in (["Ann", "Bob", "Cem"], "object"))
    assert one.llf == pytest.approx(other.llf, abs=1e-8)
    alpha = other.params
    assert one.params["missing"] == pytest.approx(2 * alpha["missing[Dee]"], abs=1e-6)
    assert one.params["missing[Ann]"] == pytest.approx(alpha["missing[Ann]"] - alpha["missing[Dee]"], abs=1e-6)
    every = llbt.fit("object + tie", p, missing=["Dee", "Cem", "Bob", "Ann"])
    assert every.names == other.names
    assert every.specification.missing == "object"
    slopes = [
        llbt.fit("object + tie", p, missing="common", not_at_random=beta)
        for beta in (["Ann", "Bob", "Cem"], "object", OBJECTS)
    ]
    for res in slopes[:2]:
        pd.testing.assert_series_equal(res.params, slopes[2].params)


def test_without_beta_worths_are_those_of_the_ignorable_fit():
    p = answered(4, judges=200)
    res, plain = llbt.fit("object + tie", p, missing=["Ann"]), llbt.fit("object + tie", p)
    np.testing.assert_allclose(res.params[list(plain.names)], plain.params, atol=1e-8)
    gone, every = p.counts @ (p.answers == MISSING), p.n_judges
    with_ann = incident(p, 0)[:, 0] == 1
    odds = [gone[part].sum() / (every * part.sum() - gone[part].sum()) for part in (~with_ann, with_ann)]
    assert res.params["missing"] == pytest.approx(np.log(odds[0]), abs=1e-8)
    assert res.params["missing[Ann]"] == pytest.approx(np.log(odds[1] / odds[0]), abs=1e-8)


def test_models_are_nested():
    p = answered(4, judges=300)
    fits = [
        llbt.fit("object + tie", p, missing=missing, not_at_random=beta)
        for missing, beta in [
            ("common", None),
            (["Ann"], None),
            (["Ann", "Bob"], None),
            ("object", None),
            ("object", ["Ann"]),
        ]
    ]
    table = llbt.anova(*fits).to_frame()
    assert table["df"].tolist()[1:] == [1, 1, 1, 1]
    assert "tests of β (missing answers) can reject too often" in str(llbt.anova(*fits))
    with pytest.raises(llbt.errors.DesignError, match="not nested"):
        llbt.anova(fits[1], llbt.fit("object + tie", p, missing=["Bob", "Cem"]))


def test_a_fit_says_which_objects_it_concerns():
    p = answered(4)
    res = llbt.fit("object + tie", p, missing=["Bob", "Ann"], not_at_random=["Ann"])
    text = " ".join(res.summary().as_text(notes="all").split())
    assert "the same (α), and more for 'Ann', 'Bob' (αᵢ), and by whether one of 'Ann' is preferred (βᵢ)" in text
    assert "missing[A] is αᵢ, which pairs with A add to it" in text
    assert "other β are 0" in text
    again = llbt.simulate(res, 1, rng=1)[0]
    assert llbt.fit("object + tie", again, missing=["Ann"]).converged
    assert "depends on what they would be" in llbt.interpret(res).text
    dropped = llbt.drop1(res).to_frame().set_index("term").loc["tie"]
    with pytest.warns(llbt.errors.TiesWarning):
        small = llbt.fit("object", p, missing=["Ann", "Bob"], not_at_random=["Ann"])
    assert dropped["statistic"] == pytest.approx(2 * (res.llf - small.llf), abs=1e-6)


@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"missing": ["Anne"]}, r"missing=\['Anne'\]: 'Anne' \(did you mean 'Ann'\?\) is not an object"),
        ({"missing": ["Ann", "Zoe"]}, r"'Zoe' is not an object; expected names of objects: 'Ann', 'Bob', 'Cem'"),
        ({"missing": []}, r"missing=\[\]; expected one or more of 'Ann'"),
        ({"missing": ["Ann", "Ann"]}, "each once"),
        ({"missing": "Ann"}, "missing='Ann'; expected .*, or a list of names"),
        ({"missing": "common", "not_at_random": ["Bo"]}, r"not_at_random=\['Bo'\]: 'Bo' \(did you mean 'Bob'\?\)"),
        ({"missing": "common", "not_at_random": []}, r"not_at_random=\[\]"),
        ({"not_at_random": ["Ann"]}, "together with missing='ignorable'"),
    ],
)
def test_names_that_are_no_objects_are_refused(keywords, match):
    with pytest.raises(ERROR, match=match):
        llbt.fit("object + tie", answered(judges=50), **keywords)


def test_an_infinite_effect_is_named():
    p = answered(4, alpha=(-50.0, 0.0, 0.0, 0.0))
    with pytest.raises(llbt.errors.SeparationError, match=r"no answer is missing for .*, so missing\[Ann\] is −∞"):
        llbt.fit("object + tie", p, missing=["Ann"])
