"""How far aggregations of the same scores disagree on the order of systems."""

import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.data.scores import from_scores
from llbt.data.table_readers import from_counts
from llbt.errors import JudgmentError, OptionError
from llbt.fitting.fit import fit
from llbt.scores.bradley_terry import BradleyTerry

FIGURES = ["disagreement", "reversed", "tied_in_one", "best_differ", "top3_differ"]


def setup(*columns, names=("mean", "median", "bt")):
    return pd.DataFrame(dict(zip(names, columns, strict=False)), index=[f"s{k}" for k in range(len(columns[0]))])


def figures(*columns):
    """Return the figures of the first two columns."""
    return llbt.scores.compare([setup(*columns)]).to_frame().iloc[0][FIGURES].tolist()


def top(values, k):
    kth = sorted(values, reverse=True)[min(k, len(values)) - 1]
    return {n for n, value in enumerate(values) if value >= kth}


def looped(a, b):
    """Count pairs by explicit loops; τ-b by scipy."""
    pairs = list(itertools.combinations(range(len(a)), 2))
    turned = sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i, j in pairs)
    tied = sum((a[i] == a[j]) != (b[i] == b[j]) for i, j in pairs)
    differ = [float(top(a, k) != top(b, k)) for k in (1, 3)]
    return [(1 - stats.kendalltau(a, b)[0]) / 2, turned / len(pairs), tied / len(pairs), *differ]


class TestFigures:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("levels", [3, 6, 1000], ids=["many ties", "some ties", "few ties"])
    def test_explicit_loops_and_scipy(self, seed, levels):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(levels, size=(2, 9))
        np.testing.assert_allclose(figures(a, b), looped(a, b), atol=1e-12)

    @pytest.mark.parametrize(
        ("a", "b", "expected"),
        [
            ([3, 2, 1], [3, 2, 1], [0, 0, 0, 0, 0]),
            ([3, 2, 1], [1, 2, 3], [1, 1, 0, 1, 0]),
            ([4, 3, 2, 1], [4, 3, 1, 2], [1 / 6, 1 / 6, 0, 0, 1]),
            ([4, 3, 2, 1], [4, 3, 2, 2], [(1 - 5 / math.sqrt(30)) / 2, 0, 1 / 6, 0, 1]),  # the fourth is as good
            ([2, 2, 1], [2, 1, 1], [(1 - 1 / 2) / 2, 0, 2 / 3, 1, 0]),
        ],
    )
    def test_by_hand(self, a, b, expected):
        np.testing.assert_allclose(figures(a, b), expected, atol=1e-12)

    def test_scores_within_rounding_are_equal(self):
        third = 0.1 + 0.2
        assert figures([0.3, third, 0.1], [0.3, 0.3, 0.1]) == pytest.approx([0, 0, 0, 0, 0], abs=1e-12)
        assert figures([0.3, 0.3 + 1e-8, 0.1], [0.3, 0.3, 0.1])[2] == pytest.approx(1 / 3)

    def test_only_order_counts(self):
        rng = np.random.default_rng(4)
        a, b = rng.normal(size=(2, 12))
        np.testing.assert_allclose(figures(np.exp(a), 1000 * b), figures(a, b))

    def test_infinite_scores_have_an_order(self):
        a = [math.inf, 1.0, 0.0, -math.inf, -math.inf]
        np.testing.assert_allclose(figures(a, [4, 3, 2, 1, 1]), [0, 0, 0, 0, 0], atol=1e-12)

    def test_what_is_undefined_is_missing_and_said(self):
        flat = llbt.scores.compare({"flat": setup([1, 1, 1], [1, 2, 3]), "two": setup([1, 2], [2, 1])})
        by_setup = flat.by_setup().to_frame().set_index("setup")
        assert math.isnan(by_setup.loc["flat", "disagreement"])
        assert by_setup.loc["flat", "tied_in_one"] == 1
        assert math.isnan(by_setup.loc["two", "top3_differ"])
        assert flat.notes == (
            "disagreement is undefined in 'flat': a mechanism ties all systems",
            "the top 3 is undefined in 'two': there are fewer than three systems",
        )
        assert flat.to_frame().loc[0, ["n", "disagreement", "top3_differ"]].tolist() == [1, 1, 0]

    def test_a_mechanism_without_a_score_is_left_out_of_its_setup_only(self):
        gone = setup([1, 2, 3], [1, 2, 3], [np.nan, 1, 2])
        compared = llbt.scores.compare({"a": gone, "b": setup([1, 2, 3], [1, 2, 3], [3, 2, 1])})
        assert compared.to_frame()["n"].tolist() == [2, 1, 1]
        assert compared.to_frame()["disagreement"].tolist() == [0, 1, 1]
        assert compared.notes == ("bt is left out in 'a': it has no score for some systems",)


