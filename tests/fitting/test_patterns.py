"""Pattern models: R's prefmod, `fit` without dependence, an explicit GLM, and brute force with missing answers."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

import llbt
from llbt.core.patterns import MISSING, pairs_of
from llbt.fitting.pattern_estimates import PatternSpecification
from llbt.fitting.pattern_model import solved_patterns
from llbt.kernel.patterns import products_of, rankings_of, ratings_of, signs_of

OBJECTS = ["A", "B", "C", "D"]


def drawn(rng, judges=120, objects=3, ties=True, taste=0.6):
    """Answers of judges with tastes of their own, so that their answers depend on each other."""
    worths = np.linspace(0.4, -0.4, objects) + rng.normal(scale=taste, size=(judges, objects))
    columns = {}
    for i, j in pairs_of(objects):
        odds = np.exp(2 * (worths[:, i] - worths[:, j]))
        u = rng.random(judges) * (odds + 1 + (0.6 * np.sqrt(odds) if ties else 0))
        columns[OBJECTS[i] + OBJECTS[j]] = np.select([u < odds, u < odds + 1], [1.0, -1.0], 0.0)
    return pd.DataFrame(columns)


def patterns(frame, objects=3, **keywords):
    names = [OBJECTS[i] + OBJECTS[j] for i, j in pairs_of(objects)]
    return llbt.from_patterns(frame, "comparisons", objects=OBJECTS[:objects], columns=names, **keywords)


def explicit(p, space, *, ties, dependence, worths=True):
    """Statsmodels' Poisson GLM of all possible patterns, a constant for the total."""
    pairs, size = p.pairs, len(p.objects)
    design = np.zeros((len(space), size))
    for k, (i, j) in enumerate(pairs):
        design[:, i] += space[:, k]
        design[:, j] -= space[:, k]
    parts = [design[:, :-1]] if worths else []
    parts += [(space == 0).sum(axis=1, keepdims=True)] if ties else []
    products = products_of(pairs)
    parts += [space[:, products[:, 0]] * space[:, products[:, 1]]] if dependence else []
    counts = np.zeros(len(space))
    for answers, n in zip(p.answers, p.counts, strict=True):
        counts[np.flatnonzero((space == answers).all(axis=1))] += n
    matrix = sm.add_constant(np.column_stack(parts).astype(float), prepend=False)
    return sm.GLM(counts, matrix, family=sm.families.Poisson()).fit(tol=1e-12)


def test_terms_without_worths_are_those_of_equal_worths():
    """Against the Poisson GLM of all patterns without the columns of the objects, relative to its saturated model."""
    p = patterns(drawn(np.random.default_rng(1)))
    space = np.array(list(itertools.product([1, 0, -1], repeat=3)))
    for formula, dependence in (("tie", False), ("tie + dependence", True)):
        found = solved_patterns(PatternSpecification(formula), p)
        glm = explicit(p, space, ties=True, dependence=dependence, worths=False)
        assert found.llf == pytest.approx(_multinomial(glm), abs=1e-7)
        assert found.params.tolist() == pytest.approx(glm.params[:-1].tolist(), abs=1e-6)


def _multinomial(glm):
    seen = glm.model.endog > 0
    return float(glm.model.endog[seen] @ np.log(glm.fittedvalues[seen] / glm.model.endog.sum()))


# -- R's prefmod ---------------------------------------------------------------------------------------------

FILES = {
    "dat4_pattPC": ("object", {"comp": 6}),
    "dat4_pattPC_ia": ("object + dependence", {"comp": 6}),
    "cems3_pattPC_undec": ("object + tie", {"V": 3, "coded": (0, 1, 2)}),
    "tennis_pattPC_SEX_ia": ("object * SEX + dependence", {"C": 3, "covariates": "SEX", "weight": "n"}),
    "salad_pattR": ("object", "rankings"),
    "xmpl_pattL_ia": ("object + tie + dependence", "ratings"),
}
TABLES = {"dat4": "dat4", "cems3": "cemspc", "tennis": "tennis", "salad": "salad", "xmpl": "xmpl"}


