"""What each formula means: columns and names against designs made by hand, and errors that mark the spot."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import patsy
import pytest

import llbt
from llbt import LLBT, LLBTError
from llbt.formulas import coding
from llbt.formulas.design import build_design

OBJECTS = "ABCD"
PRICE = {"A": 1.0, "B": 2.5, "C": 2.5, "D": 8.0}
ORIGIN = {"A": "eu", "B": "us", "C": "eu", "D": "asia"}
HUB = {"A": True, "B": False, "C": True, "D": False}  # Booleans are labels
JUDGES = ("J1", "J2", "J3")
CITIES = ("Bonn", "Kiel")


def raw_frame(ties=True):
    """Every presentation of every pair by every judge, with covariates of all kinds."""
    rng = np.random.default_rng(11)

    def row(i, j, judge):
        return {
            "object_i": i,
            "object_j": j,
            "judge": judge,
            "age": float(rng.choice([20.0, 30.5, 41.0])),
            "year": int(rng.choice([2001, 2010])),
            "my col": str(rng.choice(["u", "v"])),
            "length_a": float(rng.choice([1.0, 2.0, 5.0])),
            "length_b": float(rng.choice([1.0, 2.0, 5.0])),
            "kind_a": str(rng.choice(["x", "y", "z"])),
            "kind_b": str(rng.choice(["x", "y", "z"])),
            "city": str(rng.choice(CITIES)),
            "spare": 1,
            "wins_i": int(rng.integers(1, 9)),
            "ties": int(rng.integers(1, 5)) if ties else 0,
            "wins_j": int(rng.integers(1, 9)),
        }

    return pd.DataFrame([row(i, j, judge) for i, j in itertools.permutations(OBJECTS, 2) for judge in JUDGES])


def object_table():
    return pd.DataFrame(
        {"object": list(OBJECTS), "price": PRICE.values(), "origin": ORIGIN.values(), "hub": HUB.values()}
    )


def rich(*, ties=True, order=True, **changes):
    keywords = {
        "covariates": ["judge", "age", "year", "my col"],
        "clusters": "city",
        "object_covariates": object_table(),
        "side_covariates": {"length": ("length_a", "length_b"), "kind": ("kind_a", "kind_b")},
        "order": order,
    }
    return llbt.from_counts(raw_frame(ties), **(keywords | changes))


TABLE = rich()


def design_of(formula, c=TABLE, **keywords):
    return LLBT.from_formula(formula, c, **keywords).design


def is_(value, level):
    return float(value == level)


# -- the worth: name -> value for one object under one row's covariates ------------------------------------


def objects_of(*labels):
    return {f"object[{k}]": lambda o, r, k=k: is_(o, k) for k in labels}


def products(pattern, objects, levels, column, worth=lambda o, k: is_(o, k)):
    """Names in patsy's order (the leftmost factor fastest) and their values."""
    return {
        pattern.format(k=k, v=v): lambda o, r, k=k, v=v: worth(o, k) * is_(r[column], v)
        for v in levels
        for k in objects
    }


def sided(name):
    return lambda o, r: r[f"{name}_{r['side']}"]


