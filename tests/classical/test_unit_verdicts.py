"""Tests of pairs count a prompt once: against scipy on verdicts collapsed by hand, all flips, and simulation."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.classical import head_to_head, model_test, sign_test
from llbt.classical.sign_rules import RULES
from llbt.errors import JudgmentError


def judged(prompts: int = 40, seed: int = 1) -> pd.DataFrame:
    """Three objects; each prompt of each pair in both orders, some a third time; answers lean by prompt."""
    rng = np.random.default_rng(seed)
    rows = []
    for a, b in (("A", "B"), ("A", "C"), ("B", "C")):
        for prompt in range(prompts):
            lean = rng.normal(0.5, 1.5)
            for k in range(2 + prompt % 2):
                i, j = (a, b) if k % 2 == 0 else (b, a)
                u = lean if k % 2 == 0 else -lean
                p = np.exp([u, 0, -u])
                outcome = (i, "tie", j)[rng.choice(3, p=p / p.sum())]
                rows.append((i, j, outcome, f"J{k}", prompt))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge", "prompt"])


FRAME = judged()


def collapsed(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with one row per pair and prompt, by hand: who won more of its judgments."""
    rows = []
    pair = frame[["object_i", "object_j"]].apply(lambda row: tuple(sorted(row)), axis=1)
    for (i, j), prompt in itertools.product(sorted(set(pair)), sorted(set(frame["prompt"]))):
        some = frame[(pair == (i, j)) & (frame["prompt"] == prompt)]["outcome"]
        lead = (some == i).sum() - (some == j).sum()
        rows.append((i, j, i if lead > 0 else j if lead < 0 else "tie"))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])


ONCE = collapsed(FRAME)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_that_of_one_verdict_per_prompt(rule: str) -> None:
    found, expected = sign_test(FRAME, ties=rule), sign_test(ONCE, ties=rule)
    assert (found.unit, expected.unit) == ("prompt", "judgment")
    assert found.counts.sum() == 120
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_allclose(found.p_value, expected.p_value, rtol=1e-12)
    np.testing.assert_allclose(found.conf_low, expected.conf_low, rtol=1e-12)
    for (i, _, j), p in zip(found.counts.astype(int), sign_test(FRAME).p_value, strict=True):
        assert p == pytest.approx(stats.binomtest(i, i + j).pvalue, rel=1e-12)


def test_the_model_and_all_pairs_go_by_the_same_verdicts() -> None:
    model, pairs = model_test(FRAME), head_to_head(FRAME)
    np.testing.assert_allclose(model.p_value, model_test(ONCE).p_value, rtol=1e-12)
    np.testing.assert_allclose(pairs.p_value, sign_test(FRAME).p_value, rtol=1e-12)
    assert pairs.counts.sum() == len(FRAME)  # shares are those of the judgments
    note = (
        "one verdict per prompt and pair, for the object that wins more of its judgments: 120 verdicts of 300 judgments"
    )
    for found in (sign_test(FRAME), model, pairs):
        assert note in found.notes
    assert "sign test of the decided prompts" in str(pairs)


def test_the_test_of_verdicts_is_that_of_all_flips_of_signs() -> None:
    """Two objects, 11 prompts in both orders: among all 2¹¹ flips of prompts as many leads as here, or more."""
    rng = np.random.default_rng(3)
    said = rng.choice(["X", "Y", "tie"], p=[0.6, 0.2, 0.2], size=11)
    rows = [(i, j, who, prompt) for prompt, who in enumerate(said) for i, j in (("X", "Y"), ("Y", "X"))]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "prompt"])
    leads = np.select([said == "X", said == "Y"], [2, -2], 0)
    flips = np.array(list(itertools.product([-1, 1], repeat=11))) @ leads
    found = sign_test(frame).p_value[0]
    assert found == pytest.approx(np.mean(np.abs(flips) >= abs(leads.sum())), rel=1e-12)
    assert sign_test(frame, unit="judgment").p_value[0] < found


@pytest.mark.parametrize("kept", ["clusters", "covariates"])
def test_tables_that_keep_the_prompt_answer_as_judgments_do(kept: str) -> None:
    for order in (True, False):
        c = llbt.from_judgments(FRAME, order=order, **{kept: "prompt"})
        for test in (sign_test, model_test, head_to_head):
            np.testing.assert_allclose(test(c).p_value, test(FRAME).p_value, rtol=1e-12)
            np.testing.assert_array_equal(test(c).counts, test(FRAME).counts)


