"""Probabilities of lists and of first places: by enumeration, by worths, and errors by finite differences."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime

import llbt
from llbt.core.rankings import gathered_rankings

LISTS = pd.DataFrame(
    {
        "A": [1, 2, 1, 2, 3, 1, 1, 3],
        "B": [2, 1, 1, 1, 1, 2, 2, 1],
        "C": [3, 3, 2, 3, 2, 1, 1, 2],
        "judge": ["J1", "J1", "J2", "J2", "J1", "J2", "J1", "J2"],
    }
)


def rankings(frame=LISTS, **keywords):
    return llbt.from_rankings(frame, objects=list("ABC"), **keywords)


def every_list(ties):
    """All outcomes of a set of three, with ties of two or without ties."""
    found = [{"A": a, "B": b, "C": c} for a, b, c in itertools.permutations((1, 2, 3))]
    if ties:
        for one in "ABC":
            rest = {k for k in "ABC" if k != one}
            found += [{one: 1, **dict.fromkeys(rest, 2)}, {one: 2, **dict.fromkeys(rest, 1)}]
    return rankings(pd.DataFrame(found))


@pytest.mark.parametrize("ties", [True, False])
def test_probabilities_of_all_lists_of_a_set_sum_to_one(ties):
    frame = (
        LISTS if ties else LISTS.loc[[0, 1, 3, 4, 7]].assign(A=[1, 2, 2, 3, 2], C=[3, 3, 3, 2, 1], B=[2, 1, 1, 1, 3])
    )
    res = llbt.fit("object + tie" if ties else "object", rankings(frame))
    table = res.predict(every_list(ties)).to_frame()
    assert table["estimate"].sum() == pytest.approx(1, abs=1e-12)
    own = res.predict().to_frame()
    np.testing.assert_allclose(own["estimate"], res.probabilities, rtol=1e-12)
    assert list(own.columns) == ["ranking", "estimate", "std_error", "conf_low", "conf_high"]


def test_errors_of_probabilities_are_those_of_finite_differences():
    res = llbt.fit("object * judge + tie", rankings(covariates="judge"), prior=0.5)
    at = res.solution.params
    slopes = np.array(
        [approx_fprime(at, lambda x, k=k: res.lists.probabilities(x)[k], 1e-7) for k in range(len(res.rankings))]
    )
    expected = np.sqrt(np.einsum("kp,pq,kq->k", slopes, res.cov_params().to_numpy(), slopes))
    table = res.predict().to_frame()
    np.testing.assert_allclose(table["std_error"], expected, rtol=1e-5)
    assert table["judge"].tolist() == res.rankings.columns[0].values.tolist()
    again = res.predict(rankings(LISTS, covariates="judge")).to_frame()
    np.testing.assert_allclose(again["std_error"], table["std_error"], rtol=1e-10)


def test_being_first_has_the_probability_that_worths_have():
    """Without ties it is Luce's choice rule, which `worth` prints for all objects: exp(2λ) over their sum."""
    res = llbt.fit(
        "object", rankings(LISTS.loc[[0, 1, 3, 4, 7]].assign(C=[3, 3, 3, 2, 1], A=[1, 2, 2, 3, 2], B=[2, 1, 1, 1, 3]))
    )
    worths = llbt.worth(res).to_frame().set_index("object")
    first = res.first().to_frame().set_index("object")
    pd.testing.assert_frame_equal(first.loc[worths.index], worths, rtol=1e-10)


def test_being_first_alone_by_enumeration():
    res = llbt.fit("object + tie", rankings())
    every = every_list(ties=True)
    table = res.predict(every).to_frame()
    first = res.first().to_frame().set_index("object")["estimate"]
    for label in "ABC":
        some = [text.startswith(f"{label} >") for text in table["ranking"]]
        assert first[label] == pytest.approx(table["estimate"][some].sum(), abs=1e-12)
    assert first.sum() < 1
    assert "several share it" in str(res.first())


