"""Evidence at any time: exact expectations under the hypothesis, and sums by hand."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.planning import sequential
from llbt.planning.betting_evidence import log_e_values, log_two_sided, of_counts, of_scores

STAKES = np.tanh(np.geomspace(0.05, 4.0, 32) / 2)  # 2p − 1 of log-odds


def table(*rows: tuple, **options) -> llbt.Comparisons:
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j", "judge"][: len(rows[0])])
    return llbt.from_counts(frame, **options)


@pytest.mark.parametrize("n", [1, 7, 40])
def test_evidence_of_equal_objects_is_expected_to_be_one(n: int) -> None:
    """All numbers of wins with their probabilities: 1 exactly at ½, less where i is the worse one, both sides at ½."""
    wins = np.arange(n + 1.0)
    log_e = log_e_values(of_counts(wins, n - wins))
    assert stats.binom.pmf(wins, n, 0.5) @ np.exp(log_e) == pytest.approx(1, rel=1e-12)
    assert stats.binom.pmf(wins, n, 0.45) @ np.exp(log_e) < 1
    assert stats.binom.pmf(wins, n, 0.6) @ np.exp(log_e) > 1
    sides = np.stack([np.stack([0 * log_e, log_e]), np.stack([log_e[::-1], 0 * log_e])]).T
    both = np.exp(log_two_sided(sides)[:, 0, 1])
    assert stats.binom.pmf(wins, n, 0.5) @ both == pytest.approx(1, rel=1e-12)


def test_scores_of_a_population_that_is_even_are_expected_to_be_one() -> None:
    scores, weights = np.array([0.0, 0.3, 0.5, 1.0]), np.array([0.2, 0.2, 0.32, 0.28])
    assert weights @ scores == pytest.approx(0.5)
    total = 0.0
    for which in itertools.product(range(4), repeat=4):
        total += np.prod(weights[list(which)]) * np.exp(log_e_values(of_scores(scores[list(which)]).sum(axis=0)))
    assert total == pytest.approx(1, rel=1e-12)


def test_the_wealth_is_that_of_the_bets() -> None:
    monitor = sequential(["A", "B", "C"]).update(table(("A", "B", 7, 4, 2), ("B", "C", 3, 0, 5)))
    expected = np.mean((1 + STAKES) ** 7 * (1 - STAKES) ** 2)
    assert monitor.e_values[0, 1] == pytest.approx(expected, rel=1e-12)
    assert monitor.e_values[2, 1] == pytest.approx(np.mean((1 + STAKES) ** 5 * (1 - STAKES) ** 3), rel=1e-12)
    assert monitor.e_values[0, 2] == 1
    first = monitor.to_frame().set_index(["object_i", "object_j"]).loc[("A", "B")]
    assert first[["wins_i", "undecided", "wins_j"]].tolist() == [7, 4, 2]
    both = (expected + np.mean((1 + STAKES) ** 2 * (1 - STAKES) ** 7)) / 2
    assert first["p_value"] == pytest.approx(1 / both)
    assert first["ahead"] == ""


def test_parts_and_order_do_not_matter() -> None:
    rows = [("A", "B", 9, 1, 3), ("B", "C", 6, 2, 4), ("A", "C", 8, 0, 1)]
    whole = sequential(["A", "B", "C"]).update(table(*rows))
    parts = sequential(["C", "A", "B"])
    for row in rows[::-1]:
        parts = parts.update(table(row))
    turned = parts.e_values[np.ix_([1, 2, 0], [1, 2, 0])]
    np.testing.assert_allclose(turned, whole.e_values, rtol=1e-12)
    shown = sequential(["A", "B", "C"]).update(
        table(("B", "A", 3, 1, 9), ("B", "C", 6, 2, 4), ("A", "C", 8, 0, 1), order=True)
    )
    np.testing.assert_allclose(shown.e_values, whole.e_values, rtol=1e-12)


def test_what_was_known_at_some_time_stays_known() -> None:
    monitor = sequential(["A", "B"]).update(table(("A", "B", 20, 0, 2)))
    assert monitor.leads
    assert monitor.leader == "A"
    p_value = monitor.p_value
    assert p_value == pytest.approx(2 / np.mean((1 + STAKES) ** 20 * (1 - STAKES) ** 2))
    later = monitor.update(table(("A", "B", 0, 0, 18)))
    assert later.e_values[0, 1] < 1
    assert later.p_value == p_value
    assert later.leads
    assert later.to_frame()["ahead"].tolist() == ["A"]
    path = later.path().to_frame()
    assert path["judgments"].tolist() == [22, 40]
    assert path["threshold"].tolist() == [40, 40]
    assert path["e_value"][0] == pytest.approx(2 / p_value)
    assert "A leads" in later.as_text()


def test_a_leader_is_as_sure_as_its_least_sure_pair() -> None:
    monitor = sequential(["A", "B", "C"], alpha=0.1).update(
        table(("A", "B", 30, 0, 4), ("A", "C", 8, 0, 6), ("B", "C", 5, 0, 5))
    )
    least = np.mean((1 + STAKES) ** 8 * (1 - STAKES) ** 6)
    assert monitor.path().to_frame()["e_value"].tolist() == pytest.approx([least])
    assert monitor.p_value == pytest.approx(min(1, 3 / least))
    assert not monitor.leads
    assert "No object leads yet" in monitor.as_text()
    unseen = sequential(["A", "B", "C"]).update(table(("A", "B", 90, 0, 4)))
    assert not unseen.leads  # C was never judged
    assert unseen.to_frame()["ahead"].tolist() == ["A", "", ""]


def test_one_pair_is_tested_on_either_side() -> None:
    monitor = sequential(["A", "B", "C"]).update(table(("A", "B", 14, 3, 5), ("B", "C", 4, 0, 4)))
    monitor = monitor.update(table(("A", "B", 0, 0, 4)))
    up, down = (np.mean((1 + s * STAKES) ** 14 * (1 - s * STAKES) ** 5) for s in (1, -1))
    greater = monitor.test("A", "B", alternative="greater")
    assert greater.statistic == pytest.approx(up)  # of the first update, not the second
    assert greater.p_value == pytest.approx(1 / up)
    assert greater.null == "λ[A] ≤ λ[B]"
    assert monitor.test("B", "A", alternative="less").p_value == greater.p_value
    assert monitor.test("A", "B").statistic == pytest.approx((up + down) / 2)
    assert monitor.test("A", "B").p_value == pytest.approx(monitor.to_frame()["p_value"][0])
    assert monitor.test("A", "B", alternative="less").p_value == 1
    for pair in (("A", "Z"), ("A", "A")):
        with pytest.raises(OptionError, match="two of the objects"):
            monitor.test(*pair)


def test_the_next_pair_is_what_the_leader_waits_for() -> None:
    monitor = sequential(["A", "B", "C"])
    first = monitor.next_pair
    assert len(set(first)) == 2
    monitor = monitor.update(table(("A", "B", 30, 0, 4), ("A", "C", 8, 0, 6), ("B", "C", 5, 0, 5)))
    assert monitor.next_pair == ("A", "C")
    assert monitor.update(table(("A", "C", 40, 0, 2))).next_pair == ("A", "B")


@pytest.mark.parametrize("kept", ["covariates", "clusters"])
def test_a_judge_is_one_score(kept: str) -> None:
    rows = [("A", "B", 6, 2, 0, "J1"), ("A", "B", 1, 0, 3, "J2"), ("B", "A", 0, 0, 5, "J3"), ("A", "C", 1, 1, 0, "J1")]
    monitor = sequential(["A", "B", "C"], by="judge").update(table(*rows, **{kept: "judge"}))
    scores = np.array([7 / 8, 1 / 4, 1.0])
    expected = np.mean(np.prod(1 + (2 * scores[:, None] - 1) * STAKES, axis=0))
    assert monitor.e_values[0, 1] == pytest.approx(expected, rel=1e-12)
    assert monitor.e_values[1, 0] == pytest.approx(np.mean(np.prod(1 - (2 * scores[:, None] - 1) * STAKES, axis=0)))
    assert monitor.e_values[0, 2] == pytest.approx(np.mean(1 + 0.5 * STAKES))
    assert monitor.units == {"J1", "J2", "J3"}
    more = monitor.update(table(("A", "B", 3, 0, 1, "J4"), **{kept: "judge"}))
    assert more.e_values[0, 1] != monitor.e_values[0, 1]
    with pytest.raises(JudgmentError, match="judges with a score from an earlier update: 'J2'"):
        more.update(table(("A", "B", 3, 0, 1, "J2"), **{kept: "judge"}))
    with pytest.raises(OptionError, match="no column 'judge'"):
        more.update(table(("A", "B", 3, 0, 1)))


def test_judges_can_be_too_few() -> None:
    rows = [("A", "B", 10, 0, 0, f"J{k}") for k in range(9)]
    eight = sequential(["A", "B"], by="judge").update(table(*rows[:8], clusters="judge"))
    assert eight.to_frame()["p_value"][0] == pytest.approx(0.052, abs=5e-4)
    nine = eight.update(table(rows[8], clusters="judge"))
    assert nine.to_frame()["ahead"].tolist() == ["A"]


def test_orders_shown_to_a_judge_are_one_score() -> None:
    rows = [("A", "B", 3, 0, 1, "J1"), ("B", "A", 4, 0, 0, "J1")]
    monitor = sequential(["A", "B"], by="judge").update(table(*rows, order=True, covariates="judge"))
    assert monitor.e_values[0, 1] == pytest.approx(np.mean(1 + (2 * 3 / 8 - 1) * STAKES))


def test_unequal_orders_are_named() -> None:
    uneven = table(("A", "B", 15, 0, 5), ("B", "C", 6, 0, 6), ("C", "B", 6, 0, 6), order=True)
    monitor = sequential(["A", "B", "C"]).update(uneven)
    assert any("A:B 20:0;" in note for note in monitor.table().notes)
    assert monitor.shown_first.tolist() == [[0, 20, 0], [0, 0, 12], [0, 12, 0]]
    even = monitor.update(table(("B", "A", 5, 0, 15), order=True))
    assert not any("shown first" in note for note in even.table().notes)
    unknown = sequential(["A", "B", "C"]).update(table(("A", "B", 15, 0, 5)))
    assert not any("shown first" in note for note in unknown.table().notes)


def test_grades_count_as_wins() -> None:
    frame = pd.DataFrame([("A", "B", 2, 3, 4, 1, 1)], columns=["object_i", "object_j", "++", "+", "=", "-", "--"])
    graded = sequential(["A", "B"]).update(llbt.from_counts(frame, grades=["++", "+", "=", "-", "--"]))
    plain = sequential(["A", "B"]).update(table(("A", "B", 5, 4, 2)))
    np.testing.assert_allclose(graded.e_values, plain.e_values)


def test_a_monitor_is_a_record() -> None:
    monitor = sequential(["A", "B"])
    assert monitor.p_value == 1
    assert not monitor.leads
    assert len(monitor.path().to_frame()) == 0
    after = monitor.update(table(("A", "B", 5, 1, 2)))
    assert monitor.e_values.tolist() == [[1, 1], [1, 1]]
    assert monitor.looks == ()
    again = pickle.loads(pickle.dumps(after))
    assert again.to_frame().equals(after.to_frame())


def test_what_cannot_be_taken_is_refused() -> None:
    for objects in ("AB", ["A"], 3, []):
        with pytest.raises(OptionError, match=r"two objects or more|a list of labels"):
            sequential(objects)
    with pytest.raises(OptionError, match="each object once"):
        sequential(["A", "A"])
    with pytest.raises(OptionError, match="alpha"):
        sequential(["A", "B"], alpha=1.5)
    with pytest.raises(JudgmentError, match="objects that were not named at the start: 'Z'"):
        sequential(["A", "B"]).update(table(("A", "Z", 1, 0, 0)))
    with pytest.raises(JudgmentError, match="fractional"):
        sequential(["A", "B"]).update(table(("A", "B", 1.5, 0, 0)))
    with pytest.raises(DesignError, match="objects"):
        sequential(list(range(100_000)))


def test_no_evidence_overflows() -> None:
    monitor = sequential(["A", "B"]).update(table(("A", "B", 200_000, 0, 100)))
    assert monitor.leads
    assert monitor.p_value == 0
    assert np.isfinite(monitor.path().to_frame()["e_value"]).all()
    assert math.isfinite(monitor.peak_leads.max())
    assert "A leads" in monitor.as_text()
