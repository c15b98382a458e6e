"""Which answers of patterns are missing: brute force over answers and gaps, logistic regression, simulation."""

import itertools
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import special
from scipy.optimize import minimize

import llbt
from llbt.core.patterns import MISSING, pairs_of
from llbt.fitting.pattern_missingness import missingness_of
from llbt.fitting.pattern_search import fit_patterns_of
from llbt.kernel.patterns import Halves, products_of

OBJECTS = "ABCDEF"


def drawn(rng, judges, worths, level, slope, *, tie=0.6, taste=0.0):
    """Answers to all pairs, of which each is missing by log-odds that may depend on it; level is of the pair."""
    size, columns = len(worths), {}
    own = worths + rng.normal(scale=taste, size=(judges, size)) if taste else np.tile(worths, (judges, 1))
    for i, j in pairs_of(size):
        odds = np.exp(2 * (own[:, i] - own[:, j]))
        u = rng.random(judges) * (odds + 1 + tie * np.sqrt(odds))
        answer = np.select([u < odds, u < odds + 1], [1.0, -1.0], 0.0)
        gone = rng.random(judges) < special.expit(level[i] + level[j] + answer * (slope[i] - slope[j]))
        columns[OBJECTS[i] + OBJECTS[j]] = np.where(gone, np.nan, answer)
    return pd.DataFrame(columns)


def patterns(frame, objects, **keywords):
    names = [OBJECTS[i] + OBJECTS[j] for i, j in pairs_of(objects)]
    return llbt.from_patterns(frame, "comparisons", objects=list(OBJECTS[:objects]), columns=names, **keywords)


def some(objects, *, judges=250, seed=1, tie=0.6, taste=0.3, **keywords):
    worths = np.linspace(0.5, -0.5, objects)
    return patterns(
        drawn(np.random.default_rng(seed), judges, worths, np.full(objects, -0.6), worths, tie=tie, taste=taste),
        objects,
        **keywords,
    )


def literally(p, res):
    """log P(y seen, r) of each pattern, by a table of all answers times all gaps at the estimates, with its sum."""
    value, pairs, objects = res.params.to_dict(), p.pairs.tolist(), p.objects
    space = np.array(list(itertools.product((-1, 0, 1) if p.has_ties else (-1, 1), repeat=len(pairs))))
    gaps = np.array(list(itertools.product((0, 1), repeat=len(pairs))))
    worth = [value.get(f"object[{o}]", 0.0) for o in objects]
    logs = value.get("tie", 0.0) * (space == 0).sum(axis=1)
    level, slope = np.zeros(len(pairs)), np.zeros(len(pairs))
    for k, (i, j) in enumerate(pairs):
        a, b = objects[i], objects[j]
        logs = logs + space[:, k] * (worth[i] - worth[j])
        level[k] = value.get("missing", 0.0) + value.get(f"missing[{a}:{b}]", 0.0)
        level[k] += value.get(f"missing[{a}]", 0.0) + value.get(f"missing[{b}]", 0.0)
        slope[k] = value.get(f"missing:preferred[{a}:{b}]", 0.0)
        slope[k] += value.get(f"missing:preferred[{a}]", 0.0) - value.get(f"missing:preferred[{b}]", 0.0)
    for (x, y), name in zip(products_of(p.pairs), [n for n in res.names if n.startswith("I")], strict=False):
        logs = logs + value[name] * space[:, x] * space[:, y]
    of_answers = np.exp(logs - special.logsumexp(logs))
    each = special.expit(level + space * slope)  # (Y, P)
    table = of_answers[:, None] * np.where(gaps[None], each[:, None], 1 - each[:, None]).prod(axis=2)
    assert table.sum() == pytest.approx(1, abs=1e-12)
    found = np.empty(len(p))
    for k, answers in enumerate(p.answers):
        said = answers != MISSING
        compatible = (space[:, said] == answers[said]).all(axis=1)
        found[k] = np.log(table[compatible, np.flatnonzero((gaps == ~said).all(axis=1))[0]].sum())
    return found, table[:, -1].sum()


MODELS = [
    ("common", None),
    ("object", None),
    ("comparison", None),
    ("common", "object"),
    ("object", "object"),
    ("comparison", "comparison"),
]


