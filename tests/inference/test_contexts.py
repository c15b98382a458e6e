"""Means over contexts, `at={"language": {"de": .3, "en": .7}}`: against the same by hand from estimates."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt

OBJECTS = list("ABCD")
MIX = {"language": {"de": 0.3, "en": 0.7}, "topic": {"code": 0.25, "chat": 0.75}}
WEIGHTS = {(a, b): v * w for a, v in MIX["language"].items() for b, w in MIX["topic"].items()}


def judgments(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    worth = {"A": 0.6, "B": 0.3, "C": -0.2, "D": -0.7}
    rows = []
    for _ in range(n):
        i, j = rng.choice(OBJECTS, 2, replace=False)
        language, topic, length = rng.choice(["de", "en", "fr"]), rng.choice(["code", "chat"]), rng.normal()
        gap = worth[i] - worth[j] + 0.9 * ((i == "A") - (j == "A")) * (language == "de")
        gap += ((j == "B") - (i == "B")) * (topic == "code") + 0.2 * length * ((i == "C") - (j == "C"))
        won = "i" if rng.random() < special.expit(2 * gap) else "j"
        rows.append((i, j, language, topic, length, "tie" if rng.random() < 0.2 else won))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "language", "topic", "length", "outcome"])


@cache
def fitted(formula: str = "object * language + object * topic + tie * language", **more: Any) -> llbt.LLBTResults:
    return llbt.fit(formula, table(), **more)


@cache
def table() -> llbt.Comparisons:
    return llbt.from_judgments(judgments(), covariates=["language", "topic", "length"])


def log_worths(res: llbt.LLBTResults, at: dict[str, str], params: Any) -> np.ndarray:
    """Log-worths λ of A, B, C, D at values of labels, from named parameters."""
    found = np.zeros(len(OBJECTS))
    for k, label in enumerate(OBJECTS):
        names = [f"object[{label}]", *(f"object[{label}]:{name}[{value}]" for name, value in at.items())]
        found[k] = sum(params.get(name, 0.0) for name in names)
    return found


def by_hand(res: llbt.LLBTResults, function: Any, step: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
    """The value of a function of the parameters, with delta-method errors by central differences."""
    start = res.params
    names, slopes = list(res.cov_params().index), []
    for name in names:
        up, down = start.copy(), start.copy()
        up[name] += step
        down[name] -= step
        slopes.append((function(up) - function(down)) / (2 * step))
    gradient = np.array(slopes)
    return function(start), np.sqrt(np.einsum("pk,pq,qk->k", gradient, res.cov_params().to_numpy(), gradient))


def mean(res: llbt.LLBTResults, params: Any, of: Any) -> np.ndarray:
    """The weighted mean of a function of the log-worths."""
    return sum(
        weight * of(log_worths(res, {"language": language, "topic": topic}, params))
        for (language, topic), weight in WEIGHTS.items()
    )


def centre(worths: np.ndarray) -> np.ndarray:
    return worths - worths.mean()


def chances(worths: np.ndarray) -> np.ndarray:
    i, j = np.triu_indices(len(worths), 1)
    return special.expit(2 * (worths[i] - worths[j]))


def close(frame: pd.DataFrame, by: str | list[str], expected: tuple[np.ndarray, np.ndarray]) -> None:
    frame = frame.sort_values(by)
    np.testing.assert_allclose(frame["estimate"], expected[0], atol=1e-9)
    np.testing.assert_allclose(frame["std_error"], expected[1], rtol=1e-6, atol=1e-9)


def test_parameters_by_hand_are_those_of_the_fit() -> None:
    res, at = fitted(), {"language": "de", "topic": "code"}
    found = llbt.leaderboard(res, at=at, scale="log_worth").to_frame().sort_values("object")
    np.testing.assert_allclose(found["estimate"], centre(log_worths(res, at, res.params)), atol=1e-12)


@pytest.mark.parametrize(("scale", "factor"), [("log_worth", 1.0), ("log_odds", 2.0), ("elo", 800 / np.log(10))])
def test_log_worths_are_averaged_on_the_scales_that_are_linear_in_them(scale: Any, factor: float) -> None:
    res = fitted()
    expected = by_hand(res, lambda params: factor * mean(res, params, lambda worths: worths - worths[-1]))
    found = llbt.worth(res, MIX, scale)
    close(found.to_frame(), "object", expected)
    pairs = by_hand(res, lambda params: factor * mean(res, params, lambda w: (w[:, None] - w)[np.triu_indices(4, 1)]))
    close(llbt.pairwise(res, at=MIX, scale=scale).to_frame(), ["object_i", "object_j"], pairs)
    three = by_hand(res, lambda params: factor * mean(res, params, lambda w: np.array([w[0] - (w[1] + w[2]) / 2])))
    close(llbt.contrasts(res, {"x": {"A": 1, "B": -0.5, "C": -0.5}}, at=MIX, scale=scale).to_frame(), "term", three)
    board = llbt.leaderboard(res, at=MIX, scale=scale).to_frame().sort_values("object")
    np.testing.assert_allclose(board["estimate"], factor * mean(res, res.params, centre), atol=1e-9)
    name = {"log_worth": "log-worth", "log_odds": "log-odds", "elo": "Elo"}[scale]
    assert f"mean {name} over language 30 % de, 70 % en, topic 25 % code, 75 % chat" in found.notes


def test_probabilities_are_averaged_with_errors_by_the_delta_method() -> None:
    res = fitted()
    share = by_hand(res, lambda params: mean(res, params, lambda worths: special.softmax(2 * worths)))
    close(llbt.worth(res, MIX).to_frame(), "object", share)
    won = by_hand(res, lambda params: mean(res, params, chances))
    pairs = llbt.pairwise(res, at=MIX, scale="probability")
    close(pairs.to_frame(), ["object_i", "object_j"], won)
    odds = llbt.pairwise(res, at=MIX).to_frame()
    np.testing.assert_array_equal(pairs.to_frame()["p_adjusted"], odds["p_adjusted"])  # of the mean log-odds
    some = llbt.pairwise(res, objects=["B", "D"], at=MIX, scale="probability").to_frame()
    np.testing.assert_allclose(some[["estimate", "std_error"]], [[won[0][4], won[1][4]]], rtol=1e-6)
    one = llbt.contrasts(res, {"x": {"B": 1, "D": -1}}, at=MIX, scale="probability").to_frame()
    np.testing.assert_allclose(one[["estimate", "std_error"]], [[won[0][4], won[1][4]]], rtol=1e-6)


@pytest.mark.slow
def test_an_average_over_the_judgments_is_the_mix_of_their_shares() -> None:
    """On every scale, by hand from the shares of the distinct covariate values, numbers included."""
    res, rows = fitted("object * language + object * length + tie * language"), table().to_frame()
    counts = rows[["wins_i", "ties", "wins_j"]].sum(axis=1)
    shares = list((counts.groupby([rows["language"], rows["length"]]).sum() / counts.sum()).items())

    def average(of: Any) -> Any:
        def value(params: Any) -> np.ndarray:
            slope = np.array([params.get(f"object[{label}]:length", 0.0) for label in OBJECTS])
            return sum(w * of(log_worths(res, {"language": a}, params) + x * slope, a, params) for (a, x), w in shares)

        return by_hand(res, value)

    close(llbt.worth(res, "average").to_frame(), "object", average(lambda w, *_: special.softmax(2 * w)))
    pairs, won = llbt.pairwise(res, at="average", scale="probability"), average(lambda w, *_: chances(w))
    close(pairs.to_frame(), ["object_i", "object_j"], won)
    assert "mean probability over the judgments of the table" in pairs.notes
    odds = average(lambda w, *_: 2 * (w[:, None] - w)[np.triu_indices(4, 1)])
    close(llbt.pairwise(res, at="average").to_frame(), ["object_i", "object_j"], odds)
    three = average(lambda w, *_: special.expit(2 * np.array([w[0] - (w[1] + w[2]) / 2])))
    named = {"x": {"A": 1, "B": -0.5, "C": -0.5}}
    close(llbt.contrasts(res, named, at="average", scale="probability").to_frame(), "term", three)
    expected = average(lambda w, a, params: outcomes(w, params["tie"] + params.get(f"tie:language[{a}]", 0.0)))
    found = res.predict(at="average").to_frame()
    np.testing.assert_allclose(found["estimate"], expected[0], atol=1e-9)
    np.testing.assert_allclose(found["std_error"], expected[1], rtol=1e-6)


def test_an_average_of_grades_and_links_says_where_its_odds_are() -> None:
    found = llbt.pairwise(fitted(link="probit"), at="average")
    assert any("those at the mean log-worths" in note for note in found.notes)


def outcomes(worths: np.ndarray, tie: float) -> np.ndarray:
    """P(i), P(tie), P(j) of each pair."""
    i, j = np.triu_indices(len(worths), 1)
    gap = worths[i] - worths[j]
    return special.softmax(np.column_stack([gap, np.full(len(gap), tie), -gap]), axis=1).ravel()


def test_outcome_probabilities_are_averaged() -> None:
    res = fitted()

    def value(params: Any) -> np.ndarray:
        found = np.zeros(18)
        for (language, topic), weight in WEIGHTS.items():
            tie = params["tie"] + params.get(f"tie:language[{language}]", 0.0)
            found += weight * outcomes(log_worths(res, {"language": language, "topic": topic}, params), tie)
        return found

    table = res.predict(at=MIX)
    estimate, error = by_hand(res, value)
    np.testing.assert_allclose(table.to_frame()["estimate"], estimate, atol=1e-9)
    np.testing.assert_allclose(table.to_frame()["std_error"], error, rtol=1e-6)
    assert set(table.to_frame()["language"]) == {"30 % de, 70 % en"}
    assert any("mean probabilities over" in note for note in table.notes)


def test_a_mix_of_one_value_is_that_value_and_other_covariates_stay_classes() -> None:
    res = fitted()
    pure = llbt.worth(res, {"language": {"de": 1, "en": 0}, "topic": "code"}).to_frame()
    plain = llbt.worth(res, {"language": "de", "topic": "code"}).to_frame()
    np.testing.assert_allclose(pure["estimate"], plain["estimate"], atol=1e-14)
    mixed = llbt.worth(res, {"language": MIX["language"]}, "log_worth").to_frame()
    assert set(mixed["topic"]) == {"code", "chat"}
    one = llbt.worth(res, {"language": MIX["language"], "topic": "chat"}, "log_worth").to_frame()
    np.testing.assert_array_equal(mixed[mixed["topic"] == "chat"]["estimate"], one["estimate"])


def test_numbers_are_mixed_too() -> None:
    res = fitted("object * length + tie")
    mixed = llbt.worth(res, {"length": {-1: 0.25, 1: 0.75}}, "log_odds").to_frame()
    np.testing.assert_allclose(
        mixed[["estimate", "std_error"]],
        llbt.worth(res, {"length": 0.5}, "log_odds").to_frame()[["estimate", "std_error"]],
    )


def test_clustered_errors_and_their_degrees_of_freedom_hold_for_means() -> None:
    frame = judgments()
    frame["judge"] = np.arange(len(frame)) % 12
    c = llbt.from_judgments(frame, covariates=["language", "topic"], clusters=["judge"])
    res = llbt.fit("object * language + object * topic + tie", c, cov_type="cluster", groups="judge")
    share = by_hand(res, lambda params: mean(res, params, chances))
    close(llbt.pairwise(res, at=MIX, scale="probability").to_frame(), ["object_i", "object_j"], share)


def test_a_note_names_another_object_with_the_largest_win_share() -> None:
    """Everyday figures: log-odds 2.4 in 30 % and −.9 in 70 % of the prompts, of mean .09 and mean probability .467."""
    counts = {("30", "A"): (917, 83), ("30", "B"): (0, 0), ("70", "A"): (289, 711)}
    rows = [
        {"object_i": "A", "object_j": "B", "prompts": prompts, "wins_i": wins, "wins_j": losses}
        for (prompts, _), (wins, losses) in counts.items()
        if wins
    ]
    res = llbt.fit("object * prompts", llbt.from_counts(pd.DataFrame(rows), covariates=["prompts"]))
    at = {"prompts": {"30": 0.3, "70": 0.7}}
    assert llbt.pairwise(res, at=at).to_frame()["estimate"][0] == pytest.approx(0.3 * 2.4024 - 0.7 * 0.9002, abs=1e-3)
    chance = llbt.pairwise(res, at=at, scale="probability").to_frame()["estimate"][0]
    assert chance == pytest.approx(0.3 * 0.917 + 0.7 * 0.289)
    board = llbt.leaderboard(res, at=at)
    assert board["object"].tolist() == ["A", "B"]
    assert any("B has the largest win share" in note and "52.3 %" in note for note in board.notes)


BAD = {
    "a sum of .9": ({"de": 0.3, "en": 0.6}, "sum to 0.9"),
    "a negative weight": ({"de": -0.5, "en": 1.5}, "0 or more"),
    "all 0": ({"de": 0.0}, "are all 0"),
    "no number": ({"de": "half"}, "0 or more"),
    "an unknown level": ({"it": 1.0}, "'de', 'en', 'fr'"),
    "nothing": ({}, "no value is given"),
}


@pytest.mark.parametrize("bad", BAD)
def test_weights_that_make_no_mean_are_refused(bad: str) -> None:
    mix, said = BAD[bad]
    for question in (llbt.worth, llbt.pairwise, llbt.leaderboard, lambda res, at: res.predict(at=at)):
        with pytest.raises(llbt.errors.OptionError, match=said):
            question(fitted(), at={"language": mix, "topic": "code"})


def test_the_remedy_for_a_wrong_sum_can_be_typed() -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"sum to 1\.1") as caught:
        llbt.worth(fitted(), {"language": {"de": 0.4, "en": 0.7}})
    remedy = str(caught.value).split("at=")[-1].rstrip(".")
    llbt.worth(fitted(), eval(remedy))


def test_means_of_other_odds_than_of_three_outcomes_are_refused_with_what_is_answered() -> None:
    res = fitted(link="probit")
    with pytest.raises(llbt.errors.OptionError, match="log_worth"):
        llbt.pairwise(res, at=MIX)
    assert len(llbt.pairwise(res, at=MIX, scale="log_worth").to_frame()) == 6
    assert len(res.predict(at=MIX).to_frame()) == 18
