"""What the choices of an analysis change in a ranking: against fits of the tables that each choice makes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import OptionError


@pytest.fixture
def votes():
    """Four objects, judged by six judges in both orders, of whom the last turns the order of A and B."""
    rng = np.random.default_rng(5)
    worth = dict(zip("ABCD", (0.5, 0.45, 0.0, -0.4), strict=True))
    rows = []
    for judge in range(6):
        for i in "ABCD":
            for j in "ABCD":
                if i == j:
                    continue
                lead = worth[i] - worth[j] + 0.2 + (0.9 if judge == 5 and i == "A" else 0.0)
                weight = np.exp([lead, -0.6, -lead])
                rows += [(f"J{judge}", i, j, k) for k in rng.choice(["i", "tie", "j"], 8, p=weight / weight.sum())]
    frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    return llbt.from_judgments(frame, clusters="judge", order=True)


def row(found, choice):
    return found.to_frame().set_index("choice").loc[choice]


def worths(res):
    return pd.Series(res.params).reindex([f"object[{o}]" for o in res.comparisons.objects]).fillna(0.0).to_numpy()


def by_hand(res, other):
    """Kendall's tau and the largest change of a rank between two fits of the same objects."""
    before, after = worths(res), worths(other)
    change = np.abs(stats.rankdata(-before) - stats.rankdata(-after))
    return stats.kendalltau(before, after).statistic, change.max()


@pytest.mark.parametrize(
    ("choice", "formula", "made"),
    [
        ("ties split", "object + order", lambda c: c.split_ties()),
        ("ties dropped", "object + order", lambda c: c.drop_ties()),
        ("without order", "object + tie", lambda c: c),
    ],
)
def test_a_choice_is_the_fit_that_it_says(votes, choice, formula, made):
    res = llbt.fit("object + tie + order", votes)
    found = row(llbt.sensitivity(res), choice)
    other = llbt.fit(formula, made(votes))
    tau, change = by_hand(res, other)
    assert (found["kendall_tau"], found["rank_change"]) == (pytest.approx(tau), change)
    ranks = llbt.pairwise(other).ranks().to_frame()
    assert found["rank_set"] == np.median(ranks["rank_high"] - ranks["rank_low"] + 1)


def test_an_order_effect_is_tried_where_the_formula_has_none(votes):
    found = llbt.sensitivity(llbt.fit("object + tie", votes)).to_frame()["choice"].tolist()
    assert "with order" in found
    assert "without order" not in found


@pytest.mark.slow
def test_the_unit_of_dependence_changes_rank_sets_alone(votes):
    res = llbt.fit("object + tie", votes)
    found = llbt.sensitivity(res)
    clustered = row(found, "judgments by clusters")
    assert (clustered["kendall_tau"], clustered["rank_change"]) == (1, 0)
    ranks = llbt.pairwise(llbt.fit("object + tie", votes, cov_type="cautious")).ranks().to_frame()
    assert clustered["rank_set"] == np.median(ranks["rank_high"] - ranks["rank_low"] + 1)
    again = llbt.fit("object + tie", votes, cov_type="cluster", groups="judge")
    assert "judgments independent" in llbt.sensitivity(again).to_frame()["choice"].tolist()


def test_each_judge_and_object_is_left_out(votes):
    res = llbt.fit("object + tie", votes)
    refits = llbt.sensitivity(res).refits
    judges = refits[refits["choice"] == "without one judge"].set_index("left_out")
    for judge in judges.index:
        rest = [f"J{k}" for k in range(6) if f"J{k}" != judge]
        other = llbt.fit("object + tie", votes.select(where={"judge": rest}))
        tau, change = by_hand(res, other)
        assert (judges["kendall_tau"][judge], judges["rank_change"][judge]) == (pytest.approx(tau), change)
        leads = "ABCD"[int(np.argmax(worths(other)))]
        assert judges["leader"][judge] == leads
        assert judges["overtakes"][judge] == (leads != "ABCD"[int(np.argmax(worths(res)))])
    objects = refits[refits["choice"] == "without one object"]
    assert objects["left_out"].tolist() == list("ABCD")
    assert not (objects["leader"] == objects["left_out"]).any()


def test_what_cannot_be_fitted_is_counted():
    frame = pd.DataFrame({"object_i": ["A", "B"], "object_j": ["B", "C"], "wins_i": [5, 4], "wins_j": [3, 3]})
    found = llbt.sensitivity(llbt.fit("object", llbt.from_counts(frame)))  # without B nobody compares A with C
    refits = found.refits.set_index("left_out")
    assert pd.isna(refits["leader"]["B"])
    assert refits["leader"]["A"] == "B"
    assert refits["leader"]["C"] == "A"  # the reference of the fit is left out, too
    assert "1 refit" in str(found)


def test_a_ranking_that_stays_and_what_is_asked_for(votes):
    res = llbt.fit("object + tie", votes)
    found = llbt.sensitivity(res, leave_out="object").to_frame()
    assert "without one judge" not in found["choice"].tolist()
    fitted = found.iloc[0]
    assert (fitted["choice"], fitted["kendall_tau"], fitted["rank_change"], fitted["where"]) == ("as fitted", 1, 0, "")
    with pytest.raises(OptionError, match="annotator"):
        llbt.sensitivity(res, leave_out="annotator")


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_the_report_has_it(votes, tmp_path):
    page = llbt.write_report(llbt.fit("object + tie", votes), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "How does the ranking depend on choices of the analysis?" in page
    assert "ties split" in page
    assert "Fragility: judges removed" in page


@pytest.mark.shared
@pytest.mark.slow
def test_llmfao(shared: Path):
    """No single judge of 124 and no prompt of 13 changes who leads."""
    c = llbt.from_judgments(shared / "data" / "llmfao.csv", clusters=("judge", "prompt"))
    found = llbt.sensitivity(llbt.fit("object + tie", c), leave_out=("judge", "prompt"))
    assert row(found, "without one judge")[["refits", "other_leaders"]].tolist() == [124, 0]
    assert row(found, "without one prompt")[["refits", "other_leaders"]].tolist() == [13, 0]


def test_what_moves_under_another_analysis_moves_without_anything_left_out():
    rows = [("A", "C", 60, 40, 0), ("B", "C", 13, 7, 80), ("A", "B", 1, 1, 0)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "ties"])
    found = llbt.sensitivity(llbt.fit("object + tie", llbt.from_counts(frame))).to_frame().set_index("choice")
    assert found.loc[["ties split", "ties dropped"], "rank_change"].max() == 1
    assert set(found.loc[["ties split", "ties dropped"], "where"]) <= {"", "A", "B"}
    assert found.loc["without one object", "refits"] == 3
