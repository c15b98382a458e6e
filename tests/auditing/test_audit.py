"""Audits: every check finds what was put into a frame, with the right numbers, and nothing in a clean one."""

import difflib
import io
import itertools
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable
from support.fits import fit_by

import llbt
from llbt import audit
from llbt.auditing.audit import Audit
from llbt.auditing.checks import CHECKS
from llbt.auditing.finding import SIGNIFICANT
from llbt.auditing.labels import near_duplicates, variants
from llbt.errors import JudgmentError, OptionError
from llbt.formats import columns

NAMES = ["object_i", "object_j", "outcome", "judge", "prompt"]


def frame(rows):
    """A frame of judgments (object_i, object_j, outcome[, judge[, prompt]])."""
    return pd.DataFrame(rows, columns=NAMES[: len(rows[0])])


def clean_rows():
    """Four objects, every pair in both orders, each judged by four judges alike: i, j, a tie, i or j in turn."""
    rows = []
    for prompt, (i, j) in enumerate(itertools.permutations(["alpha", "bravo", "delta", "hotel"], 2)):
        for judge in range(4):
            said = ["i", "j", "tie", "ij"[prompt % 2]][(judge + prompt) % 4]
            rows += [(i, j, said, f"J{judge}", f"{prompt}.{judge}.{k}") for k in range(2)]
    return rows


def found(rows, check, **keywords):
    data = rows if not isinstance(rows, list) else frame(rows)
    return audit(data, **keywords).finding(check)


def assert_same(finding, other):
    """Two findings in the same words; sums over lines in another order may differ in the last digit."""
    assert replace(finding, figures={}) == replace(other, figures={})
    assert finding.figures == pytest.approx(other.figures, rel=1e-9, nan_ok=True)


# -- nothing to find --------------------------------------------------------------------------------------


def test_a_clean_frame_passes_every_check():
    report = audit(frame(clean_rows()))
    levels = {f.check: f.level for f in report.findings}
    without = ("tasks", "judge_separation", "grades", "turned_scale")
    assert levels == dict.fromkeys(CHECKS, "ok") | dict.fromkeys(without, "unchecked")
    assert report.failed("note") == ()
    assert str(report).startswith(
        "Audit: nothing found, 21 ok, 4 not checked\n4 objects, 6 of 6 pairs compared, 96 judgments (25 % ties)"
    )
    assert "judgments per pair 16 to 16 (median 16), per judge 24 to 24 (median 24), per object 48" in str(report)
    assert len(str(report).splitlines()) == 1 + 2 + 1 + 31 + 2  # one line for each check, more for some


@pytest.mark.slow
def test_the_frame_is_not_changed_and_any_library_will_do():
    data = frame([*clean_rows(), ("alpha", "alpha", "i", None, "x"), (None, "alpha", "i", "J1", "x")])
    before = data.copy(deep=True)
    report = audit(data)
    pd.testing.assert_frame_equal(data, before)
    assert str(audit(pl.from_pandas(data))) == str(report)
    assert str(audit(pl.from_pandas(data).lazy())) == str(report)


# -- rows that compare nothing ----------------------------------------------------------------------------


def test_missing_objects_outcomes_judges():
    rows = [
        *clean_rows(),
        (None, "alpha", "i", "J1", "p"),
        ("alpha", "bravo", None, "J1", "p"),
        ("bravo", "alpha", np.nan, "J1", "p"),
        ("bravo", "alpha", "i", None, "q"),
    ]
    report = audit(frame(rows))
    missing = report.finding("missing")
    assert missing.level == "error"
    assert missing.found == "1 row without object_i, 2 rows without outcome, 1 row without judge"
    assert "frame.dropna(subset=['object_i', 'outcome'])" in missing.remedy
    assert "97 judgments" in report.sizes[0]
    only_judges = found([*clean_rows(), rows[-1]], "missing")
    assert (only_judges.level, only_judges.found) == ("note", "1 row without judge")


def test_rows_left_out_by_the_mapping_are_counted():
    rows = [*clean_rows(), ("alpha", "bravo", "skip", "J1", "p")]
    finding = found(rows, "missing", format=columns(outcomes={"skip": None}))
    assert (finding.level, finding.found) == ("note", "1 row left out by outcomes=")


def test_self_comparisons():
    rows = [*clean_rows(), ("bravo", "bravo", "i", "J1", "p"), ("zulu", "zulu", "tie", "J1", "p")]
    report = audit(frame(rows))
    finding = report.finding("self_comparisons")
    assert finding.level == "error"
    assert finding.found == (
        "2 rows with an object compared with itself: 'bravo', 'zulu'; 'zulu' is compared with nothing else"
    )
    assert finding.figures == {"rows": 2}
    assert finding.remedy.startswith("frame[frame['object_i'] != frame['object_j']]")
    assert report.sizes[0].startswith("4 objects, 6 of 6 pairs compared, 96 judgments")


def test_nothing_left_to_compare():
    report = audit(frame([("a", "a", "i"), (None, "a", "j"), ("b", "a", None)]))
    assert report.sizes == ("no judgment is left",)
    assert {f.check for f in report.failed("note")} == {"self_comparisons", "missing"}
    assert report.finding("separation").found == "no judgment is left"


def test_outcomes_that_cannot_be_read_do_not_stop_the_rest():
    rows = [("a", "b", "left!", "x"), ("b", "c", "i", "x"), ("d", "e", "i", "x")]
    report = audit(frame(rows))
    assert report.finding("outcomes").level == "error"
    assert "'left!'" in report.finding("outcomes").found
    assert report.finding("disconnected").figures == {"groups": 2}
    assert report.finding("ties").found == "needs outcomes that can be read"
    assert report.finding("outcomes") in report.failed("outcomes")
    assert found(rows, "outcomes", format=columns(outcomes={"left!": "i"})).level == "ok"


def test_winners_may_be_named_and_columns_called_otherwise():
    rows = [("x", "y", "x"), ("y", "x", "x"), ("x", "y", "tie"), ("y", "x", "y")]
    data = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    report = audit(data, format=columns(("model_a", "model_b"), "winner"))
    assert report.finding("position").figures["rate"] == 2 / 3
    assert report.finding("ties").figures == {"ties": 1, "share": 0.25}


