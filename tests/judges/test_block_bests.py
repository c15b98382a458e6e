"""Agreement on the best of a block: a table by hand, loops over ranks, and lists of WMT10 that were judged again."""

import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import JudgmentError
from llbt.judges.agreement import agreement

BY_HAND = ["percent", "bennett_s", "scott_pi"]


def pairs_of(lists):
    """Judgments of pairs from lists: judge, prompt, and the rank of each object."""
    rows = []
    for block, (judge, prompt, ranks) in enumerate(lists):
        for i, j in itertools.combinations(ranks, 2):
            said = "i" if ranks[i] < ranks[j] else "j" if ranks[i] > ranks[j] else "tie"
            rows.append((i, j, said, judge, prompt, block))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge", "prompt", "block"])


def drawn(seed=1, judges=5, prompts=12):
    """Lists of three of five objects with ties; about half of the lists of a prompt show the same objects."""
    rng = np.random.default_rng(seed)
    lists = []
    for judge, prompt in itertools.product(range(judges), range(prompts)):
        shown = [*"abc"] if rng.random() < 0.6 else sorted(rng.choice([*"abcde"], 3, replace=False))
        quality = [ord(x) / 2 + rng.normal() for x in shown]
        order = rng.permutation(3)
        lists.append((f"J{judge}", prompt, {shown[k]: round(quality[k]) for k in order}))
    return lists


def looped(lists, among="inter"):
    """Agreeing pairs, pairs, units and π, by loops over the lists and not over judgments of pairs."""
    said = defaultdict(list)
    labels = []
    for judge, prompt, ranks in lists:
        for name, rank in ranks.items():
            best = rank == min(ranks.values())
            labels.append(best)
            said[prompt, frozenset(ranks), name].append((judge, best))
    met = [
        (key, one == other)
        for key, votes in said.items()
        for (first, one), (second, other) in itertools.combinations(votes, 2)
        if (first == second) == (among == "intra")
    ]
    agreed = sum(same for _, same in met)
    chance = np.mean(labels) ** 2 + (1 - np.mean(labels)) ** 2
    pi = (agreed / len(met) - chance) / (1 - chance)
    return agreed, len(met), len({key for key, _ in met}), pi


def found_in(frame, **options):
    table = agreement(frame, label="best_of_block", coefficients=BY_HAND, **options).to_frame().set_index("term")
    return table.loc["scott_pi", ["agreements", "pairs", "units", "estimate"]].tolist()


def test_a_table_by_hand():
    """Two judges: a and b share the first place for one of them, and c is last for both. Labels: 3 best of 6."""
    frame = pairs_of([("J1", 1, {"a": 1, "b": 1, "c": 2}), ("J2", 1, {"a": 1, "b": 2, "c": 3})])
    found = agreement(frame, unit="prompt", label="best_of_block", coefficients=BY_HAND)
    assert found.estimates["estimate"].tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    assert found.labels == ("best", "rest")
    assert any("labels of 6 objects in 2 blocks" in note for note in found.notes)


def test_loops_over_lists_find_the_same():
    lists = drawn()
    assert found_in(pairs_of(lists), unit="prompt") == pytest.approx(looped(lists), abs=1e-12)
    twice = [*lists, *[(judge, prompt, dict(reversed(ranks.items()))) for judge, prompt, ranks in lists[:9]]]
    assert found_in(pairs_of(twice), unit="prompt", among="intra") == pytest.approx(looped(twice, "intra"), abs=1e-12)


def test_groups_and_chance_from_other_lists():
    lists = drawn()
    frame = pairs_of(lists).assign(half=lambda x: np.where(x["prompt"] < 6, "first", "second"))
    table = agreement(frame, unit="prompt", label="best_of_block", coefficients="scott_pi", by="half").to_frame()
    halves = [looped([one for one in lists if (one[1] < 6) == early])[3] for early in (True, False)]
    assert table["estimate"].tolist() == pytest.approx([*halves, looped(lists)[3]], abs=1e-12)
    chance = agreement(
        frame[frame["prompt"] < 6], unit="prompt", label="best_of_block", coefficients="scott_pi", chance_from=frame
    )
    shares = [ranks[x] == min(ranks.values()) for _, _, ranks in lists for x in ranks]
    assert chance.chance == pytest.approx([np.mean(shares), 1 - np.mean(shares)])


def test_a_column_of_this_name_is_the_label():
    frame = pairs_of(drawn()).assign(best_of_block="yes")
    assert agreement(frame, unit="prompt", label="best_of_block").labels == ("yes",)


def test_judgments_without_blocks_and_lists_run_together_are_refused():
    frame = pairs_of(drawn())
    with pytest.raises(JudgmentError, match="column 'block'"):
        agreement(frame.drop(columns="block"), unit="prompt", label="best_of_block")
    with pytest.raises(JudgmentError, match="again in block 'x'"):
        agreement(pd.concat([frame, frame[:1]]).assign(block="x"), unit="prompt", label="best_of_block")


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("among", ["inter", "intra"])
def test_wmt10(shared: Path, among):
    """Its lists as ranks: three were judged by two judges, 499 twice by one."""
    file = shared / "data" / "wmt10_expert_RNK.csv.gz"
    raw = pd.read_csv(file)
    lists = []
    for row in raw.to_dict("records"):
        ranks = {row[f"system{k}Id"]: row[f"system{k}rank"] for k in range(1, 6)}
        ranks = {name: rank for name, rank in ranks.items() if rank > 0}
        if len(ranks) > 1:
            lists.append((row["judgeId"], (row["srclang"], row["trglang"], row["srcIndex"]), ranks))
    found = found_in(llbt.read_judgments(file), unit=["srclang", "trglang", "srcIndex"], among=among)
    assert found == pytest.approx(looped(lists, among), abs=1e-12)
    assert found == pytest.approx({"inter": [17, 20, 15, 0.637], "intra": [2182, 2495, 2495, 0.697]}[among], abs=1e-3)
