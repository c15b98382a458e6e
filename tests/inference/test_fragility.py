"""How few judgments a ranking hangs on: exhaustive search on small tables, and what is known of pairs."""

import itertools

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.inference.greedy_removal import Search, Units


def table(rows, **keywords):
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j"])
    return llbt.from_counts(frame, **keywords)


def worths_without(c, removed):
    """The log-worths of a table of wins without so many judgments of each cell; None where nothing can be fitted."""
    frame = c.to_frame()
    left = frame[["wins_i", "wins_j"]].to_numpy() - np.reshape(removed, (-1, 2))
    try:
        res = llbt.fit("object", llbt.from_counts(frame.assign(wins_i=left[:, 0], wins_j=left[:, 1]), ties_column=None))
    except llbt.errors.LLBTError:
        return None
    return dict(zip(res.comparisons.objects, np.append(res.params, 0.0), strict=True))


def exhaustive(c, most):
    """The fewest judgments without which another object leads, by fits of all smaller tables."""
    cells = c.to_frame()[["wins_i", "wins_j"]].to_numpy().ravel().astype(int)
    worths = worths_without(c, 0 * cells)
    leader = max(worths, key=worths.get)
    for size in range(1, most + 1):
        for some in itertools.combinations_with_replacement(range(len(cells)), size):
            removed = np.bincount(some, minlength=len(cells))
            if (removed > cells).any():
                continue
            found = worths_without(c, removed)
            if found is not None and max(found.values()) > found[leader] + 1e-9:
                return size
    return None


def test_of_two_objects_it_is_the_difference_of_the_wins():
    res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    c = res.comparisons
    row = llbt.fragility(res).to_frame().iloc[0]
    assert row["removed"] == c.wins_i[0] - c.wins_j[0] + 1
    assert (row["object"], row["overtaken_by"]) == ("+", "-")


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.slow) for k in (0, 2, 3, 4, 5))])
def test_against_exhaustive_search(seed):
    rng = np.random.default_rng(seed)
    rows = [(i, j, int(rng.integers(4, 8)), int(rng.integers(3, 6))) for i, j in itertools.combinations("ABC", 2)]
    c = table(rows)
    res = llbt.fit("object", c)
    found = llbt.fragility(res).to_frame().iloc[0]
    expected = exhaustive(c, 4)
    if expected is None:
        assert found["removed"] > 4
    else:
        assert found["removed"] == expected
        assert found["exact"] == "yes"


def test_what_is_removed_changes_the_fit():
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    found = llbt.fragility(res, change="adjacent")
    frame = res.comparisons.to_frame().set_index(["object_i", "object_j"])
    names = {"i": "wins_i", "tie": "ties", "j": "wins_j"}
    for _, row in found.to_frame().iterrows():
        left = frame.copy()
        mine = found.removals[found.removals["change"] == row["change"]]
        for what, n in zip(mine["what"], mine["removed"], strict=True):
            pair, outcome = what.split()
            left.loc[tuple(pair.split(":")), names[outcome]] -= n
        assert mine["removed"].sum() == row["removed"]
        worths = llbt.worth(llbt.fit("object + tie", llbt.from_counts(left.reset_index()))).to_frame()
        worths = worths.set_index("object")["estimate"]
        assert worths[row["overtaken_by"]] > worths[row["object"]]
    assert res.comparisons.to_frame().set_index(["object_i", "object_j"]).equals(frame)


def test_one_judgment_fewer_is_not_enough_of_the_same():
    c = table([("A", "B", 12, 9), ("B", "C", 10, 8), ("A", "C", 11, 9)])
    found = llbt.fragility(llbt.fit("object", c))
    removed = np.zeros(6, dtype=int)
    cells = {("A:B", "i"): 0, ("A:B", "j"): 1, ("A:C", "i"): 2, ("A:C", "j"): 3, ("B:C", "i"): 4, ("B:C", "j"): 5}
    for what, n in zip(found.removals["what"], found.removals["removed"], strict=True):
        removed[cells[tuple(what.split())]] = n
    for k in np.flatnonzero(removed):
        worths = worths_without(c, removed - np.eye(6, dtype=int)[k])
        assert max(worths, key=worths.get) == "A"


def test_judges_are_left_out_whole():
    c = llbt.load_dataset("dras_table1")
    res = llbt.fit("object + tie", c)
    row = llbt.fragility(res, unit="judge").to_frame().iloc[0]
    assert (row["removed"], row["exact"]) == (2, "yes")
    left = c.select(where={"judge": ["J1", "J3"]})
    worths = llbt.worth(llbt.fit("object + tie", left)).to_frame()
    assert worths["object"].iloc[0] == row["overtaken_by"]
    for judge in ("J1", "J2", "J3", "J4"):
        others = [j for j in ("J1", "J2", "J3", "J4") if j != judge]
        alone = llbt.worth(llbt.fit("object + tie", c.select(where={"judge": others}))).to_frame()
        assert alone["object"].iloc[0] == row["object"]