ABC = "ABC"
BY_JUDGE = products("object[{k}]:judge[{v}]", ABC, ("J2", "J3"), "judge")
WORTHS = {
    "object": objects_of(*ABC),
    "~ object": objects_of(*ABC),
    "  ~object": objects_of(*ABC),
    "0 + object": objects_of(*ABC),
    "object - 1": objects_of(*ABC),
    "object + object": objects_of(*ABC),
    "C(object, Treatment('B'))": {f"C(object, Treatment('B'))[{k}]": lambda o, r, k=k: is_(o, k) for k in "ACD"},
    "C(object, Sum)": {f"C(object, Sum)[S.{k}]": lambda o, r, k=k: is_(o, k) - is_(o, "D") for k in ABC},
    "object * judge": objects_of(*ABC) | BY_JUDGE,
    "object + object:judge": objects_of(*ABC) | BY_JUDGE,
    "object / judge": objects_of(*ABC) | BY_JUDGE,
    "object + judge:object": objects_of(*ABC)
    | {
        f"judge[{v}]:object[{k}]": lambda o, r, k=k, v=v: is_(o, k) * is_(r["judge"], v)
        for k in ABC
        for v in ("J2", "J3")
    },
    "object:judge": products("object[{k}]:judge[{v}]", ABC, JUDGES, "judge"),
    "object * C(judge, Treatment('J3'))": objects_of(*ABC)
    | products("object[{k}]:C(judge, Treatment('J3'))[{v}]", ABC, ("J1", "J2"), "judge"),
    "object * year": objects_of(*ABC) | products("object[{k}]:year[{v}]", ABC, (2010,), "year"),
    "object:age": {f"object[{k}]:age": lambda o, r, k=k: is_(o, k) * r["age"] for k in ABC},
    "object * age": objects_of(*ABC) | {f"object[{k}]:age": lambda o, r, k=k: is_(o, k) * r["age"] for k in ABC},
    "object + object:np.log(age)": objects_of(*ABC)
    | {f"object[{k}]:np.log(age)": lambda o, r, k=k: is_(o, k) * math.log(r["age"]) for k in ABC},
    "object + object:I(age ** 2)": objects_of(*ABC)
    | {f"object[{k}]:I(age ** 2)": lambda o, r, k=k: is_(o, k) * r["age"] ** 2 for k in ABC},
    "object + object:I(age > 30)": objects_of(*ABC)
    | {f"object[{k}]:I(age > 30)[True]": lambda o, r, k=k: is_(o, k) * float(r["age"] > 30) for k in ABC},
    'object + object:Q("my col")': objects_of(*ABC) | products('object[{k}]:Q("my col")[{v}]', ABC, ("v",), "my col"),
    "object + object:judge:age": objects_of(*ABC)
    | {
        f"object[{k}]:judge[{v}]:age": lambda o, r, k=k, v=v: is_(o, k) * is_(r["judge"], v) * r["age"]
        for v in JUDGES
        for k in ABC
    },
    "price": {"price": lambda o, r: PRICE[o]},
    "np.log(price)": {"np.log(price)": lambda o, r: math.log(PRICE[o])},
    "center(price)": {"center(price)": lambda o, r: PRICE[o]},  # a centre cancels in the difference
    "price:age": {"price:age": lambda o, r: PRICE[o] * r["age"]},
    "price * age": {"price": lambda o, r: PRICE[o], "price:age": lambda o, r: PRICE[o] * r["age"]},
    "price:judge": {f"price:judge[{v}]": lambda o, r, v=v: PRICE[o] * is_(r["judge"], v) for v in JUDGES},
    "price + price:judge": {
        "price": lambda o, r: PRICE[o],
        **{f"price:judge[{v}]": lambda o, r, v=v: PRICE[o] * is_(r["judge"], v) for v in JUDGES[1:]},
    },
    "origin": {f"origin[{v}]": lambda o, r, v=v: is_(ORIGIN[o], v) for v in ("eu", "us")},
    "hub": {"hub[True]": lambda o, r: is_(HUB[o], True)},
    # patsy's order: terms of labels first, then those of each number
    "price + origin + origin:age": {
        **{f"origin[{v}]": lambda o, r, v=v: is_(ORIGIN[o], v) for v in ("eu", "us")},
        **{f"origin[{v}]:age": lambda o, r, v=v: is_(ORIGIN[o], v) * r["age"] for v in ("eu", "us")},
        "price": lambda o, r: PRICE[o],
    },
    "price:origin": {
        f"price:origin[{v}]": lambda o, r, v=v: PRICE[o] * is_(ORIGIN[o], v) for v in ("asia", "eu", "us")
    },
    "length": {"length": sided("length")},
    "object + length": objects_of(*ABC) | {"length": sided("length")},
    "object + length:age": objects_of(*ABC) | {"length:age": lambda o, r: r[f"length_{r['side']}"] * r["age"]},
    "object + np.sqrt(length)": objects_of(*ABC)
    | {"np.sqrt(length)": lambda o, r: math.sqrt(r[f"length_{r['side']}"])},
    "object + kind": objects_of(*ABC)
    | {f"kind[{v}]": lambda o, r, v=v: is_(r[f"kind_{r['side']}"], v) for v in ("y", "z")},
    "length:price": {"length:price": lambda o, r: r[f"length_{r['side']}"] * PRICE[o]},
}


def pair_of(r):
    return ":".join(sorted((r["object_i"], r["object_j"])))


PAIRS = [":".join(p) for p in itertools.combinations(OBJECTS, 2)]
ONE = {"tie": lambda r: 1.0}
TIES = {
    "tie": ONE,
    "0 + tie": ONE,
    "tie:judge": {f"tie:judge[{v}]": lambda r, v=v: is_(r["judge"], v) for v in JUDGES},
    "judge:tie": {f"tie:judge[{v}]": lambda r, v=v: is_(r["judge"], v) for v in JUDGES},
    "tie + tie:judge": ONE | {f"tie:judge[{v}]": lambda r, v=v: is_(r["judge"], v) for v in JUDGES[1:]},
    "tie * judge": ONE | {f"tie:judge[{v}]": lambda r, v=v: is_(r["judge"], v) for v in JUDGES[1:]},
    "tie:pair": {f"tie:pair[{v}]": lambda r, v=v: is_(pair_of(r), v) for v in PAIRS},
    "tie + tie:pair": ONE | {f"tie:pair[{v}]": lambda r, v=v: is_(pair_of(r), v) for v in PAIRS[1:]},
    "tie:age": {"tie:age": lambda r: r["age"]},
    "tie * age": ONE | {"tie:age": lambda r: r["age"]},
    "tie:C(judge, Sum) + tie": ONE
    | {f"tie:C(judge, Sum)[S.{v}]": lambda r, v=v: is_(r["judge"], v) - is_(r["judge"], "J3") for v in ("J1", "J2")},
    "tie * judge * age": ONE
    | {f"tie:judge[{v}]": lambda r, v=v: is_(r["judge"], v) for v in JUDGES[1:]}
    | {"tie:age": lambda r: r["age"]}
    | {f"tie:judge[{v}]:age": lambda r, v=v: is_(r["judge"], v) * r["age"] for v in JUDGES[1:]},
}