@pytest.mark.parametrize("best_worst", ["joint", "sequential"])
def test_being_named_the_best_by_enumeration(best_worst):
    rng = np.random.default_rng(1)
    sets = np.array([rng.permutation(4) for _ in range(60)])
    lists, _ = np.divmod(np.arange(240), 4)
    r = gathered_rankings(tuple("ABCD"), lists, sets.ravel(), np.tile([1, 2, 0, 0], 60), kind="best_worst")
    res = llbt.fit("object", r, best_worst=best_worst)
    worths = np.append(res.params, 0.0)
    chance = {}
    for b, w in itertools.permutations(range(4), 2):
        if best_worst == "joint":
            chance[b, w] = np.exp(worths[b] - worths[w])
        else:
            rest = [k for k in range(4) if k != b]
            chance[b, w] = np.exp(2 * worths[b]) * np.exp(-2 * worths[w]) / np.exp(-2 * worths[rest]).sum()
    total = sum(chance.values())
    found = res.first().to_frame()["estimate"]
    expected = [sum(p for (b, _), p in chance.items() if b == k) / total for k in range(4)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found.sum() == pytest.approx(1)


def test_first_at_values_of_covariates():
    res = llbt.fit("object * judge + tie", rankings(covariates="judge"), prior=0.5)
    every = res.first().to_frame()
    one = res.first(["C", "A"], at={"judge": "J2"}).to_frame()
    assert every["judge"].tolist() == ["J1"] * 3 + ["J2"] * 3
    assert one["object"].tolist() == ["C", "A"]
    x = np.exp(2 * (res.params["object[A]"] + res.params["object[A]:judge[J2]"]))
    norm = 1 + x + np.exp(res.params["tie"]) * np.sqrt(x)
    np.testing.assert_allclose(one["estimate"], [1 / norm, x / norm], rtol=1e-10)


def test_more_tied_than_ever_seen_has_no_probability():
    res = llbt.fit("object + tie", rankings())
    table = res.predict(rankings(pd.DataFrame({"A": [1, 1], "B": [1, 2], "C": [1, 2]})))
    assert table.to_frame()["estimate"].iloc[0] == 0
    assert table.to_frame()["estimate"].iloc[1] > 0
    assert "1 list of probability 0" in str(table)


def test_what_was_not_fitted_is_told():
    res = llbt.fit("object * judge + tie", rankings(covariates="judge"), prior=0.5)
    with pytest.raises(llbt.errors.OptionError, match="judge"):
        res.predict(rankings())
    with pytest.raises(llbt.errors.OptionError, match="'Z'"):
        res.first(["A", "Z"])
    with pytest.raises(llbt.errors.OptionError, match="each once"):
        res.first(["A", "A"])
    with pytest.raises(llbt.errors.OptionError, match="J9"):
        res.first(at={"judge": "J9"})
    other = pd.DataFrame({"A": [1], "X": [2]})
    with pytest.raises(llbt.errors.OptionError, match="'X'"):
        llbt.fit("object + tie", rankings()).predict(llbt.from_rankings(other, objects=["A", "X"]))


def test_a_prior_beside_clusters():
    """The ghost of a prior leaves both covariances."""
    r = rankings(clusters="judge")
    res = llbt.fit("object + tie", r, prior=0.5, cov_type="CR1", groups="judge")
    assert res.bse.shape == (3,)
    assert np.isfinite(llbt.fit("object + tie", r, prior=0.5).bse).all()


@pytest.mark.parametrize("ages", [["x", "y"], pd.to_datetime(["2020-01-01", "2021-01-01"])])
def test_a_number_of_the_fit_is_one_of_other_lists(ages):
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(np.argsort(rng.random((40, 3)), axis=1) + 1, columns=list("ABC")).assign(age=rng.random(40))
    res = llbt.fit("object * age", llbt.from_rankings(rows, objects=list("ABC"), covariates="age"))
    other = pd.DataFrame({"A": [1, 2], "B": [2, 1]}).assign(age=ages)
    with pytest.raises(llbt.errors.OptionError, match=r"covariate 'age' of these lists has .* expected numbers"):
        res.predict(llbt.from_rankings(other, objects=["A", "B"], covariates="age"))