# -- labels -----------------------------------------------------------------------------------------------


def test_variants_of_labels_with_their_judgments():
    rows = [*clean_rows(), ("Alpha ", "bravo", "i", "j0", "p"), ("ＢＲＡＶＯ", "delta", "j", "J1", "p")]
    finding = found(rows, "labels")
    assert finding.level == "warning"
    assert finding.found == (
        "object 'Alpha ' (1) = 'alpha' (48); object 'bravo' (49) = 'ＢＲＡＶＯ' (1); judge 'J0' (24) = 'j0' (1)"
    )
    assert finding.figures == {"objects": 2, "judges": 1}
    assert finding.remedy == (
        "frame[['object_i', 'object_j']] = frame[['object_i', 'object_j']].replace({'Alpha ': 'alpha', 'ＢＲＡＶＯ': "
        "'bravo'}); frame[['judge']] = frame[['judge']].replace({'j0': 'J0'})"
    )


def test_unknown_outcomes_are_counted_and_placed_as_from_judgments_does():
    rows = [("a", "b", "i"), ("b", "c", "j")] * 18 + [("a", "b", "who")] * 4
    with pytest.raises(llbt.LLBTError) as refused:
        llbt.from_judgments(frame(rows))
    assert "'who' (4 rows, first at row 36)" in found(rows, "outcomes").found in str(refused.value)


def test_labels_that_read_alike_and_blank_ones():
    rows = [(1, "b", "i"), ("1", "b", "j"), ("b", " ", "i")]
    report = audit(frame(rows))
    finding = report.finding("labels")
    assert finding.level == "error"
    assert finding.found == "object 1 (1) = '1' (1); the blank label ' '"
    assert report.finding("outcomes").level == "ok"  # they can be read, whatever the labels are


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        ("claude", "cluade-x", False),
        ("mistral", "mistrall", True),
        ("mistral", "mistrel", True),
        ("mistral-large", "mistarl-large", True),
        ("gpt-3", "gpt-4", False),
        ("claude-1.2", "claude-2", False),
        ("v1", "v2", False),
        ("System A", "System B", False),
        ("abc", "abd", False),
        ("gpt-4", "gpt-4o", True),
        ("Alpha", " alpha", False),  # a variant, which has its own check
    ],
)
def test_near_duplicates(a, b, near):
    assert bool(near_duplicates([a, b, "something else"])[0]) is near
    assert bool(near_duplicates([b, "something else", a])[0]) is near


@pytest.mark.slow
def test_the_search_for_near_duplicates_equals_one_of_all_pairs():
    rng = np.random.default_rng(3)
    labels = sorted({"".join(rng.choice(list("abc"), rng.integers(6, 12))) for _ in range(280)})

    def near(a, b):
        edits = {a[:k] + c + a[k + m :] for k in range(len(a) + 1) for c in ["", *"abc"] for m in (0, 1)}
        return b in edits or difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.9

    expected = {(a, b) for a, b in itertools.combinations(labels, 2) if near(a, b)}
    assert len(expected) > 20
    assert set(near_duplicates(labels)[0]) == expected


@pytest.mark.slow
def test_many_labels_are_not_searched():
    assert near_duplicates([f"m{k}x" for k in range(2001)]) == ([], "not searched: more than 2,000 labels")
    anagrams = ["".join(p) for p in itertools.islice(itertools.permutations("abcdefgh"), 400)]
    assert near_duplicates(anagrams) == ([], "not searched: too many labels have the same letters")
    assert variants(["a b", "AB", "c"]) == [["a b", "AB"]]


@pytest.mark.slow
def test_similar_labels_in_an_audit():
    many = pd.DataFrame({"object_i": [f"o{k}" for k in range(2001)], "object_j": "o", "outcome": "i"})
    assert found(many, "similar_labels").level == "unchecked"
    finding = found([*clean_rows(), ("alphq", "bravo", "i", "J1", "p")], "similar_labels")
    assert finding.level == "note"
    assert finding.found == "1 pair of nearly identical labels: 'alpha', 'alphq'"


# -- repeated judgments -----------------------------------------------------------------------------------


def test_duplicates_and_how_often_they_agree():
    rows = clean_rows() + [("alpha", "bravo", said, "J9", "p") for said in ("i", "i", "j")]
    rows += [
        ("alpha", "bravo", "i", "J9", "other"),
        ("alpha", "bravo", "i", None, "p"),
        ("alpha", "bravo", "i", None, "p"),
    ]
    finding = found(rows, "duplicates")
    assert finding.level == "warning"
    assert finding.figures == {"n": 2, "agreement": 1 / 3}  # i = i, i ≠ j, i ≠ j
    assert finding.found == (
        "2 judgments repeat an earlier one (same judge, prompt and pair in the same order); 33.3 % of repeats agree"
    )


def test_duplicates_need_a_judge_or_a_prompt():
    rows = [("a", "b", "i"), ("a", "b", "i")]
    finding = found(rows, "duplicates")
    assert finding.level == "unchecked"
    assert finding.found.startswith("no column names judge or prompt")
    assert audit(frame(rows)).failed("duplicates") == (finding,)  # asked for, and not known to be in order
    assert "duplicates" not in [other.check for other in audit(frame(rows)).failed("note")]
    judged = found([(*row, "J") for row in rows], "duplicates")
    assert judged.level == "note"
    assert judged.found.endswith("no column names the prompt, so the prompts may differ")


def swapped_by_hand(data):
    """Every judgment against every later one of the same judge, prompt and pair in the other order."""
    figures = {"n": 0, "flips": 0, "stands": 0, "tied": 0}
    rows = list(data.itertuples(index=False))
    for a, b in itertools.combinations(rows, 2):
        if (a.judge, a.prompt, a.object_i, a.object_j) == (b.judge, b.prompt, b.object_j, b.object_i):
            figures["n"] += 1
            verdicts = {a.outcome, b.outcome}
            figures["tied" if "tie" in verdicts else "flips" if len(verdicts) == 1 else "stands"] += 1
    return figures