ORDERS = {
    "order": {"order": lambda r: 1.0},
    "order:judge": {f"order:judge[{v}]": lambda r, v=v: is_(r["judge"], v) for v in JUDGES},
    "order * judge": {"order": lambda r: 1.0}
    | {f"order:judge[{v}]": lambda r, v=v: is_(r["judge"], v) for v in JUDGES[1:]},
    "order:age": {"order:age": lambda r: r["age"]},
    "order:object": {f"order:object[{v}]": lambda r, v=v: is_(r["object_i"], v) for v in OBJECTS},
    "order + order:object": {"order": lambda r: 1.0}
    | {f"order:object[{v}]": lambda r, v=v: is_(r["object_i"], v) for v in ABC},
    "object:order": {f"order:object[{v}]": lambda r, v=v: is_(r["object_i"], v) for v in OBJECTS},
    "order:pair": {f"order:pair[{v}]": lambda r, v=v: is_(pair_of(r), v) for v in PAIRS},
}


def by_hand(c, worth=None, tie=None, order=None):
    """Signed and tie rows of each comparison, one number at a time."""
    worth, tie, order = worth or {}, tie or {}, order or {}
    signed, ties = [], []
    for row in c.to_frame().to_dict("records"):
        i, j = row | {"side": "i"}, row | {"side": "j"}
        difference = [f(row["object_i"], i) - f(row["object_j"], j) for f in worth.values()]
        signed.append(difference + [0.0] * len(tie) + [f(row) for f in order.values()])
        ties.append([0.0] * len(worth) + [f(row) for f in tie.values()] + [0.0] * len(order))
    return np.array(signed), np.array(ties)


def assert_is(design, c, worth=None, tie=None, order=None):
    assert design.names == (*(worth or {}), *(tie or {}), *(order or {}))
    signed, ties = by_hand(c, worth, tie, order)
    np.testing.assert_allclose(design.signed_rows().toarray(), signed, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(design.shared[1].of_comparisons().toarray(), ties, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("formula", WORTHS)
def test_worth_terms_are_differences_of_the_two_objects(formula):
    design = design_of(formula)
    assert_is(design, TABLE, worth=WORTHS[formula])
    assert set(design.blocks) == {"worth"}


@pytest.mark.parametrize("formula", TIES)
def test_tie_terms_describe_gamma(formula):
    assert_is(design_of("object + " + formula), TABLE, worth=objects_of(*ABC), tie=TIES[formula])


@pytest.mark.parametrize("formula", ORDERS)
def test_order_terms_describe_delta(formula):
    assert_is(design_of("object + " + formula), TABLE, worth=objects_of(*ABC), order=ORDERS[formula])


def test_all_blocks_together_with_terms_and_blocks_named():
    design = design_of("tie * judge + order:judge + object * judge")
    worth = WORTHS["object * judge"]
    assert_is(design, TABLE, worth=worth, tie=TIES["tie * judge"], order=ORDERS["order:judge"])
    assert design.blocks == ("worth",) * 9 + ("tie",) * 3 + ("order",) * 3
    assert design.terms == (
        *("object",) * 3,
        *("object:judge",) * 6,
        *("tie", "tie:judge", "tie:judge"),
        *("order:judge",) * 3,
    )


def test_the_papers_formula_has_exactly_these_names():
    names = design_of("object * judge + tie * judge", llbt.load_dataset("dras_table1")).names
    assert names == (
        *("object[A]", "object[B]", "object[C]"),
        *("object[A]:judge[J2]", "object[B]:judge[J2]", "object[C]:judge[J2]"),
        *("object[A]:judge[J3]", "object[B]:judge[J3]", "object[C]:judge[J3]"),
        *("object[A]:judge[J4]", "object[B]:judge[J4]", "object[C]:judge[J4]"),
        *("tie", "tie:judge[J2]", "tie:judge[J3]", "tie:judge[J4]"),
    )


def test_splines_have_the_columns_of_patsy():
    design = design_of("object + object:bs(age, df=3)")
    ages = np.sort(TABLE.to_frame()["age"].unique())
    basis = dict(zip(ages, np.asarray(patsy.dmatrix("bs(age, df=3) - 1", {"age": ages})), strict=True))
    spline = {
        f"object[{k}]:bs(age, df=3)[{n}]": lambda o, r, k=k, n=n: is_(o, k) * basis[r["age"]][n]
        for n in range(3)
        for k in ABC
    }
    assert_is(design, TABLE, worth=objects_of(*ABC) | spline)


def test_centred_covariates_only_move_the_main_effect():
    plain, centred = llbt.fit("object * age + tie", TABLE), llbt.fit("object * center(age) + tie", TABLE)
    assert centred.names == tuple(name.replace("age", "center(age)") for name in plain.names)
    assert centred.deviance == pytest.approx(plain.deviance, abs=1e-9)
    for k in ABC:
        slope = centred.params[f"object[{k}]:center(age)"]
        assert slope == pytest.approx(plain.params[f"object[{k}]:age"], abs=1e-9)
        center = (centred.params[f"object[{k}]"] - plain.params[f"object[{k}]"]) / slope
        assert 20 < center < 41


# -- one span, several ways to write it -------------------------------------------------------------------


def rank(*designs):
    cells = [np.vstack([d.signed_rows().toarray(), d.shared[1].of_comparisons().toarray()]) for d in designs]
    return np.linalg.matrix_rank(np.hstack(cells))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("object * judge", "object + object:judge"),
        ("object * judge", "object + judge:object"),
        ("object * judge", "object:judge"),
        ("object * judge", "judge / object"),
        ("object * judge", "judge + object + object:judge"),
        ("object", "C(object, Sum)"),
        ("object", "C(object, Treatment('B'))"),
        ("object + tie * judge", "object + tie:judge"),
        ("object + order * judge", "object + order:judge"),
        ("object + tie:pair", "object + tie + tie:pair"),
        ("price * judge", "price:judge"),
        ("object * (judge + year)", "object + object:judge + object:year"),
    ],
)
def test_the_same_space_however_it_is_written(left, right):
    a, b = design_of(left), design_of(right)
    assert rank(a) == rank(b) == rank(a, b) == len(a.names) == len(b.names)  # full rank too


