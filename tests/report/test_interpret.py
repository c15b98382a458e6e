"""A fit in words: the words of every case, and the numbers in them against other routes."""

import itertools

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.report.interpret import interpret


def counts(rows, **options):
    columns = ["object_i", "object_j", "wins_i", "ties", "wins_j", "judge"]
    return llbt.from_counts(pd.DataFrame(rows, columns=columns[: len(rows[0])]), **options)


DRAS = llbt.load_dataset("dras_table1")
PAIR = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
POOLED = llbt.fit("object + tie", DRAS.pool())
BY_JUDGE = llbt.fit("object * judge + tie * judge", DRAS)
BASEBALL = llbt.fit("object + order", llbt.load_dataset("baseball"))


def test_two_objects_are_said_as_the_paper_says_them():
    """Dras (2015, section 3): worths .635 and .365, p = .0088."""
    said = interpret(PAIR).sentences
    assert said["preference"] == "The order of preference is + (.635) > - (.365) (worths, which sum to 1)."
    assert said["differences"] == (
        "The odds of + over - are 1.74 (95 % interval 1.15 to 2.64, p = 0.00880), so + is preferred in 63.5 % of "
        "decisions."
    )
    assert said["fit"].startswith("The model is saturated")
    assert "order" not in said
    assert "covariates" not in said


def test_the_numbers_of_two_objects_are_those_of_the_parameter():
    figures = interpret(PAIR).figures
    low, high = PAIR.conf_int().loc["object[+]"]
    assert figures["odds first"] == pytest.approx(np.exp(2 * PAIR.params["object[+]"]))
    assert figures["low first"] == pytest.approx(np.exp(2 * low), rel=1e-6)
    assert figures["high first"] == pytest.approx(np.exp(2 * high), rel=1e-6)
    assert figures["p first"] == pytest.approx(PAIR.pvalues["object[+]"], rel=1e-3)


def test_the_tie_probability_is_that_of_the_fitted_model():
    """Equal objects: P(tie) = e^γ / (2 + e^γ), against the prediction for a pair that a fit makes equal."""
    even = llbt.fit("object + tie", counts([("a", "b", 30, 20, 30)]))
    predicted = even.predict().to_frame().set_index("outcome")["estimate"]["tie"]
    assert interpret(even).figures["probability of a tie"] == pytest.approx(predicted, rel=1e-9)
    assert interpret(even).figures["share of ties"] == 0.25
    assert "25 % of the judgments are ties" in interpret(even).text
    assert "not a significant difference" in interpret(even).text


def test_several_objects_are_ranked_and_counted():
    said = interpret(POOLED)
    pairs = llbt.pairwise(POOLED)
    assert "A (.658) > D (.295) > B (.033) > C (.013)" in said.sentences["preference"]
    assert "6 of 6 pairs differ significantly (p < 0.05;" in said.sentences["differences"]
    frame = llbt.pairwise(POOLED, scale="odds_ratio").to_frame().set_index(["object_i", "object_j"])
    assert said.figures["odds ends"] == pytest.approx(frame.loc[("A", "C"), "estimate"])
    assert said.figures["low ends"] == pytest.approx(frame.loc[("A", "C"), "conf_low"])
    assert said.figures["pairs that differ"] == pairs.significant.sum()


def test_the_probability_follows_from_the_odds():
    figures = interpret(POOLED).figures
    expected = llbt.pairwise(POOLED, scale="probability").to_frame().set_index(["object_i", "object_j"])["estimate"]
    assert figures["share first"] == pytest.approx(expected[("A", "D")])


def test_many_objects_are_named_first_three_and_last():
    said = interpret(BASEBALL).sentences
    assert said["preference"].startswith("Milwaukee (.220) is preferred most, then Detroit (.190) and Toronto (.164);")
    assert "Baltimore (.044) is preferred least" in said["preference"]
    assert "Not significantly worse than Milwaukee: Detroit, Toronto" in said["differences"]
    assert "not a significant difference" in said["differences"]


def test_the_order_effect_is_said_with_its_odds():
    """Agresti (2002, p. 438): the home advantage of the baseball data is 0.302 on the log-odds scale."""
    said = interpret(BASEBALL)
    assert np.log(said.figures["odds of order"]) == pytest.approx(0.302, abs=5e-4)
    assert "Being shown first multiplies the odds by 1.35" in said.sentences["order"]
    assert said.sentences["order"].endswith("an order effect.")
    assert said.sentences["ties"] == "The table has no tie category."


def test_an_order_that_is_not_modelled_is_said():
    res = llbt.fit("object", llbt.load_dataset("baseball"))
    assert interpret(res).sentences["order"].endswith("has no order effect: add + order.")


@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_the_level_of_significance_follows_the_confidence(confidence):
    said = interpret(BASEBALL, confidence=confidence)  # p = 0.021
    assert said.sentences["order"].endswith(
        ": an order effect." if confidence == 0.95 else "no significant order effect."
    )
    assert f"{100 * confidence:g} % interval" in said.text


