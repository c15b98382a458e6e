"""Judgments needed: the closed form of a pair, brute force over multiples, and refits of so many prompts."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import OptionError

WORTHS = np.array([0.5, 0.25, 0.1, -0.1, -0.3, -0.45])
LABELS = np.array(list("abcdef"))


def judged(prompts: int, rng: np.random.Generator, sd: float = 0.4, each: int = 10) -> llbt.Comparisons:
    """Return judgments of prompts, each with worths of its own about the common ones."""
    size, prompt = len(WORTHS), np.repeat(np.arange(prompts), each)
    own = WORTHS + sd * rng.standard_normal((prompts, size))
    i = rng.integers(size, size=len(prompt))
    j = (i + rng.integers(1, size, size=len(prompt))) % size
    won = rng.random(len(prompt)) < 1 / (1 + np.exp(-2 * (own[prompt, i] - own[prompt, j])))
    frame = pd.DataFrame({"object_i": LABELS[i], "object_j": LABELS[j], "prompt": prompt})
    return llbt.from_judgments(frame.assign(outcome=np.where(won, "i", "j")), clusters=["prompt"])


TABLE = judged(120, np.random.default_rng(1))
RES = llbt.fit("object", TABLE)


def one(res, **goal):
    return llbt.planning.needed(res, **goal).goals[0]


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_a_pair_is_the_closed_form(power: float) -> None:
    """(z.975 + z_power)² s²/d², of a two-sample test; the draws are right to 2 %."""
    row = llbt.contrasts(RES, {"x": {"b": 1, "d": -1}}, scale="log_worth").to_frame().iloc[0]
    expected = (1.959964 + stats.norm.ppf(power)) ** 2 * row["std_error"] ** 2 / row["estimate"] ** 2
    assert one(RES, split=["d", "b"], power=power).factor == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("goal", [{"split": 1}, {"top": 2}])
def test_more_than_a_pair_is_brute_force(goal) -> None:
    """At the multiple that is found, 80 % of 20,000 new estimates reach the goal by the printout's own rule."""
    found = one(RES, **goal)
    full = np.zeros((6, 6))
    full[:5, :5] = RES.cov_params().to_numpy()
    worths = np.append(RES.params.to_numpy()[:5], 0.0)
    new = np.random.default_rng(5).multivariate_normal(worths, full / found.factor, 20_000, method="eigh")
    error = np.sqrt(np.maximum(np.add.outer(np.diag(full), np.diag(full)) - 2 * full, 1e-12) / found.factor)
    best = np.argsort(-worths)[: goal.get("top", 1)]
    others = np.setdiff1d(np.arange(6), best)
    z = (new[:, best, None] - new[:, None, others]) / error[np.ix_(best, others)]
    critical = llbt.pairwise(RES).critical
    assert (z > critical).all(axis=(1, 2)).mean() == pytest.approx(0.8, abs=0.02)


def test_the_width_is_that_of_the_leaderboard() -> None:
    board = llbt.leaderboard(RES, scale="elo").to_frame()
    half = ((board["conf_high"] - board["conf_low"]) / 2).max()
    assert one(RES, elo=half).factor == pytest.approx(1.0, rel=1e-6)
    assert one(RES, elo=half / 2).factor == pytest.approx(4.0, rel=1e-6)


def test_the_chance_that_the_goal_is_true_is_a_normal_tail() -> None:
    row = llbt.contrasts(RES, {"x": {"b": 1, "c": -1}}).to_frame().iloc[0]
    assert one(RES, split=["b", "c"]).likely == pytest.approx(stats.norm.cdf(abs(row["statistic"])))


def test_clusters_are_the_units() -> None:
    clustered = llbt.planning.needed(llbt.fit("object", TABLE, cov_type="cluster", groups="prompt"), split=["a", "b"])
    assert (clustered.unit, clustered.units) == ("prompt", 120.0)
    frame = clustered.to_frame()
    assert frame["units"][0] == np.ceil(clustered.goals[0].factor * 120)
    assert clustered.goals[0].factor > one(RES, split=["a", "b"]).factor
    assert "prompts" in str(clustered)


def test_a_cautious_fit_says_what_it_took() -> None:
    assert llbt.planning.needed(llbt.fit("object", TABLE, cov_type="cautious"), split=1).unit == "prompt"