def test_price_age_alone_is_not_price_times_age():
    assert rank(design_of("price:age")) == 1
    assert rank(design_of("price:age"), design_of("price")) == 2


def test_margins_with_an_object_side_factor_are_never_added():
    assert design_of("length:age").names == ("length:age",)
    assert design_of("origin:age").names == ("origin[eu]:age", "origin[us]:age")


# -- names ------------------------------------------------------------------------------------------------


def labelled(objects, judges, ties=2):
    rows = [
        {"object_i": i, "object_j": j, "judge": v, "wins_i": 3 + k, "ties": ties, "wins_j": 4}
        for k, (i, j) in enumerate(itertools.combinations(objects, 2))
        for v in judges
    ]
    return llbt.from_counts(pd.DataFrame(rows), covariates="judge")


def test_only_the_mark_of_treatment_coding_is_removed_from_names():
    c = labelled(["[T.x]", "T.y", "[x", "z"], ["T.1", "[T.2", "T.T.3"])
    assert c.objects == ("T.y", "[T.x]", "[x", "z")
    objects = ("object[T.y]", "object[[T.x]]", "object[[x]")
    assert design_of("object", c).names == objects
    levels = ("T.1]", "T.T.3]", "[T.2]")
    assert design_of("object:judge", c).names == tuple(f"{o}:judge[{v}" for v in levels for o in objects)
    reduced = tuple(f"{o}:judge[{v}" for v in levels[1:] for o in objects)
    assert design_of("object * judge", c).names == objects + reduced
    assert design_of("tie:judge", c).names == ("tie:judge[T.1]", "tie:judge[T.T.3]", "tie:judge[[T.2]")
    assert design_of("tie * judge", c).names == ("tie", "tie:judge[T.T.3]", "tie:judge[[T.2]")
    assert design_of("C(object, Sum)", c).names[0] == "C(object, Sum)[S.T.y]"


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([3, 10, 2], ("object[2]", "object[3]")),
        (["a b", "=", "é"], ("object[=]", "object[a b]")),
        (["a:b", "c", "d"], ("object[a:b]", "object[c]")),
    ],
)
def test_labels_of_any_kind_stand_in_names_as_they_are(labels, names):
    c = labelled(labels, ["J"], ties=1).pool()
    res = llbt.fit("object + tie", c)
    assert res.names == (*names, "tie")


def test_reference_rows_and_references_are_named():
    design = design_of("object * judge + tie")
    assert design.reference == "D"
    assert design.reference_rows == ((3, "object[D]"),)
    left_out = {f"object[{k}]:judge[{v}]" for k in OBJECTS for v in JUDGES} - set(BY_JUDGE)
    assert set(design.references) == {"object[D]"} | left_out
    assert design_of("C(object, Treatment('B'))").reference == "B"
    assert design_of("C(object, Sum)").reference_rows == ()


def test_reference_chooses_the_object_with_zero():
    design = design_of("object + tie", reference="B")
    assert design.names == ("object[A]", "object[C]", "object[D]", "tie")
    assert design.reference == "B"
    last, b = llbt.fit("object + tie", TABLE), llbt.fit("object + tie", TABLE, reference="B")
    for k in "ACD":
        moved = last.params.get(f"object[{k}]", 0.0) - last.params["object[B]"]
        assert b.params[f"object[{k}]"] == pytest.approx(moved, abs=1e-9)
    assert b.params["tie"] == pytest.approx(last.params["tie"], abs=1e-9)
    assert b.deviance == pytest.approx(last.deviance, abs=1e-9)


def test_the_formula_can_name_the_reference_itself():
    a = llbt.fit("C(object, Treatment('B')) + tie", TABLE)
    b = llbt.fit("object + tie", TABLE, reference="B")
    np.testing.assert_allclose(a.params, b.params, atol=1e-9)
    np.testing.assert_allclose(a.bse, b.bse, atol=1e-9)


def test_unknown_reference_is_an_error_that_lists_the_objects():
    with pytest.raises(
        llbt.errors.OptionError,
        match=r"reference='Z' is not an object of the table; expected one of 'A', 'B', 'C', 'D'",
    ):
        design_of("object", reference="Z")