def test_flips_equal_those_of_a_second_route():
    rng = np.random.default_rng(8)
    i = rng.integers(0, 4, 300)
    j = (i + rng.integers(1, 4, 300)) % 4
    data = pd.DataFrame(
        {
            "object_i": np.array(list("abcd"))[i],
            "object_j": np.array(list("abcd"))[j],
            "outcome": rng.choice(["i", "j", "tie"], 300, p=[0.55, 0.25, 0.2]),
            "judge": rng.integers(0, 3, 300),
            "prompt": rng.integers(0, 4, 300),
        }
    )
    figures = found(data, "swapped").figures
    expected = swapped_by_hand(data)
    assert {name: figures[name] for name in expected} == expected
    assert min(expected.values()) > 5
    assert figures["flip_share"] == expected["flips"] / (expected["flips"] + expected["stands"])


def test_swapped_judgments_in_words():
    rows = clean_rows()
    for k in range(30):
        rows += [("alpha", "bravo", "i", "J9", f"s{k}"), ("bravo", "alpha", "i" if k < 18 else "j", "J9", f"s{k}")]
    finding = found(rows, "swapped")
    assert finding.level == "warning"
    assert finding.found.startswith(
        "30 judgments repeated in the other order (same judge, prompt): the same object wins both 12 times, the same "
        "position 18 times, a tie is among them 0 times. Decided verdicts flip in 60 %, "
    )
    assert "expected of two independent judgments (the first position wins 18 of the flips, p = " in finding.found
    assert finding.figures["p_value"] == stats.binomtest(18, 18).pvalue
    assert finding.figures["expected"] < 0.5 < finding.figures["flip_share"] == 0.6
    steady = found([row for row in rows if row[4] not in {f"s{k}" for k in range(18)}], "swapped")
    assert (steady.level, steady.found) == ("ok", "12 judgments repeated in the other order, no flip")


def test_flips_that_independent_judgments_would_have_are_noted():
    """Objects of equal worth judged by lot, in both orders: half of the verdicts flip."""
    rng = np.random.default_rng(2)
    pairs = [(*rng.choice(list("abcd"), 2, replace=False), f"J{k % 8}", f"s{k}") for k in range(200)]
    rows = [(i, j, rng.choice(["i", "j"]), *who) for i, j, *who in pairs]
    rows += [(j, i, rng.choice(["i", "j"]), *who) for i, j, *who in pairs]
    finding = found(rows, "swapped")
    assert finding.level == "note"
    assert finding.figures["expected"] == pytest.approx(0.5, abs=0.01)
    assert finding.figures["flip_share"] == pytest.approx(0.5, abs=0.1)


# -- judgments that belong together -----------------------------------------------------------------------


def rankings(spread, n=200, seed=3):
    """Rankings of three of five objects by ten judges; `spread`: of the worths between rankings."""
    rng = np.random.default_rng(seed)
    rows = []
    for block in range(n):
        worth = np.linspace(-0.3, 0.3, 5) + spread * rng.normal(size=5)
        chosen = rng.permutation(5)[:3]
        for i, j in itertools.combinations(chosen, 2):
            won = rng.random() < 1 / (1 + np.exp(-2 * (worth[i] - worth[j])))
            rows.append(("abcde"[i], "abcde"[j], "i" if won else "j", f"J{block % 10}", f"r{block}"))
    return frame(rows)


def test_judgments_of_one_prompt_that_are_alike_with_the_call_that_deals_with_it():
    finding = found(rankings(2.0), "blocks")
    assert finding.level == "warning"
    assert finding.figures["p_prompt"] < 1e-4
    assert finding.figures["p_judge"] > 0.01
    assert finding.figures["ratio_prompt"] > 1.1
    assert finding.found.startswith("judgments with the same prompt are correlated")
    assert f"prompt (200 clusters): p = {finding.figures['p_prompt']:.2e}" in finding.found
    # prompts are nested in judges, whose standard errors are a little larger: the unit is that of the cautious fit
    c = llbt.from_judgments(rankings(2.0), clusters=["judge", "prompt"], order=True)
    unit = llbt.fit("object + order", c, cov_type="cautious").specification.groups
    assert unit == ("judge",)
    assert finding.remedy == (
        'from_judgments(…, clusters="judge"), then llbt.fit(…, cov_type="cluster", groups="judge")'
    )
    independent = found(rankings(0.0), "blocks")
    assert independent.level == "ok"
    assert min(independent.figures["p_prompt"], independent.figures["p_judge"]) > SIGNIFICANT


def test_judgments_made_together_are_said_even_where_they_are_not_alike():
    data = rankings(0.0).rename(columns={"prompt": "block"})
    finding = found(data, "blocks")
    assert finding.level == "note"
    assert finding.found.startswith("judgments were made together, in 200 blocks (score test")
    assert 'groups="block"' in finding.remedy
    named = found(data.rename(columns={"block": "page"}), "blocks", block="page")
    assert 'groups="page"' in named.remedy
    table = found(llbt.from_judgments(data, clusters=["block", "judge"], order=True), "blocks")
    assert table.figures == pytest.approx(finding.figures, rel=1e-9)


def test_the_ratio_is_that_of_two_fits():
    data = rankings(2.0)
    c = llbt.from_judgments(data, clusters="prompt", order=True)
    errors = []
    for options in ({}, {"cov_type": "cluster", "groups": "prompt"}):
        res = llbt.fit("object + order", c, **options)
        cov = res.cov_params().to_numpy()[:4, :4]
        errors.append(np.sqrt(5 * np.trace(cov) - cov.sum()))  # Σ over pairs of var(λi − λj), the reference 0
    assert found(data, "blocks").figures["ratio_prompt"] == pytest.approx(errors[1] / errors[0], rel=1e-6)


