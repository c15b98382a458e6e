"""One basis for the likelihoods of all kinds of fits: what is equal, what compares, and what is counted.

Second routes: sums of n log p by fitted counts of statsmodels, R's figures as differences, second differences of
likelihoods written out here, orders counted by hand.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

import llbt

TABLE = llbt.load_dataset("dras_table1")
FIVE = llbt.load_dataset("puddings")


def orders(seed: int = 3, lists: int = 40) -> pd.DataFrame:
    """Lists of three objects without ties."""
    said = np.array([0.6, 0.1, -0.5]) + np.random.default_rng(seed).gumbel(size=(lists, 3))
    return pd.DataFrame((-said).argsort(axis=1).argsort(axis=1) + 1, columns=list("ABC"))


def hessian(value, point, step=1e-4):
    """Second differences of a function."""
    at = np.eye(len(point)) * step
    return np.array(
        [
            [
                (value(point + a + b) - value(point + a - b) - value(point - a + b) + value(point - a - b))
                / (4 * step**2)
                for b in at
            ]
            for a in at
        ]
    )


def test_one_table_has_one_basis_whatever_it_is_split_by_and_whatever_is_fitted():
    fits = [
        llbt.fit("object + tie", TABLE),
        llbt.fit("object + tie", TABLE.pool()),
        llbt.fit("object * judge + tie", TABLE),
        llbt.fit("object + tie", TABLE, link="cumulative"),
        llbt.fit("object + tie", TABLE, discrimination="judge"),
        llbt.fit("object + tie + (object | judge)", TABLE),
        llbt.judges.classes("object + tie", TABLE, by="judge", k=[1], rng=1)[1],
    ]
    assert len({fit.basis for fit in fits}) == 1
    plain, pooled, _, _, _, mixed, one = fits
    assert (plain.llf, plain.aic) == (pytest.approx(pooled.llf, abs=1e-9), pytest.approx(pooled.aic, abs=1e-9))
    assert plain.aic == pytest.approx(959.545, abs=5e-4)
    assert [fit.aic_poisson for fit in (plain, pooled)] == pytest.approx([573.8, 139.2], abs=0.05)
    assert (one.llf, one.aic, one.bic, one.bic_judges) == pytest.approx(
        (plain.llf, plain.aic, plain.bic, plain.bic_of("judge")), abs=1e-6
    )
    assert min((plain, mixed), key=lambda fit: fit.aic) is mixed
    assert mixed.bic_judges == pytest.approx(-2 * mixed.llf + np.log(4) * 5)


def test_differences_of_models_are_those_of_the_poisson_figures():
    """R's AIC differs by a constant of the table, statsmodels' too."""
    small, large = llbt.fit("object + tie", TABLE), llbt.fit("object * judge + tie", TABLE)
    change = large.aic - small.aic
    assert change == pytest.approx(large.aic_poisson - small.aic_poisson, abs=1e-8)
    assert change == pytest.approx(large.to_glm().aic - small.to_glm().aic, abs=1e-7)
    assert large.llf - small.llf == pytest.approx(large.llf_multinomial - small.llf_multinomial, abs=1e-8)


def test_effective_parameters_are_the_trace_of_what_the_judgments_know():
    """The information of the judgments by second differences of Σ n log p; a prior next to nothing leaves all."""
    res = llbt.fit("object + tie", FIVE, prior=2.0)
    problem = res.problem()

    def value(params):
        p, _ = problem.response.probabilities(problem.at(params))
        return float((problem.counts * np.log(p.T)).sum())

    point = res.params.to_numpy()
    assert value(point) == pytest.approx(res.llf, rel=1e-12)
    expected = np.trace(-hessian(value, point) @ res.cov_params().to_numpy())
    assert res.effective_params == pytest.approx(expected, rel=1e-4)
    assert res.effective_params < res.n_params == len(point)
    assert res.aic == pytest.approx(-2 * res.llf + 2 * expected, abs=1e-3)
    assert llbt.fit("object + tie", FIVE, prior=1e-9).effective_params == pytest.approx(res.n_params, abs=1e-6)
    assert f"AIC and BIC count {res.effective_params:.3f} effective parameters." in " ".join(str(res).split())


def test_effective_parameters_of_many_objects():
    """The information of the graph of objects; beyond a thousand parameters the printout leaves them to res.aic."""
    for size in (320, 1002):
        k = np.arange(size)
        c = llbt.from_counts(pd.DataFrame({"object_i": k, "object_j": (k + 1) % size, "wins_i": 2, "wins_j": 1}))
        res = llbt.fit("object", c, prior=3.0)
        assert res.effective_params == pytest.approx((size - 1) / 2, rel=1e-6)  # as many judgments as there are
        assert ("effective parameters" in str(res)) is (size < 1000)


def test_effective_parameters_of_lists():
    """The likelihood of Plackett and Luce, written out."""
    frame = orders()
    res = llbt.fit("object", llbt.from_rankings(frame, objects=list("ABC")), prior=3.0)

    def value(params):
        worth = np.exp(2 * np.append(params, 0.0))
        ranked = worth[frame.to_numpy().argsort(axis=1)]
        return float(np.log(ranked[:, 0] / ranked.sum(axis=1) * ranked[:, 1] / ranked[:, 1:].sum(axis=1)).sum())

    point = res.params.to_numpy()
    assert value(point) == pytest.approx(res.llf, rel=1e-10)
    expected = np.trace(-hessian(value, point) @ res.cov_params().to_numpy())
    assert res.effective_params == pytest.approx(expected, rel=1e-4)


def test_a_bias_reduced_fit_counts_its_parameters_below_the_maximum():
    res, best = llbt.fit("object + tie", FIVE, prior="jeffreys"), llbt.fit("object + tie", FIVE)
    assert (res.aic, res.llf < best.llf) == (pytest.approx(-2 * res.llf + 2 * len(res.params)), True)
    assert "AIC and BIC are computed at these estimates, below the maximum." in " ".join(str(res).split())


def test_lists_compare_with_patterns_of_them_and_not_with_their_pairs():
    """Both are distributions over 3! orders, so their sums of probabilities are 1; the pairs' are over 2³."""
    frame = orders()
    r, p = llbt.from_rankings(frame, objects=list("ABC")), llbt.from_patterns(frame, "rankings", objects=list("ABC"))
    lists, patterns = llbt.fit("object", r), llbt.fit("object", p)
    pairs = llbt.fit("object", r.to_comparisons())
    assert lists.basis == patterns.basis
    assert lists.basis != llbt.fit("object", llbt.from_rankings(orders(4), objects=list("ABC"))).basis
    assert "pairs of one ranking are not independent judgments" in lists.basis.difference(pairs.basis)
    every = pd.DataFrame(list(itertools.permutations([1, 2, 3])), columns=list("ABC"))
    worth = np.exp(2 * np.append(lists.params, 0.0))[every.to_numpy().argsort(axis=1)]
    chance = worth[:, 0] / worth.sum(axis=1) * worth[:, 1] / worth[:, 1:].sum(axis=1)
    said = every.merge(frame.value_counts(sort=False).rename("count").reset_index(), how="left").fillna(0)["count"]
    assert (chance.sum(), said @ np.log(chance)) == (pytest.approx(1.0), pytest.approx(lists.llf, rel=1e-10))
    with pytest.raises(llbt.errors.DesignError, match=r"one is of rankings, the other of judgments.*fits of one kind"):
        llbt.anova(lists, pairs)