# -- brute force ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("missing", "not_at_random"), MODELS)
@pytest.mark.parametrize("formula", ["object + tie", "object + tie + dependence"])
def test_the_likelihood_is_a_sum_over_all_answers_times_all_gaps(formula, missing, not_at_random):
    p = some(3, judges=1500)
    res = llbt.fit(formula, p, missing=missing, not_at_random=not_at_random)
    logs, silent = literally(p, res)
    np.testing.assert_allclose(res.log_probabilities, logs, rtol=0, atol=1e-10)
    assert res.llf == pytest.approx(p.counts @ logs, abs=1e-8)
    assert res.likelihood.silent(res.solution.params) == pytest.approx(p.n_judges * silent / (1 - silent))


def test_four_objects_without_ties_by_brute_force():
    p = some(4, tie=0.0, judges=250)
    assert not p.has_ties
    for formula, beta in (("object", "object"), ("object + dependence", None)):
        res = llbt.fit(formula, p, missing="common", not_at_random=beta)
        np.testing.assert_allclose(res.log_probabilities, literally(p, res)[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize(("missing", "not_at_random"), [("object", "object"), ("comparison", "comparison")])
def test_gradient_and_information_are_derivatives(dependent, missing, not_at_random):
    frame = pd.concat([some_frame.assign(sex=sex) for sex, some_frame in zip("fm", two_frames(3, 60), strict=True)])
    p = patterns(frame, 3, covariates="sex")
    formula = "object:sex + tie" + (" + dependence" if dependent else "")
    plain = llbt.fit(formula, p, missing=missing)
    likelihood = replace(plain.likelihood, missingness=missingness_of(p, missing, not_at_random, "C"))
    at = np.random.default_rng(3).normal(scale=0.4, size=likelihood.size)
    value, gradient, information, possible = likelihood.moments(at)
    steps = 1e-5 * np.eye(len(at))
    ahead, behind = ([likelihood.moments(at + sign * step) for step in steps] for sign in (1, -1))
    np.testing.assert_allclose(
        [(a[0] - b[0]) / 2e-5 for a, b in zip(ahead, behind, strict=True)], gradient, rtol=1e-6, atol=1e-5
    )
    second = np.array([(a[1] - b[1]) / 2e-5 for a, b in zip(ahead, behind, strict=True)])
    np.testing.assert_allclose(-second, information, rtol=1e-6, atol=1e-5)
    assert np.linalg.eigvalsh(possible).min() > 0
    assert value == pytest.approx(p.counts @ likelihood.log_probabilities(at))


def two_frames(objects, judges):
    rng, worths = np.random.default_rng(2), np.linspace(0.5, -0.5, objects)
    return [drawn(rng, judges, sign * worths, np.full(objects, -0.5), worths) for sign in (1, -1)]


def test_pairs_apart_are_what_enumeration_finds():
    p = some(4)
    res = llbt.fit("object + tie", p, missing="object", not_at_random="object")
    apart = res.likelihood
    listed = replace(apart, space=Halves(6, (-1, 0, 1), np.empty((0, 2), dtype=np.int64)))
    at = np.random.default_rng(4).normal(scale=0.5, size=apart.size)
    assert apart.space.number == listed.space.number == 3**6
    for one, other in zip(apart.moments(at), listed.moments(at), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(apart.log_probabilities(at), listed.log_probabilities(at))
    assert apart.silent(at) == pytest.approx(listed.silent(at))


def test_judges_taken_one_by_one_are_what_blocks_of_them_give(monkeypatch):
    p = some(3, judges=60)
    plain = llbt.fit("object + tie + dependence", p, missing="object").likelihood
    likelihood = replace(plain, missingness=missingness_of(p, "object", "object", "C"))
    at = np.random.default_rng(5).normal(scale=0.5, size=likelihood.size)
    together, logs = likelihood.moments(at), likelihood.log_probabilities(at)
    for entries in (1, 200):  # a pattern at a time, and a few judges
        monkeypatch.setattr("llbt.kernel.patterns._BLOCK", entries)
        for one, other in zip(likelihood.moments(at), together, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(likelihood.log_probabilities(at), logs)


def test_nothing_is_enumerated_without_dependence(monkeypatch):
    monkeypatch.setattr("llbt.kernel.patterns.Halves.moments", None)
    monkeypatch.setattr("llbt.kernel.patterns.Halves.compatible", None)
    res = llbt.fit("object + tie", some(6, judges=150), missing="object", not_at_random="object")
    assert res.converged
    assert "without dependence no sum over them is needed" in " ".join(str(res).split())


def minus_of(p, level):
    """Minus the log-likelihood of λ, γ, α and β of the objects, pair by pair, the last object the reference."""
    size = len(p.objects) - 1
    counts = np.array([[p.counts @ (row == y) for y in (1, 0, -1, MISSING)] for row in p.answers.T])

    first, second = p.pairs.T

    def minus(x):
        worth, slope = np.append(x[:size], 0.0), np.append(x[-size:], 0.0)
        eta, b = worth[first] - worth[second], slope[first] - slope[second]
        share = special.softmax([eta, np.full(len(eta), x[size]), -eta], axis=0)
        gone = special.expit(level @ x[size + 1 : -size] + b * np.array([[1], [0], [-1]]))
        logs = np.log(np.concatenate([share * (1 - gone), (share * gone).sum(axis=0, keepdims=True)]))
        return -float((counts.T * logs).sum())

    return minus


def test_the_estimates_are_a_maximum_that_another_search_finds():
    p = some(4, judges=600, seed=3)
    res = llbt.fit("object + tie", p, missing="common", not_at_random="object")
    minus = minus_of(p, np.ones((6, 1)))
    other = minimize(minus, res.params.to_numpy() + 0.05, method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(res.params, other.x, atol=1e-4)
    assert res.llf == pytest.approx(-other.fun, abs=1e-8)
    at, steps = res.params.to_numpy(), 1e-3 * np.eye(8)
    second = [
        [minus(at + a + b) - minus(at + a - b) - minus(at - a + b) + minus(at - a - b) for b in steps] for a in steps
    ]
    np.testing.assert_allclose(res.bse, np.sqrt(np.diag(np.linalg.inv(np.array(second) / 4e-6))), rtol=1e-4)


def test_of_several_maxima_the_highest_is_found():
    rng, worths = np.random.default_rng(52), np.linspace(0.6, -0.6, 5)
    p = patterns(drawn(rng, 300, worths, np.full(5, -0.7), np.zeros(5), tie=0.0), 5)
    res = llbt.fit("object", p, missing="common", not_at_random="object")
    tried = []
    for seed in range(20):
        start = np.random.default_rng(seed).normal(size=res.likelihood.size)
        tried.append(fit_patterns_of(res.likelihood, start).log_likelihood)
    assert min(tried) < res.llf - 0.1  # so that there are several
    assert max(tried) <= res.llf + 1e-6


# -- missing completely at random ----------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["common", "object", "comparison"])
@pytest.mark.parametrize("formula", ["object + tie", "object + tie + dependence", "object:sex + tie"])
def test_without_beta_it_is_the_ignorable_fit_and_a_logistic_regression(formula, missing):
    size = 3 if "dependence" in formula else 4
    frame = pd.concat([part.assign(sex=sex) for sex, part in zip("fm", two_frames(size, 60), strict=True)])
    p = patterns(frame, size, covariates="sex")
    res, plain = llbt.fit(formula, p, missing=missing), llbt.fit(formula, p)
    names = list(plain.names)
    np.testing.assert_allclose(res.params[names], plain.params, rtol=0, atol=1e-8)
    np.testing.assert_allclose(res.bse[names], plain.bse, rtol=1e-6)
    design = {
        "common": np.ones((len(p.pairs), 1)),
        "object": np.array([[k in pair for k in range(size)] for pair in p.pairs.tolist()], dtype=float),
        "comparison": np.eye(len(p.pairs)),
    }[missing]
    gone = p.counts @ (p.answers == MISSING)
    logistic = sm.GLM(np.column_stack([gone, p.n_judges - gone]), design, family=sm.families.Binomial())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a saturated model
        fitted = logistic.fit(tol=1e-13)
    beside = [name for name in res.names if name not in names]
    np.testing.assert_allclose(res.params[beside], fitted.params, atol=1e-8)
    np.testing.assert_allclose(res.bse[beside], fitted.bse, rtol=1e-7)
    share = fitted.fittedvalues
    expected = gone @ np.log(share) + (p.n_judges - gone) @ np.log(1 - share)  # each judge's, as of 0 and 1
    assert res.llf == pytest.approx(plain.llf + expected, abs=1e-8)


def test_without_beta_one_sum_over_answers_and_gaps_gives_the_same():
    """R's prefmod has one normalizing sum over both, in `NI=TRUE`."""
    p = some(3, judges=80, seed=5)
    res = llbt.fit("object + tie", p, missing="object")
    space = np.array(list(itertools.product((-1, 0, 1), repeat=3)))
    gaps = np.array(list(itertools.product((0, 1), repeat=3)))
    incident = np.array([[k in pair for k in range(3)] for pair in p.pairs.tolist()], dtype=float)
    said = p.answers != MISSING
    found = [
        ((space[:, row] == answers[row]).all(axis=1), np.flatnonzero((gaps == ~row).all(axis=1))[0])
        for answers, row in zip(p.answers, said, strict=True)
    ]

    def minus(x):
        logs = space @ np.array([x[0] - x[1], x[0], x[1]]) + x[2] * (space == 0).sum(axis=1)
        every = logs[:, None] + (gaps @ incident @ x[3:])[None]
        seen = [np.log(np.exp(every[compatible, column]).sum()) for compatible, column in found]
        return p.n_judges * np.log(np.exp(every).sum()) - p.counts @ seen

    other = minimize(minus, np.zeros(6), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(res.params, other.x, atol=1e-5)
    assert res.llf == pytest.approx(-other.fun, abs=1e-8)


# -- comparing models ----------------------------------------------------------------------------------------


def test_models_of_missing_answers_are_nested():
    p = some(4, judges=250)
    fits = [
        llbt.fit("object + tie", p, missing=missing, not_at_random=beta)
        for missing, beta in [("common", None), ("object", None), ("object", "object"), ("comparison", "object")]
    ]
    table = llbt.anova(*fits).to_frame()
    assert table["df"].tolist()[1:] == [3, 3, 2]
    for k in (1, 2, 3):
        assert table["statistic"].iloc[k] == pytest.approx(2 * (fits[k].llf - fits[k - 1].llf))
    assert table["p_value"].iloc[1:].between(0, 1).all()
    assert "tests of β (missing answers) can reject too often" in str(llbt.anova(*fits))
    assert "reject too often" not in str(llbt.anova(*fits[:2]))
    small = some(3)
    one, more = (llbt.fit(f"object + tie{with_}", small, missing="common") for with_ in ("", " + dependence"))
    assert llbt.anova(one, more).to_frame()["df"].iloc[1] == 3


def test_what_is_not_nested_is_not_tested():
    p = some(4, judges=600)
    plain = llbt.fit("object + tie", p)
    common, apart, slopes = (
        llbt.fit("object + tie", p, missing=missing, not_at_random=beta)
        for missing, beta in [("common", None), ("comparison", None), ("object", "object")]
    )
    for pair in ((plain, common), (common, plain)):
        with pytest.raises(llbt.errors.DesignError, match="models which answers are missing"):
            llbt.anova(*pair)
    with pytest.raises(llbt.errors.DesignError, match="not nested"):
        llbt.anova(apart, slopes)
    assert llbt.anova(common, slopes).to_frame()["df"].iloc[1] == 6


# -- what a fit says -----------------------------------------------------------------------------------------


def test_a_fit_says_what_its_parameters_are():
    p = some(4, judges=600)
    res = llbt.fit("object + tie", p, missing="object", not_at_random="object", reference="B")
    assert res.names[:4] == ("object[A]", "object[C]", "object[D]", "tie")
    assert res.names[4:] == (
        *(f"missing[{k}]" for k in "ABCD"),
        *(f"missing:preferred[{k}]" for k in "ACD"),
    )
    frame = res.to_frame()
    assert frame["term"].tolist() == list(res.names)
    assert frame[["estimate", "std_error", "conf_low", "conf_high"]].notna().all().all()
    text = " ".join(res.summary().as_text(notes="all").split())
    share = (p.counts @ (p.answers == MISSING).mean(axis=1)) / p.n_judges
    assert f"Missing answers: {100 * share:.3g} %, by object (αᵢ + αⱼ), and by which object is preferred" in text
    assert "Worths describe all answers, including the missing ones" in text
    assert "β rests on the form of the model, too" in text
    assert "Judges without any answer are not in the data" in text
    odds = res.summary().to_frame().set_index("term")["odds"]
    np.testing.assert_allclose(odds["missing[A]"], np.exp(res.params["missing[A]"]))
    np.testing.assert_allclose(odds["object[A]"], np.exp(2 * res.params["object[A]"]))
    for shown in (res.as_html(), res.as_latex(), res.as_markdown()):
        assert "missing" in shown
    again = pickle.loads(pickle.dumps(res))
    assert again.llf == res.llf
    assert again.specification.not_at_random == "object"
    assert llbt.worth(res).to_frame()["estimate"].sum() == pytest.approx(1)
    both = llbt.model_table([llbt.fit("object + tie", p, missing="object"), res]).to_frame()
    assert "missing:preferred[A]" in both["term"].tolist()


def test_another_reference_is_the_same_model():
    p = some(4, judges=600)
    one, other = (llbt.fit("object + tie", p, missing="common", not_at_random="object", reference=k) for k in "AD")
    assert one.llf == pytest.approx(other.llf, abs=1e-7)
    beta = {k: one.params.get(f"missing:preferred[{k}]", 0.0) for k in "ABCD"}
    for k in "ABC":
        assert other.params[f"missing:preferred[{k}]"] == pytest.approx(beta[k] - beta["D"], abs=1e-5)


def test_without_a_model_it_says_that_they_are_taken_as_missing_at_random():
    p = some(3)
    text = str(llbt.fit("object + tie", p))
    assert "summed over as missing at random" in text
    assert "Judges without any answer are not in the data" not in text
    assert llbt.fit("object + tie", p, missing="ignorable").likelihood is None


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"missing": "nmar"}, "missing='nmar'"),
        ({"missing": None}, "missing=None"),
        ({"missing": True}, "missing=True"),
        ({"missing": ["object"]}, r"missing=\['object'\]"),
        ({"missing": "object", "not_at_random": True}, "not_at_random=True"),
        ({"missing": "object", "not_at_random": "common"}, "not_at_random='common'"),
        ({"not_at_random": "object"}, "together with missing='ignorable'"),
    ],
)
def test_options_that_are_none_are_refused(keywords, match):
    with pytest.raises(llbt.errors.OptionError, match=match):
        llbt.fit("object + tie", some(3, judges=50), **keywords)


def test_what_has_no_missing_answers_to_pairs_is_refused():
    complete = patterns(pd.DataFrame({"AB": [1, -1, 0, 1], "AC": [1, -1, -1, 0], "BC": [1, -1, 1, -1]}), 3)
    with pytest.raises(llbt.errors.DesignError, match="no answer is missing"):
        llbt.fit("object + tie", complete, missing="common")
    ranks = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, None], "C": [3, 3, 2]})
    ranked = llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"])
    with pytest.raises(llbt.errors.DesignError, match="with rankings, in which objects can be missing"):
        llbt.fit("object", ranked, missing="object")


