"""Every figure of Mathur, Baldwin & Cohn (2020) that can be computed, against what the paper prints."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.paper_pages import held_by, rows_of, to_hold

from llbt.metrics import correlate, outliers, pairwise_accuracy, subset_correlations

ROWS = rows_of("mathur-2020")
LABELS = ("LP", "SYSTEM", "HUMAN")
BLEU = "sacreBLEU-BLEU"
FIVE = [BLEU, "TER", "chrF", "YiSi-1", "ESIM"]


@pytest.fixture(scope="module")
def wmt19(shared: Path) -> dict[str, pd.DataFrame]:
    paths = sorted((shared / "data" / "wmt19_sys_scores").glob("*.csv"))
    return {path.name.split("-")[2]: pd.read_csv(path, sep=" ") for path in paths}


def r(frame: pd.DataFrame, metric: str, **options: str) -> float:
    """Return the correlation of a metric with people."""
    return correlate(frame[metric], frame["HUMAN"], **options).estimate


def best(frame: pd.DataFrame, metric: str) -> dict[int, float]:
    """Return the correlations among the best systems by their number."""
    found = subset_correlations(frame[metric], frame["HUMAN"])
    return dict(zip(found.n.tolist(), found.estimate.tolist(), strict=True))


def windows(frame: pd.DataFrame, metric: str) -> np.ndarray:
    """Return the correlations among four neighbours, from the best down."""
    return subset_correlations(frame[metric], frame["HUMAN"], subsets="rolling", sizes=4).estimate


def test_every_row_is_held() -> None:
    assert held_by(__file__) == to_hold(ROWS)


def test_the_rule() -> None:
    rng = np.random.default_rng(1)
    z = np.append(rng.normal(size=30), [9, -7])
    distance = np.abs(z - np.median(z))
    np.testing.assert_array_equal(outliers(z), distance / (1.4826 * np.median(distance)) > 2.5)
    assert ROWS["Section 4.2, the rule"].numbers == 2


@pytest.mark.shared
def test_language_pairs(wmt19: dict[str, pd.DataFrame]) -> None:
    assert (len(wmt19), len(wmt19["ende"])) == (18, 22)
    assert ROWS["Section 3, WMT19"].numbers == 2


@pytest.mark.shared
def test_best_systems(wmt19: dict[str, pd.DataFrame]) -> None:
    among = {pair: (r(frame, BLEU), best(frame, BLEU)[4]) for pair, frame in wmt19.items()}
    assert among["deen"][1] < 0 < 0.8 < among["deen"][0]
    assert among["ende"][1] < 0 < 0.8 < among["ende"][0]
    assert among["enru"][1] > 0.85
    assert among["enzh"][1] > among["enzh"][0]
    assert ROWS["Section 4.1, best systems"].numbers == 4
    low = sorted(pair for pair, (_, few) in among.items() if few < 0.2)
    assert low == ["deen", "ende", "enkk", "fien", "ruen", "zhen"]
    assert round(among["lten"][1], 2) == 0.43
    assert len(low) + 1 == 7
    assert ROWS["Section 4.1, decline"].numbers == 1


@pytest.mark.shared
def test_windows_of_german_english(wmt19: dict[str, pd.DataFrame]) -> None:
    frame = wmt19["deen"]
    found = {metric: windows(frame, metric)[:2].round(2).tolist() for metric in (BLEU, "chrF", "ESIM", "BLEU")}
    assert found == {BLEU: [-0.82, 0.52], "chrF": [-0.61, 0.54], "ESIM": [0.9, 0.49], "BLEU": [-0.82, 0.56]}
    assert windows(frame, BLEU).max() < 0.935
    assert ROWS["Figure 1, German–English, systems 2 to 5"].numbers == 2
    fewer = [best(frame, "ESIM")[n] for n in (8, 7, 6, 5, 4)]
    assert fewer == sorted(fewer)
    assert ROWS["Figure 1, German–English, best four"].numbers == 4
    assert windows(wmt19["ende"], "YiSi-2").max() > 0.995
    assert ROWS["Section 4.1, YiSi-2, English–German"].numbers == 1


@pytest.mark.shared
def test_drawn_systems(wmt19: dict[str, pd.DataFrame]) -> None:
    """Ten of 22 systems, 1,000 times: the lowest r with the worst system, and who is ahead without both outliers."""
    frame, rng = wmt19["ende"], np.random.default_rng(1)
    far = np.asarray(outliers(frame["HUMAN"]))
    assert far.sum() == 2
    assert ROWS["Section 4.2, English–German"].numbers == 1
    worst = frame["HUMAN"].argmin()
    others, rest = np.flatnonzero(np.arange(len(frame)) != worst), np.flatnonzero(~far)
    columns = frame[[*FIVE, "HUMAN"]].to_numpy()

    def drawn(systems: np.ndarray) -> np.ndarray:
        return np.abs(np.corrcoef(columns[systems].T)[-1, :-1])

    with_worst = [drawn(np.append(rng.choice(others, 9, replace=False), worst)) for _ in range(1000)]
    assert np.min(with_worst) > 0.965
    assert ROWS["Figure 2, with the worst system"].numbers == 1
    without = np.array([drawn(rng.choice(rest, 10, replace=False)) for _ in range(1000)])
    ahead = without[:, FIVE.index("YiSi-1") :] > without[:, [FIVE.index(BLEU)]]
    assert ahead.mean(axis=0).min() > 0.9
    assert ROWS["Figure 2, without both outliers"].numbers == 1


@pytest.mark.shared
def test_correlations_with_and_without_outliers(wmt19: dict[str, pd.DataFrame]) -> None:
    def both(pair: str, metric: str) -> tuple[float, float]:
        return tuple(round(abs(r(wmt19[pair], metric, **o)), 2) for o in ({}, {"outliers": "drop"}))

    assert both("enkk", BLEU) == (0.85, 0.58)
    assert ROWS["Table 2, English–Kazakh"].numbers == 2
    every, without = ({metric: both("ende", metric)[k] for metric in FIVE} for k in (0, 1))
    gaps = [min(one["YiSi-1"], one["ESIM"]) - max(one[BLEU], one["TER"]) for one in (every, without)]
    assert gaps[0] < 0.025 < 0.07 < gaps[1]
    assert ROWS["Table 2, English–German"].numbers == 2
    for pair in ("lten", "enfi"):
        assert min(min(both(pair, metric)) for metric in FIVE) > 0.9
    assert ROWS["Tables 1 and 2, no effect"].numbers == 2
    assert all(both("guen", metric)[1] > both("guen", metric)[0] for metric in FIVE)
    assert ROWS["Table 1, Gujarati–English"].numbers == 1


@pytest.mark.shared
def test_yisi_2(wmt19: dict[str, pd.DataFrame]) -> None:
    frame = wmt19["ende"]
    assert abs(r(frame, "YiSi-2", outliers="drop")) < 0.02
    assert ROWS["Section 4.2, YiSi-2, English–German"].numbers == 1
    assert round(r(frame.drop(frame["HUMAN"].idxmin()), "YiSi-2"), 2) == 0.35
    assert ROWS["Figure 3, YiSi-2, English–German"].numbers == 1
    frame = wmt19["enru"]
    assert r(frame, "YiSi-2") < -0.75
    assert abs(r(frame, "YiSi-2", outliers="drop")) < 0.15
    assert ROWS["Figure 3, YiSi-2, English–Russian"].numbers == 2


@pytest.mark.slow
@pytest.mark.shared
def test_every_correlation_is_that_of_the_authors_rule(wmt19: dict[str, pd.DataFrame]) -> None:
    """By scipy, and by the rule of their script: |score − median| over 1.4826 · MAD above 2.5."""
    compared, with_outliers = 0, 0
    for frame in wmt19.values():
        z = frame["HUMAN"].to_numpy()
        distance = np.abs(z - np.median(z))
        kept = distance / (1.4826 * np.median(distance)) <= 2.5
        with_outliers += not kept.all()
        for metric in frame.columns.drop([*LABELS]):
            x = frame[metric].to_numpy()
            assert r(frame, metric) == pytest.approx(stats.pearsonr(x, z).statistic, abs=1e-12)
            expected = stats.pearsonr(x[kept], z[kept]).statistic
            assert r(frame, metric, outliers="drop") == pytest.approx(expected, abs=1e-12)
            compared += 1
    assert (compared, with_outliers) == (404, 12)
    assert ROWS["Tables 3 to 5"].numbers == 3


@pytest.mark.shared
def test_pairs_that_metrics_order_as_people(wmt19: dict[str, pd.DataFrame]) -> None:
    """What the page says beyond the paper."""
    frame = pd.concat(wmt19.values())
    found = {m: int(pairwise_accuracy(frame[m], frame["HUMAN"], by=frame["LP"]).agreements) for m in FIVE[:-1]}
    assert found == {BLEU: 1193, "TER": 1191, "chrF": 1212, "YiSi-1": 1236}