@pytest.mark.shared
@pytest.mark.parametrize("name", list(FILES))
def test_patterns_are_what_r_fits(shared, name):
    expected = json.loads((shared / "reference" / "models" / "patterns" / f"{name}.json").read_text())
    frame = pd.read_csv(shared / "data" / "patterns" / f"{TABLES[name.split('_')[0]]}.csv")
    formula, how = FILES[name]
    labels = expected["worth"]["rows"]
    if isinstance(how, str):
        p = llbt.from_patterns(frame, how, objects=labels, higher_is_better=False)
    else:
        (prefix, number), *rest = how.items()
        columns = [f"{prefix}{k}" for k in range(1, number + 1)]
        p = llbt.from_patterns(frame, "comparisons", objects=labels, columns=columns, **dict(rest))
    res = llbt.fit(formula, p)
    assert res.llf == pytest.approx(expected["logLik"], abs=1e-6)
    said = {"U": "tie"} | {label: f"object[{label}]" for label in labels}
    said |= {f"{label}:SEX2": f"object[{label}]:SEX[2]" for label in labels}
    for r_name, value in expected["coefficients"].items():
        assert res.params[said.get(r_name, r_name)] == pytest.approx(value, abs=1e-5)
        assert res.bse[said.get(r_name, r_name)] == pytest.approx(expected["se"][r_name], abs=1e-5)
    assert len(res.params) == len(expected["coefficients"])


# -- today's fit, an explicit GLM, brute force ---------------------------------------------------------------


def test_without_dependence_it_is_fit_and_enumerates_nothing(monkeypatch):
    frame = drawn(np.random.default_rng(1), objects=4)
    p = patterns(frame, 4)
    monkeypatch.setattr("llbt.kernel.patterns.Halves.moments", None)
    res, plain = llbt.fit("object + tie", p), llbt.fit("object + tie", p.to_comparisons())
    pd.testing.assert_series_equal(res.params, plain.params)
    np.testing.assert_allclose(res.bse, plain.bse)
    assert res.llf == pytest.approx(plain.llf)
    assert p.counts @ res.log_probabilities == pytest.approx(res.llf)


def test_enumeration_without_dependence_agrees_with_fit():
    from llbt.fitting.pattern_search import fit_patterns_of

    p = patterns(drawn(np.random.default_rng(2)))
    res = llbt.fit("object + tie", p)
    likelihood = res.whole_likelihood
    found = fit_patterns_of(likelihood, np.zeros(3))
    np.testing.assert_allclose(found.params, res.params, atol=1e-8)
    assert found.log_likelihood == pytest.approx(res.llf, abs=1e-8)


@pytest.mark.parametrize("objects", [3, 4])
def test_dependence_is_an_explicit_glm(objects):
    p = patterns(drawn(np.random.default_rng(3), 200, objects), objects)
    res = llbt.fit("object + tie + dependence", p)
    space = np.array(list(itertools.product((-1, 0, 1), repeat=len(p.pairs))))
    glm = explicit(p, space, ties=True, dependence=True)
    np.testing.assert_allclose(res.params, glm.params[:-1], atol=1e-7)
    np.testing.assert_allclose(res.bse, glm.bse[:-1], rtol=1e-6)
    assert len(res.names) == objects + 3 * len(list(itertools.combinations(range(objects), 3)))


@pytest.mark.parametrize("kind", ["rankings", "ratings"])
def test_orders_are_an_explicit_glm(kind):
    rng = np.random.default_rng(4)
    values = np.linspace(0.5, -0.5, 4) + rng.normal(size=(150, 4))
    frame = pd.DataFrame(values if kind == "rankings" else np.round(values), columns=OBJECTS)
    if kind == "rankings":
        p = llbt.from_patterns((-frame).rank(axis=1).abs() * 1.0, kind, objects=OBJECTS)
        formula, space = "object", signs_of(rankings_of(4), pairs_of(4))
    else:
        p = llbt.from_patterns(frame, kind, objects=OBJECTS)
        formula, space = "object + tie", signs_of(ratings_of(4, 4), pairs_of(4))
    res = llbt.fit(formula, p)
    glm = explicit(p, space, ties=kind == "ratings", dependence=False)
    np.testing.assert_allclose(res.params, glm.params[:-1], atol=1e-7)
    np.testing.assert_allclose(res.bse, glm.bse[:-1], rtol=1e-6)
    probabilities = np.exp(res.log_probabilities)
    assert ((probabilities > 0) & (probabilities < 1)).all()


