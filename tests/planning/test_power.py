"""Simulated power against full enumeration, R-style fits of single tables, and the normal approximation."""

import math
import pickle
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.in_full import in_full

import llbt
from llbt import Scenario
from llbt.planning.power_tests import p_values
from llbt.planning.power_truth import TESTS, Truth
from llbt.planning.simulated_power import Power, power, required_judgments

ERRORS = 4  # Monte Carlo standard errors that a simulated share may be away


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def outcome_probabilities(odds, tie_share):
    """P(i), P(tie), P(j) by hand: √odds : ν : 1/√odds with ν/(2 + ν) the share of ties between equal objects."""
    nu = 2 * tie_share / (1 - tie_share)
    weights = np.array([math.sqrt(odds), nu, 1 / math.sqrt(odds)])
    return weights / weights.sum()


def by_binomtest(i, j, _):
    return stats.binomtest(i, i + j).pvalue if i + j else 1.0


def by_split_binomtest(i, j, ties):
    return by_binomtest(i + ties // 2, j + ties // 2, 0)


def by_power_divergence(i, j, _):
    return stats.power_divergence([i, j], lambda_="log-likelihood").pvalue if i + j else 1.0


SINGLE = {"llbt": by_power_divergence, "sign": by_binomtest, "sign_split": by_split_binomtest}


def enumerated(test, n, odds, tie_share, alpha=0.05):
    """Power for two objects: the probability of every table that is rejected, added up."""
    i, ties = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    i, ties = i[i + ties <= n], ties[i + ties <= n]
    j = n - i - ties
    rejected = [SINGLE[test](int(a), int(b), int(t)) <= alpha for a, b, t in zip(i, j, ties, strict=True)]
    chances = stats.multinomial.pmf(np.column_stack([i, ties, j]), n, outcome_probabilities(odds, tie_share))
    return float(chances[rejected].sum())


def truth_of(n_objects, odds, tie_share, judges, judge_sd, tests):
    """What the tables of a scenario are drawn from."""
    study = Scenario(n_objects=n_objects, odds=odds, tie_share=tie_share, judges=judges, judge_sd=judge_sd)
    return Truth.of(study, tests)


def needed(found, target=0.8, **options):
    """The judgments that each test needs for a power, and the bounds of the simulation, (3,) each."""
    frame = found.needed(target, **options).to_frame().set_index("test")
    return {test: tuple(row) for test, row in zip(frame.index, frame.to_numpy(float), strict=True)}


def assert_within_error(found, expected, n):
    error = np.sqrt(np.maximum(expected * (1 - expected), 1 / n) / n)
    assert np.all(np.abs(found - expected) < ERRORS * error), (found, expected)


# -- two routes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", SINGLE)
@pytest.mark.parametrize(("odds", "tie_share"), [(1.0, 0.4), (3.0, 0.4), (3.0, 0.0), (0.25, 0.6)])
@pytest.mark.slow
def test_power_for_two_objects_is_that_of_full_enumeration(test, odds, tie_share):
    found = power(Scenario(odds=odds, tie_share=tie_share), judgments=[8, 25], test=test, n=20_000, rng=1)
    expected = np.array([enumerated(test, n, odds, tie_share) for n in (8, 25)])
    assert_within_error(found.estimate[0, 0], expected, 20_000)


def drawn(n_objects, judges, tie_share, tables=6, judgments=40, odds=2.0):
    truth = truth_of(n_objects, odds, tie_share, judges, 0.4, ("llbt_cluster",))
    rng = np.random.default_rng(n_objects)
    chances = truth.probabilities(tables, rng)
    size = (tables, judges, len(truth.pairs))
    return truth, rng.multinomial(truth.allotment(judgments), chances, size=size).astype(float)


def comparisons(truth, table):
    """One table by judge as `Comparisons` with the judges as clusters."""
    rows = []
    for judge, counts in enumerate(table):
        for (i, j), cells in zip(truth.pairs, counts, strict=True):
            ties = cells[1] if truth.response.has_ties else 0.0
            rows.append({"object_i": f"o{i}", "object_j": f"o{j}", "judge": f"k{judge:02d}"})
            rows[-1] |= {"wins_i": cells[0], "ties": ties, "wins_j": cells[-1]}
    ties = "ties" if truth.response.has_ties else None
    return llbt.from_counts(pd.DataFrame(rows), ties_column=ties, clusters="judge")


@pytest.mark.parametrize("tie_share", [0.0, 0.3])
@pytest.mark.parametrize("n_objects", [2, 3, 5])
def test_the_llbt_test_is_anova_of_two_fits(n_objects, tie_share):
    truth, counts = drawn(n_objects, 6, tie_share)
    ties = " + tie" if tie_share else ""
    found = p_values("llbt", counts, truth)
    for p, table in zip(found, counts, strict=True):
        c = comparisons(truth, table)
        full = llbt.fit("object" + ties, c)
        equal = dict.fromkeys([name for name in full.names if name != "tie"], 0.0)
        null = llbt.fit("object" + ties, c, fixed=equal)
        assert p == pytest.approx(stats.chi2.sf(null.deviance - full.deviance, n_objects - 1), rel=1e-6)


@pytest.mark.parametrize("tie_share", [0.0, 0.3])
@pytest.mark.parametrize("n_objects", [2, 3, 5])
@pytest.mark.slow
def test_the_clustered_test_is_anova_of_two_clustered_fits(n_objects, tie_share):
    truth, counts = drawn(n_objects, 9, tie_share, odds=1.5)
    found = p_values("llbt_cluster", counts, truth)
    assert len(set(found)) > 3
    for p, table in zip(found, counts, strict=True):
        c = comparisons(truth, table)
        ties = " + tie" if tie_share else ""
        full = llbt.fit("object" + ties, c, cov_type="cluster", groups="judge")
        small = llbt.fit("object" + ties, c, fixed={name: 0.0 for name in full.names if name != "tie"})
        assert p == llbt.anova(small, full).to_frame()["p_value"][1]


def test_a_table_without_a_finite_estimate_may_reject_in_the_clustered_test():
    """The score test needs the estimate of equal worths alone; all six judges agree, so of 32 flips one is as far."""
    truth = truth_of(2, 2.0, 0.3, 6, 0.0, ("llbt_cluster",))
    counts = np.array([[[[5.0, 2.0, 0.0]], [[4.0, 1.0, 0.0]], [[6.0, 0.0, 0.0]]] * 2])
    assert p_values("llbt_cluster", counts, truth).tolist() == [1 / 32]


def test_few_judges_of_different_tastes_keep_the_level():
    """F with judges − 1 denominator df rejects about a third of these."""
    found = power(
        Scenario(n_objects=6, judges=8, judge_sd=1.0, odds=1), judgments=32, test="llbt_cluster", n=1000, rng=3
    )
    assert_within_error(found.estimate[0, 0], np.array([0.05]), 1000)


def test_the_sign_tests_compare_best_and_worst():
    truth = truth_of(3, 2.0, 0.3, None, 0.0, ("sign",))
    assert truth.pairs[truth.extreme].tolist() == [0, 2]
    counts = np.array([[[[9.0, 1, 9], [14, 7, 3], [9, 1, 9]]]])
    assert p_values("sign", counts, truth)[0] == pytest.approx(stats.binomtest(14, 17).pvalue)
    assert p_values("sign_split", counts, truth)[0] == pytest.approx(stats.binomtest(17, 23).pvalue)
    assert p_values("sign", 0 * counts, truth)[0] == 1
    assert p_values("llbt", counts[:, :, [1]], truth_of(2, 2.0, 0.3, None, 0.0, ("llbt",)))[0] < 0.01


# -- what is drawn -----------------------------------------------------------------------------------------------


def test_log_worths_are_equally_spaced_and_ties_have_their_share_between_equals():
    truth = truth_of(5, 4.0, 0.4, None, 0.0, ("llbt",))
    np.testing.assert_allclose(np.diff(truth.log_worth), -math.log(4) / 8)
    p = truth.probabilities(1, np.random.default_rng())[0, 0]
    extreme = p[truth.extreme]
    assert extreme[0] / extreme[2] == pytest.approx(4)
    np.testing.assert_allclose(extreme, outcome_probabilities(4.0, 0.4))
    equal = truth_of(3, 1.0, 0.4, None, 0.0, ("llbt",)).probabilities(1, np.random.default_rng())
    np.testing.assert_allclose(equal[0, 0], [[0.3, 0.4, 0.3]] * 3)


@pytest.mark.parametrize("n_objects", [2, 4])
def test_judges_differ_by_judge_sd_in_the_log_odds_of_every_pair(n_objects):
    truth = truth_of(n_objects, 2.0, 0.2, 50, 0.8, ("llbt",))
    p = truth.probabilities(400, np.random.default_rng(1))
    log_odds = np.log(p[..., 0] / p[..., 2]).reshape(-1, len(truth.pairs))
    np.testing.assert_allclose(log_odds.std(axis=0), 0.8, rtol=0.03)
    assert log_odds.mean(axis=0)[truth.extreme] == pytest.approx(math.log(2), abs=0.02)


@pytest.mark.parametrize("judges", [1, 2, 7, 30])
def test_judges_take_turns_and_tables_grow(judges):
    truth = truth_of(4, 2.0, 0.2, judges, 0.1 if judges > 1 else 0.0, ("llbt",))
    before = np.zeros((truth.judges, 6))
    for judgments in (1, 2, 5, 20, 31):
        shares = truth.allotment(judgments)
        assert shares.sum(axis=0).tolist() == [judgments] * 6
        assert shares.max() - shares.min() <= 1
        assert (shares >= before).all()
        before = shares


def test_a_remainder_goes_round_over_the_pairs():
    truth = truth_of(4, 2.0, 0.2, 6, 0.1, ("llbt",))
    assert truth.allotment(1).sum(axis=1).tolist() == [1] * 6
    assert truth.allotment(8).sum(axis=1).tolist() == [8] * 6


# -- statistical claims ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_objects", [2, 4])
def test_the_llbt_test_has_its_level_and_the_sign_tests_stay_below(n_objects):
    found = power(
        Scenario(n_objects=n_objects, odds=1, tie_share=0.4), judgments=150, test=("llbt", "sign"), n=6000, rng=3
    )
    llbt_size, sign_size = found.estimate[0, :, 0]
    assert abs(llbt_size - 0.05) < ERRORS * math.sqrt(0.05 * 0.95 / 6000)
    assert sign_size < 0.05


@pytest.mark.parametrize("test", ["sign", "sign_split"])
@pytest.mark.parametrize("n", [5, 12, 30])
def test_the_exact_sign_tests_are_conservative_at_every_size(test, n):
    size = enumerated(test, n, 1.0, 0.4)
    assert size <= 0.05
    assert_within_error(
        power(Scenario(odds=1, tie_share=0.4), judgments=n, test=test, n=8000, rng=5).estimate, size, 8000
    )


def test_power_rises_with_judgments_odds_and_falls_with_ties():
    def estimate(n=2000, **supposed):
        return power(Scenario(**supposed), judgments=[30, 60, 120, 240, 480], n=n, rng=1).estimate[0, 0]

    middle = estimate()
    assert (np.diff(middle) > 0).all()
    assert (np.diff(estimate(n_objects=4, n=500)) > 0).all()
    assert (estimate(odds=1.8) > middle).all()
    assert (estimate(tie_share=0.6) < middle).all()


def test_the_llbt_test_needs_fewer_judgments_than_the_sign_tests_at_many_ties():
    judgments = [100, 200, 300, 400, 600]
    found = power(Scenario(tie_share=0.4), judgments=judgments, test=("llbt", "sign", "sign_split"), n=3000, rng=1)
    assert (found.estimate[0, 0] >= found.estimate[0, 1]).all()
    assert (found.estimate[0, 1] > found.estimate[0, 2]).all()
    judged = {test: number for test, (number, _, _) in needed(found).items()}
    assert judged["llbt"] < judged["sign"] < judged["sign_split"]


def normal_approximation(odds, tie_share, target):
    """Judgments that the two-sided one-sample test of a share needs (Fleiss, Levin & Paik 2003, section 2.6)."""
    p_i, p_tie, p_j = outcome_probabilities(odds, tie_share)
    p = p_i / (p_i + p_j)
    z_alpha, z_power = stats.norm.isf(0.025), stats.norm.ppf(target)
    decided = ((z_alpha / 2 + z_power * math.sqrt(p * (1 - p))) / (p - 0.5)) ** 2
    return decided / (1 - p_tie)


@pytest.mark.parametrize("target", [0.6, 0.8, 0.9])
def test_the_required_number_is_near_the_normal_approximation(target):
    expected = normal_approximation(1.2, 0.3, target)
    found = power(Scenario(odds=1.2), judgments=[500, 900, 1300, 1700, 2100], n=4000, rng=7)
    number, low, high = needed(found, target)["llbt"]
    assert number == pytest.approx(expected, rel=0.05)
    assert low < number < high
    wider = needed(found, target, confidence=0.99)["llbt"]
    assert wider[0] == number
    assert wider[1] < low < high < wider[2]
    at = power(Scenario(odds=1.2), judgments=math.ceil(number), n=4000, rng=8).estimate[0, 0, 0]
    assert at == pytest.approx(target, abs=0.03)


def test_required_judgments_for_four_objects_follow_the_noncentral_chi_square():
    """Noncentrality per judgment and pair: Σ 4 λ̂ᵀ I λ̂ with the information of equal objects, 3 df."""
    truth = truth_of(4, 1.5, 0.3, None, 0.0, ("llbt",))
    i, j = truth.pairs.T
    noncentrality = 0.7 * float(np.sum((truth.log_worth[i] - truth.log_worth[j]) ** 2))

    def gap(n):
        return stats.ncx2.sf(stats.chi2.isf(0.05, 3), 3, n * noncentrality) - 0.8

    low, high = 10, 1000
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    found = power(Scenario(n_objects=4, odds=1.5), judgments=[50, 75, 100, 150, 200], n=2000, rng=2)
    assert needed(found)["llbt"][0] == pytest.approx(low, rel=0.06)


@pytest.mark.slow
def test_where_judges_differ_only_the_clustered_test_keeps_its_level():
    tests = ("llbt", "sign", "llbt_cluster")
    study = Scenario(odds=1, judges=40, judge_sd=1.0)
    settings = {"judgments": 800, "test": tests, "n": 2000, "rng": 1}
    found = dict(zip(tests, power(study, **settings).estimate[0, :, 0], strict=True))
    assert found["llbt"] > 0.2
    assert found["sign"] > 0.2
    assert found["llbt_cluster"] == pytest.approx(0.05, abs=0.02)
    alike = power(replace(study, judge_sd=0.0), **settings).estimate[0, :, 0]
    np.testing.assert_allclose(alike, 0.05, atol=0.02)


# -- the required number -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [0.3, 0.5, 0.8, 0.95])
def test_a_normal_power_curve_is_interpolated_exactly(target):
    judgments = np.array([10, 40, 160, 640])
    curve = stats.norm.cdf(0.2 * np.sqrt(judgments) - 1.96)
    expected = ((stats.norm.ppf(target) + 1.96) / 0.2) ** 2
    assert required_judgments(judgments, curve, target, 10**9) == pytest.approx(expected)


def test_a_sawtooth_is_made_monotone_before_it_is_read():
    judgments = np.array([10, 20, 30, 40])
    level = (0.8 + 0.7) / 2
    assert required_judgments(judgments, np.array([0.2, 0.82, 0.7, 0.9]), 0.8, 1000) > 30
    assert math.isnan(required_judgments(judgments, np.array([0.2, 0.8, 0.7, level]), 0.8, 1000))


@pytest.mark.parametrize(
    ("curve", "expected"),
    [([0.1, 0.2], math.nan), ([0.9, 1.0], math.nan), ([0.0, 0.8], 40), ([0.0, 1.0], 40), ([0.8, 0.9], math.nan)],
)
def test_the_required_number_lies_between_two_points_or_is_unknown(curve, expected):
    found = required_judgments(np.array([10, 40]), np.array(curve), 0.8, 4)
    assert math.isnan(found) if math.isnan(expected) else 10 < found <= expected


def test_a_tooth_that_reaches_the_target_before_the_curve_falls_does_not_count():
    curve = Power((Scenario(odds=2.0),), ("sign",), np.array([10, 20]), np.array([[[85, 70]]]), 100, 0.05)
    assert math.isnan(needed(curve)["sign"][0])
    assert "Power 0.8 of sign is not reached with 20 judgments per pair" in curve.as_text()


def test_an_unreached_target_is_said():
    few = power(Scenario(), judgments=[5, 10], n=50, rng=1)
    many = power(Scenario(), judgments=[4000, 8000], n=50, rng=1)
    assert math.isnan(needed(few)["llbt"][0])
    assert math.isnan(needed(many)["llbt"][0])
    assert "Power 0.8 of llbt is not reached with 10 judgments per pair." in few.as_text()
    assert "Power 0.8 of llbt is reached with 4,000 judgments per pair already." in many.as_text()


# -- the record --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def several():
    return power(Scenario(n_objects=3), judgments=[60, 20, 20], test=["sign", "llbt"], n=80, rng=1)


def test_the_frame_has_a_row_per_test_and_number(several):
    frame = several.to_frame()
    assert list(frame) == ["test", "judgments", "total", "estimate", "std_error", "conf_low", "conf_high"]
    assert frame[["test", "judgments", "total"]].values.tolist() == [
        ["sign", 20, 60], ["sign", 60, 180], ["llbt", 20, 60], ["llbt", 60, 180]
    ]  # fmt: skip
    estimate = frame["estimate"].to_numpy()
    np.testing.assert_allclose(frame["std_error"], np.sqrt(estimate * (1 - estimate) / 80))
    z = stats.norm.isf(0.025)
    half = z * np.sqrt(estimate * (1 - estimate) / 80 + z**2 / (4 * 80**2)) / (1 + z**2 / 80)  # Wilson 1927
    center = (estimate + z**2 / 160) / (1 + z**2 / 80)
    np.testing.assert_allclose(frame[["conf_low", "conf_high"]], np.column_stack([center - half, center + half]))


def test_what_was_simulated_is_said(several):
    text = in_full(several)
    for said in (
        "Simulated power at level 0.05",
        "3 objects, odds 1.500, best against worst, the others equally spaced between; 30 % ties between equal objects",
        "the same number for each of 3 pairs",
        "sign: exact sign test, ties dropped",
        "80 simulated tables",
        "sign tests compare the best object with the worst",
    ):
        assert said in text
    differing = in_full(
        power(Scenario(judges=6, judge_sd=0.5), judgments=20, test=("llbt", "llbt_cluster"), n=20, rng=1)
    )
    assert "Judges: 6, who take turns; standard deviation of their log-odds: 0.5" in differing
    assert "judges differ: without clusters, true nulls are rejected too often by llbt" in differing


def test_the_foot_gives_the_required_number():
    found = power(Scenario(), judgments=[100, 200, 400], n=1000, rng=1)
    number, low, high = needed(found)["llbt"]
    line = (
        f"Power 0.8 of llbt: {math.ceil(number)} judgments per pair ({math.ceil(low)} to {math.ceil(high)}, simulation"
    )
    assert line in found.as_text()
    assert line in found.as_html()


def test_it_survives_a_pickle_round_trip(several):
    again = pickle.loads(pickle.dumps(several))
    assert isinstance(again, Power)
    pd.testing.assert_frame_equal(again.to_frame(), several.to_frame())


def test_the_same_rng_gives_the_same_power_and_leaves_the_global_state_alone(capsys):
    study, settings = Scenario(judges=6, judge_sd=0.3), {"judgments": [20, 40], "test": TESTS, "n": 450}
    np.random.seed(1)  # noqa: NPY002  # the state that must not move
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one = power(study, **settings, rng=11)
    assert np.array_equal(one.rejections, power(study, **settings, rng=11).rejections)
    assert np.array_equal(one.rejections, power(study, **settings, rng=np.random.default_rng(11)).rejections)
    assert np.array_equal(one.rejections, power(study, **settings, rng=11, progress=True).rejections)
    assert not np.array_equal(one.rejections, power(study, **settings, rng=12).rejections)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert capsys.readouterr().out == ""


def test_judges_who_do_not_differ_do_not_matter():
    alike = power(Scenario(judges=10), judgments=[30], n=300, rng=1)
    assert np.array_equal(alike.rejections, power(Scenario(), judgments=30, n=300, rng=1).rejections)


SUPPOSED = ("n_objects", "odds", "tie_share", "judges", "judge_sd")
BAD = [
    ({"odds": 0}, "odds=0; expected a finite number, above 0"),
    ({"odds": -1.5}, "odds=-1.5"),
    ({"odds": math.inf}, "odds=inf"),
    ({"odds": math.nan}, "odds=nan"),
    ({"odds": "2"}, "odds='2'"),
    ({"tie_share": 1}, "tie_share=1; expected a number of at least 0 and below 1"),
    ({"tie_share": -0.1}, "tie_share=-0.1"),
    ({"tie_share": math.nan}, "tie_share=nan"),
    ({"judgments": []}, "judgments=[]; expected whole numbers per pair"),
    ({"judgments": 0}, "judgments= holds 0; expected"),
    ({"judgments": [10, 0]}, "judgments= holds 0"),
    ({"judgments": [10.5]}, "judgments= holds 10.5"),
    ({"judgments": True}, "judgments=True"),
    ({"judgments": "10"}, "judgments='10'"),
    ({"judge_sd": -0.1, "judges": 3}, "judge_sd=-0.1; expected a finite number, at least 0"),
    ({"judge_sd": math.inf, "judges": 3}, "judge_sd=inf"),
    ({"judge_sd": 0.5}, "judge_sd=0.5 with judges=None; expected at least two judges"),
    ({"judge_sd": 0.5, "judges": 1}, "judge_sd=0.5 with judges=1"),
    ({"judges": 0}, "judges=0; expected an integer of at least 1"),
    ({"judges": 2.0}, "judges=2.0"),
    ({"test": "t"}, "test='t'; expected 'llbt', 'llbt_cluster', 'sign' or 'sign_split'"),
    ({"test": []}, "test=[]"),
    ({"test": ("sign", "sign")}, "each once"),
    ({"test": None}, "test=None"),
    ({"test": "llbt_cluster"}, "test='llbt_cluster' with judges=None"),
    (
        {"test": "llbt_cluster", "judges": 5},
        "no p-value below 0.0625, and the level is 0.05; expected judges=6 at least",
    ),
    ({"n_objects": 1}, "n_objects=1; expected a whole number from 2 to 50"),
    ({"n_objects": 51}, "n_objects=51"),
    ({"n_objects": 2.5}, "n_objects=2.5"),
    ({"alpha": 0}, "alpha=0; expected a number between 0 and 1"),
    ({"n": 0}, "n=0"),
    ({"rng": -1}, "rng=-1; expected"),
]


@pytest.mark.parametrize(("options", "fragment"), BAD, ids=[fragment[:30] for _, fragment in BAD])
def test_bad_options(options, fragment):
    supposed = {name: options[name] for name in options if name in SUPPOSED}
    asked = {name: options[name] for name in options if name not in SUPPOSED}
    with pytest.raises(llbt.errors.OptionError) as caught:
        power(Scenario(**supposed), **asked)
    assert str(caught.value).startswith(("power: ", "Scenario: "))
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "fragment"),
    [
        (lambda found: found.needed(1.0), "Power.needed: target=1.0; expected a number between 0 and 1"),
        (lambda found: found.needed(confidence=95), "Power.needed: confidence=95"),
        (lambda found: found.conf_int(95), "Power.conf_int: confidence=95"),
        (lambda found: llbt.plot.power(found, target=0), "plot.power: target=0"),
        (lambda _: power(2), "power: scenario is of type int; expected an llbt.Scenario(…), or a list of them"),
        (lambda _: power([]), "power: scenario is of type list"),
        (lambda _: power([Scenario(), {"odds": 2}]), "power: scenario is of type list"),
        (lambda _: power([Scenario(), Scenario(odds=1.5)]), "power: scenario= has the same scenario twice"),
    ],
)
def test_bad_views_and_scenarios(ask, fragment):
    with pytest.raises(llbt.errors.OptionError) as caught:
        ask(power(Scenario(), judgments=[5], n=5, rng=1))
    assert fragment in str(caught.value)