# -- evaluated once per distinct combination --------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "used"),
    [
        ("object", []),
        ("object + price", []),
        ("price:age", ["age"]),
        ("object * judge", ["judge"]),
        ("object * judge + object:age", ["judge", "age"]),
        ('object * Q("my col")', ["my col"]),
        ("object + length", ["length"]),
        ("object + length + kind:age", ["length", "kind", "age"]),
    ],
)
def test_worth_rows_are_evaluated_once_per_distinct_combination(formula, used):
    distinct = set()
    for row in TABLE.to_frame().to_dict("records"):
        for side in "ij":
            distinct.add((row[f"object_{side}"], *(row.get(name, row.get(f"{name}_{side}")) for name in used)))
    design = design_of(formula)
    assert design.worth.matrix.shape[0] == len(distinct)
    assert design.worth.index.shape == (len(TABLE), 2)
    assert set(design.worth.index.ravel()) == set(range(len(distinct)))


@pytest.mark.parametrize(("formula", "rows"), [("tie", 1), ("tie:judge", 3), ("tie:pair", 6), ("tie:pair:judge", 18)])
def test_tie_rows_are_evaluated_once_per_distinct_combination(formula, rows):
    assert design_of("object + " + formula).shared[1].matrix.shape[0] == rows


def test_many_comparisons_of_few_combinations_keep_a_small_design():
    labels = [f"o{k:03}" for k in range(120)]
    rng = np.random.default_rng(0)
    rows = [(i, j, v, *rng.integers(1, 5, 2)) for i, j in itertools.combinations(labels, 2) for v in "xy"]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "group", "wins_i", "wins_j"])
    design = design_of("object * group", llbt.from_counts(frame, covariates="group"))
    assert design.worth.matrix.shape == (240, 238)
    assert design.worth.matrix.tocsr().nnz <= 2 * 240


# -- terms that cancel ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "fixes"),
    [
        ("object + judge + tie", ["object:judge", "tie:judge"]),
        ("object + age + tie", ["object:age", "tie:age"]),
        ("price + age + tie", ["price:age", "tie:age"]),
        ("object * judge + age + tie", ["object:age"]),
        ("object + judge:age + tie + object:judge", ["object:judge:age"]),
        ("object + pair + tie", ["tie:pair"]),
    ],
)
def test_a_term_that_cancels_warns_and_names_the_fix(formula, fixes):
    with pytest.warns(llbt.errors.FormulaWarning) as caught:
        res = llbt.fit(formula, TABLE)
    (message,) = [str(w.message) for w in caught]
    assert "cancels" in message
    for fix in fixes:
        assert fix in message
    assert caught[0].filename == __file__
    assert len(res.aliased) == 0


@pytest.mark.parametrize(
    "formula",
    [
        "object * judge + tie",
        "object + tie * judge",
        "object * judge + tie * judge",
        "object + order * judge + tie",
        "object * judge * age + tie",
        "price * age + tie",
        "tie * judge + object:judge",
        "object * judge - judge + tie",
    ],
)
def test_margins_do_not_warn(formula):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        llbt.fit(formula, TABLE)


def test_the_cancelling_term_changes_nothing():
    with pytest.warns(llbt.errors.FormulaWarning, match="judge is the same for both objects"):
        with_judge = llbt.fit("object + judge + tie", TABLE)
    without = llbt.fit("object + tie", TABLE)
    np.testing.assert_allclose(with_judge.params, without.params, atol=1e-10)
    assert with_judge.df_resid == without.df_resid


# -- errors that mark the spot ----------------------------------------------------------------------------


def refused(formula, c=TABLE, kind=llbt.errors.FormulaError):
    """Return the message of the error and the part of the formula over its carets."""
    with pytest.raises(kind) as caught:
        LLBT.from_formula(formula, c)
    assert type(caught.value) is kind
    return split_message(str(caught.value), formula)


def split_message(message, formula):
    *what, text, caret = message.split("\n")
    assert text == "  " + formula.strip()
    assert set(caret.strip()) == {"^"}
    start = len(caret) - len(caret.lstrip())
    return "\n".join(what), text[start : start + caret.count("^")]


@pytest.mark.parametrize(
    ("formula", "spot"),
    [
        ("object + agee", "agee"),
        ("objekt", "objekt"),
        ("  ~ object  +   jugde:object", "jugde"),
        ("object + tie:jdge", "jdge"),
        ("object + np.log(prce)", "prce"),
        ("object + object:I(age + agent)", "agent"),
        ("object + object:I(age + ag)", "ag"),
        ("object * foo(age)", "foo"),
        ("object + object:len(age)", "len"),
        ("object + Q('my cold')", "my cold"),
        ("object + object:I(age*xs)", "xs"),
        ("object + length_a", "length_a"),
        ("object + [k for k in age]", "k"),
    ],
)
def test_unknown_names_are_marked(formula, spot):
    message, marked = refused(formula)
    assert marked == spot
    assert repr(spot) in message


def test_the_nearest_name_is_proposed_and_all_are_listed():
    message, _ = refused("object + tie:jugde")
    assert "did you mean 'judge'?" in message
    listed, _ = refused("object + qqq")
    for name in ("object", "tie", "order", "pair", "judge", "age", "year", "my col", "price", "origin", "length"):
        assert repr(name) in listed
    quoted, marked = refused("object + object:my")
    assert "`my col`" in quoted
    assert marked == "my"