def test_judgments_are_the_unit_where_prompts_are_unknown_or_asked_for() -> None:
    bare = FRAME.drop(columns="prompt")
    for test in (sign_test, model_test, head_to_head):
        expected = test(bare)
        assert expected.unit == "judgment"
        for found in (test(FRAME, unit="judgment"), test(llbt.from_judgments(FRAME))):
            np.testing.assert_allclose(found.p_value, expected.p_value, rtol=1e-12)
    alone = FRAME.assign(
        prompt=FRAME[["object_i", "object_j"]].min(axis=1) + FRAME[["object_i", "object_j"]].max(axis=1)
    )
    found = sign_test(alone)
    assert "each pair was judged on one prompt, so its judgments are assumed independent" in found.notes
    np.testing.assert_allclose(found.p_value, sign_test(bare).p_value)
    assert sign_test(alone, unit="prompt").n.max() == 1


def test_other_units_and_judgments_without_a_prompt() -> None:
    by_judge = sign_test(FRAME, unit="judge")
    assert (by_judge.unit, by_judge.counts.sum()) == ("judge", 9)
    some = FRAME.assign(prompt=FRAME["prompt"].where(FRAME["prompt"] > 4))
    gone = int(some["prompt"].isna().sum())
    assert sign_test(some).counts.sum() == 3 * 35 + gone  # a judgment without a prompt is a unit


def test_an_unknown_unit_is_refused_and_the_way_out_works() -> None:
    c = llbt.from_judgments(FRAME, clusters="prompt")
    for data, has in ((c, "'prompt'"), (FRAME, "'judge', 'prompt'")):
        with pytest.raises(JudgmentError, match=rf"unit='promt' \(did you mean 'prompt'\?\).*{has}") as refused:
            sign_test(data, unit="promt")
        assert "Pass unit='judgment'" in str(refused.value)
        assert sign_test(data, unit="judgment").unit == "judgment"


@pytest.mark.slow
def test_size_with_prompts_judged_in_both_orders() -> None:
    """1,500 pairs of equal objects, 30 prompts each in both orders, answers lean by prompt (sd 6): level 5 %."""
    rng = np.random.default_rng(11)
    pairs, prompts = 1500, 30
    lean = np.repeat(rng.normal(0, 6, (pairs, prompts)), 2, axis=1)
    first = rng.random(lean.shape) < 1 / (1 + np.exp(-lean))
    pair, place = np.indices(lean.shape).reshape(2, -1)
    labels = np.array([f"s{k:04}" for k in range(2 * pairs)])
    frame = pd.DataFrame({"object_i": labels[pair], "object_j": labels[pair + pairs], "prompt": place // 2})
    frame["outcome"] = np.where(first.ravel(), frame["object_i"], frame["object_j"])
    swapped = place % 2 == 1
    frame.loc[swapped, ["object_i", "object_j"]] = frame.loc[swapped, ["object_j", "object_i"]].to_numpy()
    share = {unit: np.mean(sign_test(frame, unit=unit).p_value <= 0.05) for unit in ("prompt", "judgment")}
    model = np.mean(model_test(frame).p_value <= 0.05)
    assert 0.01 < share["prompt"] <= 0.055
    assert model <= 0.09  # mid-p and χ², up to .077 without dependence
    assert share["judgment"] > 0.08


@pytest.mark.shared
def test_layouts_of_both_orders(shared: Path) -> None:
    """60 prompts in both orders, always alike, are 60 units; of five prompts one flips, which is a tie."""
    agree, flip = (shared / "layouts" / f"{name}.csv" for name in ("r21_both_orders_agree", "r35_both_orders_flip"))
    found = sign_test(agree)
    assert found.counts.tolist() == [[21, 0, 39]]
    assert found.p_value[0] == pytest.approx(stats.binomtest(21, 60).pvalue, rel=1e-12)
    assert sign_test(agree, unit="judgment").p_value[0] == pytest.approx(stats.binomtest(42, 120).pvalue, rel=1e-12)
    assert sign_test(flip).counts.tolist() == [[3, 1, 1]]