# -- the picture -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def curves():
    return power(Scenario(tie_share=0.4), judgments=[50, 100, 200, 300, 400, 600], test=("llbt", "sign"), n=1000, rng=1)


def test_the_picture_has_a_curve_per_test_with_intervals(curves):
    ax = llbt.plot.power(curves)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("Judgments per pair", "Power", "linear")
    drawn_curves = {container.get_label(): container for container in ax.containers}
    assert list(drawn_curves) == ["LLBT", "sign, ties dropped"]
    for k, container in enumerate(drawn_curves.values()):
        line, _, (bars,) = container.lines
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([curves.judgments, curves.estimate[0, k]]))
        np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], curves.conf_int()[0, k])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(drawn_curves)


def test_the_picture_marks_target_and_required_numbers(curves):
    ax = llbt.plot.power(curves)
    texts = {text.get_text(): text for text in ax.texts}
    numbers = [number for number, _, _ in needed(curves).values()]
    labels = [str(math.ceil(x)) for x in numbers]
    assert set(texts) == {"target 0.8", *labels}
    feet = {round(float(part.get_segments()[0][0, 0]), 6) for part in ax.collections if len(part.get_segments()) == 1}
    assert feet >= {round(x, 6) for x in numbers}
    colours = {container.lines[0].get_color() for container in ax.containers}
    assert {texts[label].get_color() for label in labels} == colours


