"""Does the estimate exist? Every kind of separation is refused by name, and tables right at the edge fit."""

import itertools
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from support.fits import fit_by

import llbt
from llbt import LLBT
from llbt.fitting import existence
from llbt.fitting.specification import make_problem
from llbt.kernel import recession
from llbt.kernel.recession import recession_direction
from llbt.kernel.solvers import independent_columns

# -- tables -----------------------------------------------------------------------------------------------


def table(rows, *, tie_category=False, **keywords):
    """A table of rows (i, j, wins_i, ties, wins_j, *covariates); covariates are named x, y.

    `tie_category` gives a table without a tie its tie category, as a selection from a larger one has.
    """
    names = ["object_i", "object_j", "wins_i", "ties", "wins_j", "x", "y"]
    frame = pd.DataFrame(rows, columns=names[: len(rows[0])])
    keywords = {"covariates": list(frame.columns[5:])} | keywords
    if not tie_category:
        return llbt.from_counts(frame, **keywords)
    objects = sorted({*frame["object_i"], *frame["object_j"]})
    more = frame.iloc[[0]].assign(object_j="zz", ties=1)
    c = llbt.from_counts(pd.concat([frame, more]), **keywords).select(objects=objects)
    assert c.has_ties
    return c


def quiet_fit(formula, c, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        return fit_by(formula, c, **keywords)


def refused(formula, c, **keywords):
    with pytest.raises(llbt.errors.SeparationError) as caught:
        quiet_fit(formula, c, **keywords)
    return str(caught.value).removeprefix("LLBT.fit: ")


def assert_fits(formula, c, largest=8.0, **keywords):
    res = quiet_fit(formula, c, **keywords)
    assert res.converged
    estimated = [name for name in res.names if name not in res.aliased and name not in res.fixed]
    assert np.all(np.abs(res.params[estimated]) < largest)
    assert np.all(res.bse[estimated] < 20)
    return res


CYCLE = [("a", "b", 5, 0, 2), ("b", "c", 4, 0, 1), ("a", "c", 3, 0, 3)]
TIED_CYCLE = [("a", "b", 5, 2, 2), ("b", "c", 4, 1, 1), ("a", "c", 3, 2, 3)]


# -- worths on the graph of wins --------------------------------------------------------------------------


def test_an_object_that_won_everything():
    rows = [("a", "b", 5, 0, 0), ("a", "c", 4, 0, 0), ("b", "c", 3, 0, 2)]
    message = refused("object", table(rows))
    assert message.startswith("{a} won all 9 judgments against {b, c}")
    assert "no finite estimate" in message
    rows[1] = ("a", "c", 4, 0, 1)  # one loss is enough
    assert_fits("object", table(rows))


def test_an_object_that_lost_everything():
    rows = [("a", "b", 5, 0, 2), ("a", "c", 4, 0, 0), ("b", "c", 3, 0, 0)]
    assert refused("object", table(rows)).startswith("{a, b} won all 7 judgments against {c}")
    rows[2] = ("b", "c", 3, 0, 1)
    assert_fits("object", table(rows))


def test_a_group_that_always_beats_another_group():
    rows = [("A", "B", 6, 0, 4), ("C", "D", 5, 0, 5), ("A", "C", 7, 0, 0), ("B", "D", 3, 0, 0), ("B", "C", 2, 0, 0)]
    message = refused("object", table(rows))
    assert message.startswith("{A, B} won all 12 judgments against {C, D}")
    assert "infinit" in message or "∞" in message
    assert_fits("object", table([*rows, ("A", "D", 4, 0, 1)]))


def test_a_chain_of_groups_counts_them():
    rows = [("a", "b", 2, 0, 0), ("b", "c", 2, 0, 0), ("c", "d", 2, 0, 0)]
    message = refused("object", table(rows))
    assert message.startswith("{a} won all 2 judgments against {b, c, d}")
    assert "4 such groups" in message
    assert_fits("object", table([*rows, ("a", "d", 0, 0, 1)]))


def test_a_cycle_of_wins_is_enough():
    assert_fits("object", table([("a", "b", 3, 0, 0), ("b", "c", 3, 0, 0), ("a", "c", 0, 0, 2)]))


def test_one_tie_joins_what_wins_alone_do_not_when_gamma_is_held():
    rows = [("a", "b", 5, 0, 0), ("a", "c", 4, 0, 0), ("b", "c", 3, 0, 2)]
    assert refused("object", table(rows, tie_category=True)).startswith("{a} won all 9 judgments")
    assert refused("object + tie", table(rows, tie_category=True), fixed={"tie": 0.0}).startswith("{a} won all 9")
    rows[0] = ("a", "b", 5, 1, 0)
    assert_fits("object", table(rows))
    assert_fits("object + tie", table(rows), fixed={"tie": 0.0})


def test_counts_of_any_size_and_fractions_decide_alike():
    rows = [("a", "b", 1e9, 0, 0.5), ("b", "c", 0.25, 0, 1e6)]
    assert_fits("object", table(rows), largest=20)
    assert refused("object", table([*rows[:1], ("b", "c", 0.25, 0, 0)])).startswith("{a, b} won all 0.25")


def test_comparisons_without_a_judgment_do_not_connect():
    c = table([("a", "b", 3, 0, 2), ("c", "d", 1, 0, 4), ("b", "c", 0, 0, 0)])
    with pytest.raises(
        llbt.errors.DesignError, match=r"2 groups never compared with each other: \{a, b\}, \{c, d\}"
    ) as caught:
        llbt.fit("object", c)
    assert not isinstance(caught.value, llbt.errors.SeparationError)


def test_disconnected_graphs_name_their_components():
    rows = [("a", "b", 3, 1, 2), ("c", "d", 1, 1, 4), ("e", "f", 2, 0, 2), ("f", "g", 2, 1, 2)]
    c = table(rows)
    for formula in ("object", "object + tie"):
        with pytest.raises(llbt.errors.DesignError) as caught:
            quiet_fit(formula, c)
        assert "3 groups never compared with each other: {a, b}, {c, d}, {e, f, g}" in str(caught.value)
        assert "components()" in str(caught.value)
        assert type(caught.value) is llbt.errors.DesignError
    for group in c.components():
        assert_fits("object", c.select(objects=group))
    assert_fits("object + tie", table([*rows, ("a", "c", 1, 0, 1), ("a", "e", 1, 0, 1)]))


# -- one tie effect ---------------------------------------------------------------------------------------


def test_five_wins_three_ties_no_loss():
    c = table([("a", "b", 5, 3, 0)])
    message = refused("object + tie", c)
    assert "{a} won 5, tied 3 and lost 0 of the judgments against {b}" in message
    assert "'object[a]'" in message
    assert "'tie'" in message
    assert_fits("object", c)
    assert_fits("object + tie", c, fixed={"tie": -0.5})
    assert_fits("object + tie", table([("a", "b", 5, 3, 1)]))


def test_only_ties():
    message = refused("object + tie", table([("a", "b", 0, 7, 0), ("b", "c", 0, 2, 0)]))
    assert "9 ties among 9 judgments" in message
    assert "'tie'" in message
    assert_fits("object", table([("a", "b", 0, 7, 0), ("b", "c", 0, 2, 0)]))


def test_a_tie_category_without_a_tie():
    c = table(CYCLE, tie_category=True)
    message = refused("object + tie", c)
    assert "no ties among 18 judgments" in message
    assert "tie is −∞" in message
    assert "drop_ties()" in message
    assert_fits("object", c)
    assert_fits("object", c.drop_ties())
    rows = [CYCLE[0], CYCLE[1], ("a", "c", 3, 1, 3)]
    assert_fits("object + tie", table(rows))


@pytest.mark.parametrize(
    ("rows", "exists"),
    [
        # nobody lost to an object it beat: only closed walks of wins and ties decide
        ([("a", "b", 1, 0, 0), ("b", "c", 1, 0, 0), ("a", "c", 0, 1, 0)], True),  # 2 wins, 1 tie
        ([("a", "b", 1, 0, 0), ("b", "c", 0, 1, 0), ("a", "c", 0, 1, 0)], False),  # 1 win, 2 ties
        ([("a", "b", 9, 0, 0), ("b", "c", 0, 1, 0), ("a", "c", 0, 1, 0)], False),  # how often does not count
        ([("a", "b", 1, 0, 0), ("b", "c", 0, 1, 0), ("c", "d", 1, 0, 0), ("a", "d", 0, 1, 0)], False),  # 2 and 2
        ([("a", "b", 1, 0, 0), ("b", "c", 1, 0, 0), ("c", "d", 1, 0, 0), ("a", "d", 0, 1, 0)], True),  # 3 and 1
        ([("a", "b", 1, 1, 0), ("b", "c", 1, 1, 0)], False),  # back by ties alone
        ([("a", "b", 1, 1, 0), ("b", "c", 1, 1, 0), ("a", "c", 0, 1, 0)], True),  # a > b > c = a
        ([("a", "b", 1, 0, 0), ("b", "c", 1, 0, 0), ("c", "d", 0, 1, 0), ("a", "d", 0, 1, 0)], False),  # 2 and 2
        ([("a", "b", 2, 1, 0), ("c", "d", 1, 0, 1), ("b", "c", 0, 1, 0)], True),  # a cycle anywhere else: c and d
    ],
)
def test_a_closed_walk_needs_more_wins_than_ties(rows, exists):
    c = table(rows)
    if exists:
        assert_fits("object + tie", c)
    else:
        message = refused("object + tie", c)
        assert "tie" in message
    assert_fits("object", c)  # with γ held, ties count as wins both ways


# -- ties by class ----------------------------------------------------------------------------------------


def by_class(rows, **ties):
    """The rows once for each class of x; the keyword gives the ties of each comparison in a class."""
    return [(i, j, w, t, v, x) for x, counts in ties.items() for (i, j, w, _, v), t in zip(rows, counts, strict=True)]


@pytest.mark.parametrize("formula", ["object + tie:x", "object + tie * x", "object * x + tie:x"])
def test_a_judge_without_ties(formula):
    c = table(by_class(CYCLE, J1=(1, 2, 0), J7=(0, 0, 0)))
    message = refused(formula, c)
    assert "x 'J7' has no ties among 18 judgments" in message
    assert "tie:x[J7]" in message
    assert "−∞" in message
    assert_fits(formula.replace("tie:x", "tie").replace("tie * x", "tie"), c)
    assert_fits(formula, table(by_class(CYCLE, J1=(1, 2, 0), J7=(0, 0, 1))))


def test_the_reference_judge_without_ties_is_named_too():
    message = refused("object + tie * x", table(by_class(CYCLE, J1=(0, 0, 0), J7=(0, 2, 0))))
    assert "x 'J1' has no ties among 18 judgments" in message
    assert "'tie'" in message


def test_a_judge_with_nothing_but_ties():
    rows = [*by_class(CYCLE, J1=(1, 2, 1)), ("a", "b", 0, 4, 0, "J2"), ("b", "c", 0, 3, 0, "J2")]
    message = refused("object + tie:x", table(rows))
    assert re.search(r"x 'J2' has .*ties among 7 judgments", message)
    assert "tie:x[J2] is +∞" in message
    assert_fits("object + tie", table(rows))
    assert_fits("object + tie:x", table([*rows, ("a", "c", 1, 0, 0, "J2")]))


def test_pairs_without_ties_under_a_tie_effect_by_pair():
    c = table([("a", "b", 5, 2, 2), ("b", "c", 4, 0, 1), ("a", "c", 3, 2, 3)])
    message = refused("object + tie:pair", c)
    assert "pair 'b:c' has no ties among 5 judgments" in message
    assert "tie:pair[b:c] is −∞" in message
    assert_fits("object + tie", c)
    assert_fits("object + tie:pair", table(TIED_CYCLE))


def test_ties_that_a_number_separates():
    rows = [(i, j, w, 2 * (x > 2), v, x) for x in (1.0, 2.0, 3.0) for i, j, w, _, v in CYCLE]
    # x = 3 has ties and the others none: γ + βx separates them
    message = refused("object + tie * x", table(rows))
    assert "tie" in message
    assert "'tie:x'" in message
    assert_fits("object + tie", table(rows))
    rows[0] = ("a", "b", 5, 1, 2, 1.0)
    assert_fits("object + tie * x", table(rows))


# -- worths by class --------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", ["object * x", "object:x", "object + x:object"])
def test_an_object_undefeated_within_a_class(formula):
    rows = [
        *((*row, "J1") for row in CYCLE),
        *[("a", "b", 5, 0, 0, "J2"), ("b", "c", 4, 0, 1, "J2"), ("a", "c", 3, 0, 0, "J2")],
    ]
    message = refused(formula, table(rows))
    assert "{a} won 8" in message
    assert "lost 0 of the judgments against {b, c}" in message
    assert "x 'J2'" in message
    assert "a]" in message.split("finite estimate")[0]
    assert "J2]" in message.split("finite estimate")[0]
    assert_fits("object", table(rows))
    rows[-1] = ("a", "c", 3, 0, 1, "J2")
    assert_fits(formula, table(rows))


def test_a_group_undefeated_within_a_class():
    inside = [("a", "b", 2, 0, 1), ("c", "d", 1, 0, 2)]
    across = [("a", "c", 2, 0, 1), ("b", "d", 2, 0, 2)]
    rows = [(*row, x) for row in inside + across for x in ("f", "m")]
    assert_fits("object * x", table(rows))
    rows = [(i, j, w, t, 0 if (x == "m" and (i, j) in (("a", "c"), ("b", "d"))) else v, x) for i, j, w, t, v, x in rows]
    message = refused("object * x", table(rows))
    assert "{a, b} won 4 and lost 0 of the judgments against {c, d}" in message
    assert "x 'm'" in message
    assert_fits("object", table(rows))


def test_ties_within_a_class_with_one_gamma_keep_the_estimate_finite():
    rows = [*((*row, "J1") for row in TIED_CYCLE), ("a", "b", 5, 1, 0, "J2"), ("b", "c", 3, 1, 2, "J2")]
    assert_fits("object * x + tie", table(rows))
    message = refused("object * x + tie:x", table([rows[0], *rows[1:3], ("a", "b", 5, 1, 0, "J2")]))
    assert "J2" in message


def test_a_class_that_does_not_connect_is_aliased_not_infinite():
    rows = [*((*row, "J1") for row in CYCLE), ("a", "b", 2, 0, 3, "J2")]
    res = assert_fits("object * x", table(rows))
    assert len(res.aliased) == 1


def test_a_slope_that_separates():
    # a beats b exactly where x > 0
    rows = [("a", "b", 3 * (x > 0), 0, 3 * (x < 0), x) for x in (-2.0, -1.0, 1.0, 2.0)]
    message = refused("object * x", table(rows))
    assert message.startswith(
        "the values of x predict without exception which object won 12 judgments, so 'object[a]', 'object"
    )
    assert_fits("object", table(rows))
    assert_fits("object * x", table([*rows, ("a", "b", 1, 0, 0, -1.5)]))


def test_an_object_covariate_that_separates():
    prices = pd.DataFrame({"object": ["a", "b", "c"], "price": [3.0, 2.0, 1.0]})
    rows = [("a", "b", 4, 0, 0), ("b", "c", 4, 0, 0), ("a", "c", 2, 0, 0)]
    message = refused("price", table(rows, object_covariates=prices))
    assert "price is +∞" in message or "price has no finite estimate" in message
    assert_fits("price", table([*rows[:2], ("a", "c", 2, 0, 1)], object_covariates=prices))


def test_a_side_covariate_that_separates():
    frame = pd.DataFrame(
        {
            "object_i": ["a", "a", "b", "a"],
            "object_j": ["b", "b", "c", "c"],
            "l_i": [3.0, 1.0, 2.0, 1.0],
            "l_j": [1.0, 3.0, 1.0, 4.0],
            "wins_i": [4, 0, 3, 0],
            "wins_j": [0, 4, 0, 3],
        }
    )
    message = refused("object + l", llbt.from_counts(frame, side_covariates={"l": ("l_i", "l_j")}))
    assert re.search(r"\bl\b", message)
    frame.loc[0, "wins_j"] = frame.loc[1, "wins_i"] = frame.loc[2, "wins_j"] = frame.loc[3, "wins_i"] = 1
    assert_fits("object + l", llbt.from_counts(frame, side_covariates={"l": ("l_i", "l_j")}))


# -- order ------------------------------------------------------------------------------------------------


def both_ways(first, second):
    return [(i, j, first, 0, second) for i, j in itertools.permutations("abc", 2)]


def test_the_object_shown_first_always_won():
    message = refused("object + order", table(both_ways(3, 0), order=True))
    assert "the object shown first won all 18 decided judgments" in message
    assert "order" in message
    assert "no finite estimate" in message
    assert_fits("object", table(both_ways(3, 0), order=True))
    rows = both_ways(3, 0)
    one_upset = [*rows, ("c", "b", 0, 0, 1)]  # b better than c by as much as the order is worth, both without bound
    assert "'order'" in refused("object + order", table(one_upset, order=True))
    assert_fits("object + order", table([*one_upset, ("b", "c", 0, 0, 1)], order=True))


def test_the_object_shown_second_always_won():
    message = refused("object + order", table(both_ways(0, 2), order=True))
    assert "the object shown second won all 12 decided judgments" in message


def test_groups_of_objects_are_named_without_a_linear_program_whatever_stands_beside_the_worths(monkeypatch):
    monkeypatch.setattr("llbt.fitting.existence.recession_direction", None)
    c = table([("a", "b", 3, 1, 1), ("b", "a", 2, 0, 2), ("c", "a", 4, 0, 0), ("b", "c", 0, 0, 2)], order=True)
    for formula in ("object", "object + tie", "object + order", "object + tie + order"):
        assert refused(formula, c).startswith("{c} won all 6 judgments against {a, b}")


def test_order_within_a_class():
    rows = [(*row, "J1") for row in both_ways(3, 1)] + [(*row, "J2") for row in both_ways(3, 0)]
    message = refused("object + order:x", table(rows, order=True))
    assert "shown first won all 18 decided judgments of x 'J2'" in message
    assert "order:x[J2]" in message
    assert_fits("object + order", table(rows, order=True))


def test_order_and_worth_together_separate():
    # a wins when shown first or last; b and c win only when shown first against each other
    rows = [("a", "b", 2, 0, 0), ("b", "a", 0, 0, 2), ("b", "c", 2, 0, 0), ("c", "b", 2, 0, 0), ("a", "c", 2, 0, 0)]
    message = refused("object + order", table(rows, order=True))
    assert "no finite estimate" in message
    both = [("c", "a", 1, 0, 1), ("b", "c", 0, 0, 1), ("c", "b", 0, 0, 1)]
    assert_fits("object + order", table([*rows, *both], order=True))


# -- held parameters --------------------------------------------------------------------------------------


def test_what_is_held_need_not_exist():
    rows = [("a", "b", 5, 0, 0), ("a", "c", 4, 0, 0), ("b", "c", 3, 0, 2)]
    res = assert_fits("object", table(rows), fixed={"object[a]": 2.0})
    assert res.params["object[a]"] == 2.0
    c = table(by_class(CYCLE, J1=(1, 2, 0), J7=(0, 0, 0)))
    assert_fits("object + tie:x", c, fixed={"tie:x[J7]": -3.0})
    refused("object + tie:x", c, fixed={"tie:x[J1]": -3.0})


def test_nothing_free_always_exists():
    res = quiet_fit("object + tie", table([("a", "b", 5, 3, 0)]), fixed={"tie": 0.0, "object[a]": 1.0})
    assert res.params.tolist() == [1.0, 0.0]


# -- a second route: does Newton's method find a maximum? ---------------------------------------------------


def cell_rows(formula, c):
    """Rows of the cells made by hand, (S, C, p), for the formulas of this test; columns may be dependent."""
    frame = c.to_frame()
    classes = sorted(set(frame["x"])) if "x" in frame else [None]
    objects = c.objects
    rows = np.zeros((len(frame), 3, 40))
    for s, row in enumerate(frame.to_dict("records")):
        k = 0
        signed = []
        if formula["object"]:
            for x in classes if formula["object"] == "by x" else [None]:
                here = x is None or row["x"] == x
                signed += [here * ((row["object_i"] == o) - (row["object_j"] == o)) for o in objects]
        if formula["order"]:
            signed.append(1)
        for value in signed:
            rows[s, :, k] = value, 0, -value
            k += 1
        for x in {"": [], "one": [None], "by x": classes}[formula["tie"]]:
            rows[s, 1, k] = float(x is None or row["x"] == x)
            k += 1
    return rows if c.has_ties else rows[:, [0, 2]]


def finds_a_maximum(rows, counts, offset=0.0):
    """Whether Newton's method on the multinomial likelihood stops at a finite point.

    Where no maximum exists every full step moves on by about as much as the one before, for ever.
    """
    centred = rows - rows.mean(axis=1, keepdims=True)
    flat = centred.reshape(-1, rows.shape[2])
    _, size, vectors = np.linalg.svd(flat, full_matrices=False)
    rows = centred @ vectors[size > 1e-9].T  # only what the table determines
    p = rows.shape[2]
    if p == 0:
        return True
    start = np.zeros(counts.shape)
    if counts.shape[1] == 3:
        start[:, 1] = offset
    total = counts.sum(axis=1, keepdims=True)

    def pieces(theta):
        eta = rows @ theta + start
        log_p = eta - np.logaddexp.reduce(eta, axis=1, keepdims=True)
        return float((counts * log_p).sum()), np.exp(log_p)

    theta = np.zeros(p)
    value, prob = pieces(theta)
    for _ in range(60):
        mean = (rows * prob[:, :, None]).sum(axis=1, keepdims=True)
        away = rows - mean
        gradient = ((counts - total * prob)[:, :, None] * rows).sum(axis=(0, 1))
        hessian = np.einsum("sc,scp,scq->pq", total * prob, away, away)
        if np.linalg.cond(hessian) > 1e13:
            return False
        step = np.linalg.solve(hessian, gradient)
        if np.abs(step).max() < 1e-9:
            return True
        while True:
            new, new_prob = pieces(theta + step)
            if new >= value - 1e-12 * abs(value):
                break
            step = step / 2
        theta, value, prob = theta + step, new, new_prob
    return False


FORMULAS = {
    "object": {"object": "one", "tie": "", "order": False},
    "object + tie": {"object": "one", "tie": "one", "order": False},
    "object + order": {"object": "one", "tie": "", "order": True},
    "object + tie + order": {"object": "one", "tie": "one", "order": True},
    "object * x": {"object": "by x", "tie": "", "order": False},
    "object * x + tie": {"object": "by x", "tie": "one", "order": False},
    "object + tie * x": {"object": "one", "tie": "by x", "order": False},
    "object:x + tie:x + order": {"object": "by x", "tie": "by x", "order": True},
}


def random_table(rng):
    """A small table with many zeros: 3 or 4 objects, two classes, order kept; upsets are rare in some tables."""
    size = int(rng.integers(3, 5))
    often = rng.uniform(0.3, 0.7, 3) * [1, rng.choice([0.1, 0.1, 1]), rng.choice([0, 0, 0.2, 1])]
    ladder = rng.permutation(size)

    def outcomes(i, j):
        wins, ties, upsets = rng.integers(1, 4, 3) * (rng.random(3) < often)
        return (wins, ties, upsets) if ladder[i] > ladder[j] else (upsets, ties, wins)

    pairs = [p for p in itertools.permutations(range(size), 2) if rng.random() < 0.6]
    rows = [("abcd"[i], "abcd"[j], *outcomes(i, j), x) for i, j in pairs for x in "fm"]
    rows = [row for row in rows if sum(row[2:5])]
    if len({row[5] for row in rows}) < 2 or not sum(row[3] for row in rows):
        return random_table(rng)
    return table(rows, order=True)


def is_connected(c):
    groups = [{o} for o in c.objects]
    for i, j in c.pairs:
        a, b = c.objects[i], c.objects[j]
        joined = set().union(*(g for g in groups if a in g or b in g))
        groups = [g for g in groups if not g & joined] + [joined]
    return len(groups) == 1


def verdict(formula, c, **keywords):
    try:
        res = quiet_fit(formula, c, **keywords)
    except llbt.errors.SeparationError:
        return False
    except llbt.errors.DesignError:
        return "disconnected"
    assert res.converged
    return True


@pytest.mark.slow
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_verdict_agrees_with_newtons_method(formula):
    rng = np.random.default_rng([20150216, sorted(FORMULAS).index(formula)])
    seen = {True: 0, False: 0, "disconnected": 0}
    for _ in range(80):
        c = random_table(rng)
        expected = finds_a_maximum(cell_rows(FORMULAS[formula], c), c.counts) if is_connected(c) else "disconnected"
        found = verdict(formula, c)
        assert found == expected, f"{formula}: {found}, but {expected}\n{c.to_frame()}"
        seen[found] += 1
    assert seen[True] >= 10
    assert seen[False] >= 10


@pytest.mark.parametrize("formula", ["object + tie", "object * x + tie"])
@pytest.mark.slow
def test_the_verdict_with_a_held_tie_effect_agrees_too(formula):
    rng = np.random.default_rng(len(formula))
    seen = []
    for _ in range(60):
        c = random_table(rng)
        if not is_connected(c):
            continue
        rows = cell_rows(FORMULAS[formula] | {"tie": ""}, c)
        seen.append(verdict(formula, c, fixed={"tie": -0.7}))
        assert seen[-1] == finds_a_maximum(rows, c.counts, offset=-0.7), c.to_frame()
    assert min(seen.count(True), seen.count(False)) >= 5


@pytest.mark.slow
def test_two_cells_agree_too():
    rng = np.random.default_rng(8)
    seen = []
    for formula in ("object", "object + order", "object * x"):
        for _ in range(40):
            c = random_table(rng)
            if c.n_judgments == c.n_ties:
                continue
            c = c.drop_ties().drop_empty()
            if not is_connected(c) or len(set(c.to_frame()["x"])) < 2:
                continue
            seen.append(verdict(formula, c))
            assert seen[-1] == finds_a_maximum(cell_rows(FORMULAS[formula], c), c.counts[:, [0, 2]]), c.to_frame()
    assert min(seen.count(True), seen.count(False)) >= 10


def test_the_second_route_can_tell():
    rows = cell_rows(FORMULAS["object + tie"], table([("a", "b", 5, 3, 1)]))
    assert finds_a_maximum(rows, np.array([[5.0, 3.0, 1.0]]))
    assert not finds_a_maximum(rows, np.array([[5.0, 3.0, 0.0]]))


@pytest.mark.slow
@pytest.mark.parametrize("formula", ["object", "object + tie"])
def test_the_graph_agrees_with_the_linear_program(formula):
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(90):
        c = random_table(rng)
        if not is_connected(c):
            continue
        design = LLBT.from_formula(formula, c).design
        free = np.arange(len(design.names))
        free = free[independent_columns(make_problem(design, c, free, {}))]
        direction = recession_direction(make_problem(design, c, free, {}))
        seen.append(verdict(formula, c))
        assert seen[-1] == (direction is None), c.to_frame()
    assert min(seen.count(True), seen.count(False)) >= 15


@pytest.mark.parametrize(
    "formula", ["object * x", "object * x + tie", "object * x + tie * x", "object:x + tie + order"]
)
@pytest.mark.slow
def test_the_graph_of_each_class_agrees_with_the_linear_program(formula, monkeypatch):
    """Large tables are looked at class by class before any program is, with the same verdict."""
    rng = np.random.default_rng(29)
    tables = [c for c in (random_table(rng) for _ in range(30)) if is_connected(c)]
    by_program = [verdict(formula, c) for c in tables]
    monkeypatch.setattr(existence, "_MANY", -1)
    by_graph = [verdict(formula, c) for c in tables]
    assert by_graph == by_program
    assert min(by_graph.count(True), by_graph.count(False)) >= 2


def judged_by_many(rng, judges=40, objects=6, each=90):
    """Judgments of judges with tastes of their own, some of them ties."""
    judge = np.repeat(np.arange(judges), each)
    i = rng.integers(0, objects, len(judge))
    j = (i + rng.integers(1, objects, len(judge))) % objects
    outcome = rng.choice(["i", "tie", "j"], len(judge), p=[0.4, 0.2, 0.4])
    return pd.DataFrame({"i": i, "j": j, "outcome": outcome, "judge": judge})


def of_judges(frame):
    return llbt.from_judgments(frame, objects=("i", "j"), outcome="outcome", covariates="judge")


def test_judges_who_separate_are_named_among_many():
    frame = judged_by_many(np.random.default_rng(41))
    loses = frame["judge"].isin([7, 31]) & ((frame["i"] == 3) | (frame["j"] == 3))
    frame.loc[loses, "outcome"] = np.where(frame.loc[loses, "i"] == 3, "j", "i")
    c = of_judges(frame)
    assert len(c) > existence._MANY
    message = refused("object * judge + tie", c)
    number = int((loses & (frame["judge"] == 7)).sum())
    assert message.startswith(
        f"{{0, 1, 2, 4, 5}} won all {number} judgments against {{3}} under judge 7, so their log-worths differ by ∞ "
        "and have no finite estimate; the same holds under judge 31. Leave the interactions with judge out of the "
        "worth."
    )
    assert_fits("object + tie", c)


def test_judges_who_never_tie_are_named_among_many():
    frame = judged_by_many(np.random.default_rng(41))
    for judge in (0, 31):  # the reference, and another
        frame.loc[(frame["judge"] == judge) & (frame["outcome"] == "tie"), "outcome"] = "i"
    message = refused("object * judge + tie * judge", of_judges(frame))
    assert message.startswith("judge 0 has no ties among 90 judgments; judge 31 has no ties among 90 judgments, so ")
    assert "'tie'" in message
    one = frame.assign(outcome=np.where((frame["judge"] == 0) & (frame.index % 3 == 0), "tie", frame["outcome"]))
    assert "so tie:judge[31] is −∞" in refused("object * judge + tie * judge", of_judges(one))
    assert_fits("object * judge + tie", of_judges(frame))


@pytest.mark.slow
def test_a_direction_of_recession_never_lowers_the_likelihood():
    rng = np.random.default_rng(5)
    found = 0
    while found < 25:
        c = random_table(rng)
        if not is_connected(c):
            continue
        design = LLBT.from_formula("object * x + tie", c).design
        problem = make_problem(design, c, np.arange(len(design.names)), {})
        direction = recession_direction(problem)
        if direction is None:
            continue
        found += 1
        u, w = (rows @ direction for rows in problem.predictors)
        eta = np.column_stack([u, w, -u]) / np.abs(direction).max()
        away = (eta.max(axis=1, keepdims=True) - eta)[c.counts > 0]
        np.testing.assert_allclose(away, 0, atol=1e-6)  # every observed outcome is among the likeliest
        assert np.ptp(eta, axis=1).max() > 1e-3  # and somewhere another one is not


@pytest.mark.slow
def test_the_named_group_won_everything_against_the_rest():
    rng = np.random.default_rng(17)
    checked = 0
    for _ in range(120):
        c = random_table(rng)
        if not is_connected(c) or verdict("object", c):
            continue
        message = refused("object", c)
        above, won, below = re.match(r"\{(.+?)\} won all (\S+) judgments against \{(.+?)\}", message).groups()
        above, below = above.split(", "), below.split(", ")
        assert sorted(above + below) == list(c.objects)
        wins = c.win_matrix()
        frame = c.to_frame()
        across = frame["object_i"].isin(above) != frame["object_j"].isin(above)
        assert wins.loc[below, above].to_numpy().sum() == 0
        assert frame.loc[across, "ties"].sum() == 0
        assert wins.loc[above, below].to_numpy().sum() == float(won)
        checked += 1
    assert checked >= 20


@pytest.mark.slow
def test_the_named_parameters_are_those_without_a_finite_standard_error():
    """What the message names is all that a vanishing penalty leaves undetermined, and nothing else."""
    rng = np.random.default_rng(23)
    checked = 0
    while checked < 15:
        c = random_table(rng)
        if not is_connected(c) or verdict("object * x + tie", c) is not False:
            continue
        message = refused("object * x + tie", c).partition(". ")[0]  # what was found, without the remedy
        design = LLBT.from_formula("object * x + tie", c).design
        free = np.arange(len(design.names))
        free = free[independent_columns(make_problem(design, c, free, {}))]
        errors = ridge_errors(make_problem(design, c, free, {}), 1e-8)
        assert not np.any((errors > 20) & (errors < 100))  # one or the other
        undetermined = {design.names[k] for k, error in zip(free, errors, strict=True) if error > 100}
        named = set(re.findall(r"'([^']*)'", message.split(" no finite estimate")[0].rpartition(", so ")[2]))
        named = named or set(re.findall(r"so (\S+) (?:is|has)", message))
        assert named == undetermined, f"{message}\n{c.to_frame()}"
        checked += 1


def ridge_errors(problem, strength):
    """Standard errors at the maximum of the likelihood less a small multiple of the squared length."""
    signed, tie = (rows.toarray() for rows in problem.predictors)
    rows = np.stack([signed, tie, -signed], axis=1)
    total = problem.totals[:, None]

    def pieces(theta):
        eta = rows @ theta
        log_p = eta - np.logaddexp.reduce(eta, axis=1, keepdims=True)
        return float((problem.counts * log_p).sum() - strength * theta @ theta / 2), np.exp(log_p)

    theta = np.zeros(rows.shape[2])
    value, prob = pieces(theta)
    for _ in range(200):
        away = rows - (rows * prob[:, :, None]).sum(axis=1, keepdims=True)
        gradient = ((problem.counts - total * prob)[:, :, None] * rows).sum(axis=(0, 1)) - strength * theta
        hessian = np.einsum("sc,scp,scq->pq", total * prob, away, away) + strength * np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        for _ in range(40):
            if pieces(theta + step)[0] >= value - 1e-13 * abs(value):
                break
            step = step / 2
        theta = theta + step
        value, prob = pieces(theta)
        if np.abs(step).max() < 1e-8:
            break
    return np.sqrt(np.diag(np.linalg.inv(hessian)))


# -- worths that depend on numbers, in large tables ---------------------------------------------------------


def contextual(votes=900, scale=1.0, seed=2, ties=False):
    """Judgments whose worths depend on three numbers of a prompt, strongly: predictors beyond 12 are certain."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, 5, votes)
    j = (i + rng.integers(1, 5, votes)) % 5
    z = np.column_stack([np.ones(votes), rng.normal(size=(votes, 3)) * scale])
    worth = rng.normal(size=(5, 4))
    u = ((worth[i] - worth[j]) * z).sum(axis=1)
    said = np.where(rng.random(votes) < 1 / (1 + np.exp(-2 * u)), "i", "j")
    said = np.where(rng.random(votes) < 0.2 * ties, "tie", said)
    names = dict(zip(("x", "y", "z"), z[:, 1:].T, strict=True))
    return pd.DataFrame({"object_i": i, "object_j": j, "outcome": said, **names})


def of_prompts(frame):
    return llbt.from_judgments(frame, covariates=["x", "y", "z"], numeric=["x", "y", "z"])


CONTEXTUAL = "object + object:x + object:y + object:z"


@pytest.fixture
def no_program(monkeypatch):
    """No linear program may be asked."""
    monkeypatch.setattr(recession.optimize, "linprog", None)


def test_a_maximum_with_far_predictors_is_proven_without_the_program(no_program):
    c = of_prompts(contextual(scale=3.0))
    res = llbt.fit(CONTEXTUAL, c)
    assert res.converged
    predictors = make_problem(res.design, c, np.arange(len(res.names)), {}).at(np.asarray(res.params))
    assert np.abs(predictors[0]).max() > 20  # log-odds beyond 40


@pytest.mark.parametrize("ties", [False, True])
def test_an_object_that_wins_whatever_the_prompt_is_named_without_the_program(ties, no_program):
    frame = contextual(ties=ties)
    frame["outcome"] = np.select([frame["object_i"] == 3, frame["object_j"] == 3], ["i", "j"], frame["outcome"])
    message = refused(f"{CONTEXTUAL} + tie" if ties else CONTEXTUAL, of_prompts(frame))
    won = int(((frame["object_i"] == 3) | (frame["object_j"] == 3)).sum())
    assert message.startswith(
        f"at all values of x, y, z, {{3}} won {won} and lost 0 of the judgments against {{0, 1, 2, 4}}"
    )
    assert "'object[3]'" in message
    assert "prior='jeffreys'" in message


def test_a_large_program_says_what_it_is_asked_and_for_how_long(monkeypatch):
    frame = contextual(200)
    monkeypatch.setattr(existence, "_MANY", 50)
    frame["outcome"] = np.select([frame["object_i"] == 3, frame["object_j"] == 3], ["i", "j"], frame["outcome"])
    by_step = refused(CONTEXTUAL, of_prompts(frame))
    monkeypatch.setattr(recession, "_SMALL", 0)
    monkeypatch.setattr(recession.Conditions, "nearest", lambda self, step: None)
    monkeypatch.setattr(existence, "is_proven", lambda problem, reached: False)
    with pytest.warns(llbt.errors.SlowWarning, match=r"\d+ conditions on \d+ parameters, up to 60 s"):
        by_program = refused(CONTEXTUAL, of_prompts(frame))
    assert by_program.split(" won ")[0] == by_step.split(" won ")[0] == "at all values of x, y, z, {3}"
    with pytest.warns(llbt.errors.SlowWarning):
        assert_fits(CONTEXTUAL, of_prompts(contextual(200)), largest=30)


def test_a_program_that_ends_undecided_asks_for_a_prior(monkeypatch):
    monkeypatch.setattr(recession, "_SMALL", 0)
    monkeypatch.setattr(recession, "_SECONDS", 0.0)
    monkeypatch.setattr(existence, "_MANY", 50)
    monkeypatch.setattr(existence, "is_proven", lambda problem, reached: False)
    c = of_prompts(contextual(200))
    with (
        pytest.warns(llbt.errors.SlowWarning),
        pytest.raises(llbt.errors.DesignError, match="did not end in") as caught,
    ):
        llbt.fit(CONTEXTUAL, c)
    prior = re.search(r"prior='(\w+)'", caught.value.remedy)[1]
    assert llbt.fit(CONTEXTUAL, c, prior=prior).converged


# -- never a silent large number ----------------------------------------------------------------------------


def test_the_numbers_that_other_software_prints_are_refused():
    """R's glm prints 23.9 ± 15323 for an undefeated object and 11.5 ± 7037 for a group, without a word."""
    undefeated = [("A", "B", 20, 0, 0), ("A", "C", 20, 0, 0), ("B", "C", 12, 0, 8)]
    group = [("A", "B", 12, 0, 8), ("C", "D", 9, 0, 11), *((i, j, 20, 0, 0) for i in "AB" for j in "CD")]
    for method in ("glm", "eliminate", "auto"):
        assert "{A} won all 40 judgments" in refused("object", table(undefeated), method=method)
        assert "{A, B} won all 80 judgments against {C, D}" in refused("object", table(group), method=method)


def test_the_errors_say_what_to_do():
    message = refused("object", table([("a", "b", 5, 0, 0)]))
    assert "select" in message
    assert issubclass(llbt.errors.SeparationError, llbt.errors.DesignError)


def test_the_error_says_apart_what_was_found_and_what_to_do():
    names = ["Dr. Leave A", "B. Use one C"]  # as the sentences of the message begin
    frame = pd.DataFrame([(*names, 5, 0)], columns=["object_i", "object_j", "wins_i", "wins_j"])
    with pytest.raises(llbt.errors.SeparationError) as caught:
        llbt.fit("object", llbt.from_counts(frame))
    error = caught.value
    assert error.found == (
        "{Dr. Leave A} won all 5 judgments against {B. Use one C}, so their log-worths differ by ∞ and have no "
        "finite estimate"
    )
    assert error.remedy.startswith("Leave out or merge objects")
    assert str(error) == f"fit: {error.found}. {error.remedy}"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.found, again.remedy) == (str(error), error.found, error.remedy)
    finding = llbt.audit(llbt.from_counts(frame)).finding("separation")
    assert (finding.found, finding.remedy) == (f"object: {error.found}", error.remedy)
    scores = pd.DataFrame({names[0]: [3.0, 2.0], names[1]: [1.0, 1.0]})
    notes = llbt.scores.aggregate(scores, method=llbt.scores.BradleyTerry(separated="rank")).table().notes
    assert any(f"No finite scores ({error.found.replace('all 5', 'all 2')})" in note for note in notes)
