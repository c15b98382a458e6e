"""Pattern models with covariates of objects, against free worths and explicit likelihoods over all patterns."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import llbt
from llbt.core.patterns import MISSING, pairs_of
from llbt.kernel.patterns import products_of

OBJECTS = ["A", "B", "C", "D"]
TABLE = pd.DataFrame(
    {"object": OBJECTS, "price": [1.0, 2.5, 3.0, 4.5], "weight": [2, 1, 3, 1], "size": [1.0, 4.0, 2.0, 2.0]}
)


def drawn(seed, judges=200, objects=4, sex="fm"):
    """Answers of judges with tastes of their own; men dislike a high price more."""
    rng = np.random.default_rng(seed)
    men = np.arange(judges) % len(sex) == 1
    price = TABLE["price"].to_numpy()[:objects]
    worths = -np.outer(0.2 + 0.1 * men, price) + rng.normal(scale=0.5, size=(judges, objects))
    columns = {}
    for i, j in pairs_of(objects):
        odds = np.exp(2 * (worths[:, i] - worths[:, j]))
        u = rng.random(judges) * (odds + 1 + 0.6 * np.sqrt(odds))
        columns[OBJECTS[i] + OBJECTS[j]] = np.select([u < odds, u < odds + 1], [1.0, -1.0], 0.0)
    return pd.DataFrame(columns).assign(sex=np.where(men, "m", "f"))


def patterns(frame, objects=4, **keywords):
    names = [OBJECTS[i] + OBJECTS[j] for i, j in pairs_of(objects)]
    return llbt.from_patterns(
        frame, "comparisons", objects=OBJECTS[:objects], columns=names, object_covariates=TABLE, **keywords
    )


def some_missing(frame, share=0.1, seed=1):
    pairs = [name for name in frame if name != "sex"]
    gone = np.random.default_rng(seed).random((len(frame), len(pairs))) < share
    return frame.assign(**frame[pairs].mask(gone))


def explicit(p, rows, products=True):
    """Minus the log-likelihood over all patterns, given the P × m rows of the worths of each pattern's judge."""
    space = np.array(list(itertools.product((-1, 0, 1), repeat=len(p.pairs))))
    both = products_of(p.pairs) if products else np.empty((0, 2), dtype=int)
    second = space[:, both[:, 0]] * space[:, both[:, 1]]
    possible = [(space[:, row != MISSING] == row[row != MISSING]).all(axis=1) for row in p.answers]
    ties, size = (space == 0).sum(axis=1), rows.shape[2]

    def minus(x):
        beside = x[size] * ties + second @ x[size + 1 :]
        total = 0.0
        for design, some, n in zip(rows, possible, p.counts, strict=True):
            logs = space @ (design @ x[:size]) + beside
            total += n * (np.logaddexp.reduce(logs) - np.logaddexp.reduce(logs[some]))
        return total

    return minus, size + 1 + len(both)


def differences(p, name):
    values = TABLE.set_index("object").loc[list(p.objects), name].to_numpy(dtype=float)
    return values[p.pairs[:, 0]] - values[p.pairs[:, 1]]


def errors_of(minus, at, step=1e-4):
    eye = step * np.eye(len(at))
    second = [[minus(at + a + b) - minus(at + a - b) - minus(at - a + b) + minus(at - a - b) for b in eye] for a in eye]
    return np.sqrt(np.diag(np.linalg.inv(np.array(second) / (4 * step**2))))