def test_nothing_is_marked_where_the_target_is_not_reached():
    ax = llbt.plot.power(power(Scenario(odds=1.1), judgments=[5, 10, 200], n=50, rng=1))
    assert [text.get_text() for text in ax.texts] == ["target 0.8"]
    assert ax.get_xscale() == "log"
    assert ax.get_legend() is None


def test_it_draws_where_it_is_told(curves):
    _, (left, right) = plt.subplots(1, 2)
    assert llbt.plot.power(curves, ax=right) is right
    assert not left.containers


def test_it_draws_power_only():
    with pytest.raises(
        llbt.errors.OptionError, match=r"plot.power: power=.*; expected Power, what llbt.power\(…\) returns"
    ):
        llbt.plot.power([1, 2])


# -- scenarios side by side ----------------------------------------------------------------------------------


def test_several_scenarios_are_each_alone():
    options = {"judgments": [50, 150, 300], "test": ("llbt", "sign"), "n": 300}
    grid = power(Scenario().grid(odds=[1.5, 2], tie_share=(0.0, 0.4)), rng=3, **options)
    draw = np.random.default_rng(3)
    frame = grid.to_frame()
    assert frame.columns[:4].tolist() == ["odds", "tie_share", "test", "judgments"]
    wanted = grid.needed(0.7, confidence=0.9).to_frame().set_index(["odds", "tie_share", "test"])
    for odds, ties in [(1.5, 0.0), (1.5, 0.4), (2, 0.0), (2, 0.4)]:
        alone = power(Scenario(odds=odds, tie_share=ties), rng=draw, **options)
        part = frame[(frame["odds"] == odds) & (frame["tie_share"] == ties)].drop(columns=["odds", "tie_share"])
        pd.testing.assert_frame_equal(part.reset_index(drop=True), alone.to_frame())
        for test, numbers in needed(alone, 0.7, confidence=0.9).items():
            np.testing.assert_array_equal(wanted.loc[(odds, ties, test)].to_numpy(float), numbers)