def test_more_of_the_same_prompts_have_a_limit() -> None:
    """Few prompts with many judgments each: what is left is the variance between prompts."""
    few = llbt.fit(
        "object", judged(12, np.random.default_rng(3), sd=0.8, each=200), cov_type="cluster", groups="prompt"
    )
    found = llbt.planning.needed(few, split=["b", "c"])
    assert found.goals[0].same_units < 0.8
    assert "add prompts" in str(found)


def test_a_tie_needs_no_number_of_judgments() -> None:
    frame = pd.DataFrame({"object_i": ["a", "a", "b"], "object_j": ["b", "c", "c"], "wins_i": 10, "wins_j": 10})
    found = llbt.planning.needed(llbt.fit("object", llbt.from_counts(frame)), split=["a", "b"])
    assert found.goals[0].factor == np.inf
    assert "no number of judgments can show this" in str(found)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({}, "no goal"),
        ({"split": 2}, "split=2"),
        ({"split": ["a", "z"]}, "split="),
        ({"split": "ab"}, "split='ab'"),
        ({"split": ["a", "a"]}, "split="),
        ({"top": 6}, "top=6 of 6 objects"),
        ({"elo": -1}, "elo"),
    ],
)
def test_what_is_no_goal_is_refused(goal, message) -> None:
    with pytest.raises(OptionError, match=message):
        llbt.planning.needed(RES, **goal)


@pytest.mark.slow
def test_so_many_prompts_have_the_power_that_was_asked() -> None:
    """From the worths and covariance of a large study: 150 refits of the number of prompts that is needed."""
    large = llbt.fit("object", judged(30_000, np.random.default_rng(8)), cov_type="cluster", groups="prompt")
    found = llbt.planning.needed(large, split=["b", "c"], top=2)
    rng, reached = np.random.default_rng(9), []
    for goal in found.goals:
        prompts = int(np.ceil(goal.factor * found.units))
        hits = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(150):
                res = llbt.fit("object", judged(prompts, rng), cov_type="cluster", groups="prompt")
                pairs = llbt.pairwise(res, adjust=None if goal.text.startswith("'") else "single-step").to_frame()
                first, second = ("b",), ("c",)
                if not goal.text.startswith("'"):
                    first, second = ("a", "b"), ("c", "d", "e", "f")
                own = pairs[pairs["object_i"].isin(first) & pairs["object_j"].isin(second)]
                p_value = own["p_value"] if goal.text.startswith("'") else own["p_adjusted"]
                hits.append(((p_value < 0.05) & (own["estimate"] > 0)).all())
        reached.append(np.mean(hits))
    np.testing.assert_allclose(reached, 0.8, atol=0.09)


def test_a_target_mix_is_that_of_at_and_judgments_are_printed_beside_long_goals() -> None:
    rng = np.random.default_rng(3)
    names = np.array([f"Llama-3.1-Nemotron-{k}B-Instruct-2024-09-final" for k in (8, 70, 405, 900)])
    i = rng.integers(4, size=900)
    j = (i + rng.integers(1, 4, size=900)) % 4
    won = np.where(rng.random(900) < 1 / (1 + np.exp((i - j) / 4)), "i", "j")
    frame = pd.DataFrame(
        {"object_i": names[i], "object_j": names[j], "outcome": won, "prompt": rng.integers(90, size=900)}
    )
    c = llbt.from_judgments(
        frame.assign(language=np.where(i < 2, "de", "en")), clusters="prompt", covariates="language"
    )
    res = llbt.fit("object + object:language", c, cov_type="cluster", groups="prompt", prior=1.0)
    mix = pd.DataFrame({"language": ["de", "en"], "weight": [0.3, 0.7]})
    found = llbt.planning.needed(res, split=names[:2].tolist(), top=2, weights=mix)
    at = llbt.planning.needed(res, split=names[:2].tolist(), top=2, at={"language": {"de": 0.3, "en": 0.7}})
    pd.testing.assert_frame_equal(found.to_frame(), at.to_frame())
    (heading,) = (line for line in found.as_text().split("\n") if line.startswith("Goal"))
    assert heading.split()[1:] == ["Prompts", "Judgments", "80", "%", "low", "High"]