def test_judges_that_differ_are_tested_jointly():
    """The likelihood-ratio test of the same terms agrees about as well as Wald's does."""
    said = interpret(BY_JUDGE)
    assert "The worths differ by judge (Wald χ² = 130 on 9 df, p <2e-16)" in said.sentences["covariates"]
    assert "Ties do not differ significantly by judge" in said.sentences["covariates"]
    assert said.sentences["preference"].startswith("Averaged over the judgments, ")
    names = [name for name in BY_JUDGE.names if name.startswith("tie:judge")]
    found = BY_JUDGE.wald_test([f"{name} = 0" for name in names])
    assert said.figures["tie by judge"] == pytest.approx(found.statistic)
    lr = llbt.drop1(BY_JUDGE).to_frame().set_index("term").loc["tie:judge", "p_value"]
    assert said.figures["p of tie by judge"] == pytest.approx(lr, abs=0.1)


def test_a_covariate_outside_the_formula_is_said():
    said = interpret(llbt.fit("object + tie", DRAS)).sentences
    assert said["covariates"] == "Whether judgments differ by judge was not modelled."


def test_averaged_odds_are_those_of_the_averaged_log_worths():
    expected = llbt.pairwise(BY_JUDGE, at="average", scale="odds_ratio").to_frame()
    expected = expected.set_index(["object_i", "object_j"])["estimate"]
    assert interpret(BY_JUDGE).figures["odds first"] == pytest.approx(expected[("A", "D")])


def test_ties_without_a_term_are_said():
    with pytest.warns(llbt.errors.TiesWarning):
        res = llbt.fit("object", DRAS)
    assert "4.5 % of the judgments are ties, which the model does not describe" in interpret(res).text


def test_misfit_is_said_with_its_dispersion():
    said = interpret(POOLED).sentences["fit"]
    fit = llbt.goodness_of_fit(POOLED)
    assert said.startswith("The model does not fit (deviance 30.46 on 8 df, p = 0.000176; dispersion X²/df ")
    assert interpret(POOLED).figures["dispersion"] == fit.dispersion


def test_no_misfit_is_not_said_to_be_a_fit():
    res = llbt.fit("object + tie", llbt.load_dataset("puddings"))
    said = interpret(res).sentences
    assert said["fit"] == "There is no sign of misfit (deviance 15.77 on 24 df, p = 0.896)."
    assert said["differences"].count("not a significant difference") == 2
    assert "0 of 15 pairs differ significantly" in said["differences"]


def sparse(seed=4, judges=20):
    """Five equal objects, each pair judged once to three times by each judge: every fitted count is below 5."""
    rng = np.random.default_rng(seed)
    rows = [
        (i, j, *rng.multinomial(rng.integers(1, 4), [1 / 3] * 3), f"J{k}")
        for k in range(judges)
        for n, i in enumerate("abcde")
        for j in "abcde"[n + 1 :]
    ]
    return llbt.fit("object + tie", counts(rows, covariates="judge"))


def test_sparse_tables_are_tested_by_simulation():
    """By χ² the deviance of this true model has p = 0.0008, with X²/df 1.02; drawn tables reject nothing."""
    res = sparse()
    assert res.solution.means.max() < 5
    assert llbt.goodness_of_fit(res).deviance.p_value < 0.001
    said = interpret(res)
    assert said.sentences["fit"].startswith("There is no sign of misfit (X² ")
    assert "by simulation, as many fitted counts are below 5" in said.sentences["fit"]
    drawn = llbt.goodness_of_fit(res, 999, rng=5).p_bootstrap[1]
    assert said.figures["p of fit"] == pytest.approx(drawn, abs=0.12)  # 3 standard errors of 199 tables


def test_what_simulation_cannot_test_is_not_tested():
    large = sparse(judges=700)
    assert large.n_cells > 20_000
    assert "goodness_of_fit(res, 999) tests it" in interpret(large).sentences["fit"]
    table = sparse().comparisons
    firth = llbt.fit("object + tie", table, prior="jeffreys")
    assert interpret(firth).sentences["fit"] == "Too many fitted counts are below 5 to test the fit with χ²."


def test_the_share_of_decisions_is_that_of_the_judgments():
    """129 of 200 decisions prefer a, .645; at the averaged log-odds of the two judges it would be .867."""
    res = llbt.fit(
        "object * judge", counts([("a", "b", 99, 0, 1, "J1"), ("a", "b", 30, 0, 70, "J2")], covariates="judge")
    )
    log_odds = [np.log(99), np.log(3 / 7)]
    said = interpret(res)
    assert said.figures["odds first"] == pytest.approx(np.exp(np.mean(log_odds)))
    assert said.figures["share first"] == pytest.approx(129 / 200)
    assert said.sentences["differences"].endswith("; over all judgments a is preferred in 64.5 % of decisions.")
    assert "mean worths, which sum to 1" in said.sentences["preference"]