# -- covariates that span all contrasts ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beside", "options"),
    [
        ("", {}),
        (" + dependence", {}),
        ("", {"missing": "object"}),
        (" + dependence", {"missing": "common"}),
        ("", {"missing": "common", "not_at_random": "comparison"}),
    ],
)
def test_covariates_that_span_all_contrasts_are_free_worths(beside, options):
    p = patterns(some_missing(drawn(1, 400, 3)), 3)
    free, res = (llbt.fit(f"{text} + tie{beside}", p, **options) for text in ("object", "price + weight"))
    assert res.llf == pytest.approx(free.llf, abs=1e-7)
    shared = [name for name in res.names if name not in ("price", "weight")]
    np.testing.assert_allclose(res.params[shared], free.params[shared], atol=1e-5)
    np.testing.assert_allclose(res.bse[shared], free.bse[shared], rtol=1e-4)
    one, other = (llbt.worth(fit).to_frame() for fit in (res, free))
    np.testing.assert_allclose(one["estimate"], other["estimate"], atol=1e-6)
    np.testing.assert_allclose(one["std_error"], other["std_error"], rtol=1e-4)


@pytest.mark.parametrize("kind", ["rankings", "ratings"])
def test_worths_of_orders_are_spanned_too(kind):
    values = np.linspace(0.5, -0.5, 3) + np.random.default_rng(4).normal(size=(150, 3))
    frame = pd.DataFrame(values if kind == "rankings" else np.round(values), columns=OBJECTS[:3])
    if kind == "rankings":
        frame = (-frame).rank(axis=1)
    p = llbt.from_patterns(frame, kind, objects=OBJECTS[:3], object_covariates=TABLE)
    tie = "" if kind == "rankings" else " + tie"
    free, res, small = (llbt.fit(f"{text}{tie}", p) for text in ("object", "price + size", "price"))
    assert res.llf == pytest.approx(free.llf, abs=1e-8)
    assert llbt.anova(small, free).to_frame()["df"].iloc[1] == 1
    assert small.llf < free.llf


# -- fewer parameters than contrasts -------------------------------------------------------------------------


def test_restricted_worths_by_sex_are_an_explicit_likelihood():
    p = patterns(some_missing(drawn(2, 120, 3)), 3, covariates="sex")
    res = llbt.fit("price * sex + tie + dependence", p)
    men = (p.columns[0].values == "m").astype(float)
    price = differences(p, "price")
    rows = np.stack([np.tile(price, (len(p), 1)), np.outer(men, price)], axis=2)
    minus, size = explicit(p, rows)
    best = minimize(minus, np.zeros(size), method="BFGS", options={"gtol": 1e-5})
    assert res.names[:3] == ("price", "price:sex[m]", "tie")
    assert res.llf == pytest.approx(-best.fun, abs=1e-8)
    np.testing.assert_allclose(res.params, best.x, atol=1e-5)
    np.testing.assert_allclose(res.bse, errors_of(minus, best.x), rtol=1e-4)


def test_without_dependence_they_are_those_of_the_pairs():
    p = patterns(drawn(3), covariates="sex")
    for formula in ("price + weight + tie", "price * sex + tie"):
        res, plain = llbt.fit(formula, p), llbt.fit(formula, p.to_comparisons())
        pd.testing.assert_series_equal(res.params, plain.params)
        np.testing.assert_allclose(res.bse, plain.bse)


def test_worths_that_differ_by_pair_have_a_row_for_each_pair():
    """With a slope for each pair, every pair has a free mean, as in the explicit likelihood."""
    p = patterns(drawn(4, 80, 3), 3)
    res = llbt.fit("price + price:pair + tie + dependence", p)
    minus, size = explicit(p, np.tile(np.eye(3), (len(p), 1, 1)))
    best = minimize(minus, np.zeros(size), method="BFGS", options={"gtol": 1e-5})
    assert res.llf == pytest.approx(-best.fun, abs=1e-8)
    np.testing.assert_allclose(res.params[3:], best.x[3:], atol=1e-5)