def test_who_is_never_missing_is_named():
    frame = drawn(np.random.default_rng(6), 200, np.linspace(0.5, -0.5, 4), np.full(4, -0.6), np.zeros(4))
    full = drawn(np.random.default_rng(6), 200, np.linspace(0.5, -0.5, 4), np.full(4, -50.0), np.zeros(4))
    never = patterns(frame.assign(AB=full["AB"], AC=full["AC"], AD=full["AD"]), 4)
    with pytest.raises(llbt.errors.SeparationError, match=r"no answer is missing for .*'A:D', so missing\[A\] is −∞"):
        llbt.fit("object + tie", never, missing="object")
    with pytest.raises(llbt.errors.SeparationError, match=r"missing\[A:B\]', 'missing\[A:C\]', 'missing\[A:D\]"):
        llbt.fit("object + tie", never, missing="comparison", not_at_random="object")
    assert llbt.fit("object + tie", never, missing="common").converged
    always = patterns(frame.assign(AB=np.nan), 4)
    with pytest.raises(
        llbt.errors.SeparationError, match=r"every answer is missing for 'A:B', so missing\[A:B\] is \+∞"
    ):
        llbt.fit("object + tie", always, missing="comparison")
    assert llbt.fit("object + tie", always, missing="object").converged  # a sum can be large and finite