@pytest.mark.parametrize("formula", ["object * judge + tie", "object * age + tie", "object + length + tie"])
def test_the_share_is_the_mean_of_the_predictions(formula):
    """Judges of other sizes, a number, a side covariate: against `predict` at the values of each judgment."""
    rng = np.random.default_rng(11)
    rows = [("a", "b"), ("a", "c"), ("b", "c")]
    frame = pd.DataFrame(
        [
            (i, j, *rng.integers(3, 9, 2), 25 - n, f"J{k}", 20.0 + 5 * k, *rng.choice([1.0, 2.0, 3.0], 2))
            for k in range(4)
            for n, (i, j) in enumerate(rows)
        ],
        columns=["object_i", "object_j", "wins_j", "ties", "wins_i", "judge", "age", "len_i", "len_j"],
    )
    c = llbt.from_counts(frame, covariates=["judge", "age"], side_covariates={"length": ("len_i", "len_j")})
    res = llbt.fit(formula, c)
    figures = interpret(res).figures
    first, second = [name.removeprefix("worth of ") for name in figures if name.startswith("worth of ")][:2]
    every = frame[["judge", "age"]].assign(object_i=first, object_j=second, length_i=2.0, length_j=2.0)
    found = res.predict(every).to_frame()
    found["n"] = np.repeat(frame[["wins_i", "ties", "wins_j"]].sum(axis=1).to_numpy(), 3)
    wins, losses = (found[found["outcome"] == o].reset_index(drop=True) for o in ("i", "j"))
    share = wins["estimate"] / (wins["estimate"] + losses["estimate"])
    assert figures["share first"] == pytest.approx(np.average(share, weights=wins["n"]))


def test_a_table_of_single_judgments_is_not_tested():
    rows = [("a", "b", 1, 0, 0, f"J{k}") for k in range(9)] + [("a", "b", 0, 0, 1, f"J{k}") for k in range(9, 14)]
    rows += [("a", "b", 0, 1, 0, f"J{k}") for k in range(14, 17)]
    res = llbt.fit("object + tie", counts(rows, covariates="judge"))
    assert interpret(res).sentences["fit"] == "The table is too sparse to test the fit with χ²."


def test_equal_worths_are_equal():
    res = llbt.fit("LAT + EC + tie", llbt.load_dataset("cems"))
    said = interpret(res).sentences
    assert "LO (.190) = ST (.190)" in said["preference"]
    assert "The odds of LO over ST are 1.00, by the model itself." in said["differences"]


def test_a_model_without_worths_says_so():
    assert "takes all objects as equally good" in interpret(llbt.fit("tie", DRAS)).text


def test_held_and_corrected_fits_say_so():
    held = interpret(llbt.fit("object + tie", DRAS, fixed={"tie": -1.5})).text
    assert "held: tie at -1.50" in held
    assert "(held)" in held
    firth = llbt.fit("object + tie", DRAS, prior="jeffreys")
    assert "with Firth's bias reduction" in interpret(firth).text
    scaled = llbt.fit("object + tie", DRAS, cov_type="quasi")
    assert "scaled by the dispersion" in interpret(scaled).text


def test_dependence_within_judges_is_said():
    res = llbt.fit("object + tie", DRAS, cov_type="cluster", groups="judge")
    assert "standard errors allow for dependence within judge" in interpret(res).text


def test_every_format_escapes_names():
    res = llbt.fit("object + tie", counts([("<script>_", "50%|", 7, 2, 3)]))
    said = interpret(res)
    assert "<script>" not in said.as_html()
    assert r"50\%" in said.as_latex()
    assert r"\|" in said.as_markdown()
    assert "<script>_" in str(said)
    assert said.to_frame()["topic"].tolist() == list(said.sentences)


def test_no_number_is_missing_from_the_words():
    for res in (PAIR, POOLED, BY_JUDGE, BASEBALL):
        text = interpret(res).text
        assert "nan" not in text
        assert "NA" not in text
        assert "  " not in text
        assert ".." not in text


@pytest.mark.parametrize(("res", "options"), [(3, {}), (PAIR, {"confidence": 95})])
def test_what_is_wrong_is_said(res, options):
    with pytest.raises(llbt.errors.OptionError):
        interpret(res, **options)


def test_labels_keep_their_letters():
    names = [f"model-{k:02}" for k in range(1, 15)]
    rows = [(a, b, 6 + (k < 40), 4 - (k < 40)) for k, (a, b) in enumerate(itertools.combinations(names, 2))]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j"])
    said = llbt.interpret(llbt.fit("object", llbt.from_counts(frame, ties_column=None)))
    assert said.sentences["preference"].startswith("model-01 (")


def test_the_paragraph_is_printed_in_lines_and_is_one_text():
    found = interpret(llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool()))
    assert max(map(len, str(found).split("\n"))) <= 88
    assert "\n" not in found.text
    assert " ".join(str(found).split()) == " ".join(found.text.split())