SETUPS = {
    ("tac", "bleu"): setup([3, 2, 1], [3, 1, 2], [1, 2, 3]),
    ("tac", "chrf"): setup([3, 2, 1, 0], [3, 2, 1, 0], [3, 2, 1, 0])[["bt", "mean", "median"]],
}


class TestRecord:
    def test_averages_are_those_of_the_setups(self):
        compared = llbt.scores.compare(SETUPS)
        frame, each = compared.to_frame(), compared.by_setup().to_frame()
        assert frame[["first", "second"]].values.tolist() == [["mean", "median"], ["mean", "bt"], ["median", "bt"]]
        means = each.groupby(["first", "second"], sort=False)[FIGURES].mean().reset_index()
        pd.testing.assert_frame_equal(frame[["first", "second", *FIGURES]], means)
        assert each["setup"].tolist() == [("tac", "bleu")] * 3 + [("tac", "chrf")] * 3
        assert each["n_systems"].tolist() == [3] * 3 + [4] * 3

    def test_a_list_is_numbered(self):
        listed = llbt.scores.compare(list(SETUPS.values()))
        assert listed.setups == (0, 1)
        pd.testing.assert_frame_equal(listed.to_frame(), llbt.scores.compare(SETUPS).to_frame())

    def test_it_prints_and_pickles(self):
        compared = llbt.scores.compare(SETUPS)
        text = compared.as_text()
        assert text.startswith("Agreement of aggregations, averaged over 2 setups")
        assert "Note: disagreement is (1 − τ-b)/2" in text
        pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(compared)).to_frame(), compared.to_frame())


GOOD = setup([1, 2, 3], [1, 2, 3])
BAD = [
    (GOOD, "setups= is one frame; expected one per setup. Pass [frame]"),
    (3, "setups= is of type int; expected a mapping"),
    ("mean", "setups= is of type str"),
    ({}, "setups= is empty"),
    ([], "setups= is empty"),
    ([[1, 2]], "setup 0 is of type list; expected a DataFrame"),
    ({"x": GOOD.iloc[:1]}, "setup 'x' has 1 system and 2 mechanisms; expected at least two of each"),
    ({"x": GOOD[["mean"]]}, "setup 'x' has 3 systems and 1 mechanism"),
    ([GOOD.set_axis(["A", "A", "B"])], "setup 0 has system 'A' twice"),
    ([GOOD.set_axis(["mean", "mean"], axis=1)], "setup 0 has mechanism 'mean' twice"),
    (
        [GOOD, GOOD.rename(columns={"mean": "bt"})],
        "setup 1 has the mechanisms 'bt', 'median'; expected those of the first setup, 'mean', 'median'",
    ),
    ([GOOD.reset_index()], "setup 0: column 'index'"),
]


@pytest.mark.parametrize(("results", "fragment"), BAD, ids=range(len(BAD)))
def test_bad_input(results, fragment):
    with pytest.raises(OptionError if "is " in fragment else JudgmentError) as caught:
        llbt.scores.compare(results)
    assert str(caught.value).startswith("scores.compare: ")
    assert fragment in str(caught.value)