def test_what_the_answers_do_not_determine_is_named():
    p = some(3, tie=0.0, judges=2000, taste=0.0)
    with pytest.raises(llbt.errors.DesignError, match=r"do not determine .*missing:preferred\[A\]") as caught:
        llbt.fit("object", p, missing="object", not_at_random="object")
    assert not isinstance(caught.value, llbt.errors.SeparationError)
    assert "Leave not_at_random= out" in str(caught.value)
    with pytest.raises(llbt.errors.DesignError, match="the pairs of 2 objects cannot distinguish"):
        missingness_of(replace(p, objects=p.objects[:2], answers=p.answers[:, :1].copy()), "object", None, "B")


def unbounded():
    worths = np.linspace(0.6, -0.6, 4)
    return patterns(drawn(np.random.default_rng(0), 300, worths, np.full(4, -0.7), -worths), 4)


def test_what_rises_without_end_is_named():
    with pytest.raises(
        llbt.errors.SeparationError, match=r"'missing\[B\]', 'missing:preferred\[B\]' grow beyond all bounds"
    ):
        llbt.fit("object + tie", unbounded(), missing="object", not_at_random="object")


@pytest.mark.slow
def test_what_rises_without_end_does_so():
    """The maximum inside bounds on all parameters, as these grow, by a search that knows no derivatives."""
    p = unbounded()
    minus = minus_of(p, np.array([[k in pair for k in range(4)] for pair in p.pairs.tolist()], dtype=float))
    best = [
        min(
            minimize(minus, np.random.default_rng(s).normal(size=11), method="L-BFGS-B", bounds=[(-w, w)] * 11).fun
            for s in range(4)
        )
        for w in (3, 6, 12)
    ]
    assert best[0] > best[1] + 1e-3 > best[2] + 1e-3


