"""Contrasts of log-worths and all pairs: against t_test, predict and Tukey, and their familywise level."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.contrasts import aliased, simulated
from support.fits import fit_by

import llbt
from llbt.errors import DesignError
from llbt.inference.contrasts import contrasts
from llbt.inference.pairwise import pairwise
from llbt.inference.pairwise_record import Pairwise

TABLE1 = llbt.load_dataset("dras_table1")
REST = {"A": 1, "B": -1 / 3, "C": -1 / 3, "D": -1 / 3}
TEST_COLUMNS = ["estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
FACTOR = {"log_worth": 1, "log_odds": 2, "elo": 800 / np.log(10)}


@pytest.fixture(scope="module")
def pooled():
    return llbt.fit("object + tie", TABLE1.pool())


@pytest.fixture(scope="module")
def by_judge():
    return llbt.fit("object * judge + tie", TABLE1)


@pytest.fixture(scope="module")
def close():
    """Four objects so alike that only some pairs differ."""
    return llbt.fit("object + tie", simulated(np.random.default_rng(12), np.array([0.35, 0.2, 0.05, -0.3])))


# -- contrasts --------------------------------------------------------------------------------------------


def test_contrasts_are_t_tests_of_their_coefficients(pooled):
    found = contrasts(pooled, {"A vs rest": REST, "B vs C": {"C": -1, "B": 1}}, scale="log_worth").to_frame()
    rows = [[1, -1 / 3, -1 / 3, 0], [0, 1, -1, 0]]  # of A, B, C, tie; D is the reference
    np.testing.assert_allclose(found[TEST_COLUMNS], pooled.t_test(rows).to_frame()[TEST_COLUMNS], rtol=1e-10)
    assert found["term"].tolist() == ["A vs rest", "B vs C"]
    assert list(found) == ["term", *TEST_COLUMNS]


def test_contrasts_at_a_judge_are_t_tests_with_the_interactions(by_judge):
    found = contrasts(by_judge, {"A - B": {"A": 1, "B": -1}}, at={"judge": "J3"}, scale="log_worth").to_frame()
    names = list(by_judge.names)
    row = np.zeros((1, len(names)))
    for name, weight in (("object[A]", 1), ("object[B]", -1)):
        row[0, [names.index(name), names.index(f"{name}:judge[J3]")]] = weight
    np.testing.assert_allclose(found[TEST_COLUMNS], by_judge.t_test(row).to_frame()[TEST_COLUMNS], rtol=1e-10)


def test_contrasts_in_words_are_t_tests(by_judge):
    text = "object[A] = object[B] + 1"
    found = contrasts(by_judge, {"x": text, "tie": "tie = -1"}, scale="log_worth").to_frame()
    expected = by_judge.t_test([text, "tie = -1"]).to_frame()
    np.testing.assert_allclose(found[TEST_COLUMNS], expected[TEST_COLUMNS], rtol=1e-10)
    assert found["term"].tolist() == ["x", "tie"]
    two = contrasts(by_judge, {"x": "object[A], object[B]"}).to_frame()
    assert two["term"].tolist() == ["x: object[A]", "x: object[B]"]
    np.testing.assert_allclose(two["estimate"], 2 * by_judge.params[["object[A]", "object[B]"]])


def test_words_beside_weights_keep_their_order_and_ignore_at(by_judge):
    asked = {"words": "object[A] = object[B]", "weights": {"A": 1, "B": -1}}
    table = contrasts(by_judge, asked, at={"judge": "J1"})  # the reference judge: the same thing
    a, b = table.to_frame()[TEST_COLUMNS].to_numpy()
    np.testing.assert_allclose(a, b)
    assert table.to_frame()["term"].tolist() == ["words", "weights"]
    assert any("at= does not change them" in note for note in table.notes)


def test_contrasts_on_every_scale(pooled):
    asked = {"A vs rest": REST}
    base = contrasts(pooled, asked, scale="log_worth").to_frame().iloc[0]
    for scale, factor in FACTOR.items():
        found = contrasts(pooled, asked, scale=scale).to_frame().iloc[0]
        for name in ("estimate", "std_error", "conf_low", "conf_high"):
            assert found[name] == pytest.approx(factor * base[name])
    odds = contrasts(pooled, asked, scale="odds_ratio").to_frame().iloc[0]
    share = contrasts(pooled, asked, scale="probability").to_frame().iloc[0]
    for name in ("estimate", "conf_low", "conf_high"):
        assert odds[name] == pytest.approx(np.exp(2 * base[name]))
        assert share[name] == pytest.approx(odds[name] / (1 + odds[name]))
    assert odds["std_error"] == pytest.approx(2 * odds["estimate"] * base["std_error"])
    slope = 2 * share["estimate"] * (1 - share["estimate"])
    assert share["std_error"] == pytest.approx(slope * base["std_error"])
    assert odds["p_value"] == share["p_value"] == base["p_value"]


def test_contrasts_that_the_table_does_not_determine_are_nan():
    asked = {"A - B": {"A": 1, "B": -1}, "A - D": {"A": 1, "D": -1}}
    for reference in ("A", "D"):
        res, table = aliased(reference=reference)
        found = contrasts(res, asked, at={"judge": "J2"}).to_frame()
        alone = llbt.fit("object + tie", table.select(where={"judge": "J2"}))
        assert found[TEST_COLUMNS].isna().all(axis=1).tolist() == [False, True]
        # one γ for both judges: only nearly the fit to J2 alone
        near = contrasts(alone, {"A - B": {"A": 1, "B": -1}}).to_frame()
        assert found["estimate"][0] == pytest.approx(near["estimate"][0], abs=0.02)


def test_contrasts_of_a_clustered_fit_have_t():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        res = llbt.fit("object + tie", TABLE1, cov_type="cluster", groups="judge")
    found = contrasts(res, {"A - B": {"A": 1, "B": -1}}, scale="log_worth").to_frame()
    expected = res.t_test("object[A] = object[B]").to_frame()
    assert np.isfinite(res.df_inference)
    np.testing.assert_allclose(found[TEST_COLUMNS], expected[TEST_COLUMNS], rtol=1e-10)
    pairs = pairwise(res, scale="log_worth", adjust=None)
    np.testing.assert_allclose(pairs.to_frame()["p_value"][0], expected["p_value"][0])
    assert pairs.critical > stats.t.isf(0.025, res.df_inference)
    assert "t value" in pairs.as_text()


CONTRAST_ERRORS = [
    (
        {"named": {"x": {"A": 1, "Q": -1, 7: 0}}},
        "'x' names 'Q', 7; expected objects of the table: 'A', 'B', 'C', 'D'",
    ),
    ({"named": {"x": {"A": 1, "B": -0.5}}}, "weights of 'x' sum to 0.50"),
    ({"named": {"x": {"A": 0, "B": 0}}}, "all weights of 'x' are 0"),
    ({"named": {"x": {"A": "1", "B": -1}}}, "'x' has the weights {'A': '1'}"),
    ({"named": {"x": {"A": np.inf, "B": -np.inf}}}, "finite numbers"),
    ({"named": {"x": [1, -1]}}, "'x' is a list"),
    ({"named": {}}, "the named contrasts are none"),
    ({"named": [{"A": 1, "B": -1}]}, "the named contrasts are a list"),
    ({"named": None, "weights": {"x": {"A": 1, "B": -1}}}, "the named contrasts are none"),
    ({"named": {"x": "object[A] = object[Q]"}}, "hypothesis"),
    ({"named": {"x": "tie = 0"}}, "'x' is about 'tie', which has no log_odds"),
    ({"named": {"x": REST}, "scale": "logit"}, "scale='logit'"),
    ({"named": {"x": REST}, "confidence": 95}, "confidence=95"),
    ({"named": {"x": REST}, "at": {"judge": "J1"}}, "judge"),
]


@pytest.mark.parametrize(("asked", "said"), CONTRAST_ERRORS, ids=[said for _, said in CONTRAST_ERRORS])
def test_contrasts_say_what_is_wrong(pooled, asked, said):
    with pytest.raises(llbt.errors.OptionError) as error:
        contrasts(pooled, **asked)
    assert said in str(error.value)


# -- pairwise ---------------------------------------------------------------------------------------------


def test_pairwise_is_a_t_test_for_every_pair(pooled):
    found = pairwise(pooled, scale="log_worth", adjust=None).to_frame()
    assert list(zip(found["object_i"], found["object_j"], strict=True)) == list(itertools.combinations("ABCD", 2))
    texts = [f"object[{a}] = object[{b}]" for a, b in itertools.combinations("ABCD", 2)]
    expected = pooled.t_test(texts).to_frame()
    columns = ["estimate", "std_error", "statistic", "p_value"]
    np.testing.assert_allclose(found[columns], expected[columns], rtol=1e-9)
    np.testing.assert_allclose(found["p_adjusted"], expected["p_value"], rtol=1e-9)
    assert list(found) == ["object_i", "object_j", *columns, "p_adjusted", "conf_low", "conf_high"]


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_in_a_balanced_table_the_intervals_are_tukeys(confidence):
    frame = pd.DataFrame(
        [(a, b, 4, 3, 4) for a, b in itertools.combinations("ABCDE", 2)],
        columns=["object_i", "object_j", "wins_i", "ties", "wins_j"],
    )
    pairs = pairwise(llbt.fit("object + tie", llbt.from_counts(frame)), confidence=confidence)
    exact = stats.studentized_range.ppf(confidence, 5, np.inf) / np.sqrt(2)
    assert pairs.critical == pytest.approx(exact, abs=0.01)


def test_intervals_are_simultaneous_whatever_adjust_says(close):
    bounds = {
        adjust: pairwise(close, adjust=adjust).to_frame()[["conf_low", "conf_high"]].to_numpy()
        for adjust in ("single-step", "holm", "bonferroni", "fdr_bh", None)
    }
    for found in bounds.values():
        np.testing.assert_array_equal(found, bounds["single-step"])
    pairs = pairwise(close, adjust="single-step")
    frame = pairs.to_frame()
    half = pairs.critical * frame["std_error"]
    np.testing.assert_allclose(frame["conf_high"] - frame["estimate"], half)
    excluded = (frame["conf_low"] > 0) | (frame["conf_high"] < 0)
    assert excluded.any()
    assert not excluded.all()
    np.testing.assert_array_equal(excluded, frame["p_adjusted"] < 0.05)
    assert stats.norm.isf(0.025) < pairs.critical < stats.norm.isf(0.025 / 6)


def test_pairwise_on_every_scale(pooled):
    base = pairwise(pooled, scale="log_worth").to_frame()
    bounds = ["estimate", "conf_low", "conf_high"]
    for scale, factor in FACTOR.items():
        found = pairwise(pooled, scale=scale).to_frame()
        np.testing.assert_allclose(found[[*bounds, "std_error"]], factor * base[[*bounds, "std_error"]])
    odds = pairwise(pooled, scale="odds_ratio").to_frame()
    np.testing.assert_allclose(odds[bounds], np.exp(2 * base[bounds]))
    share = pairwise(pooled, scale="probability").to_frame()
    np.testing.assert_allclose(share[bounds], 1 / (1 + np.exp(-2 * base[bounds])))
    wide = pooled.predict().to_frame().pivot(index=["object_i", "object_j"], columns="outcome", values="estimate")
    np.testing.assert_allclose(share["estimate"], wide["i"] / (wide["i"] + wide["j"]))
    for frame in (odds, share):
        np.testing.assert_array_equal(frame[["statistic", "p_adjusted"]], base[["statistic", "p_adjusted"]])


def test_pairwise_does_not_depend_on_the_reference(pooled):
    other = llbt.fit("object + tie", TABLE1.pool(), reference="B")
    a, b = (pairwise(res).to_frame().drop(columns=["object_i", "object_j"]) for res in (pooled, other))
    np.testing.assert_allclose(a, b, rtol=2e-3)  # another basis turns the same random directions another way
    np.testing.assert_allclose(a[["estimate", "std_error"]], b[["estimate", "std_error"]], rtol=1e-8)


def test_the_default_seed_repeats_and_others_move_little(close):
    a, b = pairwise(close), pairwise(close)
    assert a.critical == b.critical
    assert a.as_text() == b.as_text()
    other = pairwise(close, rng=np.random.default_rng(99)).critical
    assert other != a.critical
    assert other == pytest.approx(a.critical, abs=0.01)


def test_pairwise_where_worths_differ_by_judge_needs_at(by_judge):
    with pytest.raises(
        llbt.errors.OptionError, match=r"pairwise: the worths differ by judge.*J1, J2, J3, J4.*at='average'"
    ):
        pairwise(by_judge)
    found = pairwise(by_judge, at={"judge": "J3"})
    expected = contrasts(by_judge, {"x": {"B": 1, "C": -1}}, at={"judge": "J3"}).to_frame().iloc[0]
    row = found.to_frame().set_index(["object_i", "object_j"]).loc[("B", "C")]
    columns = ["estimate", "std_error", "statistic", "p_value"]
    np.testing.assert_allclose(row[columns].astype(float), expected[columns].astype(float))
    assert "at judge J3" in found.notes
    average = pairwise(by_judge, at="average").to_frame().set_index(["object_i", "object_j"])["estimate"]
    single = [
        pairwise(by_judge, at={"judge": j}).to_frame().set_index(["object_i", "object_j"])["estimate"]
        for j in ("J1", "J2", "J3", "J4")
    ]
    np.testing.assert_allclose(average, np.mean(single, axis=0))  # the judges judged equally often


def test_objects_that_were_not_compared_are_nan_and_do_not_count():
    found = [pairwise(aliased(reference=r)[0], at={"judge": "J2"}) for r in ("A", "D")]
    for pairs in found:
        frame = pairs.to_frame()
        with_d = frame["object_j"] == "D"
        assert frame.loc[with_d, ["estimate", "std_error", "p_adjusted", "conf_low"]].isna().all(axis=None)
        assert frame.loc[~with_d].notna().all(axis=None)
        assert any("'D'" in note for note in pairs.notes)
        assert pairs.critical < stats.norm.isf(0.025 / 3)
        holm = pairwise(aliased()[0], at={"judge": "J2"}, adjust="bonferroni").to_frame()
        np.testing.assert_allclose(holm["p_adjusted"], np.minimum(1, 3 * holm["p_value"]))
        letters = pairs.letters().to_frame().set_index("object")["group"]
        assert letters["D"] == ""
        assert all(letters[list("ABC")])
        assert pairs.clusters().to_frame().set_index("object")["significance_cluster"].isna()["D"]
    np.testing.assert_allclose(found[0].difference, found[1].difference, rtol=1e-6)


def test_what_the_model_says_without_estimating_has_no_test():
    res = llbt.fit("LAT + EC + tie", llbt.load_dataset("cems").pool())
    frame = pairwise(res).to_frame()
    known = frame["std_error"] == 0  # objects with the same covariates
    assert known.any()
    assert frame.loc[known, ["statistic", "p_value", "p_adjusted"]].isna().all(axis=None)
    np.testing.assert_allclose(frame.loc[known, ["estimate", "conf_low", "conf_high"]], 0, atol=1e-9)
    assert frame.loc[~known].notna().all(axis=None)
    letters = pairwise(res).letters().to_frame().set_index("object")["group"]
    for a, b in frame.loc[known, ["object_i", "object_j"]].to_numpy():
        assert letters[a] == letters[b]


def test_a_held_difference_counts_as_a_difference():
    res = llbt.fit("object + tie", TABLE1.pool(), fixed={"object[A]": 0.01})
    pairs = pairwise(res)
    row = pairs.to_frame().set_index(["object_i", "object_j"]).loc[("A", "D")]
    assert (row["estimate"], row["std_error"]) == (pytest.approx(0.02), 0)
    assert np.isnan(row["p_value"])
    letters = pairs.letters().to_frame().set_index("object")["group"]
    assert not set(letters["A"]) & set(letters["D"])


def test_two_objects_are_one_pair():
    res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    frame = pairwise(res, scale="log_worth").to_frame()
    np.testing.assert_allclose(frame[TEST_COLUMNS], res.t_test("object[+]").to_frame()[TEST_COLUMNS], rtol=1e-6)
    np.testing.assert_allclose(frame["p_adjusted"], frame["p_value"], rtol=1e-6)


def test_pairwise_is_a_record(pooled):
    pairs = pairwise(pooled)
    again = pickle.loads(pickle.dumps(pairs))
    assert again.as_text() == pairs.as_text()
    pd.testing.assert_frame_equal(again.to_frame(), pairs.to_frame())
    assert "95 % intervals simultaneous" in pairs.as_markdown()
    assert pairs.as_html().startswith("<table")
    assert r"\toprule" in pairs.as_latex()


def test_many_pairs_print_in_part():
    rng = np.random.default_rng(1)
    i, j = np.triu_indices(20, 1)
    counts = pd.DataFrame({"object_i": i, "object_j": j, "wins_i": rng.integers(1, 9, 190), "wins_j": 5, "ties": 0})
    pairs = pairwise(fit_by("object", llbt.from_counts(counts), method="eliminate"))
    assert "… 130 more rows" in pairs.as_text()
    assert len(pairs.to_frame()) == 190


# -- letters and clusters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("adjust", ["single-step", "holm", "fdr_bh", None])
def test_letters_and_clusters_follow_the_adjusted_p_values(close, adjust):
    pairs = pairwise(close, adjust=adjust)
    frame = pairs.to_frame()
    letters = pairs.letters().to_frame()
    clusters = pairs.clusters().to_frame()
    worths = llbt.worth(close).to_frame()["object"].tolist()
    assert letters["object"].tolist() == clusters["object"].tolist() == worths
    own = letters.set_index("object")["group"]
    number = clusters.set_index("object")["significance_cluster"]
    differ = {frozenset(row[:2]): row[2] < 0.05 for row in frame[["object_i", "object_j", "p_adjusted"]].to_numpy()}
    for (a, b), apart in differ.items():
        assert bool(set(own[a]) & set(own[b])) != apart
    for place in range(1, 4):
        is_break = all(differ[frozenset((a, b))] for a in worths[:place] for b in worths[place:])
        assert (number[worths[place]] > number[worths[place - 1]]) == is_break


PAIRWISE_ERRORS = [
    ({"rng": "1"}, "pairwise: rng='1'"),
    ({"adjust": "tukey"}, "adjust='tukey'"),
    ({"scale": "logit"}, "scale='logit'"),
    ({"confidence": 0}, "confidence=0"),
    ({"at": "J3"}, "at='J3'"),
]


@pytest.mark.parametrize(("options", "said"), PAIRWISE_ERRORS, ids=[said for _, said in PAIRWISE_ERRORS])
def test_pairwise_says_what_is_wrong(pooled, options, said):
    with pytest.raises(llbt.errors.OptionError) as error:
        pairwise(pooled, **options)
    assert said in str(error.value)


def test_pairwise_needs_worths():
    with pytest.raises(llbt.errors.DesignError, match="no term for the worths"):
        pairwise(llbt.fit("tie", TABLE1.pool()))


# -- level ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 5, 10])
def test_under_the_normal_law_the_intervals_hold_together(size):
    """20,000 draws of the estimates from their asymptotic law: all intervals hold in 95 %."""
    rng = np.random.default_rng(size)
    res = llbt.fit("object + tie", simulated(rng, np.linspace(0.5, -0.5, size), judgments=40))
    pairs = pairwise(res)
    names = [n for n in res.names if n.startswith("object")]
    cov = np.zeros((size, size))
    cov[:-1, :-1] = res.cov_params().loc[names, names]  # the reference is the last
    errors = rng.multivariate_normal(np.zeros(size), cov, 20_000)
    i, j = np.triu_indices(size, 1)
    largest = np.abs((errors[:, i] - errors[:, j]) / pairs.std_error).max(axis=1)
    assert np.mean(largest <= pairs.critical) == pytest.approx(0.95, abs=0.005)
    assert np.mean(largest <= stats.norm.isf(0.025)) < 0.9


def test_more_letters_than_there_are_from_a_to_z_are_refused():
    """Of 150 equal steps, each next three do not differ: 148 letters; of 50 the 48 are there, with a note."""
    for size in (150, 50):
        i, j = np.triu_indices(size, 1)
        worths = -np.arange(size, dtype=float)
        error = np.full(len(i), 0.8)
        p = np.where(j - i > 2, 0.001, 0.5)
        pairs = Pairwise(
            tuple(range(size)), np.column_stack([i, j]), worths, error, p, p, 3.0, np.full(len(i), 3.0), np.inf,
            "log_odds", "holm", 0.95, (),
        )  # fmt: skip
        if size == 150:
            with pytest.raises(DesignError, match=r"letters of 150 objects .* 52 .*clusters"):
                pairs.letters()
            assert len(pairs.clusters().to_frame()) == 150
        else:
            letters = pairs.letters()
            assert len(set("".join(letters.to_frame()["group"]))) == 48
            assert any("48 letters are hard to read" in note for note in letters.notes)