def test_patterns_of_pairs_without_dependence_compare_with_the_pairs():
    answers = pd.DataFrame(np.random.default_rng(5).choice([-1, 1], size=(30, 3)), columns=["A:B", "A:C", "B:C"])
    p = llbt.from_patterns(answers, "comparisons", objects=list("ABC"), columns=list(answers))
    res = llbt.fit("object", p)
    pairs = llbt.fit("object", p.to_comparisons())
    assert (res.basis, res.llf, res.aic) == (pairs.basis, pytest.approx(pairs.llf), pytest.approx(pairs.aic))
    with pytest.raises(llbt.errors.DesignError, match=r"neither model is a special case.*[.]aic or [.]bic"):
        llbt.anova(res, pairs)


def test_every_kind_of_fit_counts_judgments_and_parameters_under_the_same_names():
    r = llbt.from_rankings(orders(), objects=list("ABC"))
    fits = [
        llbt.fit("object + tie", TABLE),
        llbt.fit("object + tie + (object | judge)", TABLE),
        llbt.fit("object + tie", TABLE, discrimination="judge"),
        llbt.fit("object", r),
    ]
    assert [(fit.nobs, fit.n_judgments) for fit in fits] == [(960, 960)] * 3 + [(40, 40)]
    assert [(fit.df_model, fit.n_params) for fit in fits] == [(4, 4), (5, 5), (7, 7), (2, 2)]
    for fit in fits:
        assert fit.aic == pytest.approx(-2 * fit.llf + 2 * fit.df_model)
        assert fit.bic == pytest.approx(-2 * fit.llf + np.log(fit.nobs) * fit.df_model)