def test_no_remedy_goes_by_one_judge():
    """A cluster-robust covariance needs two clusters: where one judge made all judgments, prompts are the clusters."""
    rows = [(*row[:3], "only", row[4]) for row in clean_rows()]
    repeated = found([*rows, rows[0]], "duplicates")
    assert 'groups="prompt"' in repeated.remedy
    assert 'groups="judge"' not in repeated.remedy
    alone = found([(*row[:4], "p") for row in [*rows, rows[0]]], "duplicates")
    assert "groups=" not in alone.remedy
    assert "one judge and one prompt" in alone.remedy
    always = found([(i, j, "i", "only") for i, j, *_ in rows], "judges")
    assert "select" not in always.remedy
    assert found([row[:3] for row in rows], "blocks").level == "unchecked"
    assert found([(*row[:3], "only") for row in rows], "blocks").level == "unchecked"


def pooled(tasks):
    """Fifty judgments of each pair of a task's objects; each task gives its objects in order of their worth."""
    rng = np.random.default_rng(1)
    rows = []
    for task, objects in tasks.items():
        for (a, i), (b, j) in itertools.permutations(enumerate(objects), 2):
            won = rng.random(50) < 1 / (1 + np.exp(-(b - a)))
            rows += [(i, j, "i" if w else "j", task) for w in won]
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "task"])


def test_tasks_pooled_whose_labels_recur():
    other = found(pooled({"de": "abcd", "fr": "dcba"}), "tasks")
    assert other.level == "warning"
    assert other.found.startswith("2 tasks (task: de, fr) are pooled: 4 of 4 objects are in two or more tasks, the")
    assert other.figures["p_value"] < 1e-9
    assert "frame.groupby('task')" in other.remedy
    same = found(pooled({"de": "abcd", "fr": "abcd"}), "tasks")
    assert (same.level, same.figures["recur"]) == ("ok", 4)
    few = found(pooled({"de": "abcd", "fr": "defg"}), "tasks")  # one label recurs: ranked together, seven
    assert few.level == "warning"
    assert "1 of 7 objects are in two or more tasks, the largest has 4" in few.found
    assert found(pooled({"de": "abcd", "fr": "efgh"}), "tasks").found == "2 tasks (task: de, fr) share no object"
    assert found(pooled({"de": "abcd"}), "tasks").found == "one task: 'de'"
    assert found(pooled({"de": "abcd", "fr": "dcba"}).drop(columns="task"), "tasks").level == "unchecked"


def test_tasks_by_two_columns_and_by_name():
    data = pooled({"de": "abcd", "fr": "dcba"}).rename(columns={"task": "trglang"}).assign(srclang="en")
    finding = found(data, "tasks")
    assert finding.found.startswith("2 tasks (srclang+trglang: en-de, en-fr) are pooled")
    assert "frame.groupby(['srclang', 'trglang'])" in finding.remedy
    assert found(data.rename(columns={"trglang": "into"}), "tasks", task="into").level == "warning"
    c = llbt.from_judgments(data, clusters="trglang", order=True)
    assert audit(c, task="trglang").finding("tasks").figures == pytest.approx(finding.figures, rel=1e-9)


# -- ties, positions, judges ------------------------------------------------------------------------------


def tie_rows():
    """Three judges with 2, 3 and 18 ties among 20."""
    rows = []
    for judge, ties in (("J1", 2), ("J2", 3), ("J3", 18)):
        pairs = itertools.cycle(itertools.permutations("abc", 2))
        rows += [(*next(pairs), "tie" if k < ties else "ij"[k % 2], judge) for k in range(20)]
    return rows


def test_ties_by_judge_against_scipy():
    finding = found(tie_rows(), "ties")
    table = np.array([[2, 18], [3, 17], [18, 2]])
    assert finding.level == "warning"
    assert finding.figures["p_value"] == pytest.approx(
        stats.chi2_contingency(table, correction=False).pvalue, rel=1e-12
    )
    assert finding.figures["share"] == 23 / 60
    alone = []
    for k in range(3):
        two = [table[k], table.sum(axis=0) - table[k]]
        tails = [stats.fisher_exact(two, alternative=side).pvalue for side in ("less", "greater")]
        alone.append(min(1, 2 * min(tails)))
    holm = sorted(alone)[0] * 3
    assert finding.found.startswith(
        "38.3 % of 60 judgments are ties, by judge 10 % to 90 % (χ² test of equal shares: p "
    )
    assert f"'J3': 90 % of 20 (p = {holm:.2e})" in finding.found
    assert finding.figures["judges"] == sum(p * m < SIGNIFICANT for p, m in zip(sorted(alone), (3, 2, 1), strict=True))
    assert "object + tie + (tie | judge)" in finding.remedy


def test_fractional_weights_test_ties_by_normal_approximation():
    data = frame(tie_rows()).assign(weight=1.5)
    finding = found(data, "ties")
    table = 1.5 * np.array([[2, 18], [3, 17], [18, 2]])
    assert finding.figures["p_value"] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    z2 = stats.chi2_contingency([table[2], table[:2].sum(axis=0)], correction=False).pvalue
    assert f"'J3': 90 % of 30 (p = {3 * z2:.2e})" in finding.found


def test_no_ties_at_all():
    finding = found([row for row in clean_rows() if row[2] != "tie"], "ties")
    assert (finding.level, finding.found) == ("ok", "no ties among 72 judgments: leave tie out")


def position_rows(first, second, balanced=True):
    pairs = list(itertools.permutations("abc", 2)) if balanced else [("b", "a"), ("a", "c"), ("c", "b")]
    return [(*pair, said) for pair in pairs for said in "i" * first + "j" * second]


def test_first_position_win_rate():
    finding = found(position_rows(9, 3), "position")
    assert finding.level == "warning"
    assert finding.figures["rate"] == 0.75
    assert finding.figures["p_value"] == pytest.approx(stats.binomtest(54, 72).pvalue, rel=1e-9)
    tables = [np.array([[9.0, 3.0], [3.0, 9.0]])] * 3
    within = StratifiedTable(tables).test_null_odds(correction=False).pvalue
    assert finding.figures["p_within"] == pytest.approx(within)
    given = finding.figures["p_given"]
    assert finding.found == (
        f"the object shown first won 75 % of 72 decided judgments (p = {stats.binomtest(54, 72).pvalue:.2e}; within "
        f"pairs p = {within:.2e}; given worths p = {given:.2e}); shown in both orders: 3 of 3 pairs; "
        "in the median pair the rarer order has 50 %"
    )
    even = found(position_rows(6, 6), "position")
    assert (even.level, even.figures["p_within"]) == ("ok", 1.0)