# -- figures of 26 real setups (reference/README.md of the data says how they were computed) ---------------------

SETS = {"SUMM-08": "TAC_08_scores.csv.gz", "Dialogue-tc": "Dialogue_tc_scores.csv.gz"}
PAIRS = {("mean", "median"): "mean_median", ("mean", "bt"): "mean_bt", ("median", "bt"): "median_bt"}


def to_the_later(reverse):
    """A tie counts as a win for the system in the later column, as in the published code."""

    def moved(c, columns):
        place = {name: k for k, name in enumerate(columns)}
        frame = c.to_frame()
        later = frame["object_i"].map(place).to_numpy() > frame["object_j"].map(place).to_numpy()
        gain = frame["ties"].to_numpy()
        to_i = later != reverse
        frame["wins_i"] += np.where(to_i, gain, 0)
        frame["wins_j"] += np.where(to_i, 0, gain)
        return from_counts(frame.drop(columns="ties"))

    return moved


def aggregated(scores, ties):
    """Return mean, median and the exact maximum of Bradley-Terry of a wide frame of scores."""
    c = from_scores(scores)
    decided = c.drop_ties() if ties is None else ties(c, list(scores.columns))
    res = fit("object", decided)
    log_worth = {name: res.params.get(f"object[{name}]", 0.0) for name in scores.columns}
    return pd.DataFrame({"mean": scores.mean(), "median": scores.median(), "bt": pd.Series(log_worth)})


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("reference", "ties"),
    [
        ("peyrard_ties_dropped", None),
        ("peyrard_authors_way", to_the_later(reverse=False)),
        ("peyrard_authors_way_columns_reversed", to_the_later(reverse=True)),
    ],
    ids=["ties dropped", "authors' way", "authors' way, columns reversed"],
)
def test_published_data(shared: Path, reference, ties):
    setups = {}
    for name, file in SETS.items():
        for metric, scores in pd.read_csv(shared / "data" / file).groupby("metric", sort=False):
            setups[name, metric] = aggregated(scores.drop(columns=["metric", "instance"]), ties)
    expected = pd.read_csv(shared / "reference" / f"{reference}.csv").set_index(["set", "metric"])
    assert set(setups) == set(expected.index)
    found = llbt.scores.compare(setups).by_setup().to_frame()
    for (first, second), part in found.groupby(["first", "second"]):
        name = PAIRS[first, second]
        theirs = expected.loc[list(part["setup"])]
        np.testing.assert_allclose(part["disagreement"], theirs[name], atol=1e-9)
        np.testing.assert_array_equal(part["best_differ"], theirs[f"{name}_top1"])
        np.testing.assert_array_equal(part["top3_differ"], theirs[f"{name}_top3"])


def test_many_setups_are_aggregated_as_each_alone() -> None:
    rng = np.random.default_rng(2)
    setups = {k: pd.DataFrame(rng.normal(size=(30, 4)), columns=list("ABCD")) for k in ("one", "two")}
    found = llbt.scores.aggregate_setups(setups, methods=("mean", "median", "bt", "llbt"))
    for name, frame in setups.items():
        for method, scores in found[name].items():
            alone = llbt.scores.aggregate(frame, method=method).to_frame().set_index("object")["estimate"]
            pd.testing.assert_series_equal(scores, alone.sort_index(), check_names=False)
    assert llbt.scores.compare(found).setups == ("one", "two")