def test_other_outcomes_and_other_judgments_are_another_basis():
    one = llbt.fit("object + tie", TABLE).basis
    dropped, halved = (llbt.fit("object", t).basis for t in (TABLE.drop_ties(), TABLE.split_ties()))
    assert "the outcomes are i, tie, j in one and i, j in the other" in one.difference(dropped)
    assert dropped.difference(halved) == "they are not of the same judgments"
    assert one.difference(one) == ""


def test_turned_pairs_and_objects_in_another_order_are_the_same_judgments():
    frame = TABLE.pool().to_frame()
    turned = frame.rename(
        columns={"object_i": "object_j", "object_j": "object_i", "wins_i": "wins_j", "wins_j": "wins_i"}
    )
    assert llbt.fit("object + tie", llbt.from_counts(turned)).basis == llbt.fit("object + tie", TABLE).basis


def test_bic_counts_what_it_is_asked_to():
    res = llbt.fit("object + tie", TABLE)
    assert res.bic == res.bic_of("judgment") == pytest.approx(-2 * res.llf + np.log(960) * 4)
    assert res.bic_of("judge") == pytest.approx(-2 * res.llf + np.log(4) * 4)
    with pytest.raises(llbt.errors.OptionError, match=r"unit='juge' \(did you mean 'judge'\?\)"):
        res.bic_of("juge")
    frame = orders().assign(judge=np.arange(40) % 8)
    lists = llbt.fit("object", llbt.from_rankings(frame, objects=list("ABC"), clusters="judge"))
    assert lists.bic == lists.bic_of("ranking") == pytest.approx(-2 * lists.llf + np.log(40) * 2)
    assert lists.bic_of("judge") == pytest.approx(-2 * lists.llf + np.log(8) * 2)


def test_fractional_counts_say_that_aic_depends_on_their_scale():
    assert "Counts are fractional: AIC and BIC depend on the scale" in str(llbt.fit("object", TABLE.split_ties()))
    assert "fractional" not in str(llbt.fit("object + tie", TABLE))


def test_links_have_no_poisson_figures():
    res = llbt.fit("object + tie", TABLE, link="probit")
    for name in ("llf_poisson", "aic_poisson", "bic_poisson", "llf_multinomial"):
        with pytest.raises(llbt.errors.DesignError, match="link='probit' is not log-linear"):
            getattr(res, name)


def test_marginal_tests_say_how_r_has_their_aic():
    """drop1 of R's glm has 573.76 for <none> here, and every row by the same number less than here."""
    res = llbt.fit("object + tie", TABLE)
    table = llbt.drop1(res)
    assert "R's AIC, of the Poisson counts, is 385.78 less in every row." in table.notes[-1]
    frame = table.to_frame().set_index("term")
    with pytest.warns(llbt.errors.TiesWarning):
        without = llbt.fit("object", TABLE)
    assert frame.loc["tie", "aic"] - 385.78 == pytest.approx(without.to_glm().aic, abs=0.01)