def test_a_class_without_answers_on_an_object_has_its_worth_from_the_covariates():
    frame = drawn(5, 120, 3)
    frame.loc[frame["sex"] == "m", ["AB", "AC"]] = np.nan
    p = patterns(frame, 3, covariates="sex")
    res = llbt.fit("price * sex + tie + dependence", p)
    men = (p.columns[0].values == "m").astype(float)
    price = differences(p, "price")
    minus, size = explicit(p, np.stack([np.tile(price, (len(p), 1)), np.outer(men, price)], axis=2))
    best = minimize(minus, np.zeros(size), method="BFGS", options={"gtol": 1e-5})
    assert res.llf == pytest.approx(-best.fun, abs=1e-8)
    np.testing.assert_allclose(res.params, best.x, atol=1e-4)
    with pytest.raises(llbt.errors.DesignError, match="whether 'A' is preferred to 'B' under sex 'm'"):
        llbt.fit("object * sex + tie + dependence", p)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "formula"),
    [("cems_llbt_objcov_LAT", "LAT + tie"), ("cems_llbt_objcov_LAT_EC_ENG", "LAT + EC + LAT:ENG + tie")],
)
def test_patterns_of_schools_are_what_r_fits_to_their_pairs(shared, name, formula):
    """R's gnm with the design of prefmod, `objcovs=`; judges who left out pairs are in the patterns, too."""
    expected = json.loads((Path(__file__).parent.parent / "reference" / f"{name}.json").read_text())
    c = llbt.load_dataset("cems")
    table = pd.DataFrame({column.name: column.values for column in c.object_columns}).assign(object=c.objects)
    p = llbt.from_patterns(
        shared / "data" / "patterns" / "cemspc.csv",
        "comparisons",
        objects=["LO", "PA", "MI", "SG", "BA", "ST"],
        columns=[f"V{k}" for k in range(1, 16)],
        coded=(0, 1, 2),
        covariates="ENG",
        object_covariates=table,
    )
    res = llbt.fit(formula, p)
    for r_name, value in expected["coefficients"].items():
        own = {"g1": "tie", "LAT:ENG2": "LAT:ENG[2]"}.get(r_name, r_name)
        assert res.params[own] == pytest.approx(value, abs=1e-8)
        assert res.bse[own] == pytest.approx(expected["se"][r_name], abs=1e-8)


# -- questions -----------------------------------------------------------------------------------------------


def test_models_of_covariates_are_compared():
    p = patterns(drawn(6), covariates="sex")
    small, large, free = (llbt.fit(f"{text} + tie + dependence", p) for text in ("price", "price + weight", "object"))
    table = llbt.anova(small, large, free).to_frame()
    assert table["df"].tolist()[1:] == [1, 1]
    assert table["statistic"].iloc[2] == pytest.approx(2 * (free.llf - large.llf))
    dropped = llbt.drop1(large).to_frame().set_index("term")
    assert dropped.loc["weight", "statistic"] == pytest.approx(2 * (large.llf - small.llf), abs=1e-6)
    added = llbt.add1(small, "weight").to_frame().set_index("term")
    assert added.loc["weight", "statistic"] == pytest.approx(2 * (large.llf - small.llf), abs=1e-6)
    with pytest.raises(llbt.errors.DesignError, match="not nested"):
        llbt.anova(small, llbt.fit("weight + size + tie + dependence", p))


def test_probabilities_are_sums_over_all_patterns():
    p = patterns(drawn(7, 100, 3), 3)
    res = llbt.fit("price + tie + dependence", p)
    space = np.array(list(itertools.product((-1, 0, 1), repeat=3)))
    both = products_of(p.pairs)
    logs = space @ (differences(p, "price") * res.params["price"]) + (space == 0).sum(axis=1) * res.params["tie"]
    logs = logs + (space[:, both[:, 0]] * space[:, both[:, 1]]) @ res.params.to_numpy()[2:]
    share = np.exp(logs - np.logaddexp.reduce(logs))
    expected = [share[space[:, k] == y].sum() for k in range(3) for y in (1, 0, -1)]
    np.testing.assert_allclose(res.predict().to_frame()["estimate"], expected, atol=1e-10)