def test_all_mechanisms_side_by_side_are_those_of_each_alone() -> None:
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(20, 3)), columns=["C", "A", "B"])
    found = llbt.scores.aggregate_methods(frame, rng=7)
    assert found.index.tolist() == ["A", "B", "C"]
    assert found.columns.tolist() == ["mean", "median", "bt", "llbt", "elo", "trueskill"]
    seeds = np.random.default_rng(7).integers(2**63, size=6)
    for (method, scores), seed in zip(found.items(), seeds, strict=True):
        alone = llbt.scores.aggregate(frame, method=method, rng=int(seed)).to_frame().set_index("object")["estimate"]
        pd.testing.assert_series_equal(scores, alone.sort_index(), check_names=False)
    again = llbt.scores.aggregate_setups({"x": frame, "y": frame}, methods=("elo", "trueskill"), rng=7)
    pd.testing.assert_frame_equal(again["x"], llbt.scores.aggregate_methods(frame, methods=("elo", "trueskill"), rng=7))
    assert not again["y"].equals(again["x"])


def test_setups_of_which_less_is_better_are_turned_round() -> None:
    frame = pd.DataFrame({"A": [1.0, 2.0, 5.0], "B": [2.0, 3.0, 4.0]})
    found = llbt.scores.aggregate_setups({"x": llbt.scores.SystemScores.from_wide(frame, higher_is_better=False)})["x"]
    assert (found.loc["A"] > found.loc["B"]).tolist() == [True, True, True]


@pytest.mark.parametrize(
    ("setups", "options", "message"),
    [
        ({}, {}, "setups is empty; expected a mapping"),
        ([pd.DataFrame()], {}, "setups is of type list; expected a dict of labels"),
        (
            {"x": pd.DataFrame({"A": [1.0], "B": [2.0]})},
            {"methods": ["Elo"]},
            r"methods=\['Elo'\]; expected a list of 'mean'",
        ),
        ({"x": pd.DataFrame({"A": [1.0], "B": [2.0]})}, {"methods": []}, "expected at least one"),
        ({"x": pd.DataFrame({"A": [1.0], "B": [2.0]})}, {"methods": ["bt", BradleyTerry(ties="half")]}, "each once"),
        ({"x": pd.DataFrame({"A": [1.0, 2.0]})}, {}, r"setup 'x': .*1 column of scores"),
    ],
)
def test_setups_that_cannot_be_aggregated_are_refused(setups, options, message) -> None:
    with pytest.raises(llbt.LLBTError, match=message):
        llbt.scores.aggregate_setups(setups, **options)


def test_figures_by_group_are_means_over_its_setups() -> None:
    rng = np.random.default_rng(4)
    setups = {k: pd.DataFrame(rng.normal(size=(6, 3)), columns=["mean", "median", "bt"]) for k in range(6)}
    compared = llbt.scores.compare(setups)
    groups = {k: "even" if k % 2 == 0 else "odd" for k in setups}
    table = compared.by_group(groups).to_frame()
    for group, some in (("even", [0, 2, 4]), ("odd", [1, 3, 5])):
        alone = llbt.scores.compare({k: setups[k] for k in some}).to_frame()
        of_group = table[table["group"] == group].drop(columns="group").reset_index(drop=True)
        pd.testing.assert_frame_equal(of_group, alone)
    with pytest.raises(OptionError, match="groups= gives no group for 5"):
        compared.by_group({k: "x" for k in range(5)})


def test_samples_of_scores_are_some_of_their_systems_and_instances() -> None:
    frame = pd.DataFrame(np.arange(20.0).reshape(5, 4), columns=list("ABCD")).assign(instance=list("vwxyz"))
    frame["document"] = [1, 1, 2, 2, 3]
    scores = llbt.scores.SystemScores.from_wide(frame, others="document")
    some = scores.sample(systems=2, instances=3, rng=1)
    rows = [scores.instances.index(label) for label in some.instances]
    columns = [scores.systems.index(label) for label in some.systems]
    np.testing.assert_array_equal(some.values, scores.values[np.ix_(columns, rows)])
    assert some.columns["document"].tolist() == frame["document"].iloc[rows].tolist()
    assert some.place.tolist() == [0, 1, 2]
    assert llbt.scores.leaderboard(some, by="document", test="t").systems
    with pytest.raises(OptionError, match="instances=6; expected at most 5, the number of instances"):
        scores.sample(instances=6)
