"""Every figure of Peyrard, Zhao, Eger & West (2021) that can be computed, against what the paper prints."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.paper_pages import held_by, rows_of, to_hold

import llbt
from llbt.scores import BradleyTerry, Elo, aggregate, pairwise, simulate

ROWS = rows_of("peyrard-2021")
FIVE = pd.DataFrame({"A": [0, 2, 10, 12, 14], "B": [2, 4, 2, 14, 16], "C": [1, 3, 7, 12.5, 14.5]})
TWO = pd.DataFrame({"A": [1, 2, 3], "B": [2, 3, 1]})
TYPES, OUTLIERS = (1, 3, 5, 10), (0.0, 0.01, 0.025)
SYSTEMS, INSTANCES, REPEATS = (2, 3, 5, 10, 25, 50), (10, 30, 100, 200), 10
# Appendix A.3: instances, systems, metrics of each data set or language pair
SUMMARIES = [(11432, 12, 13), (48, 58, 13), (44, 55, 13), (44, 50, 13)]
CAPTIONS = [(40504, 12, 7)]
DIALOGUES = [(60, 5, 13), (60, 4, 13)]
WMT17 = [(2001, 9, 11), (3004, 11, 11), (3001, 9, 11), (3007, 10, 11), (2001, 16, 11)]
WMT18 = [(2998, 16, 13), (2000, 14, 13), (3000, 9, 13), (3000, 8, 13), (3981, 14, 13)]
WMT19 = [
    *((2000, 16, 13), (1996, 12, 13), (1016, 12, 13), (1000, 11, 13), (1000, 11, 13)),
    *((2000, 14, 13), (2000, 15, 13)),
]
FILES = {"TAC'08": "TAC_08_scores.csv.gz", "Topical-Chat": "Dialogue_tc_scores.csv.gz"}


def setups(shared: Path) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the scores of the setups at hand: a column per system."""
    return {
        (name, metric): frame.drop(columns=["metric", "instance"]).reset_index(drop=True)
        for name, file in FILES.items()
        for metric, frame in pd.read_csv(shared / "data" / file).groupby("metric")
    }


def test_every_row_is_held() -> None:
    assert held_by(__file__) == to_hold(ROWS)


def test_figure_1() -> None:
    assert FIVE.mean().nunique() == 1
    medians = FIVE.median()
    assert (medians["A"], medians["C"]) == (10, 7)
    assert medians.idxmax() == "A"
    won = [(FIVE[i] > FIVE[j]).sum() for i, j in (("C", "A"), ("B", "A"), ("B", "C"))]
    assert won == [4, 4, 4]
    assert aggregate(FIVE, method="bt").objects == ("B", "C", "A")
    assert ROWS["Figure 1"].numbers == 1 + 2 + len(won) + 1


def test_two_systems() -> None:
    """Scores of two systems without ties, on an odd number of instances, so that nothing is undecided."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        frame = pd.DataFrame(rng.standard_t(1.5, size=(15, 2)), columns=["A", "B"])
        wins = (frame["A"] > frame["B"]).sum()
        if 0 < wins < 15:
            found = aggregate(frame, method="bt")
            assert found.probabilities.loc["A", "B"] == pytest.approx(wins / 15, abs=1e-6)
            assert (found.objects[0] == "A") == ((frame["A"] - frame["B"]).median() > 0)
        for method in ("mean", "median"):
            ahead = frame.agg(method)
            assert aggregate(frame, method=method).objects[0] == ahead.idxmax()
    assert ROWS["Section 2.2, two systems"].numbers == 1
    assert ROWS["Proposition 1"].numbers == 3


def test_figure_2() -> None:
    """Three pairings of the same scores: margins stay, and BT's decision does not."""
    rng = np.random.default_rng(1)
    a, b = np.sort(rng.normal(0, 1, 99)), np.sort(rng.normal(0.2, 1, 99))
    pairings = {"A ahead": np.roll(b, 1), "B ahead": b, "shuffled": rng.permutation(b)}
    frames = {name: pd.DataFrame({"A": a, "B": paired}) for name, paired in pairings.items()}
    shifted = frames["A ahead"]
    shifted["B"] = np.concatenate([np.sort(b)[-30:], np.sort(b)[:-30]])  # the best of B meet the worst of A
    first = {name: aggregate(frame, method="bt").objects[0] for name, frame in frames.items()}
    assert (first["A ahead"], first["B ahead"]) == ("A", "B")
    for method in ("mean", "median"):
        found = [frame.agg(method).round(12).tolist() for frame in frames.values()]
        assert found[0] == found[1] == found[2]
    for frame in frames.values():
        llbt.plot.paired(frame, "A", "B")
    assert len(frames) == ROWS["Figure 2"].numbers


