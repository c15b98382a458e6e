"""Worths of latent classes against own formulas, finite differences and simulation."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.questions import OBJECTS, fit_of

import llbt
from llbt.errors import OptionError
from llbt.judges.class_fit import LatentClasses


@pytest.fixture(scope="module")
def found() -> LatentClasses:
    answer = fit_of("classes")
    assert isinstance(answer, LatentClasses)
    return answer


def parameters(found: LatentClasses) -> np.ndarray:
    """K·p parameters and the log ratios of the shares."""
    shares = found.shares.to_numpy()
    return np.append(found.params.to_numpy().ravel(), np.log(shares[1:] / shares[0]))


def parts(found: LatentClasses, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares, log-worths (K, J) and ties (K,) of parameters, read by their names."""
    each = pd.DataFrame(theta[: found.params.size].reshape(found.params.shape), columns=found.params.columns)
    lam = np.column_stack([each.get(f"object[{o}]", pd.Series(0.0, each.index)) for o in OBJECTS])
    return special.softmax(np.append(0.0, theta[found.params.size :])), lam, each["tie"].to_numpy()


def errors(found: LatentClasses, value: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Delta-method errors by central differences."""
    theta, step = parameters(found), 1e-5
    moves = np.eye(len(theta)) * step
    slopes = np.array([(value(theta + m) - value(theta - m)) / (2 * step) for m in moves])
    return np.sqrt(np.einsum("pr,pq,qr->r", slopes, found.covariance, slopes))


def test_predictions_of_all_judges_are_weighted_by_shares(found: LatentClasses) -> None:
    """Σ π_k P_k by an own softmax, its errors by central differences in all parameters."""
    table = found.predict(at={}).to_frame()
    rows = table[table["class"] == "all"]
    pairs = [(OBJECTS.index(i), OBJECTS.index(j)) for i, j in zip(rows.object_i, rows.object_j, strict=True)]
    place = [["i", "tie", "j"].index(outcome) for outcome in rows.outcome]

    def mixed(theta: np.ndarray) -> np.ndarray:
        shares, lam, tie = parts(found, theta)
        of_pairs = []
        for (i, j), c in zip(pairs, place, strict=True):
            apart = lam[:, i] - lam[:, j]
            of_pairs.append(shares @ special.softmax(np.column_stack([apart, tie, -apart]), axis=1)[:, c])
        return np.array(of_pairs)

    np.testing.assert_allclose(rows["estimate"], mixed(parameters(found)), rtol=1e-10)
    np.testing.assert_allclose(rows["std_error"], errors(found, mixed), rtol=1e-6)


def test_the_board_of_all_judges_is_of_the_mixture(found: LatentClasses) -> None:
    """The logit of Σ π_k P_k(beats average), never Σ π_k λ_k; intervals by central differences."""
    table = llbt.leaderboard(found).to_frame()
    rows = table[table["class"] == "all"].set_index("object").loc[list(OBJECTS)]

    def level(theta: np.ndarray) -> np.ndarray:
        shares, lam, _ = parts(found, theta)
        return special.logit(shares @ special.expit(2 * (lam - lam.mean(axis=1, keepdims=True))))

    np.testing.assert_allclose(rows["estimate"], level(parameters(found)), rtol=1e-10)
    half = stats.norm.isf(0.025) * errors(found, level)
    np.testing.assert_allclose(rows["conf_high"] - rows["estimate"], half, rtol=1e-6)
    assert table["class"].tolist()[:5] == ["all"] * 4 + [1]
    chance = llbt.leaderboard(found, scale="odds_ratio").to_frame()
    chance = chance[chance["class"] == "all"].set_index("object").loc[list(OBJECTS), "estimate"]
    np.testing.assert_allclose(chance, np.exp(rows["estimate"]))
    anchored = llbt.leaderboard(found, scale="elo", anchor={"D": 1000}).to_frame()
    np.testing.assert_allclose(anchored.loc[anchored["object"] == "D", "estimate"], 1000)
    assert "no leaderboard of all judges" in llbt.leaderboard(found, scale="log_worth").as_text()


def test_boards_and_worths_of_a_class_are_those_of_its_results(found: LatentClasses) -> None:
    weights = {"A - B": {"A": 1, "B": -1}}
    for ask in (llbt.worth, llbt.leaderboard, llbt.quasi_variances, lambda res: llbt.contrasts(res, weights)):
        table = ask(found).to_frame()
        for label in found.labels:
            own = table[table["class"] == label].reset_index(drop=True)
            alone = ask(found.results(label)).to_frame()
            shared = [name for name in alone if name in own]
            pd.testing.assert_frame_equal(own[shared], alone[shared], check_dtype=False)


def test_pairs_are_adjusted_within_and_over_classes(found: LatentClasses) -> None:
    """Bonferroni by hand; single-step by normal draws from the joint covariance of all classes."""
    table = llbt.pairwise(found, adjust="bonferroni").to_frame()
    np.testing.assert_allclose(table["p_adjusted"], np.minimum(6 * table["p_value"], 1))
    np.testing.assert_allclose(table["p_over_classes"], np.minimum(12 * table["p_value"], 1))
    single = llbt.pairwise(found).to_frame()
    assert (single["p_over_classes"] >= single["p_adjusted"]).all()
    size = found.params.size
    theta = np.random.default_rng(1).multivariate_normal(np.zeros(size), found.covariance[:size, :size], 20_000)
    each = theta.reshape(-1, *found.params.shape)
    at = [list(found.params.columns).index(f"object[{o}]") for o in OBJECTS[:3]]
    lam = np.concatenate([each[:, :, at], np.zeros((len(each), 2, 1))], axis=2)
    i, j = np.triu_indices(4, 1)
    apart = 2 * (lam[:, :, i] - lam[:, :, j]).reshape(len(lam), -1)
    largest = np.abs(apart / single["std_error"].to_numpy()).max(axis=1)
    expected = [(largest >= abs(z)).mean() for z in single["statistic"]]
    np.testing.assert_allclose(single["p_over_classes"], expected, atol=0.015)
    reach = (single["conf_high"] - single["estimate"]) / single["std_error"]
    np.testing.assert_allclose(reach, np.quantile(largest, 0.95), atol=0.05)
    some = llbt.pairwise(found, objects=["A", "C"]).to_frame()
    assert some[["object_i", "object_j"]].to_numpy().tolist() == [["A", "C"]] * 2


def test_classes_have_no_population(found: LatentClasses) -> None:
    for ask in (llbt.worth, llbt.leaderboard, llbt.pairwise):
        with pytest.raises(OptionError, match="population"):
            ask(found, population=True)


def test_a_class_at_infinity_has_no_errors() -> None:
    orders = {"a": "ABC", "b": "ABC", "c": "ABC", "d": "CBA", "e": "CBA", "f": "CBA"}
    rows = [
        (judge, i, j, "i" if order.index(i) < order.index(j) else "j")
        for judge, order in orders.items()
        for i, j in ("AB", "AC", "BC")
    ]
    frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    one = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=[2], starts=3, rng=1)[2]
    assert one.infinite
    for table in (llbt.worth(one), llbt.leaderboard(one), llbt.pairwise(one), one.predict()):
        assert "No finite estimates" in table.as_text()
