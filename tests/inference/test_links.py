"""Questions to fits of cumulative links: what each is made of, by other routes."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.folders import REFERENCE

import llbt
from llbt.errors import DesignError, OptionError
from llbt.kernel.batch import fit_many

GRADES = ("i+", "i", "tie", "j", "j+")
CURVES = {"cumulative": special.expit, "probit": special.ndtr}
each_link = pytest.mark.parametrize("link", CURVES)


@pytest.fixture(scope="module")
def music():
    frame = pd.read_csv(REFERENCE / "models" / "music_graded.csv")
    frame["name"] = frame["grade"].map(dict(zip((2, 1, 0, -1, -2), GRADES, strict=True)))
    wide = frame.pivot_table(index=["object_i", "object_j", "sex"], columns="name", values="count").reset_index()
    return llbt.from_counts(wide, covariates=["sex"], grades=GRADES)


@pytest.fixture(scope="module", params=CURVES)
def five(request, music):
    return llbt.fit("object + tie + grade", music, link=request.param)


def preferred(res, params):
    """P(clas preferred to rap | decided), written out."""
    curve = CURVES[res.specification.link]
    d, cut = 2 * params["object[clas]"], params["tie"]
    won, lost = curve(d - cut), curve(-d - cut)
    return won / (won + lost)


def test_probabilities_of_being_preferred_have_delta_method_errors(five):
    row = llbt.pairwise(five, scale="probability").to_frame().set_index(["object_i", "object_j"]).loc[("clas", "rap")]
    assert row["estimate"] == pytest.approx(preferred(five, five.params), abs=1e-12)
    h = 1e-6
    moved = [five.params.add(pd.Series({name: h}), fill_value=0.0) for name in five.params.index]
    back = [five.params.add(pd.Series({name: -h}), fill_value=0.0) for name in five.params.index]
    slope = np.array([(preferred(five, a) - preferred(five, b)) / (2 * h) for a, b in zip(moved, back, strict=True)])
    assert row["std_error"] == pytest.approx(np.sqrt(slope @ five.cov_params() @ slope), rel=1e-6)
    worths = llbt.worth(five, scale="log_odds").to_frame().set_index("object")
    assert worths.loc["clas", "estimate"] == pytest.approx(special.logit(row["estimate"]), abs=1e-10)
    board = llbt.leaderboard(five, scale="log_odds", anchor="rap").to_frame().set_index("object")
    assert board.loc["clas", "estimate"] == pytest.approx(special.logit(row["estimate"]), abs=1e-10)


def test_log_worths_are_what_they_are(five):
    found = llbt.worth(five, scale="log_worth").to_frame().set_index("object")
    assert found.loc["clas", "estimate"] == pytest.approx(five.params["object[clas]"], abs=1e-12)
    assert found.loc["clas", "std_error"] == pytest.approx(five.bse["object[clas]"], abs=1e-12)


def test_predictions_are_the_model_with_delta_method_errors(five):
    frame = five.predict().to_frame()
    np.testing.assert_allclose(frame["estimate"].to_numpy(), (five.fittedvalues.to_numpy() / np.repeat(
        five.comparisons.totals, 5)), rtol=1e-12)  # fmt: skip
    problem, t = five.problem(), five.solution.params
    moved = [
        (problem.response.probabilities(problem.at(t + d))[0] - problem.response.probabilities(problem.at(t - d))[0])
        / 2e-6
        for d in 1e-6 * np.eye(len(t))
    ]
    slopes = np.array(moved).transpose(2, 1, 0).reshape(-1, len(t))
    errors = np.sqrt(np.einsum("np,pq,nq->n", slopes, five.cov_params(), slopes))
    np.testing.assert_allclose(frame["std_error"], errors, rtol=1e-5)


def test_a_normal_scale_has_probabilities_of_being_preferred_and_no_worths(music):
    normal = llbt.fit("object + tie", music.collapse(), link="probit")
    table = llbt.worth(normal)
    assert table.title == "Worths: probability of being preferred, given a decision, against the reference"
    frame, reference = table.to_frame().set_index("object"), normal.design.reference
    assert frame.loc[reference, "estimate"] == pytest.approx(0.5, abs=1e-15)
    pairs = llbt.pairwise(normal, scale="probability").to_frame().set_index(["object_i", "object_j"])
    for label in set(frame.index) - {reference}:
        # Φ(2Δ − θ)/(Φ(2Δ − θ) + Φ(−2Δ − θ)), written out, and what pairwise says of the two
        up, down = stats.norm.cdf(np.array([2, -2]) * normal.params[f"object[{label}]"] - normal.params["tie"])
        assert frame.loc[label, "estimate"] == pytest.approx(up / (up + down), rel=1e-12)
        assert frame.loc[label, "estimate"] == pytest.approx(pairs.loc[(label, reference), "estimate"], rel=1e-12)
        assert frame.loc[label, "std_error"] == pytest.approx(pairs.loc[(label, reference), "std_error"], rel=1e-9)
    assert [text.get_text() for text in llbt.plot.worth(normal).figure.axes[0].get_yticklabels()]
    assert (
        "(the probability of being preferred to rap, given a decision)"
        in llbt.interpret(normal).sentences["preference"]
    )
    two = llbt.fit("object", music.collapse().drop_ties(), link="probit")
    row = llbt.pairwise(two, scale="probability").to_frame().set_index(["object_i", "object_j"]).loc[("clas", "rap")]
    assert row["estimate"] == pytest.approx(stats.norm.cdf(2 * two.params["object[clas]"]), abs=1e-12)


def test_nested_models_of_one_link_are_compared_by_twice_the_log_likelihood(five, music):
    link = five.specification.link
    large = llbt.fit("object * sex + tie + grade", music, link=link)
    row = llbt.anova(five, large).to_frame().iloc[1]
    assert row["df"] == 4
    column = "statistic"
    assert row[column] == pytest.approx(2 * (large.llf - five.llf), rel=1e-9)
    assert row["delta_aic"] == pytest.approx(large.aic - five.aic, abs=1e-8)
    dropped = llbt.drop1(large).to_frame().set_index("term")
    assert list(dropped.index) == ["<none>", "object:sex"]  # cuts stay
    assert dropped.loc["object:sex", column] == pytest.approx(row[column], rel=1e-9)
    added = llbt.add1(five, "object * sex + tie * sex + grade").to_frame()["term"].tolist()
    assert added == ["<none>", "object:sex", "tie:sex"]
    sequence = llbt.anova(large).to_frame()
    assert sequence["term"].tolist() == ["NULL", "object", "object:sex"]
    score = llbt.anova(five, large, test="score").to_frame().iloc[1]
    wald = llbt.anova(five, large, test="wald").to_frame().iloc[1]
    assert score["statistic"] == pytest.approx(row[column], rel=0.05)
    assert wald["statistic"] == pytest.approx(row[column], rel=0.05)


def test_links_are_not_nested(five, music):
    adjacent = llbt.fit("object * sex + tie + grade", music)
    with pytest.raises(DesignError, match=r"different links.*nested models of one link.*[.]aic or [.]bic"):
        llbt.anova(five, adjacent)


def test_tables_of_models_compare_links_by_the_judgments(five, music):
    adjacent = llbt.fit("object + tie + grade", music)
    table = llbt.model_table([adjacent, five])
    assert table.figures["llf"].tolist() == pytest.approx([adjacent.llf, five.llf])
    assert table.figures["aic"].tolist() == pytest.approx([-2 * adjacent.llf + 12, five.aic])
    assert "of the judgments, Σ n log p" in table.as_text()
    assert "cannot be compared" not in table.as_text()
    assert table.as_text().startswith("Bradley-Terry models")
    assert llbt.model_table([five]).figures["bic"].tolist() == pytest.approx([five.bic])


def test_bootstrap_errors_are_those_of_the_information(music):
    # from a model that holds: the errors of resampled judgments are otherwise the sandwich's
    for link in CURVES:
        res = llbt.fit("object + tie + grade", music.pool(), link=link)
        drawn = llbt.bootstrap(res, n=1000, resample="parametric", rng=4).to_frame()
        np.testing.assert_allclose(drawn["std_error"], res.bse, rtol=0.09)  # 1/√2000 is .022


@each_link
def test_many_fits_are_single_fits(music, link):
    res = llbt.fit("object + tie + grade", music.pool(), link=link)
    tables = llbt.simulate(res, 5, times=0.02, rng=8)
    many = fit_many(res.problem(), np.stack([t.outcome_counts for t in tables]), res.solution.params)
    for k, table in enumerate(tables):
        one = llbt.fit("object + tie + grade", table, link=link)
        np.testing.assert_allclose(many.params[k], one.params, atol=1e-6)
        assert many.deviance[k] == pytest.approx(one.deviance, abs=1e-6)


@each_link
def test_resamples_whose_cuts_meet_are_degenerate(link):
    rows = [{"object_i": a, "object_j": b, "wins_i": 6, "ties": 2, "wins_j": 4} for a, b in ("AB", "AC", "BC")]
    res = llbt.fit("object + tie", llbt.from_counts(rows), link=link)
    counts = np.stack([res.counts, res.counts * [1, 0, 1], res.counts * [[1, 1, 1], [1, 0, 1], [1, 0, 1]]])
    many = fit_many(res.problem(), counts, res.solution.params)
    assert many.degenerate.tolist() == [False, True, False]
    np.testing.assert_allclose(many.params[0], res.params, atol=1e-8)


def test_the_test_of_fit_and_its_bootstrap_agree_where_counts_are_large(music):
    res = llbt.fit("object + tie + grade", music.pool(), link="cumulative")
    drawn = llbt.simulate(res, rng=2)[0]
    found = llbt.goodness_of_fit(llbt.fit("object + tie + grade", drawn, link="cumulative"), n=400, rng=3)
    assert found.p_bootstrap[0] == pytest.approx(found.deviance.p_value, abs=0.07)


@pytest.mark.slow
def test_residuals_have_variance_one(music):
    res = llbt.fit("object + tie + grade", music.pool(), link="probit")
    squares, pairs = [], []
    for table in llbt.simulate(res, 60, rng=6):
        again = llbt.fit("object + tie + grade", table, link="probit")
        squares.append(llbt.residuals(again).to_frame()["residual"] ** 2)
        pairs.append(llbt.residuals(again, of="pairs").to_frame()["residual"] ** 2)
    assert np.mean(squares) == pytest.approx(1, abs=0.08)  # 60 tables of 50 cells
    assert np.mean(pairs) == pytest.approx(1, abs=0.2)


def test_clusters_are_tested_and_left_out(music):
    rng = np.random.default_rng(1)
    rows = [
        {"i": "ABCD"[i], "j": "ABCD"[j], "judge": f"J{k}", "said": rng.choice(["i", "tie", "j"], p=[0.5, 0.25, 0.25])}
        for k in range(12)
        for i in range(4)
        for j in range(i + 1, 4)
        for _ in range(4)
    ]
    c = llbt.from_judgments(pd.DataFrame(rows), objects=("i", "j"), outcome="said", clusters="judge")
    small, large = (
        llbt.fit(f, c, link="cumulative", cov_type="cluster", groups="judge") for f in ("object + tie", "object + tie")
    )
    assert np.isfinite(large.bse).all()
    test = small.wald_test("object[A] = 0, object[B] = 0")  # flips of the clusters' scores
    assert 0 < test.p_value <= 1
    moved = llbt.influence(small, by="judge").to_frame()
    assert moved["judge"].nunique() == 12
    levels = llbt.level_tests(small, by="judge").to_frame()
    assert levels["p_value"].between(0, 1).all()


def test_score_tests_of_levels_are_those_of_a_parameter_more(music):
    """Rao's statistic of a level's own tie, against the explicit model with it at the restricted estimates."""
    c = music.collapse()
    res = llbt.fit("object + tie", c, link="cumulative")
    z = llbt.level_tests(res, by="sex").to_frame().set_index("sex").loc["male", "tie"]
    large = llbt.fit("object + tie * sex", c, link="cumulative")
    statistic = llbt.anova(res, large, test="score").to_frame()["statistic"].iloc[1]
    assert z**2 == pytest.approx(statistic, rel=0.02)  # one has observed, one expected information of the model


def test_sentences_say_the_share_of_ties_between_equals(five, music):
    text = llbt.interpret(five).sentences["ties"]
    share = 2 * CURVES[five.specification.link](five.params["tie"]) - 1
    assert f"equally good objects tie in {100 * share:.3g} % of their judgments" in text
    assert "cumulative Bradley-Terry" in llbt.interpret(five).sentences["model"] or five.specification.link == "probit"
    ordered = dataclasses.replace(music, keeps_order=True)
    first = llbt.fit("object + tie + grade + order", ordered, link=five.specification.link)
    said = llbt.interpret(first).sentences["order"]
    assert ("standard deviations" in said) == (five.specification.link == "probit")


@pytest.mark.slow
def test_pictures_say_the_scale(five, music):
    import matplotlib.pyplot as plt

    ax = llbt.plot.intervals(five)
    assert "given a decision" in " ".join(ax.get_xlabel().split())
    assert (
        "cuts, on the link's scale"
        in llbt.plot.ties(llbt.fit("object + tie * sex + grade", music, link="probit")).get_xlabel()
    )
    llbt.plot.probabilities(five)
    plt.close("all")


def test_contrasts_of_other_links_are_log_worths(five):
    weights = {"classics": {"clas": 1, "rap": -1}}
    with pytest.raises(OptionError, match=r"the link is .* is not a sum of log-worths"):
        llbt.contrasts(five, weights)
    row = llbt.contrasts(five, weights, scale="log_worth").to_frame().iloc[0]
    assert row["estimate"] == pytest.approx(five.params["object[clas]"])


def test_tests_of_scores_are_of_adjacent_grades(five):
    with pytest.raises(DesignError, match="scores belong to the adjacent-categories link"):
        llbt.grade_tests(five)