@pytest.mark.slow
def test_the_first_k():
    res = llbt.fit("object + tie", llbt.load_dataset("puddings"))
    order = llbt.worth(res).to_frame()["object"].tolist()
    row = llbt.fragility(res, change="top", k=2).to_frame().iloc[0]
    assert row["object"] in order[:2]
    assert row["overtaken_by"] in order[2:]
    adjacent = llbt.fragility(res, change="adjacent").to_frame()
    assert row["removed"] <= adjacent["removed"].iloc[1]
    assert adjacent["object"].tolist() == order[:-1]
    with pytest.raises(llbt.errors.OptionError, match="k=6 of 6 objects"):
        llbt.fragility(res, change="top", k=6)


def test_a_ranking_that_stands_is_said_to():
    c = table([("A", "B", 90, 10), ("B", "C", 80, 20), ("A", "C", 95, 5)])
    found = llbt.fragility(llbt.fit("object", c), most=0.05)
    assert np.isnan(found.to_frame()["removed"].iloc[0])
    assert "NA: none found among removals of up to 5 % of the judgments" in str(found)


def test_the_order_of_rows_and_labels_does_not_matter():
    rows = [("A", "B", 9, 7), ("B", "C", 8, 6), ("A", "C", 9, 6), ("C", "D", 7, 5), ("A", "D", 8, 4)]
    other_name = {"A": "Z", "B": "C", "C": "A", "D": "B"}
    renamed = [(other_name[i], other_name[j], w, v) for i, j, w, v in rows]
    one, other = (llbt.fragility(llbt.fit("object", table(x))).to_frame().iloc[0] for x in (rows, renamed[::-1]))
    assert (one["object"], other["object"]) == ("A", "Z")
    assert one["removed"] == other["removed"]


def test_influence_is_the_first_order_of_a_refit():
    res = llbt.fit("object + tie", llbt.load_dataset("puddings"))
    problem = res.problem()
    search = Search(problem, None, res.solution.params, Units.of_judgments(problem.counts), 100)
    row = np.eye(len(res.params))[0]
    none = np.zeros(len(search.units.number), dtype=int)
    (effects,) = search.effects(none, res.solution.params, row[None])
    for k in (0, 7, 20):
        one = none.copy()
        one[k] = 1
        fell = row @ (res.solution.params - search.fitted(one, res.solution.params))
        assert fell == pytest.approx(effects[k], abs=0.05 * np.abs(effects).max())


def test_clusters_that_are_not_kept_are_asked_after():
    res = llbt.fit("object + tie", llbt.load_dataset("puddings"))
    with pytest.raises(llbt.errors.OptionError, match="judge"):
        llbt.fragility(res, unit="judge")


@pytest.mark.shared
@pytest.mark.slow
def test_llmfao_hangs_on_few(shared):
    frame = pd.read_csv(shared / "data" / "llmfao.csv")
    outcome = frame["winner"].map({"left": "i", "right": "j", "tie": "tie"})
    made = pd.DataFrame({"object_i": frame["left"], "object_j": frame["right"], "outcome": outcome})
    made["judge"] = frame["worker"]
    res = llbt.fit("object + tie", llbt.from_judgments(made.dropna(), clusters="judge"))
    found = llbt.fragility(res).to_frame().iloc[0]
    assert 0 < found["removed"] < 0.05 * len(made)
    by_judge = llbt.fragility(res, unit="judge").to_frame().iloc[0]
    assert by_judge["removed"] <= found["removed"]


def test_of_very_many_judgments_the_smaller_removals_are_too_many_to_count():
    """C(2,300, 300), about what they are here, is beyond every float."""
    pairs = itertools.combinations([f"M{k:02}" for k in range(18)], 2)
    res = llbt.fit("object", table([(i, j, 900 if i == "M00" else 500, 500) for i, j in pairs]))
    row = llbt.fragility(res).to_frame().iloc[0]
    assert row["object"] == "M00"
    assert row["removed"] > 2_000
    assert row["exact"] == "at most"


@pytest.mark.parametrize(
    "wins", [[[0, 4, 2], [0, 0, 1], [3, 1, 0]], [[0, 4, 0], [2, 0, 3], [1, 0, 0]], [[0, 3, 1], [1, 0, 2], [2, 0, 0]]]
)
def test_a_removal_without_estimates_is_gone_round(wins):
    """To first order the only win of an object goes first, without which nothing can be fitted."""
    c = llbt.from_matrix(np.array(wins, dtype=float), names=list("ABC"))
    found = llbt.fragility(llbt.fit("object", c), most=0.9).to_frame().iloc[0]
    assert found["removed"] == exhaustive(c, 4)


def test_worths_that_are_held_are_refused():
    wins = np.array([[0, 5, 6, 3], [3, 0, 4, 5], [2, 3, 0, 6], [1, 2, 3, 0.0]])
    c = llbt.from_matrix(wins, names=list("ABCD"))
    res = llbt.fit("object", c, fixed={"object[A]": 0.1})
    with pytest.raises(llbt.errors.DesignError, match=r"held by fixed= \(object\[A\]\)"):
        llbt.fragility(res)
    refits = llbt.sensitivity(res).refits
    assert set(refits["left_out"].dropna()) == set("ABCD")
