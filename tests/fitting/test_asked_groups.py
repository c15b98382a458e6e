"""Groups, target mixes and differences between groups: `by=`, `weights=`, `hypothesis=`, against the same by hand."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt

OBJECTS = list("ABCD")
FRAME = pd.DataFrame({"language": ["de", "de", "en"], "topic": ["code", "chat", "chat"], "weight": [0.2, 0.3, 0.5]})
ROWS = list(FRAME.itertuples(index=False, name=None))
CODE = {"topic": "code"}


@cache
def fitted(formula: str = "object * language + object * topic + tie * language") -> llbt.LLBTResults:
    rng = np.random.default_rng(3)
    worth = {"A": 0.6, "B": 0.3, "C": -0.2, "D": -0.7}
    rows = []
    for _ in range(600):
        i, j = rng.choice(OBJECTS, 2, replace=False)
        language, topic, length = rng.choice(["de", "en", "fr"]), rng.choice(["code", "chat"]), rng.normal()
        gap = worth[i] - worth[j] + 0.8 * ((i == "A") - (j == "A")) * (language == "de")
        won = "i" if rng.random() < special.expit(2 * gap) else "j"
        rows.append((i, j, language, topic, length, "tie" if rng.random() < 0.2 else won))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "language", "topic", "length", "outcome"])
    return llbt.fit(formula, llbt.from_judgments(frame, covariates=["language", "topic", "length"]))


def log_worths(at: dict[str, str], params: Any) -> np.ndarray:
    names = [[f"object[{o}]", *(f"object[{o}]:{name}[{value}]" for name, value in at.items())] for o in OBJECTS]
    return np.array([sum(params.get(name, 0.0) for name in each) for each in names])


def by_hand(function: Any, step: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
    """The value of a function of the parameters, with delta-method errors by central differences."""
    res = fitted()
    slopes = []
    for name in res.cov_params().index:
        moved = [function(res.params.where(res.params.index != name, res.params + s)) for s in (step, -step)]
        slopes.append((moved[0] - moved[1]) / (2 * step))
    gradient = np.array(slopes)
    return function(res.params), np.sqrt(np.einsum("pk,pq,qk->k", gradient, res.cov_params().to_numpy(), gradient))


def leads(worths: np.ndarray) -> np.ndarray:
    i, j = np.triu_indices(len(worths), 1)
    return worths[i] - worths[j]


def close(found: Any, expected: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_allclose(found["estimate"], expected[0], atol=1e-9)
    np.testing.assert_allclose(found["std_error"], expected[1], rtol=1e-6, atol=1e-9)


QUESTIONS = {
    "worth": lambda **where: llbt.worth(fitted(), scale="log_odds", **where),
    "pairwise": lambda **where: llbt.pairwise(fitted(), **where),
    "leaderboard": lambda **where: llbt.leaderboard(fitted(), **where),
    "contrasts": lambda **where: llbt.contrasts(fitted(), {"x": {"A": 1, "B": -1}}, **where),
    "predict": lambda **where: fitted().predict(**where),
}


OVER_GROUPS = ("rank_low", "rank_high", "tier", "group")  # of a leaderboard, which hold over all groups together


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_group_is_what_at_its_level_gives(question: str) -> None:
    split = QUESTIONS[question](at=CODE, by="language").to_frame()
    assert split["language"].drop_duplicates().tolist() == ["de", "en", "fr"]
    for language in ("de", "en", "fr"):
        one = QUESTIONS[question](at={**CODE, "language": language}).to_frame()
        block = split[split["language"] == language].reset_index(drop=True)
        shared = [name for name in block if name in one and name not in ("language", "topic", *OVER_GROUPS)]
        pd.testing.assert_frame_equal(block[shared], one[shared], check_dtype=False)


@pytest.mark.parametrize("question", QUESTIONS)
def test_several_covariates_split_into_their_combinations_and_at_lists_the_groups(question: str) -> None:
    split = QUESTIONS[question](at={"language": ["fr", "de"]}, by=["topic", "language"]).to_frame()
    groups = split[["topic", "language"]].drop_duplicates().to_numpy().tolist()
    assert sorted(groups) == sorted([["chat", "de"], ["chat", "fr"], ["code", "de"], ["code", "fr"]])


@pytest.mark.parametrize("question", QUESTIONS)
def test_weights_are_a_joint_mix(question: str) -> None:
    """Independent covariates make the product, which a mix in `at=` is; the frame here is none."""
    product = pd.DataFrame(
        [(a, b, v * w) for a, v in (("de", 0.3), ("en", 0.7)) for b, w in (("code", 0.5), ("chat", 0.5))],
        columns=["language", "topic", "weight"],
    )
    at = {"language": {"de": 0.3, "en": 0.7}, "topic": {"code": 0.5, "chat": 0.5}}
    found, mixed = QUESTIONS[question](weights=product), QUESTIONS[question](at=at)
    numbers = ["estimate", "conf_low", "conf_high"]
    np.testing.assert_allclose(found.to_frame()[numbers], mixed.to_frame()[numbers], atol=1e-12)
    joint = QUESTIONS[question](weights=FRAME).to_frame()
    assert not np.allclose(joint["estimate"], mixed.to_frame()["estimate"], atol=1e-4)


def test_a_joint_mix_by_hand() -> None:
    def value(params: Any) -> np.ndarray:
        return 2 * sum(w * leads(log_worths({"language": a, "topic": b}, params)) for a, b, w in ROWS)

    found = llbt.pairwise(fitted(), weights=FRAME)
    close(found.to_frame(), by_hand(value))
    assert any("50 % de, 50 % en" in note and "20 % code, 80 % chat" in note for note in found.notes)

    def share(params: Any) -> np.ndarray:
        each = (w * special.expit(2 * leads(log_worths({"language": a, "topic": b}, params))) for a, b, w in ROWS)
        return sum(each)

    close(llbt.pairwise(fitted(), weights=FRAME, scale="probability").to_frame(), by_hand(share))


def test_differences_between_groups_by_hand() -> None:
    """Is the lead larger in German?"""

    def value(params: Any) -> np.ndarray:
        each = [leads(log_worths({"language": name, "topic": "code"}, params)) for name in ("de", "en", "fr")]
        return 2 * np.concatenate([each[0] - each[1], each[0] - each[2], each[1] - each[2]])

    expected = by_hand(value)
    where = {"at": CODE, "by": "language", "hypothesis": "pairwise"}
    found = llbt.pairwise(fitted(), **where)
    assert found.to_frame()["language"].drop_duplicates().tolist() == ["de − en", "de − fr", "en − fr"]
    assert "differences between groups: the first minus the second" in found.notes
    close(found.to_frame(), expected)
    table = llbt.contrasts(fitted(), {"x": {"A": 1, "B": -1}}, **where).to_frame()
    close(table, (expected[0][::6], expected[1][::6]))
    worth = llbt.worth(fitted(), scale="log_odds", **where).to_frame()
    last = worth[worth["object"] != "D"].sort_values(["language", "object"])
    np.testing.assert_allclose(last["estimate"], expected[0][[2, 4, 5, 8, 10, 11, 14, 16, 17]], atol=1e-9)
    board = llbt.leaderboard(fitted(), **where).to_frame().sort_values(["language", "object"])
    first = board[board["language"] == "de − en"]["estimate"].to_numpy()
    np.testing.assert_allclose(leads(first), expected[0][:6], atol=1e-9)


def test_ranges_of_ranks_hold_over_objects_and_groups() -> None:
    """Against draws of all pairs in all languages from the covariance of the parameters."""
    res, rng = fitted(), np.random.default_rng(1)
    names = list(res.cov_params().index)
    rows = []
    for language in ("de", "en", "fr"):
        unit = [leads(log_worths({**CODE, "language": language}, pd.Series(e, names))) for e in np.eye(len(names))]
        rows.append(np.array(unit).T)
    matrix = np.concatenate(rows)
    cov = matrix @ res.cov_params().to_numpy() @ matrix.T
    error = np.sqrt(np.diag(cov))
    drawn = rng.multivariate_normal(np.zeros(len(cov)), cov, 200_000, method="eigh") / error
    critical = np.quantile(np.abs(drawn).max(axis=1), 0.95)
    lead = matrix @ res.params[names].to_numpy()
    better = (lead > critical * error, -lead > critical * error)
    board = llbt.leaderboard(res, at=CODE, by="language", rng=2)
    i, j = np.triu_indices(4, 1)
    for k, language in enumerate(("de", "en", "fr")):
        block = board.to_frame()[board["language"] == language].set_index("object").loc[OBJECTS]
        ahead, behind = (side[6 * k : 6 * k + 6] for side in better)
        low = 1 + np.bincount(j, ahead, 4) + np.bincount(i, behind, 4)
        high = 4 - np.bincount(i, ahead, 4) - np.bincount(j, behind, 4)
        assert block[["rank_low", "rank_high"]].to_numpy().tolist() == np.column_stack([low, high]).tolist()
    assert any("over objects and groups" in note for note in board.notes)
    from llbt.inference.log_worths import centred
    from llbt.inference.simultaneous import pairs_of_classes

    found = [centred(res, {**CODE, "language": language})[0] for language in ("de", "en", "fr")]
    joint = pairs_of_classes(res, found, np.random.default_rng(3))
    assert joint is not None
    assert joint.quantile(0.95) == pytest.approx(critical, abs=0.02)
    assert joint.quantile(0.95) > llbt.pairwise(res, at={**CODE, "language": "de"}).critical + 0.2


def test_differences_of_outcome_probabilities_by_hand() -> None:
    def outcomes(params: Any, language: str) -> np.ndarray:
        gap = leads(log_worths({"language": language, "topic": "code"}, params))
        tie = params["tie"] + params.get(f"tie:language[{language}]", 0.0)
        return special.softmax(np.column_stack([gap, np.full(len(gap), tie), -gap]), axis=1).ravel()

    expected = by_hand(lambda params: outcomes(params, "de") - outcomes(params, "fr"))
    where = {"at": {**CODE, "language": ["de", "fr"]}, "by": "language", "hypothesis": "pairwise"}
    found = fitted().predict(**where).to_frame()
    close(found, expected)
    z = 1.959963984540054
    np.testing.assert_allclose(found["conf_low"], found["estimate"] - z * found["std_error"], atol=1e-12)


def test_differences_of_mixes_and_numbers() -> None:
    res = fitted("object * length + object * topic + tie")
    at = {"length": [1.0, -1.0], "topic": {"code": 0.5, "chat": 0.5}}
    found = llbt.pairwise(res, at=at, by="length", hypothesis="pairwise", scale="log_worth").to_frame()
    slopes = np.array([res.params.get(f"object[{o}]:length", 0.0) for o in OBJECTS])
    np.testing.assert_allclose(found["estimate"], 2 * leads(slopes), atol=1e-9)


@cache
def judged() -> pd.Series:
    """Judgments by language and topic."""
    rows = fitted().comparisons.to_frame()
    return rows[["wins_i", "ties", "wins_j"]].sum(axis=1).groupby([rows["language"], rows["topic"]]).sum()


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_average_by_groups_is_the_mix_of_their_judgments(question: str) -> None:
    split = QUESTIONS[question](at="average", by="language")
    assert "topic" not in split.to_frame()
    for language, counts in judged().groupby(level=0):
        mix = {topic: float(n) for (_, topic), n in (counts / counts.sum()).items()}
        one = QUESTIONS[question](at={"language": language, "topic": mix}).to_frame()
        block = split.to_frame()[split["language"] == language].reset_index(drop=True)
        shared = [name for name in block if name in one and name not in ("language", *OVER_GROUPS)]
        pd.testing.assert_frame_equal(block[shared], one[shared], check_dtype=False)
    assert any("the judgments of language de" in note for note in split.notes)
    apart = QUESTIONS[question](at="average", by="language", hypothesis="pairwise").to_frame()
    assert apart["language"].drop_duplicates().tolist() == ["de − en", "de − fr", "en − fr"]


def test_an_average_needs_judgments() -> None:
    rows = [("A", "B", "de", "code", 3, 2), ("A", "B", "en", "code", 2, 3), ("A", "B", "de", "chat", 2, 1)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "language", "topic", "wins_i", "wins_j"])
    res = llbt.fit("object * language + object * topic", llbt.from_counts(frame, covariates=["language", "topic"]))
    with pytest.raises(llbt.errors.OptionError, match=r"no judgment was made at \{'language': 'en', 'topic': 'chat'\}"):
        llbt.pairwise(res, at="average", by=["language", "topic"])


REFUSED = {
    "no covariate": ({"by": "country"}, "'language', 'topic'"),
    "average of numbers by group": ({"by": "length", "at": "average"}, "is not a covariate"),
    "no groups": ({"hypothesis": "pairwise"}, "Name the column of the groups: by='language'"),
    "one group": ({"by": "language", "at": {"language": "de"}, "hypothesis": "pairwise"}, "two groups or more"),
    "split and mixed": ({"by": "language", "at": {"language": {"de": 1.0}}}, "Leave .language. out"),
    "a frame without weights": ({"weights": FRAME[["language"]]}, "a column weight"),
    "weights that do not sum to 1": ({"weights": FRAME.assign(weight=0.5)}, r"sum to 1\.5.*weights=frame\.assign"),
    "named twice": ({"weights": FRAME, "at": CODE}, "one of the two"),
    "an unknown level": ({"weights": FRAME.assign(language="it")}, "'de', 'en', 'fr'"),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("wrong", REFUSED)
def test_groups_and_mixes_that_make_no_sense_are_refused(question: str, wrong: str) -> None:
    where, said = REFUSED[wrong]
    with pytest.raises(llbt.errors.OptionError, match=said):
        QUESTIONS[question](**where)


def test_differences_of_probabilities_are_those_of_predict() -> None:
    for question in ("worth", "pairwise", "leaderboard"):
        with pytest.raises(llbt.errors.OptionError, match=r"res\.predict"):
            getattr(llbt, question)(fitted(), at=CODE, by="language", hypothesis="pairwise", scale="probability")


def test_numbers_need_values_and_other_covariates_a_place() -> None:
    res = fitted("object * length + object * topic + tie")
    with pytest.raises(llbt.errors.OptionError, match="Name its values"):
        llbt.worth(res, by="length")
    with pytest.raises(llbt.errors.OptionError, match="Name one class"):
        llbt.pairwise(fitted(), by="language")
