"""Every figure of Bojar et al. (2011) that can be computed, against what the paper prints."""

from pathlib import Path

import pandas as pd
import pytest
from support.paper_pages import held_by, rows_of, to_hold

import llbt
from llbt.classical import head_to_head, ranking_readings, ranking_scores, shown_with, sign_test

ROWS = rows_of("bojar-2011")
SHOWN = [f"system{k}Id" for k in range(1, 6)]
PAIR = ["srclang", "trglang"]


def counted(blocks: list[dict[str, int]]) -> llbt.Judgments:
    """Return the judgments of ranked blocks."""
    rows = [(number, name, rank) for number, block in enumerate(blocks) for name, rank in block.items()]
    frame = pd.DataFrame(rows, columns=["block", "object", "rank"])
    sides = frame.merge(frame, on="block", suffixes=("_i", "_j"))
    sides = sides[sides["object_i"] < sides["object_j"]]
    better = (sides["rank_j"] > sides["rank_i"]).astype(int) - (sides["rank_j"] < sides["rank_i"])
    return llbt.read_judgments(
        sides[["object_i", "object_j", "block"]].assign(outcome=better.map({1: "i", 0: "tie", -1: "j"}))
    )


@pytest.fixture(scope="module")
def wmt10(shared: Path) -> llbt.Judgments:
    return llbt.read_judgments(shared / "data" / "wmt10_expert_RNK.csv.gz")


@pytest.fixture(scope="module")
def english_czech(wmt10: llbt.Judgments) -> llbt.Judgments:
    return wmt10.take((wmt10.columns["srclang"] == "English") & (wmt10.columns["trglang"] == "Czech"))


@pytest.fixture(scope="module")
def company(shared: Path, wmt10: llbt.Judgments) -> object:
    raw = pd.read_csv(shared / "data" / "wmt10_expert_RNK.csv.gz")
    return shown_with(wmt10, shown=SHOWN, blocks=raw, by=PAIR)


def test_every_row_is_held() -> None:
    assert held_by(__file__) == to_hold(ROWS)


def test_best_in_block() -> None:
    blocks = [{"A": 1, "B": 2, "C": 3, "D": 4}, {"E": 1, "A": 2, "B": 2, "C": 3}]
    found = ranking_scores(counted(blocks), reading="ge_all_in_block").to_frame().set_index("object")["estimate"]
    assert found.to_dict() == {"A": 1 / 2, "B": 0, "C": 0, "D": 0, "E": 1}
    assert len(found) == ROWS["Best in block, two blocks"].numbers


def test_ten_blocks() -> None:
    likes = [f"M{k}" for k in range(1, 5)]
    blocks = [{"D": 1, **dict.fromkeys(likes, 2)}] * 6 + [{"D": 2, **dict.fromkeys(likes, 1)}] * 4
    readings = ["ge_others", "gt_others", "ignore_ties"]
    found = ranking_readings(counted(blocks), readings=readings).loc[["D", "M1"]].to_numpy().T
    assert found.tolist() == [[24 / 40, 34 / 40], [24 / 40, 4 / 40], [6 / 10, 4 / 10]]
    assert found.size == ROWS["Ties, ten blocks"].numbers