def test_missing_answers_are_summed_over():
    rng = np.random.default_rng(5)
    frame = drawn(rng, 150)
    frame = frame.mask(rng.random(frame.shape) < 0.15)
    p = patterns(frame)
    assert not p.complete
    res = llbt.fit("object + tie + dependence", p)
    space = np.array(list(itertools.product((-1, 0, 1), repeat=3)))
    products = products_of(p.pairs)

    def logs(x):
        eta = np.array([x[0] - x[1], x[0], x[1]])
        both = space[:, products[:, 0]] * space[:, products[:, 1]]
        return space @ eta + x[2] * (space == 0).sum(axis=1) + both @ x[3:]

    def minus(x):
        weights = np.exp(logs(x))
        total = 0.0
        for answers, n in zip(p.answers, p.counts, strict=True):
            said = answers != MISSING
            some = (space[:, said] == answers[said]).all(axis=1)
            total += n * np.log(weights[some].sum() / weights.sum())
        return -total

    other = minimize(minus, np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(res.params, other.x, atol=1e-5)
    assert res.llf == pytest.approx(-other.fun, abs=1e-9)
    assert p.counts @ res.log_probabilities == pytest.approx(res.llf)
    at, steps = res.params.to_numpy(), 1e-4 * np.eye(6)
    second = [
        [minus(at + a + b) - minus(at + a - b) - minus(at - a + b) + minus(at - a - b) for b in steps] for a in steps
    ]
    second = np.array(second) / 4e-8
    np.testing.assert_allclose(res.bse, np.sqrt(np.diag(np.linalg.inv(second))), rtol=1e-4)


def test_partial_rankings_are_summed_over():
    rng = np.random.default_rng(6)
    ranks = (-(np.linspace(0.5, -0.5, 4) + rng.normal(size=(80, 4)))).argsort(axis=1).argsort(axis=1) + 1.0
    frame = pd.DataFrame(ranks, columns=OBJECTS).mask(lambda f: f > 2)
    p = llbt.from_patterns(frame, "rankings", objects=OBJECTS)
    assert "80 judges ranked only some" in p.notes[0]
    res = llbt.fit("object", p)
    space = rankings_of(4)
    signs = signs_of(space, pairs_of(4))

    def minus(x):
        weights = np.exp(signs @ (np.append(x, 0.0)[p.pairs[:, 0]] - np.append(x, 0.0)[p.pairs[:, 1]]))
        total = 0.0
        for answers, n in zip(p.answers, p.counts, strict=True):
            said = answers != MISSING
            total += n * np.log(weights[(signs[:, said] == answers[said]).all(axis=1)].sum() / weights.sum())
        return -total

    other = minimize(minus, np.zeros(3), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(res.params, other.x, atol=1e-5)


def test_dependence_by_sex_is_two_fits():
    """If everything differs by sex, likelihoods and estimates are those of women and of men alone."""
    rng = np.random.default_rng(7)
    one, other = drawn(rng, 150), drawn(rng, 150)
    frame = pd.concat([one.assign(sex="f"), other.assign(sex="m")])
    both = patterns(frame, covariates="sex")
    res = llbt.fit("object * sex + tie * sex + dependence * sex", both)
    women, men = (llbt.fit("object + tie + dependence", patterns(part)) for part in (one, other))
    assert res.llf == pytest.approx(women.llf + men.llf, abs=1e-7)
    shared = [name for name in women.names if name.startswith("I")]
    np.testing.assert_allclose(res.params[shared], women.params[shared], atol=1e-5)
    differences = [f"{name}:sex[m]" for name in shared]
    np.testing.assert_allclose(res.params[differences], men.params[shared] - women.params[shared], atol=1e-5)
    errors = np.sqrt(women.bse[shared].to_numpy() ** 2 + men.bse[shared].to_numpy() ** 2)
    np.testing.assert_allclose(res.bse[differences], errors, rtol=1e-4)
    turned = llbt.fit("object * sex + tie * sex + dependence * sex", both, reference={"sex": "m"})
    np.testing.assert_allclose(turned.params[shared], men.params[shared], atol=1e-5)
    assert "I12.13:… is how much θ differs" in res.as_text(notes="all")


def test_dependence_by_a_number_is_an_explicit_likelihood():
    """Answers to three pairs without ties, all eight patterns listed for every judge, and BFGS."""
    rng = np.random.default_rng(3)
    p = drawn(rng, 120)
    frame = p.assign(age=rng.integers(-1, 2, len(p)) / 1.0)
    data = patterns(frame, covariates="age")
    res = llbt.fit("object + tie + dependence * age", data)
    space = np.array(list(itertools.product((-1, 0, 1), repeat=3)))
    answers, age = data.answers, data.columns[0].values
    chosen = (answers[:, None] == space).all(axis=2).argmax(axis=1)
    pairs = [(0, 1), (0, 2), (1, 2)]

    def minus(at):
        worth = np.append(at[:2], 0.0)
        eta = space @ np.array([worth[i] - worth[j] for i, j in pairs]) + at[2] * (space == 0).sum(axis=1)
        products = np.stack([space[:, a] * space[:, b] for a, b in pairs], axis=1)
        logs = eta + (products @ (at[3:6, None] + at[6:, None] * age)).T
        return -float(data.counts @ (logs[np.arange(len(age)), chosen] - np.logaddexp.reduce(logs, axis=1)))

    assert data.pairs.tolist() == [list(pair) for pair in pairs]
    best = minimize(minus, np.zeros(9), method="BFGS", options={"gtol": 1e-6})
    assert res.llf == pytest.approx(-best.fun, abs=1e-6)
    np.testing.assert_allclose(res.params, best.x, atol=1e-3)


def test_differences_of_dependence_are_tested():
    rng = np.random.default_rng(7)
    frame = pd.concat([drawn(rng, 150).assign(sex=sex) for sex in "fm"])
    both = patterns(frame, covariates="sex")
    small, large = (llbt.fit(f"object + tie + dependence{by}", both) for by in ("", " * sex"))
    assert llbt.anova(small, large).to_frame()["df"].iloc[1] == len(large.names) - len(small.names)
    assert llbt.drop1(large).to_frame()["term"].tolist()[-1] == "dependence:sex"  # dependence stays while this is there
    assert "dependence" not in llbt.drop1(large).to_frame()["term"].tolist()
    words = llbt.interpret(large).text
    assert "The dependence does not differ significantly by sex" in words  # both were drawn alike
    assert "was not modelled" not in words
    assert llbt.simulate(large, 1, rng=1)[0].n_judges == both.n_judges


def test_covariates_of_judges_part_the_sums():
    rng = np.random.default_rng(7)
    one, other = drawn(rng, 150), drawn(rng, 150)
    frame = pd.concat([one.assign(sex="f"), other.assign(sex="m")])
    res = llbt.fit("object:sex + tie:sex + dependence", patterns(frame, covariates="sex"))
    small = llbt.fit("object + tie + dependence", patterns(frame, covariates="sex"))
    table = llbt.anova(small, res).to_frame()
    assert table["df"].iloc[1] == 3
    assert table["statistic"].iloc[1] == pytest.approx(2 * (res.llf - small.llf))
    apart = [llbt.fit("object + tie + dependence", patterns(part)).llf for part in (one, other)]
    assert res.llf < sum(apart)
    worths = llbt.worth(res).to_frame()
    assert worths.groupby("sex")["estimate"].sum().tolist() == pytest.approx([1, 1])


# -- the door ------------------------------------------------------------------------------------------------


def test_patterns_are_counted():
    p = patterns(pd.DataFrame({"AB": [1, 1, -1], "AC": [1, 1, 0], "BC": [1, 1, None]}))
    assert p.counts.tolist() == [1, 2]
    assert p.answers.tolist() == [[-1, 0, MISSING], [1, 1, 1]]
    assert p.to_comparisons().n_judgments == 8
    assert "+++" in str(p)


def test_judges_without_answers_are_left_out_and_counted():
    p = patterns(pd.DataFrame({"AB": [1, None], "AC": [1, None], "BC": [1, None]}))
    assert p.notes == ("left out: 1 judge without any answer",)
    assert p.n_judges == 1


def test_weights_count_judges():
    frame = drawn(np.random.default_rng(8), 60)
    counted = frame.groupby(list(frame.columns)).size().rename("n").reset_index()
    one, other = patterns(frame), patterns(counted, weight="n")
    np.testing.assert_array_equal(one.answers, other.answers)
    np.testing.assert_array_equal(one.counts, other.counts)


@pytest.mark.parametrize(
    ("change", "keywords", "error", "match"),
    [
        ({"AB": 7}, {}, llbt.errors.JudgmentError, "answers that are none of"),
        ({"AB": "x"}, {}, llbt.errors.JudgmentError, "not a number"),
        ({}, {"coded": (1, 1, 0)}, llbt.errors.OptionError, "three different numbers"),
        ({}, {"covariates": "sex"}, llbt.errors.JudgmentError, "no column 'sex'"),
        ({"n": -1}, {"weight": "n"}, llbt.errors.JudgmentError, "missing or negative"),
        ({"list": 1, "tie": 2}, {"covariates": "tie"}, llbt.errors.JudgmentError, "llbt uses itself"),
    ],
)
def test_what_cannot_be_read_is_refused(change, keywords, error, match):
    with pytest.raises(error, match=match):
        patterns(drawn(np.random.default_rng(9), 10).assign(**change), **keywords)


def test_columns_have_to_be_those_of_the_pairs():
    frame = drawn(np.random.default_rng(10), 10)
    with pytest.raises(llbt.errors.OptionError, match="2 columns for the pairs of 3 objects"):
        llbt.from_patterns(frame, "comparisons", objects=["A", "B", "C"], columns=["AB", "AC"])
    ranks = pd.DataFrame({"A": [1, 1], "B": [2, 1], "C": [3, 3]})
    with pytest.raises(llbt.errors.JudgmentError, match="equal ranks, the first at row 1"):
        llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"])
    with pytest.raises(llbt.errors.OptionError, match="columns are objects="):
        llbt.from_patterns(ranks, "rankings", objects=["A", "B", "C"], columns=["A"])


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "error", "match"),
    [
        ("object + dependence:sex", llbt.errors.FormulaError, r"Write both: dependence \* sex"),
        ("object + dependence * sex", llbt.errors.DesignError, "not a covariate of the patterns"),
        ("object + tie:dependence", llbt.errors.FormulaError, "a separate term"),
        ("object + (object | judge)", llbt.errors.FormulaError, "brackets"),
        ("tie", llbt.errors.DesignError, "no term for the worths"),
    ],
)
def test_what_patterns_do_not_tell_is_refused(formula, error, match):
    with pytest.raises(error, match=match):
        llbt.fit(formula, patterns(drawn(np.random.default_rng(11), 60)))