def test_positions_within_pairs_equal_mantel_and_haenszel():
    rng = np.random.default_rng(5)
    rows, tables = [], []
    for low, high in itertools.combinations("abcd", 2):
        table = rng.integers(1, 9, (2, 2))  # orders × who won
        tables.append(table)
        for order, (i, j) in enumerate([(low, high), (high, low)]):
            rows += [
                (i, j, "i" if winner == i else "j")
                for w, winner in enumerate((low, high))
                for _ in range(table[order, w])
            ]
    expected = StratifiedTable([t.astype(float) for t in tables]).test_null_odds(correction=False).pvalue
    assert found(rows, "position").figures["p_within"] == pytest.approx(expected, rel=1e-10)


def test_a_strong_object_shown_first_is_no_order_effect():
    rows = [("a", "b", "i")] * 45 + [("a", "b", "j")] * 5 + [("b", "a", "j")] * 9 + [("b", "a", "i")]
    finding = found(rows, "position")
    assert finding.figures["p_value"] < 0.001
    assert (finding.level, finding.figures["p_within"]) == ("ok", 1.0)
    assert finding.figures["rarer"] == 1 / 6


def test_pairs_in_one_order_only():
    finding = found(position_rows(5, 5, balanced=False), "position")
    assert finding.level == "note"
    assert "shown in both orders: 0 of 3 pairs" in finding.found
    always_sorted = [("a", "b", "i"), ("a", "c", "j"), ("b", "c", "i")]
    for rows in (always_sorted, [(j, i, said) for i, j, said in always_sorted]):
        assert found(rows, "position").level == "unchecked"
        assert "always sorts before" in found(rows, "order_separation").found


def test_positions_without_a_decided_judgment():
    finding = found([("a", "b", "tie"), ("b", "a", "tie")], "position")
    assert (finding.level, finding.found) == ("ok", "no judgment is decided")


def test_positions_given_the_worths_are_those_of_a_fit():
    """A board in which no pair was shown in both orders often enough for the test within pairs."""
    rng = np.random.default_rng(4)
    i = rng.integers(0, 40, 600)
    j = (i + rng.integers(1, 40, 600)) % 40
    said = np.where(rng.random(600) < 1 / (1 + np.exp(-0.35)), "i", "j")
    data = pd.DataFrame({"object_i": i, "object_j": j, "outcome": said})
    finding = found(data, "position")
    res = llbt.fit("object + order", llbt.from_judgments(data, order=True))
    assert finding.figures["p_given"] == pytest.approx(res.pvalues["order"], rel=1e-6)
    assert finding.figures["p_within"] > SIGNIFICANT > finding.figures["p_given"]
    assert finding.level == "warning"