global_covariate = np.ones(len(TABLE))


def test_nothing_is_found_in_the_callers_scope():
    local_covariate = np.ones(len(TABLE))
    assert len(local_covariate) == len(global_covariate)

    def double(x):
        return 2 * x

    assert double(1) == 2
    for name in ("local_covariate", "global_covariate", "pd", "TABLE"):
        message, marked = refused(f"object + object:{name}")
        assert marked == name
        assert "no variable" in message
    assert refused("object + object:double(age)")[1] == "double"
    assert refused("object + __import__('os')")[1] == "__import__"


def test_names_of_the_scope_do_not_hide_the_tables_own():
    age = judge = np = None
    assert (age, judge, np) == (None, None, None)
    assert LLBT.from_formula("object * age + object:np.log(age) + tie:judge", TABLE).design.names[3] == "object[A]:age"


@pytest.mark.parametrize("formula", ["wins_i ~ object", "y ~ object", "judge~object", "object ~ tie"])
def test_a_left_hand_side_is_an_error(formula):
    message, marked = refused(formula)
    assert "left-hand side" in message
    assert "counts are the response" in message
    assert marked.strip() == formula.split("~")[0].strip()


def test_a_column_that_was_not_kept_is_named_with_what_keeps_it():
    message, marked = refused("object * spare")
    assert marked == "spare"
    assert "'spare' is a column of your frame but was not kept" in message
    assert "covariates='spare'" in message


def test_the_unkept_hint_is_the_same_for_judgments():
    frame = pd.DataFrame({"object_i": ["a", "a"], "object_j": ["b", "b"], "outcome": ["i", "j"], "judge": ["x", "y"]})
    message, marked = refused("object * judge", llbt.from_judgments(frame))
    assert marked == "judge"
    expected = (
        "'judge' is a column of your frame but was not kept; make the table with from_judgments(…, covariates='judge')."
    )
    assert message == f"LLBT.from_formula: {expected}"


def test_a_cluster_is_not_a_covariate():
    message, marked = refused("object * city")
    assert marked == "city"
    assert "cluster" in message
    assert "covariates='city'" in message


@pytest.mark.parametrize(
    ("formula", "spot"),
    [
        ('object + object:np.log(Q("my col"))', "my col"),
        ("object + object:np.log(1 + judge)", "judge"),
        ("object:center(judge)", "judge"),
        ("object + np.log(hub)", "hub"),
        ("object + np.log(kind)", "kind"),
    ],
)
def test_labels_in_arithmetic_name_the_way_to_make_them_numbers(formula, spot):
    message, marked = refused(formula)
    assert marked == spot
    assert "labels" in message
    assert f"numeric={spot!r}" in message


def test_numeric_makes_numbers_of_integers():
    c = rich(numeric=["year", "hub"])
    year = {f"object[{k}]:year": lambda o, r, k=k: is_(o, k) * r["year"] for k in ABC}
    assert_is(design_of("object * year", c), c, worth=objects_of(*ABC) | year)
    assert_is(design_of("np.log(1 + hub)", c), c, worth={"np.log(1 + hub)": lambda o, r: math.log(1 + HUB[o])})


@pytest.mark.parametrize("formula", ["object + np.log(object)", "object + tie:np.log(pair)"])
def test_object_and_pair_are_no_numbers(formula):
    message, marked = refused(formula)
    assert "labels" in message
    assert marked == formula.rpartition("(")[2].rstrip(")")


@pytest.mark.parametrize("formula", ["object + tie", "object + tie:judge", "object + tie * judge"])
def test_a_tie_term_without_ties(formula):
    message, marked = refused(formula, rich(ties=False))
    assert "no ties" in message
    assert marked == "tie"


@pytest.mark.parametrize("formula", ["object + order", "object + order:judge", "object + tie + order:object"])
def test_an_order_term_without_the_order(formula):
    message, marked = refused(formula, rich(order=False))
    assert "order=True" in message
    assert marked == "order"


@pytest.mark.parametrize(
    ("formula", "spot"),
    [
        ("object + tie + tie:C(object, Sum)", "C(object, Sum)"),
        ("object + tie:price", "price"),
        ("object + tie:length", "length"),
        ("object + tie:judge:origin", "origin"),
        ("object + order:price", "price"),
        ("object + order:length", "length"),
        ("object + order:np.log(price)", "np.log(price)"),
    ],
)
def test_mixtures_of_tie_and_order_with_object_side_factors(formula, spot):
    message, marked = refused(formula)
    assert marked == spot
    assert "differs between the two objects" in message


@pytest.mark.parametrize("formula", ["object + tie:object", "object + object:tie", "object + tie:object:judge"])
def test_what_objects_add_to_ties_needs_the_level(formula):
    message, marked = refused(formula)
    assert marked == "object"
    assert "write tie + tie:object" in message


@pytest.mark.parametrize("formula", ["object + tie:order", "object + order:tie", "object + tie:order:judge"])
def test_a_term_is_of_ties_or_of_order(formula):
    message, marked = refused(formula)
    assert "not both" in message
    assert marked in ("tie", "order")