def test_too_many_patterns_are_refused_with_the_model_that_scales():
    rng = np.random.default_rng(12)
    names = [f"{i}:{j}" for i, j in pairs_of(7)]
    frame = pd.DataFrame(rng.choice([-1, 0, 1], (40, 21)), columns=names)
    p = llbt.from_patterns(frame, "comparisons", objects=list("ABCDEFG"), columns=names)
    with pytest.raises(llbt.errors.DesignError, match=r"10,460,353,203 possible .* \(object \| judge\)"):
        llbt.fit("object + tie + dependence", p)


def test_answers_that_never_occur_together_are_named():
    p = patterns(pd.DataFrame({"AB": [1, 1, -1, -1] * 3, "AC": [1, -1, -1, 1] * 3, "BC": [1, -1, 1, 1] * 3}))
    with pytest.raises(llbt.errors.SeparationError, match="I1"):
        llbt.fit("object + dependence", p)


def test_undecided_answers_without_a_term_are_told():
    with pytest.warns(llbt.errors.TiesWarning, match="γ = 0"):
        llbt.fit("object + dependence", patterns(drawn(np.random.default_rng(13))))


@pytest.mark.slow
def test_fourteen_million_patterns():
    rng = np.random.default_rng(14)
    names = [f"{i}:{j}" for i, j in pairs_of(6)]
    frame = pd.DataFrame(rng.choice([-1, 0, 1], (300, 15), p=[0.4, 0.2, 0.4]), columns=names)
    p = llbt.from_patterns(frame, "comparisons", objects=list("ABCDEF"), columns=names)
    res = llbt.fit("object + tie + dependence", p)
    assert res.likelihood.space.number == 3**15
    assert res.converged
    plain = llbt.fit("object + tie", p)
    table = llbt.anova(plain, res).to_frame()
    assert table["df"].iloc[1] == 60
    assert table["p_value"].iloc[1] > 1e-4  # answers were drawn independently


