"""Odds, probabilities and Elo of graded judgments: those of P(i preferred | decided), against finite differences."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from support.graded import judged, music

import llbt
from llbt.errors import OptionError
from llbt.fitting.results import LLBTResults

SIGNED = {"i++": 3, "i+": 2, "i": 1, "j": -1, "j+": -2, "j++": -3}


def preferred(params: pd.Series, i: str, j: str, judge: str = "") -> float:
    """P(i preferred | decided), written out from the parameters."""
    value = params.to_dict()
    lead = value.get(f"object[{i}]", 0.0) - value.get(f"object[{j}]", 0.0)
    weights = {}
    for outcome, score in SIGNED.items():
        level = f"grade[{outcome[1:]}]"
        if len(outcome) > 1 and level not in value:
            continue
        own = value.get(level, 0.0) + (value.get(f"{level}:judge[{judge}]", 0.0) if judge else 0.0)
        weights[outcome] = np.exp(score * lead + own)
    wins = sum(weight for outcome, weight in weights.items() if outcome[0] == "i")
    return float(wins / sum(weights.values()))


def log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))


def delta(res: LLBTResults, ask: Callable[[pd.Series], float]) -> float:
    """A standard error by the gradient of finite differences."""
    slopes = []
    for name in res.names:
        up, down = res.params.copy(), res.params.copy()
        up[name] += 1e-5
        down[name] -= 1e-5
        slopes.append((ask(up) - ask(down)) / 2e-5)
    return float(np.sqrt(np.array(slopes) @ res.cov_params().to_numpy() @ np.array(slopes)))


SCALES: dict[str, Callable[[float], float]] = {
    "probability": lambda share: share,
    "odds_ratio": lambda share: share / (1 - share),
    "log_odds": log_odds,
    "elo": lambda share: 400 * log_odds(share) / np.log(10),
}


def test_the_figure_of_music_is_that_of_all_decisions() -> None:
    res = llbt.fit("object + tie + grade", music())
    found = llbt.worth(res).to_frame().set_index("object")
    assert found.loc["clas", "estimate"] == pytest.approx(0.8711, abs=5e-5)
    assert found.loc["rap", ["estimate", "std_error"]].tolist() == [0.5, 0.0]
    pairs = llbt.pairwise(res, scale="probability").to_frame().set_index(["object_i", "object_j"])
    assert pairs.loc[("clas", "rap"), "estimate"] == pytest.approx(found.loc["clas", "estimate"], rel=1e-12)
    outcomes = res.predict(pd.DataFrame({"object_i": ["clas"], "object_j": ["rap"]})).to_frame()["estimate"].to_numpy()
    assert found.loc["clas", "estimate"] == pytest.approx(outcomes[:2].sum() / (1 - outcomes[2]), rel=1e-12)
    collapsed = music().collapse()
    three = llbt.worth(llbt.fit("object + tie", collapsed), scale="odds_ratio").to_frame().set_index("object")
    assert three.loc["clas", "estimate"] == pytest.approx(np.exp(2 * 0.941894607369227), rel=1e-7)
    assert "preferred to rap, given a decision" in llbt.interpret(res).text
    assert "the odds within the first grade" in llbt.interpret(llbt.fit("object + tie + grade + order", judged())).text
    assert "both of the first grade, are exp" in " ".join(llbt.model_table([res]).as_text(notes="all").split())
    figures = llbt.interpret(res).figures
    assert figures["share ends"] == pytest.approx(preferred(res.params, "coun", "hvym"), rel=1e-12)
    assert figures["odds ends"] == pytest.approx(np.exp(log_odds(figures["share ends"])), rel=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_scales_equal_finite_differences_of_the_probability(scale: str) -> None:
    res = llbt.fit("object + tie + grade + order", judged())
    shown = SCALES[scale]
    worths = llbt.worth(res, scale=scale).to_frame().set_index("object")
    pairs = llbt.pairwise(res, scale=scale).to_frame().set_index(["object_i", "object_j"])
    assert "given a decision" in str(llbt.worth(res, scale=scale))
    for i, j in [("A", "D"), ("B", "D"), ("A", "B")]:
        estimate = shown(preferred(res.params, i, j))
        error = delta(res, lambda params, i=i, j=j: shown(preferred(params, i, j)))
        assert pairs.loc[(i, j), "estimate"] == pytest.approx(estimate, rel=1e-10)
        assert pairs.loc[(i, j), "std_error"] == pytest.approx(error, rel=1e-6)
        if j == "D":
            assert worths.loc[i, "estimate"] == pytest.approx(estimate, rel=1e-10)
            assert worths.loc[i, "std_error"] == pytest.approx(error, rel=1e-6)
            center, spread = (
                log_odds(preferred(res.params, i, j)),
                delta(res, lambda p, i=i: log_odds(preferred(p, i, "D"))),
            )
            low, high = (1 / (1 + np.exp(-center - sign * 1.959963985 * spread)) for sign in (-1, 1))
            np.testing.assert_allclose(
                worths.loc[i, ["conf_low", "conf_high"]].to_list(), [shown(low), shown(high)], rtol=1e-5
            )
    tests = llbt.pairwise(res, scale="log_worth").to_frame()
    np.testing.assert_array_equal(pairs["p_value"], tests["p_value"])
    np.testing.assert_array_equal(pairs["statistic"], tests["statistic"])


def test_log_worths_are_as_they_are() -> None:
    res = llbt.fit("object + tie + grade", judged())
    worths = llbt.worth(res, scale="log_worth").to_frame().set_index("object")
    np.testing.assert_allclose(worths.loc[list("ABC"), "estimate"], res.params[[f"object[{o}]" for o in "ABC"]])
    np.testing.assert_allclose(worths.loc[list("ABC"), "std_error"], res.bse[[f"object[{o}]" for o in "ABC"]])
    assert "log-worth λ, relative to the reference" in str(llbt.worth(res, scale="log_worth"))


def test_an_anchor_keeps_its_value_and_the_mean_is_one_of_mean_log_worth() -> None:
    res = llbt.fit("object + tie + grade", judged())
    board = llbt.leaderboard(res, scale="elo", anchor={"D": 1000}).to_frame().set_index("object")
    against = llbt.worth(res, scale="elo").to_frame().set_index("object")
    np.testing.assert_allclose(board["estimate"], against["estimate"].reindex(board.index) + 1000)
    np.testing.assert_allclose(board["conf_low"], against["conf_low"].reindex(board.index) + 1000)
    plain = llbt.leaderboard(res, scale="probability").to_frame().set_index("object")
    mean = res.params[[f"object[{o}]" for o in "ABC"]].sum() / 4
    moved = pd.concat([res.params, pd.Series({"object[mean]": mean})])
    assert plain.loc["A", "estimate"] == pytest.approx(preferred(moved, "A", "mean"), rel=1e-10)
    ranks = llbt.pairwise(res, scale="probability").ranks().to_frame().set_index("object")
    np.testing.assert_allclose(ranks["estimate"], plain["estimate"].reindex(ranks.index), rtol=1e-12)
    anchored = llbt.leaderboard(res, scale="probability", anchor="D")
    assert "against D" in str(anchored)
    assert anchored.to_frame().set_index("object").loc["A", "estimate"] == pytest.approx(
        preferred(res.params, "A", "D")
    )


def test_grades_by_judge_are_those_of_the_class_or_averaged_over_the_judgments() -> None:
    c = judged()
    res = llbt.fit("object * judge + tie + grade * judge", c)
    by = llbt.worth(res, scale="odds_ratio").to_frame().set_index(["judge", "object"])
    for judge in "xy":
        value = {o: res.params[f"object[{o}]"] + (judge == "y") * res.params[f"object[{o}]:judge[y]"] for o in "ABC"}
        params = pd.concat(
            [res.params.drop([f"object[{o}]" for o in "ABC"]), pd.Series(value).rename("object[{}]".format)]
        )
        expected = preferred(params, "A", "D", judge)
        assert by.loc[(judge, "A"), "estimate"] == pytest.approx(expected / (1 - expected), rel=1e-10)
    assert "grades differ" not in str(llbt.worth(res))
    shared = llbt.fit("object + tie + grade * judge", c)
    assert "grades differ by judge: averaged over the judgments" in str(llbt.worth(shared))
    mean = shared.params.copy()
    part = c.totals[c.columns[0].codes == 1].sum() / c.n_judgments
    for level in ("grade[+]", "grade[++]"):
        mean[level] += part * mean[f"{level}:judge[y]"]
    found = llbt.worth(shared).to_frame().set_index("object")
    assert found.loc["A", "estimate"] == pytest.approx(preferred(mean, "A", "D"), rel=1e-10)


def test_what_has_no_odds_of_graded_judgments_says_so() -> None:
    res = llbt.fit("object + tie + grade", judged())
    with pytest.raises(OptionError, match=r"judgments are graded, .* Use scale='log_worth'"):
        llbt.contrasts(res, {"A vs rest": {"A": 1, "B": -0.5, "C": -0.5}})
    llbt.contrasts(res, {"A vs rest": {"A": 1, "B": -0.5, "C": -0.5}}, scale="log_worth")
    with pytest.raises(OptionError, match="odds of being preferred are not differences of log-worths"):
        llbt.plot.intervals(res, bars="quasi", scale="log_odds")
    llbt.plot.intervals(res, bars="quasi", scale="log_worth")
    label = llbt.plot.intervals(res, scale="elo").get_xlabel()
    assert "an object of mean log-worth" in " ".join(label.split())  # wherever its lines end


def test_the_largest_misfits_name_the_grade() -> None:
    res = llbt.fit("object + tie", judged())
    said = str(llbt.residuals(res, most=200))
    assert "beats A by ++ more often" in said or "beats A by ++ less often" in said


def test_pairs_and_pictures_say_scores_and_grades() -> None:
    res = llbt.fit("object + tie + grade", judged())
    pairs = llbt.residuals(res, of="pairs")
    assert "scores of i minus scores of j" in str(pairs)
    row = pairs.to_frame().set_index(["object_i", "object_j"]).loc[("A", "B")]
    c = res.comparisons
    lead = c.counts @ c.response.loadings[:, 0]
    signs = (c.pairs == [0, 1]).all(axis=1) * 1.0 - (c.pairs == [1, 0]).all(axis=1)
    assert row["estimate"] == signs @ lead
    names = [text.get_text() for text in llbt.plot.residuals(res).get_yticklabels()]
    told = llbt.residuals(res).to_frame().head(len(names))
    sides = [(r["object_i"], r["object_j"]) for _, r in told.iterrows()]
    expected = {
        f"{a} ties {b}" if outcome == "tie" else f"{a} beats {b}" if outcome[0] == "i" else f"{b} beats {a}"
        for (a, b), outcome in zip(sides, told["outcome"], strict=True)
    }
    assert {name.partition(",")[0].partition(" by ")[0] for name in names} == expected
    assert any(" by +" in name for name in names)


def test_levels_are_tested_for_their_use_of_grades() -> None:
    """The score test of grades for one judge against the likelihood ratio of grades of its own."""
    c = judged()
    res = llbt.fit("object + tie + grade", c)
    found = llbt.level_tests(res, by="judge").to_frame().set_index("judge")
    own = llbt.fit("object + tie + grade * judge", c)
    sign = np.sign(own.params[["grade[+]:judge[y]", "grade[++]:judge[y]"]].to_numpy())
    assert np.sign(found.loc["y", "grade[++]"]) == sign[1]
    one = llbt.anova(res, own, test="score").to_frame()["statistic"].iloc[-1]
    assert max(abs(found.loc["y", ["grade[+]", "grade[++]"]].astype(float))) ** 2 <= one + 1e-9