@pytest.mark.parametrize(
    ("formula", "spot"), [("object + I(tie)", "I(tie)"), ("object + np.log(order)", "np.log(order)")]
)
def test_tie_and_order_cannot_be_transformed(formula, spot):
    message, marked = refused(formula)
    assert marked == spot
    assert "write it as a separate factor" in message


@pytest.mark.parametrize("formula", ["object + (tie", "object + + )", "object +", "object + C(judge", "object ~ ~ tie"])
def test_broken_formulas_are_formula_errors(formula):
    with pytest.raises(llbt.errors.FormulaError) as caught:
        LLBT.from_formula(formula, TABLE)
    message, _ = split_message(str(caught.value), formula)
    assert message


@pytest.mark.parametrize(
    ("formula", "error", "said"),
    [
        ("", "FormulaError", "empty"),
        ("  ", "FormulaError", "empty"),
        (None, "OptionError", "=None"),
        (7, "OptionError", "=7"),
    ],
)
def test_a_formula_is_text_that_says_something(formula, error, said):
    with pytest.raises(getattr(llbt.errors, error), match=said):
        LLBT.from_formula(formula, TABLE)


def test_what_an_expression_raises_is_a_formula_error():
    with pytest.raises(llbt.errors.FormulaError, match="Treatment"):
        LLBT.from_formula("C(object, Treatment('Z'))", TABLE)
    with pytest.raises(llbt.errors.FormulaError, match="age"):
        LLBT.from_formula("object:age.nothing", TABLE)


def test_numbers_that_an_expression_makes_infinite_are_named():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy's own warning would say less
        with pytest.raises(llbt.errors.DesignError, match=r"np\.log\(length - 1\) is not finite"):
            LLBT.from_formula("object + np.log(length - 1)", TABLE)


def test_a_covariate_that_is_constant_over_the_table():
    one = TABLE.select(where={"judge": "J2"})
    for formula in ("object * judge", "object + tie:judge"):
        with pytest.raises(llbt.errors.DesignError, match=r"covariate 'judge' is 'J2' in all comparisons"):
            LLBT.from_formula(formula, one)
    flat = rich(object_covariates=object_table().assign(price=3.0))
    with pytest.raises(llbt.errors.DesignError, match=r"object covariate 'price' is 3\.0 in all objects"):
        LLBT.from_formula("price", flat)


@pytest.mark.parametrize("word", ["object", "tie", "order", "pair"])
def test_covariates_may_not_have_the_formulas_own_words(word):
    frame = raw_frame().rename(columns={"judge": word})
    with pytest.raises(llbt.errors.JudgmentError, match=repr(word)):
        llbt.from_counts(frame, covariates=word)


def test_a_column_called_like_a_function_says_to_rename_it():
    frame = raw_frame().rename(columns={"judge": "C"})
    c = llbt.from_counts(frame, covariates="C")
    assert design_of("tie:C", c).names == ("tie:C[J1]", "tie:C[J2]", "tie:C[J3]")
    message, marked = refused("object + C(object, Sum)", c)
    assert "rename" in message
    assert marked == "C(object, Sum)"


def test_the_caret_stands_under_the_name_in_a_formula_of_several_lines():
    formula = "object\n + tie\n + nothing"
    with pytest.raises(llbt.errors.FormulaError) as caught:
        LLBT.from_formula(formula, TABLE)
    lines = str(caught.value).split("\n")
    (caret,) = [k for k, line in enumerate(lines) if line.strip() and set(line.strip()) == {"^"}]
    start = len(lines[caret]) - len(lines[caret].lstrip())
    assert lines[caret - 1][start : start + lines[caret].count("^")] == "nothing"


def test_all_these_errors_are_value_errors_of_llbt():
    assert issubclass(llbt.errors.FormulaError, LLBTError)
    assert issubclass(LLBTError, ValueError)
    assert issubclass(llbt.errors.FormulaWarning, llbt.errors.LLBTWarning)


def test_names_in_backticks_are_those_of_r():
    rows = [
        ("a", "b", 5, 2, "x y", 1.5),
        ("b", "c", 4, 3, "z", 2.0),
        ("a", "c", 4, 6, "z", 0.5),
        ("a", "b", 3, 2, "z", 3),
    ]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "judge name", "home.adv"])
    c = llbt.from_counts(frame, covariates=["judge name", "home.adv"])
    ticked = llbt.fit("object + object:`home.adv`", c)
    assert ticked.names == ("object[a]", "object[b]", 'object[a]:Q("home.adv")', 'object[b]:Q("home.adv")')
    quoted = llbt.fit('object + object:Q("home.adv")', c)
    np.testing.assert_array_equal(ticked.params, quoted.params)
    assert llbt.fit("object * `judge name`", c).names == llbt.fit('object * Q("judge name")', c).names
    assert llbt.drop1(ticked).to_frame()["term"].tolist()[-1] == 'object:Q("home.adv")'
    with pytest.raises(llbt.errors.FormulaError, match="no variable 'jury'"):
        llbt.fit("object + object:`jury`", c)
    # a backtick within a label is none
    assert llbt.fit("object + object:I(`judge name` == 'a`b`') + object:`home.adv`", c).aliased