def test_drawn_patterns_keep_the_covariates():
    p = patterns(drawn(8, 150), covariates="sex")
    res = llbt.fit("price + tie + dependence", p)
    table = llbt.simulate(res, 1, rng=1)[0]
    assert table.object_covariates == ("price", "weight", "size")
    again = llbt.fit("price + tie + dependence", table)
    assert abs(again.params["price"] - res.params["price"]) < 4 * res.bse["price"]
    assert np.isfinite(llbt.bootstrap(res, n=3, rng=1).to_frame()["std_error"]).all()
    assert "by price" in str(res.summary())


# -- reading, and refusals -----------------------------------------------------------------------------------


def test_the_table_of_objects_is_read():
    more = pd.concat([TABLE, pd.DataFrame({"object": ["E"], "price": [9.0], "weight": [2], "size": [1.0]})])
    names = [OBJECTS[i] + OBJECTS[j] for i, j in pairs_of(4)]
    shuffled = more.sample(frac=1, random_state=1)
    p = llbt.from_patterns(drawn(1), "comparisons", objects=OBJECTS, columns=names, object_covariates=shuffled)
    assert p.object_columns[0].values.tolist() == [1.0, 2.5, 3.0, 4.5]
    assert p.notes == ("1 object of the object table not compared: 'E'",)
    assert "object covariates: price, weight, size" in str(p)
    assert p.to_comparisons().object_covariates == ("price", "weight", "size")
    with pytest.raises(llbt.errors.JudgmentError, match="no row for 1 object: 'D'"):
        llbt.from_patterns(drawn(1), "comparisons", objects=OBJECTS, columns=names, object_covariates=TABLE[:3])
    twice = TABLE.rename(columns={"size": "sex"})
    with pytest.raises(llbt.errors.JudgmentError, match="named twice"):
        llbt.from_patterns(
            drawn(1), "comparisons", objects=OBJECTS, columns=names, covariates="sex", object_covariates=twice
        )


def test_objects_without_answers_are_left_out():
    frame = drawn(1)
    frame[["AB", "AC", "AD"]] = np.nan
    p = patterns(frame)
    assert p.objects == ("B", "C", "D")
    assert p.object_columns[0].values.tolist() == [2.5, 3.0, 4.5]
    assert p.notes == ("left out: 1 object without any answer ('A')", "1 object of the object table not compared: 'A'")
    alone = llbt.from_patterns(frame, "comparisons", objects=OBJECTS[1:], columns=["BC", "BD", "CD"])
    formula = "object + tie + dependence"
    pd.testing.assert_series_equal(llbt.fit(formula, p).params, llbt.fit(formula, alone).params)
    silent = patterns(drawn(1))
    answers = silent.answers.copy()
    answers[:, [0, 1, 3]] = MISSING
    with pytest.raises(llbt.errors.DesignError, match="nobody answered a pair with 'A'"):
        llbt.fit("object + tie + dependence", replace(silent, answers=answers))


def test_covariates_that_do_not_differ_are_refused():
    p = patterns(drawn(1))
    same = replace(p, object_columns=(replace(p.object_columns[0], codes=np.zeros(4, dtype=np.int64)),))
    constant = same.object_columns[0]
    same = replace(same, object_columns=(replace(constant, levels=constant.levels[:1]),))
    for formula in ("price + tie", "price + tie + dependence"):
        with pytest.raises(llbt.errors.DesignError, match=r"'price' is 1.0 in all objects of the table"):
            llbt.fit(formula, same)
    with pytest.raises(llbt.errors.FormulaError, match=r"no variable 'prise' \(did you mean 'price'\?\)"):
        llbt.fit("prise + tie", p)
    aliased = llbt.fit("object + price + tie + dependence", p)
    assert aliased.aliased == ("price",)
    assert aliased.llf == pytest.approx(llbt.fit("object + tie + dependence", p).llf, abs=1e-8)