def test_three_scores_are_shares_of_wins_ties_and_losses() -> None:
    frame = pd.DataFrame([("A", "B", 7, 2, 4)], columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
    readings = {"ge_others": 9 / 13, "gt_others": 7 / 13, "ignore_ties": 7 / 11}
    found = ranking_readings(llbt.from_counts(frame), readings=list(readings)).loc["A"]
    assert found.to_dict() == pytest.approx(readings)
    assert len(found) == ROWS["Ties, three scores"].numbers


def test_six_annotators() -> None:
    frame = llbt.load_dataset("bojar_six_annotators").to_frame()
    totals = frame[["wins_i", "wins_j", "ties", "bad"]].sum()
    assert totals.tolist() == [125, 118, 25, 110]
    each = frame[["wins_i", "wins_j", "ties", "bad"]].sum(axis=1)
    assert (each == 63).all()
    assert (len(each), totals.sum()) == (6, 378)
    assert ROWS["Six annotators, totals"].numbers == 6
    assert sign_test(llbt.load_dataset("bojar_six_annotators").collapse()).p_value[0] > 0.5
    assert ROWS["Six annotators, conclusion"].numbers == 1


@pytest.mark.shared
def test_the_best_in_block_orders_systems_as_the_official_score(english_czech: llbt.Judgments) -> None:
    readings = ["ge_others", "ge_all_in_block"]
    found = ranking_readings(english_czech, readings=readings, exclude="_ref")
    assert found.corr("spearman").iloc[0, 1] > 0.95
    assert ROWS["Best in block, WMT10"].numbers == 1


@pytest.mark.slow
@pytest.mark.shared
def test_agreement(wmt10: llbt.Judgments) -> None:
    without = wmt10.take((wmt10.to_frame()[["object_i", "object_j"]] != "_ref").all(axis=1))
    found = {"bennett_s": [], "scott_pi": []}
    for among in ("inter", "intra"):
        for judgments in (wmt10, without):
            frame = llbt.judges.agreement(
                judgments,
                unit=[*PAIR, "srcIndex"],
                among=among,
                coefficients=["bennett_s", "scott_pi"],
                chance_from=wmt10,
            ).to_frame()
            for name, estimate in zip(frame["term"], frame["estimate"], strict=True):
                found[name].append(round(estimate, 3))
    assert found["bennett_s"] == [0.487, 0.439, 0.633, 0.601]
    assert len(found["bennett_s"]) == ROWS["Agreement, Bennett's S"].numbers
    assert found["scott_pi"] == [0.454, 0.403, 0.609, 0.575]
    assert len(found["scott_pi"]) == ROWS["Agreement, Scott's π"].numbers


@pytest.mark.shared
def test_head_to_head(english_czech: llbt.Judgments, company) -> None:
    scores = ranking_scores(english_czech).to_frame().set_index("object")["estimate"]
    official = (100 * scores[["cu-bojar", "cu-tecto"]]).round(1).tolist()
    assert official == [65.6, 60.1]
    assert len(official) == ROWS["Head to head, official score"].numbers
    row = head_to_head(english_czech).to_frame().set_index(["object_i", "object_j"]).loc[("cu-bojar", "cu-tecto")]
    direct = [round(100 * row["wins_i"] / row["n"], 1), round(100 * row["wins_j"] / row["n"], 1), row["n"]]
    assert direct == [35.8, 45.7, 81]
    assert len(direct) == ROWS["Head to head, direct"].numbers
    shown = company.systems.set_index([*PAIR, "object"])["shown"]["English", "Czech"]
    assert shown[["cu-bojar", "cu-tecto"]].tolist() == [401, 392]
    assert ROWS["Head to head, blocks"].numbers == 2


@pytest.mark.shared
def test_reference_translations(company) -> None:
    found = company.correlations.set_index(PAIR)["estimate"].round(3).to_dict()
    exact = {
        ("Spanish", "English"): 0.341,
        ("English", "French"): 0.164,
        ("German", "English"): 0.088,
        ("Czech", "English"): -0.041,
        ("English", "Czech"): -0.145,
        ("all", "all"): -0.107,
    }
    assert {key: found[key] for key in exact} == exact
    assert len(exact) == ROWS["Reference translations, six"].numbers
    near = {("French", "English"): 0.098, ("English", "Spanish"): -0.411, ("English", "German"): -0.433}
    assert {key: round(abs(found[key] - value), 3) for key, value in near.items()} == dict.fromkeys(near, 0.001)
    assert len(near) == ROWS["Reference translations, three"].numbers
    assert len(found) == len(exact) + len(near)


@pytest.mark.shared
def test_few_systems_make_the_lowest_correlation(company) -> None:
    """English to German without two of 18 systems, one at either end of the line."""
    systems = company.systems.set_index(PAIR).loc[("English", "German")]
    rest = systems[~systems["object"].isin(["koc", "onlineB"])]
    assert len(rest) == 16
    assert rest["share"].corr(rest["score"]) > -0.22
    assert ROWS["Reference translations, outliers"].numbers == 1