CHOSEN = {
    "covariate": ("object * judge + tie * judge", llbt.load_dataset("dras_table1"), "judge", "J3"),
    "two": ("object * ENG * SEX + tie:ENG", llbt.load_dataset("cems"), "ENG", 2),
    "alone": ("object + tie * ENG", llbt.load_dataset("cems"), "ENG", 2),
}


@pytest.mark.parametrize("case", list(CHOSEN))
def test_a_reference_level_may_be_chosen_for_every_term(case):
    """The same model as with Treatment in every term, and as with the level renamed to come first."""
    formula, c, name, level = CHOSEN[case]
    res = llbt.fit(formula, c, reference={name: level})
    by_terms = llbt.fit(formula.replace(name, f"C({name}, Treatment({level!r}))"), c)
    renamed = {n.replace(f"C({name}, Treatment({level!r}))", name): v for n, v in by_terms.params.items()}
    assert set(renamed) == set(res.names)
    np.testing.assert_allclose([renamed[n] for n in res.names], res.params, atol=1e-7)
    plain = llbt.fit(formula, c)
    assert res.deviance == pytest.approx(plain.deviance)
    assert f"reference {level}" in " ".join(res.as_text().split())
    keys = [*llbt.worth(plain).to_frame().columns[:-5]]
    worths = [llbt.worth(fit).to_frame().sort_values([*keys, "object"], ignore_index=True) for fit in (res, plain)]
    pd.testing.assert_frame_equal(*worths, rtol=1e-5)


def test_a_chosen_reference_level_goes_along_in_refits():
    c = llbt.load_dataset("dras_table1")
    res = llbt.fit("object * judge + tie", c, reference={"object": "B", "judge": "J3"})
    assert res.design.reference == "B"
    assert "object[A]:judge[J1]" in res.names
    assert "object[A]:judge[J3]" not in res.names
    assert llbt.drop1(res).to_frame()["term"].tolist()[1:] == ["object:judge", "tie"]
    assert llbt.anova(res).to_frame()["deviance"].iloc[-1] == pytest.approx(res.deviance)
    gone = llbt.influence(res, by="judge").to_frame()
    assert gone["judge"].nunique() == 4
    assert res.predict(at={"judge": "J3"}).to_frame()["estimate"].to_numpy() == pytest.approx(
        llbt.fit("object * judge + tie", c).predict(at={"judge": "J3"}).to_frame()["estimate"].to_numpy()
    )
    spec = res.specification
    again = llbt.LLBT.from_formula(spec.formula, c, reference=spec.reference).solved(spec)
    assert again.params.equals(res.params)


def test_zeros_and_ones_are_labels_or_a_number():
    """As labels the second level has a parameter; as a number there is R's one column. The models are one."""
    rows = [("a", "b", 5, 2, 0), ("b", "c", 4, 3, 1), ("a", "c", 4, 6, 0), ("a", "b", 3, 2, 1), ("a", "c", 3, 5, 1)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "expert"])
    labels = llbt.fit("object * expert", llbt.from_counts(frame, covariates="expert"))
    number = llbt.fit("object * expert", llbt.from_counts(frame, covariates="expert", numeric="expert"))
    assert [n for n in labels.names if "expert" in n] == ["object[a]:expert[1]", "object[b]:expert[1]"]
    assert [n for n in number.names if "expert" in n] == ["object[a]:expert", "object[b]:expert"]
    np.testing.assert_allclose(labels.params, number.params, atol=1e-8)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"jugde": "J1"}, "'jugde' is not a labelled variable of the table; expected one of 'object', 'judge'"),
        ({"judge": "J9"}, "'judge' has no level 'J9' in the table; expected one of 'J1', 'J2', 'J3', 'J4'"),
        ({"object": "Q"}, "reference='Q' is not an object of the table"),
    ],
)
def test_references_that_are_not_there(reference, said):
    with pytest.raises(llbt.errors.OptionError, match=said):
        llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"), reference=reference)


@pytest.mark.parametrize(
    "formula",
    [
        "object * judge + tie * judge",
        "object:judge + tie:judge:period",
        "object * judge * period + tie",
        "C(object, Sum):judge + object:C(period) + order:judge",
        "object + object:period:judge",
    ],
)
def test_products_of_labels_are_patsys(monkeypatch, formula):
    """Labels are coded sparsely, by the contrasts that patsy chose; the other route has patsy make the columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.choice(list("ABCD"), (300, 2)), columns=["i", "j"])
    frame = frame[frame["i"] != frame["j"]]
    for name, levels in (("judge", ["x", "y", "z"]), ("period", ["p", "q"])):
        frame[name] = rng.choice(levels, len(frame))
    frame["outcome"] = np.where(rng.random(len(frame)) < 0.3, "tie", frame["i"])
    c = llbt.from_judgments(frame, objects=("i", "j"), covariates=["judge", "period"], order=True)
    found = build_design(formula, c)
    monkeypatch.setattr(coding, "_of_labels", lambda *args: False)
    by_patsy = build_design(formula, c)
    assert found.names == by_patsy.names
    pairs = [(found.worth, by_patsy.worth), (found.order, by_patsy.order)]
    pairs += [(found.shared[word], by_patsy.shared[word]) for word in found.shared]
    for one, other in pairs:
        np.testing.assert_array_equal(one.matrix.toarray(), other.matrix.toarray())