def judged_by_five(seed=2, n=120):
    """Four objects of equal worth, five judges, rows in no order."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, 4, 5 * n)
    j = (i + rng.integers(1, 4, 5 * n)) % 4
    said = rng.choice(["i", "j", "tie"], 5 * n, p=[0.4, 0.4, 0.2])
    names = np.array(["alpha", "bravo", "delta", "hotel"])
    return pd.DataFrame(
        {"object_i": names[i], "object_j": names[j], "outcome": said, "judge": [f"J{k % 5}" for k in range(5 * n)]}
    )


def test_a_judge_unlike_the_rest_is_named_with_the_reason():
    data = judged_by_five()
    assert found(data, "outlying_judges").level == "ok"
    for own, verdict in (("object_i", "i"), ("object_j", "j")):
        data.loc[(data["judge"] == "J3") & (data[own] == "bravo"), "outcome"] = verdict
    finding = found(data, "outlying_judges")
    assert finding.level == "warning"
    assert finding.found.startswith(
        "1 of 5 judges decides differently from the others (score tests, Holm's adjusted p): 'J3' "
    )
    assert "decides for 'bravo' (z = " in finding.found
    assert 'llbt.level_tests(res, by="judge")' in finding.remedy
    assert found(data.assign(judge="J"), "outlying_judges").found.startswith("one judge")


def test_a_judge_with_most_of_the_judgments():
    data = judged_by_five()
    assert found(data, "dominant_judge").level == "ok"
    finding = found(data.assign(weight=np.where(data["judge"] == "J2", 6, 1)), "dominant_judge")
    assert finding.level == "warning"
    assert "'J2': 720 (60 %)" in finding.found


def test_an_object_that_changes_under_its_name_and_a_part_recorded_otherwise():
    rng = np.random.default_rng(8)
    n = 3000
    i = rng.integers(0, 5, n)
    j = (i + rng.integers(1, 5, n)) % 5
    names = np.array(["alpha", "bravo", "delta", "hotel", "romeo"])
    worth = np.linspace(-0.6, 0.6, 5)
    moment = np.linspace(-1, 1, n)
    plain = worth[i] - worth[j]
    moving = plain + 0.6 * moment * ((i == 2) * 1.0 - (j == 2))
    draw = rng.random(n)
    steady, drifting = (
        pd.DataFrame(
            {
                "object_i": names[i],
                "object_j": names[j],
                "outcome": np.where(draw < 1 / (1 + np.exp(-2 * u)), "i", "j"),
                "tstamp": np.arange(n) + 1.5e9,
            }
        )
        for u in (plain, moving)
    )
    assert found(steady, "drift").level == "ok"
    finding = found(drifting, "drift")
    assert finding.level == "warning"
    assert finding.found.startswith("by 'tstamp': 'delta' is getting better (score test of a trend: z = ")
    shuffled = drifting.sample(frac=1, random_state=1)
    assert_same(found(shuffled, "drift"), finding)  # by time, not by row
    assert found(shuffled.drop(columns="tstamp"), "drift").level == "ok"
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(shuffled["tstamp"], unit="min")
    assert_same(found(shuffled.assign(tstamp=days.astype(str)), "drift"), finding)
    american = days.dt.strftime("%m/%d/%Y %H:%M")  # 01/02: January or February?
    assert found(shuffled.assign(tstamp=american), "drift").level == "unchecked"
    said = steady["outcome"].where(~((moment > 0) & (moment < 0.2)), steady["outcome"].map({"i": "j", "j": "i"}))
    part = found(steady.assign(outcome=said), "drift")
    assert "from 50% to 55% of the judgments agrees too little with the overall worths" in part.found
    ordered = found(steady.drop(columns="tstamp").sort_values("outcome"), "drift")
    assert (ordered.level, ordered.found[:29]) == ("unchecked", "rows are sorted by outcome: n")


def test_judges_who_always_say_the_same():
    rows = clean_rows()
    pairs = list(itertools.permutations(["alpha", "bravo", "delta"], 2))
    for judge, said in (("first", "i"), ("second", "j"), ("undecided", "tie")):
        rows += [(*pair, said, judge, "p") for pair in pairs]
    rows += [(*pair, "i", "too few", "p") for pair in pairs[:4]]
    finding = found(rows, "judges")
    assert finding.level == "warning"
    assert finding.found.startswith("3 of 7 judges with 5 or more judgments always give the same answer (0.0")
    assert finding.found.endswith(
        "'first': always the first object (6 judgments); 'second': always the second object (6 judgments); "
        "'undecided': always a tie (6 judgments)"
    )
    share = np.array([36 + 6 + 4, 36 + 6, 24 + 6]) / 118
    assert share.sum() == 1
    assert finding.figures["expected"] == pytest.approx(sum(4 * share**24 + 3 * share**6))
    assert found([row[:3] for row in rows], "judges").found == "no column names the judge: judge=…"


# -- how much there is ------------------------------------------------------------------------------------


def test_objects_with_few_judgments():
    rows = [*clean_rows(), ("rare", "alpha", "i", "J1", "p"), ("alpha", "rare", "i", "J1", "q")]
    finding = found(rows, "sparse")
    assert (finding.level, finding.found) == ("warning", "1 of 5 objects with fewer than 10 judgments: 'rare' (2)")
    data = frame(rows).assign(weight=15)
    assert found(data, "sparse").level == "ok"
    assert found(data.rename(columns={"weight": "n"}), "sparse", format=columns(weights="n")).level == "ok"
    assert found(data.rename(columns={"weight": "n"}), "sparse").level == "warning"


def test_a_single_baseline():
    rows = [("base", other, said) for other in "xyz" for said in ("i", "j", "tie")]
    finding = found(rows, "baseline")
    assert finding.level == "note"
    assert finding.found == ("'base' is part of every comparison: the other 3 objects are compared only through it")
    nearly = found([*rows, ("x", "y", "i")], "baseline")
    assert nearly.found.startswith("'base' is part of 90 % of the comparisons")
    assert found([*rows, *[("x", "y", "i")] * 3], "baseline").level == "ok"
    assert found([("a", "b", "i"), ("b", "a", "i")], "baseline").level == "ok"


def test_groups_never_compared():
    rows = [("a", "b", "i"), ("b", "a", "i"), ("c", "d", "i"), ("d", "c", "i")]
    finding = found(rows, "disconnected")
    assert (finding.level, finding.found) == (
        "error",
        "2 groups of objects never compared with each other: {a, b}; {c, d}",
    )
    assert found(rows, "separation").level == "ok"  # within the groups
    assert found(rows[:3], "separation").found.startswith("object: {c} won all 1 judgments against {d}")


def test_an_object_of_a_table_that_was_never_judged():
    counts = pd.DataFrame({"object_i": ["a", "a"], "object_j": ["b", "c"], "wins_i": [2, 0], "wins_j": [1, 0]})
    report = audit(llbt.from_counts(counts))
    assert report.finding("disconnected").found.endswith("{a, b}; {c}")
    assert "'c' (0)" in report.finding("sparse").found


def test_groups_compared_by_few_judgments():
    """Two circles of three objects: so many judgments within, three or twelve across."""
    cycles = [(i, j, said) for part in ("abc", "xyz") for i, j in itertools.permutations(part, 2) for said in "iji"]
    finding = found([*cycles, ("a", "x", "i"), ("x", "b", "i"), ("c", "z", "j")], "bridges")
    assert finding.level == "warning"
    assert finding.figures["across"] == 3
    assert finding.found in (
        "only 3 judgments compare {a, b, c} with {x, y, z}",
        "only 3 judgments compare {x, y, z} with {a, b, c}",
    )
    assert found([*cycles, *[("a", "x", "i"), ("x", "b", "i"), ("c", "z", "j")] * 4], "bridges").level == "ok"
    assert found([*cycles], "bridges").found == "see disconnected"
    assert found([("a", "b", "i"), ("b", "a", "i")], "bridges").level == "ok"


# -- separation -------------------------------------------------------------------------------------------

CYCLE = [("a", "b", "i"), ("b", "c", "i"), ("c", "a", "i")]
SEPARATED = {
    "never lost": ([*CYCLE, ("x", "a", "i"), ("b", "x", "j")], "object: {x} won all 2 judgments against {a, b, c}"),
    "never won": ([*CYCLE, ("x", "a", "j"), ("b", "x", "i")], "object: {a, b, c} won all 2 judgments against {x}"),
    "two groups one way": (
        [*CYCLE, ("x", "y", "i"), ("y", "x", "i"), ("x", "a", "i"), ("y", "b", "i")],
        "object: {x, y} won all 2 judgments against {a, b, c}",
    ),
    "ties hold it together, but not with tie": (
        [("a", "b", "i")] * 5 + [("a", "b", "tie")] * 3,
        "object + tie: {a} won 5, tied 3 and lost 0 of the judgments against {b}",
    ),
    "nothing but ties": ([("a", "b", "tie"), ("b", "c", "tie"), ("a", "c", "tie")], "object + tie: "),
}


@pytest.mark.parametrize("name", SEPARATED)
def test_separation(name):
    rows, told = SEPARATED[name]
    report = audit(frame(rows))
    finding = report.finding("separation")
    assert finding.level == "error"
    assert finding.found.startswith(told)
    assert "prior='jeffreys'" in finding.remedy
    assert "jeffreys" not in finding.found
    assert finding in report.failed("separation")
    formula = finding.found.split(":")[0]
    with pytest.raises(llbt.errors.SeparationError):  # the audit says what fit would do
        fit_by(formula, llbt.from_judgments(frame(rows), order=False), method="eliminate")


def test_a_tie_category_without_ties():
    rows = [*CYCLE, *[(j, i, said) for i, j, said in CYCLE], ("a", "z", "tie")]
    c = llbt.from_judgments(frame(rows)).select(objects=["a", "b", "c"])
    finding = audit(c).finding("separation")
    assert finding.found.startswith("object + tie: there are no ties among 6 judgments")
    assert finding.remedy.startswith("Leave tie out after c.drop_ties()")


def test_order_that_separates():
    rows = [(i, j, "i") for i, j in itertools.permutations("abc", 2)]
    report = audit(frame(rows))
    assert report.finding("separation").level == "ok"
    finding = report.finding("order_separation")
    assert finding.level == "warning"
    assert finding.found.startswith("object + order: the object shown first won all 6 decided judgments, so ")
    both = [*rows, ("x", "a", "i"), ("x", "b", "i")]
    assert found(both, "order_separation").found == "estimates are infinite even without order: see separation"


def test_judges_who_separate_are_named():
    both = [*CYCLE, *[(j, i, said) for i, j, said in CYCLE], *[(i, j, "tie") for i, j, _ in CYCLE]]
    rows = [(*row, "fair") for row in both] + [(*row, "no ties") for row in both[:6]]
    rows += [("a", "b", "i", "partial"), ("b", "a", "j", "partial"), ("a", "c", "tie", "partial")]
    report = audit(frame(rows).assign(weight=20))  # as many judgments as a fit by judge needs
    assert report.finding("separation").level == "ok"
    finding = report.finding("judge_separation")
    assert finding.level == "note"
    assert finding.found.startswith(
        "infinite estimates for 2 of 3 judges alone: 'no ties' (object + tie): there are no ties among 120 judgments"
    )
    assert "'partial' (object): " in finding.found
    assert "'fair'" not in finding.found
    assert "object * judge + tie * judge" in finding.remedy
    assert found(rows, "judge_separation").found == "no judge has 30 judgments per object, which a search needs"
    many = [(*row, f"J{k}") for k in range(21) for row in both]
    assert found(many, "judge_separation").found == "not searched: more than 20 judges"


# -- tables and weights -----------------------------------------------------------------------------------


def test_a_table_of_counts_says_what_its_frame_does():
    rows = [row for k, row in enumerate(clean_rows()) if k % 7] + [
        ("echo", "alpha", *said, "J1", "x") for said in "iiij"
    ]
    data = frame(rows)
    c = llbt.from_judgments(data, clusters=["judge", "prompt"], order=True)
    table, judged = audit(c), audit(data)
    unchecked = {f.check for f in table.findings if f.level == "unchecked"}
    single = {"missing", "self_comparisons", "filters", "duplicates", "swapped", "drift"}
    assert unchecked == single | {"tasks", "judge_separation", "grades", "turned_scale"}
    for check in CHECKS.keys() - unchecked:
        assert_same(table.finding(check), judged.finding(check))
    assert table.sizes == judged.sizes
    by_judge = audit(llbt.from_judgments(data, covariates="judge", order=True))
    assert by_judge.finding("ties") == audit(data.drop(columns="prompt")).finding("ties")


def test_a_table_without_order_and_other_names():
    data = frame(clean_rows()).rename(columns={"judge": "worker"})
    c = llbt.from_judgments(data, clusters="worker")
    assert audit(c).finding("position").found.endswith("order=True)")
    assert audit(c).finding("judges").found.startswith("none of 4 judges")
    for name in ("worker", "judge"):  # what the table calls the judge, and what everybody does
        assert audit(c, judge=name).finding("judges").found.startswith("none of 4 judges")
    with pytest.raises(llbt.errors.OptionError, match="no covariate or cluster 'rater'; expected one of 'worker'"):
        audit(c, judge="rater")


def test_weights_count_as_judgments():
    rows = [("a", "b", "i", "J", "p", 3), ("b", "a", "i", "J", "p", 2), ("b", "c", "tie", "J", "q", 1)]
    weighted = pd.DataFrame(rows, columns=[*NAMES, "weight"])
    spread = weighted.loc[weighted.index.repeat(weighted["weight"])].drop(columns="weight")
    one, other = audit(weighted), audit(spread)
    for finding, other_finding in zip(one.findings, other.findings, strict=True):
        if finding.check != "drift":  # goes by rows, of which there are three and six
            assert_same(finding, other_finding)
    assert one.sizes == other.sizes
    assert one.finding("duplicates").figures == {"n": 3, "agreement": 1.0}
    with pytest.raises(llbt.errors.JudgmentError, match="weights=: -1"):
        audit(weighted.assign(weight=[1, -1, 2]))


def test_empty_columns_of_judges_count_as_none():
    report = audit(frame(clean_rows()).assign(judge=None, prompt=np.nan))
    assert report.finding("duplicates").level == "unchecked"
    assert report.finding("missing").level == "ok"


# -- the report -------------------------------------------------------------------------------------------


@pytest.fixture
def troubled() -> Audit:
    rows = [*clean_rows(), ("<b>bold</b>", "alpha", "i", "J1", "p"), ("<b>Bold</b>", "alpha", "i", "J1", "p")]
    rows += [("alpha", "alpha", "tie", "J1", "p"), ("left", "right", "i", None, "p")]
    return audit(frame(rows))


def test_errors_come_first(troubled):
    levels = [f.level for f in troubled.findings]
    order = ["error", "warning", "note", "ok", "unchecked"]
    assert levels == sorted(levels, key=order.index)
    assert len(set(levels)) == 5 or "unchecked" not in levels
    assert [f.check for f in troubled.findings if f.level == "error"] == [
        "self_comparisons",
        "disconnected",
        "separation",
    ]


def test_text_has_every_finding_in_so_many_columns(troubled):
    text = troubled.as_text()
    assert max(map(len, text.splitlines())) <= 104
    flowing = " ".join(text.split())
    for finding in troubled.findings:
        for part in (finding.found, finding.effect, finding.remedy):
            assert " ".join(part.split()) in flowing
    assert "ERROR       disconnected: 2 groups" in text
    assert repr(troubled) == text


def test_other_renderings_have_every_finding_and_escape_labels(troubled):
    html = troubled.as_html()
    assert "<b>" not in html.replace("</b>", "")
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    (read,) = pd.read_html(io.StringIO(html))
    checked = read[read.columns[0]].tolist()[: len(troubled.findings)]
    assert checked == [f.check for f in troubled.findings]
    for rendering in (troubled.as_markdown(), troubled.as_latex()):
        assert "<b>" not in rendering
        assert all(f.check.replace("_", r"\_") in rendering for f in troubled.findings)
    assert r"\textless{}b\textgreater{}bold" in troubled.as_latex()


def test_frame_and_pickle(troubled):
    table = troubled.to_frame()
    assert table.columns.tolist() == ["check", "level", "found", "effect", "remedy"]
    assert sorted(table["check"]) == sorted(CHECKS)
    assert pickle.loads(pickle.dumps(troubled)).findings == troubled.findings


def test_what_failed_by_name_and_by_level(troubled):
    assert [f.check for f in troubled.failed("separation", "ties", "disconnected")] == ["disconnected", "separation"]
    assert {f.level for f in troubled.failed("error")} == {"error"}
    assert {f.level for f in troubled.failed("warning")} == {"error", "warning"}
    assert troubled.failed() == ()
    with pytest.raises(
        llbt.errors.OptionError, match=r"no check 'seperation'; expected names among 'missing', .*'separation'"
    ):
        troubled.failed("ties", "seperation")
    with pytest.raises(llbt.errors.OptionError, match="no check 'error'"):
        troubled.finding("error")


def test_columns_that_are_not_there():
    with pytest.raises(llbt.errors.JudgmentError, match="no field 'winner'"):
        audit(frame(clean_rows()), format=columns(outcome="winner"))
    with pytest.raises(llbt.errors.JudgmentError, match="no column 'worker'"):
        audit(frame(clean_rows()), judge="worker")
    with pytest.raises(llbt.errors.JudgmentError, match="expected a frame"):
        audit(3)


def test_published_judgments():
    """Dras (2015), Table 1 has four objects, all connected, with finite estimates of its models."""
    report = audit(llbt.load_dataset("dras_table1"))
    assert {f.check for f in report.failed("error")} == set()
    assert report.finding("separation").level == "ok"


def test_counts_have_no_time() -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"time='when' given with a table of counts"):
        llbt.audit(llbt.load_dataset("dras_table1"), time="when")


# -- columns ----------------------------------------------------------------------------------------------


BATTLES = pd.DataFrame(
    {
        "model_a": ["A", "B", "A", "C", "B"],
        "model_b": ["B", "C", "C", "B", "A"],
        "winner": ["model_a", "model_b", "model_a", "model_b", "model_a"],
        "anony": [True, False, True, False, False],
        "turn": [1, 2, 1, 1, 3],
    }
)


def test_a_column_that_may_say_which_rows_count_is_a_finding_and_others_are_listed():
    report = llbt.audit(BATTLES)
    found = report.finding("filters")
    assert found.level == "note"
    assert found.found == "column 'anony' may mark the rows to count (False in 3 rows, True in 2 rows)"
    assert 'where="anony"' in found.remedy
    assert "keeps 2 of 5 rows" in found.remedy
    assert report.notes[0] == "columns not used: 'anony', 'turn'"
    kept = llbt.audit(BATTLES, where="anony")
    assert kept.finding("filters").level == "ok"
    assert kept.sizes[0].endswith("2 judgments (0 % ties)")
    assert llbt.audit(BATTLES, ignore=["anony"]).finding("filters").level == "ok"
    skipped = llbt.audit(BATTLES.rename(columns={"anony": "skipped"})).finding("filters")
    assert "where={'skipped': False}" in skipped.remedy
    assert skipped.figures == {"skipped": 3.0}


def test_an_audit_has_the_columns_of_the_doors():
    weighed = BATTLES.drop(columns="anony").assign(count=[5, 3, 2, 2, 1])
    with pytest.raises(JudgmentError, match='weights="count"'):
        llbt.audit(weighed)
    assert "13 judgments" in llbt.audit(weighed, weights="count").sizes[0]
    assert "5 judgments" in llbt.audit(weighed, ignore=["count"]).sizes[0]
    drawn = BATTLES[["model_a", "model_b", "winner"]].assign(is_tie=[True, False, False, False, True])
    assert "40 % ties" in llbt.audit(drawn, ties_column="is_tie").sizes[0]
    with pytest.raises(OptionError, match="weights= given with a table of counts"):
        llbt.audit(llbt.load_dataset("puddings"), weights="n")


@pytest.mark.parametrize("counted", [False, True])
def test_a_file_is_opened_once(counted: bool, tmp_path: Path) -> None:
    frame = pd.DataFrame({"object_i": list("ABA"), "object_j": list("BCC"), "outcome": ["i", "tie", "j"]})
    if counted:
        frame = frame.drop(columns="outcome").assign(wins_i=[4, 2, 3], wins_j=[3, 5, 1])
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    opened: list[str] = []
    looking = True

    def note(event: str, args: tuple[object, ...]) -> None:
        if looking and event == "open" and str(args[0]) == str(path):
            opened.append(event)

    sys.addaudithook(note)
    llbt.audit(path)
    looking = False
    assert len(opened) == 1