def test_scenarios_of_several_judges_say_what_each_would():
    study = Scenario(n_objects=3, judges=6, judge_sd=0.5)
    options = {"judgments": 24, "test": ("llbt", "llbt_cluster"), "n": 50}
    grid = power(study.grid(judges=[6, 12]), rng=1, **options)
    assert grid.to_frame()["judges"].tolist() == [6, 6, 12, 12]
    alone = power(study, rng=1, **options)
    caution = next(note for note in alone.table().notes if "judges differ" in note)
    assert grid.table().notes.count(caution) == 1
    text = grid.as_text()
    assert text.startswith("Simulated power at level 0.05 in 2 scenarios")
    assert "Judges" in text
    shown = pickle.loads(pickle.dumps(grid)).to_frame()
    pd.testing.assert_frame_equal(shown, grid.to_frame())


def test_scenarios_with_and_without_judges_stand_side_by_side():
    found = power([Scenario(), Scenario(judges=6, judge_sd=0.5)], judgments=10, n=5, rng=1).to_frame()
    assert found["judges"].isna().tolist() == [True, False]
    assert found["judge_sd"].tolist() == [0, 0.5]


def test_a_grid_has_every_combination_and_keeps_the_rest():
    study = Scenario(n_objects=3, judges=6)
    found = study.grid(odds=[1, 2], judge_sd=np.array([0.0, 0.5]))
    assert found == tuple(replace(study, odds=odds, judge_sd=sd) for odds in (1, 2) for sd in (0.0, 0.5))
    assert study.grid() == (study,)