@pytest.mark.slow
def test_figure_3() -> None:
    """The eight panels: who is within .1 of whom, who falls and who does not."""
    rng, taus = np.random.default_rng(20210801), []
    settings = list(itertools.product(TYPES, OUTLIERS, SYSTEMS, INSTANCES))
    for n_types, outliers, n, m in settings:
        for _ in range(REPEATS):
            drawn = simulate(n_systems=n, n_instances=m, n_types=n_types, outliers=outliers, rng=rng)
            scores = drawn.frame.iloc[:, 2:].to_numpy()
            # without ties BT is in the order of the wins (Ford 1957)
            every = (scores.mean(axis=0), np.median(scores, axis=0), stats.rankdata(scores, axis=1).sum(axis=0))
            recovered = [stats.kendalltau(drawn.strengths, one)[0] for one in every]
            taus.append((n_types, outliers, n, m, *recovered))
    columns = ["types", "outliers", "systems", "samples", "mean", "median", "bt"]
    found = pd.DataFrame(taus, columns=columns)
    assert (len(settings), len(found)) == (288, 2880)
    assert ROWS["Section 4, simulation"].numbers == 2

    def panel(frame: pd.DataFrame, by: str) -> pd.DataFrame:
        return frame.groupby(by)[["mean", "median", "bt"]].mean()

    easy = found[(found["types"] == 1) & (found["outliers"] == 0)]
    a, b = panel(easy, "systems"), panel(easy, "samples")
    c, d = panel(found[found["types"] == 1], "outliers"), panel(found[found["outliers"] == 0], "types")
    e, f = panel(found[found["outliers"] > 0], "types"), panel(found[found["types"] > 1], "outliers")
    g, h = panel(found, "samples"), panel(found, "systems")
    assert (np.ptp(a, axis=1) < 0.1).all()
    assert (a.loc[50] < a.loc[2] - 0.4).all()
    assert (np.ptp(b, axis=1) < 0.1).all()
    assert (b.loc[200] > b.loc[10] + 0.1).all()
    assert (c.loc[0.01:, "mean"] < 0.45).all()
    assert (c[["median", "bt"]] > 0.68).all(axis=None)
    assert (d[["mean", "bt"]] > 0.7).all(axis=None)
    assert d.loc[10, "median"] < d.loc[1, "median"] - 0.1
    assert (e["bt"] > e[["mean", "median"]].max(axis=1)).all()
    assert e.loc[10, "median"] < 0.3
    assert (f["bt"] > 0.7).all()
    assert (f.loc[0.01:, ["mean", "median"]] < 0.6).all(axis=None)
    assert (g["bt"] > g[["mean", "median"]].max(axis=1)).all()
    assert (h["bt"] > h[["mean", "median"]].max(axis=1)).all()
    assert len((a, b, c, d, e, f, g, h)) == ROWS["Figure 3"].numbers