# -- simulation ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_beta_removes_the_bias_that_ignoring_has():
    """Who is preferred is kept quiet: the better an object, the more often a preference for it is missing."""
    worths = np.array([0.8, 0.4, 0.0, -0.4, -0.8])
    slope = 1.5 * worths
    ignored, modelled, errors = [], [], []
    for seed in range(30):
        p = patterns(drawn(np.random.default_rng(1000 + seed), 1000, worths, np.full(5, -0.6), slope), 5)
        ignored.append(llbt.fit("object + tie", p).params.to_numpy()[:4])
        res = llbt.fit("object + tie", p, missing="common", not_at_random="object")
        modelled.append(res.params.to_numpy()[:4])
        errors.append(res.bse.to_numpy()[:4])
    truth = worths[:4] - worths[4]
    assert (np.mean(ignored, axis=0) < 0.75 * truth).all()
    spread = np.std(modelled, axis=0) / np.sqrt(30)
    np.testing.assert_array_less(np.abs(np.mean(modelled, axis=0) - truth), 3.5 * spread + 0.005)
    inside = np.abs(np.array(modelled) - truth) < 1.96 * np.array(errors)
    assert inside.mean() > 0.88


@pytest.mark.slow
def test_the_test_of_beta_is_near_its_size():
    """Likelihood-ratio tests of β where answers are missing completely at random, at 5 %, in 80 files.

    Over more files they rejected 6 % with 300 judges (280 files), 8 % with 500 (800), 3.5 % with 3,000 (200).
    """
    worths, rejected = np.linspace(0.6, -0.6, 4), []
    for seed in range(80):
        p = patterns(drawn(np.random.default_rng(seed), 300, worths, np.full(4, -0.6), np.zeros(4)), 4)
        one = llbt.fit("object + tie", p, missing="common")
        other = llbt.fit("object + tie", p, missing="common", not_at_random="object")
        rejected.append(llbt.anova(one, other).to_frame()["p_value"].iloc[1] < 0.05)
    assert np.mean(rejected) < 0.125