@pytest.mark.parametrize("more", [{"A": 1, "B": 2, "C": 3, "n": 0.0}, {"A": 9, "B": None, "C": None, "n": 1.0}])
def test_judges_who_say_nothing_change_no_level(more):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.integers(1, 3, (30, 3)), columns=list("ABC")).assign(n=1.0)
    with_more = pd.concat([rows, pd.DataFrame([more])], ignore_index=True)
    one, two = (llbt.from_patterns(x, "ratings", objects=list("ABC"), weight="n") for x in (rows, with_more))
    assert one.levels == two.levels == 2
    pd.testing.assert_series_equal(*(llbt.fit("object + tie", p).params for p in (one, two)))


@pytest.mark.parametrize("coded", [5, (1, [3], 2), (1, None, 2), (1, float("nan"), 0), {1: 1, 2: 2, 3: 3}])
def test_codes_are_three_numbers(coded):
    rows = pd.DataFrame({"AB": [1], "AC": [1], "BC": [-1]})
    with pytest.raises(llbt.errors.OptionError, match=r"expected (three different|a list of) numbers"):
        llbt.from_patterns(rows, "comparisons", objects=list("ABC"), columns=list(rows), coded=coded)


def test_an_object_has_one_place_among_the_objects():
    rows = pd.DataFrame({"one": [1], "two": [1], "three": [-1]})
    with pytest.raises(llbt.errors.OptionError, match="'A' occurs twice"):
        llbt.from_patterns(rows, "comparisons", objects=["A", "A", "B"], columns=list(rows))