def test_size_of_the_study() -> None:
    every = [*SUMMARIES, *CAPTIONS, *DIALOGUES, *WMT17, *WMT18, *WMT19]
    found = (
        sum(metrics for _, _, metrics in every),
        sum(math.comb(systems, 2) * metrics for _, systems, metrics in every),
        sum(instances for instances, _, _ in every),
    )
    assert found == (296, 73_471, 91_197)
    assert len(found) == ROWS["Section 5.1, size of the study"].numbers


@pytest.mark.shared
def test_two_sets(shared: Path) -> None:
    shapes = {}
    for (name, _), frame in setups(shared).items():
        shapes.setdefault(name, []).append(frame.shape)
    assert shapes == {"TAC'08": [(48, 58)] * 13, "Topical-Chat": [(60, 5)] * 13}
    assert ROWS["Appendix A.3, two sets"].numbers == 6


def test_recursion() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 5)) + np.linspace(0, 0.5, 5), columns=list("ABCDE"))
    worths = [
        aggregate(frame, method=BradleyTerry(ties="drop", algorithm=algorithm))
        .to_frame()
        .set_index("object")["worth"]
        .sort_index()
        for algorithm in ("mm", "exact")
    ]
    np.testing.assert_allclose(*worths, atol=5e-5)  # what the squared change of 1e-9 leaves
    assert llbt.scores.bradley_terry.EPSILON == 1e-9
    assert ROWS["Appendix E"].numbers == 2


def test_appendix_f() -> None:
    assert aggregate(TWO, method="bt").probabilities.loc["B", "A"] == pytest.approx(2 / 3, abs=1e-9)
    assert ROWS["Appendix F, two systems"].numbers == 1
    for ties in ("drop", "half", "davidson"):
        found = aggregate(TWO.assign(C=[3, 2, 1]), method=BradleyTerry(ties=ties))
        assert found.objects == ("B", "C", "A")
        assert found.estimate[0] > 0.2
    equal = []
    for columns in itertools.permutations("ABC"):  # ties to the later column, as in the published code
        frame = TWO.assign(C=[3, 2, 1])[list(columns)] + np.array([0, 0.1, 0.2])
        if np.ptp(aggregate(frame, method="bt").estimate) < 1e-6:
            equal.append("".join(columns))
    assert equal == ["BCA"]
    circle = aggregate(TWO.assign(C=[3, 1, 2]), method="bt")
    np.testing.assert_allclose(circle.estimate, 0, atol=1e-9)
    assert ROWS["Appendix F, three systems"].numbers == 1


def test_elo() -> None:
    assert Elo().k == 20
    games = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "outcome": ["i"]})
    found = llbt.scores.elo_history(games, start={"A": 1500.0, "B": 1600.0}).ratings
    expected = 1 / (1 + 10 ** ((1600 - 1500) / 400))
    assert dict(found) == pytest.approx({"A": 1500 + 20 * (1 - expected), "B": 1600 - 20 * (1 - expected)})
    assert ROWS["Appendix G, Elo"].numbers == 2


@pytest.mark.slow
@pytest.mark.shared
def test_four_tests_on_the_public_setups(shared: Path) -> None:
    """What the page says beyond the paper."""
    tests = ["t", "median", "sign", "wilcoxon"]
    tables = []
    for frame in setups(shared).values():
        table = pairwise(frame, adjust=None).significance().to_frame().set_index("test").loc[tests]
        tables.append(table.assign(pairs=math.comb(frame.shape[1], 2)))
    n_significant = sum(table["significant"] for table in tables)
    n_pairs = sum(table["pairs"].iloc[0] for table in tables)
    assert n_pairs == 21_619
    assert (n_significant / n_pairs).round(2).tolist() == [0.59, 0.34, 0.50, 0.60]
    confirmed = sum((table.loc["median", tests] * table.loc["median", "significant"]).fillna(0) for table in tables)
    shares = (confirmed / n_significant["median"]).astype(float).round(2)
    assert (shares["t"], shares["sign"]) == (0.98, 0.94)