def test_a_list_of_one_scenario_is_that_scenario():
    one, listed = (power(asked, judgments=40, n=60, rng=5) for asked in (Scenario(), [Scenario()]))
    assert one.as_text() == listed.as_text()


def test_the_picture_of_scenarios_names_what_differs():
    found = power(Scenario().grid(odds=[1, 2], tie_share=[0.0, 0.4]), judgments=[20, 40, 80], n=50, rng=1)
    ax = llbt.plot.power(found, target=0.5)
    labels = [container.get_label() for container in ax.containers]
    assert labels == [f"odds {odds}, tie share {ties}" for odds in (1, 2) for ties in (0.0, 0.4)]
    for container, curve in zip(ax.containers, found.estimate[:, 0], strict=True):
        np.testing.assert_allclose(container.lines[0].get_ydata(), curve)
    assert "target 0.5" in [text.get_text() for text in ax.texts]
    both = llbt.plot.power(power(Scenario().grid(odds=[1, 2]), judgments=[20, 40], test=("llbt", "sign"), n=9, rng=1))
    assert both.containers[1].get_label() == "odds 1, sign, ties dropped"


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"odds": []}, "Scenario.grid: odds=[]; expected several different numbers"),
        ({"odds": 2}, "Scenario.grid: odds=2; expected several"),
        ({"judges": (6, 6)}, "Scenario.grid: judges=(6, 6)"),
        ({"judges": [None, 6]}, "Scenario.grid: judges=[None, 6]"),
        ({"odds": [1.5, -1]}, "Scenario.grid: odds=-1"),
        ({"tie_share": "0.3"}, "Scenario.grid: tie_share='0.3'"),
        ({"judge_sd": [0.0, 0.5]}, "Scenario.grid: judge_sd=0.5 with judges=None"),
    ],
)
def test_grids_that_make_no_sense(options, fragment):
    with pytest.raises(llbt.errors.OptionError) as caught:
        Scenario().grid(**options)
    assert fragment in str(caught.value)
