"""Agreement of judges: published examples, loops over judgments, statsmodels, and the figures of WMT10."""

import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats import inter_rater
from support.draws import first_block
from support.in_full import in_full

import llbt
from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.judges.agreement import agreement
from llbt.judges.coefficients import COEFFICIENTS

OBJECTS = ["object_i", "object_j"]
ANY_LABELS = ["percent", "bennett_s", "scott_pi", "gwet_ac1"]  # repeats are allowed


def rated(ratings):
    """Ratings by judge, None where missing, as judgments with the column `rating`."""
    rows = [(j, u, r) for j, row in ratings.items() for u, r in enumerate(row) if r is not None]
    frame = pd.DataFrame(rows, columns=["judge", "item", "rating"])
    return frame.assign(object_i="A", object_j="B", outcome="tie")


def from_table(table, labels):
    """Two judges' labels as a frame that has this cross table."""
    cells = [(a, b) for a, b in itertools.product(range(len(labels)), repeat=2) for _ in range(table[a][b])]
    return rated({"J1": [labels[a] for a, _ in cells], "J2": [labels[b] for _, b in cells]})


def drawn(seed, *, repeats=False, judges=4, units=9, ties=0.3):
    """Judgments of four objects in either display order, some missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for u, j in itertools.product(range(units), range(judges)):
        better = rng.permutation(["c", "a", "d", "b"])[:2] if u % 3 else ["b", "a"]
        pair = sorted([["a", "b"], ["b", "d"], ["c", "d"]][u % 3])
        for _ in range(int(rng.integers(0, 3) if repeats else rng.random() < 0.75)):
            i, k = pair if rng.random() < 0.5 else pair[::-1]
            said = "tie" if rng.random() < ties else ("i" if (i in better) == (rng.random() < 0.8) else "j")
            rows.append((i, k, said, f"J{j}", u // 2))
    return pd.DataFrame(rows, columns=[*OBJECTS, "outcome", "judge", "prompt"])


def estimates(found):
    return found.to_frame().set_index("term")["estimate"]


def judged(frame, **options):
    return estimates(agreement(frame, unit="prompt", **options))


# -- published examples ------------------------------------------------------------------------------------------

# Krippendorff (2011), section C: four observers, twelve units, values missing.
KRIPPENDORFF = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}


@pytest.mark.parametrize(
    ("name", "value", "digits"),
    [
        ("krippendorff_alpha", 0.743, 3),  # Krippendorff (2011), sections C and D
        ("krippendorff_alpha_ordinal", 0.815, 3),
        ("gwet_ac1", 0.77544, 5),  # R package irrCAC, cac.raw4raters: the same data
        ("fleiss_kappa", 0.76117, 5),
    ],
)
def test_the_example_with_missing_values(name, value, digits):
    found = agreement(rated(KRIPPENDORFF), unit="item", label="rating", coefficients=name)
    assert round(estimates(found)[name], digits) == value
    assert found.labels == (1, 2, 3, 4, 5)


def test_the_example_of_two_abstractors():
    """Gwet (2014) and R package irrCAC, cont3x3abstractors; α by Krippendorff's correction of π."""
    frame = from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]], ["Ectopic", "AIU", "NIU"])
    found = estimates(agreement(frame, unit="item", label="rating"))
    names = ["percent", "bennett_s", "scott_pi", "cohen_kappa", "gwet_ac1", "krippendorff_alpha"]
    assert found[names].round(7).tolist() == [0.89, 0.835, 0.7962397, 0.7964094, 0.8493305, 0.7972585]


def test_the_example_of_artstein_and_poesio():
    """Table 1 of Artstein & Poesio (2008): A_o = .7; S = .4, π = .341, κ = .348."""
    frame = from_table([[20, 20], [10, 50]], ["STAT", "IREQ"])
    found = estimates(agreement(frame, unit="item", label="rating"))
    assert found["percent"] == pytest.approx(0.7)
    assert found[["bennett_s", "scott_pi", "cohen_kappa"]].round(3).tolist() == [0.4, 0.341, 0.348]


def test_the_example_of_gwet():
    """Gwet (2002): 118 and 0 of 125 subjects alike, 5 and 2 not; κ = −.0234 although 94 % agree, AC1 = .9408."""
    found = estimates(agreement(from_table([[118, 5], [2, 0]], ["+", "-"]), unit="item", label="rating"))
    assert found["gwet_ac1"] == pytest.approx(0.9408, abs=5e-5)
    assert found["cohen_kappa"] == pytest.approx(-0.0234, abs=5e-5)


# -- statsmodels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_cohen_of_two_judges_is_that_of_statsmodels(seed):
    table = np.random.default_rng(seed).integers(0, 9, size=(4, 4))
    found = estimates(agreement(from_table(table, [1, 2, 3, 7]), unit="item", label="rating"))
    kinds = {"cohen_kappa": None, "cohen_kappa_linear": "linear", "cohen_kappa_quadratic": "quadratic"}
    for name, weights in kinds.items():
        assert found[name] == pytest.approx(inter_rater.cohens_kappa(table, wt=weights, return_results=False))


@pytest.mark.parametrize("seed", range(3))
def test_fleiss_of_as_many_judges_each_is_that_of_statsmodels(seed):
    values = np.random.default_rng(seed).choice(["x", "y", "z"], size=(5, 12), p=[0.6, 0.3, 0.1])
    found = estimates(agreement(rated({f"J{k}": row for k, row in enumerate(values)}), unit="item", label="rating"))
    table, _ = inter_rater.aggregate_raters(values.T)
    assert found["fleiss_kappa"] == pytest.approx(inter_rater.fleiss_kappa(table))
    assert found["bennett_s"] == pytest.approx(inter_rater.fleiss_kappa(table, method="randolph"))
    assert found["scott_pi"] == pytest.approx(found["fleiss_kappa"])  # nothing missing: one coefficient


def in_both_orientations(frame):
    """Labels with the objects by name, and a second copy of each unit with the objects the other way."""
    swap = frame["object_i"] > frame["object_j"]
    turned = frame["outcome"].map({"i": "j", "j": "i", "tie": "tie"})
    by_name = frame.assign(outcome=frame["outcome"].where(~swap, turned))
    by_name["unit"] = [f"{min(a, b)}{max(a, b)}{p}" for a, b, p in frame[[*OBJECTS, "prompt"]].to_numpy()]
    again = by_name.assign(
        outcome=by_name["outcome"].map({"i": "j", "j": "i", "tie": "tie"}), unit=by_name["unit"] + "'"
    )
    return pd.concat([by_name, again])


@pytest.mark.parametrize("seed", range(3))
def test_outcomes_are_labels_in_both_orientations(seed):
    """Cohen's κ by statsmodels of the doubled units."""
    frame = drawn(seed, judges=2, units=40)
    wide = in_both_orientations(frame).pivot(index="unit", columns="judge", values="outcome").dropna()
    table = pd.crosstab(wide["J0"], wide["J1"]).reindex(index=["i", "tie", "j"], columns=["i", "tie", "j"]).to_numpy()
    found = judged(frame)
    for name, weights in {"cohen_kappa": None, "cohen_kappa_linear": "linear"}.items():
        assert found[name] == pytest.approx(inter_rater.cohens_kappa(table, wt=weights, return_results=False))


# -- loops over judgments ----------------------------------------------------------------------------------------


def looped_pairs(both, among):
    """Ordered pairs of judgments of the same unit, as rows of the doubled frame, by unit."""
    for _, part in both.groupby("unit"):
        rows = list(part.itertuples())
        same = among == "intra"
        yield part, [(a, b) for a in rows for b in rows if a is not b and (a.judge == b.judge) == same]


def looped(frame, among):
    both = in_both_orientations(frame)
    k = both["outcome"].nunique()
    hits, unit_hits, unit_shares = [], [], []
    for part, pairs in looped_pairs(both, among):
        hits += [a.outcome == b.outcome for a, b in pairs]
        unit_hits += [np.mean([a.outcome == b.outcome for a, b in pairs])] if pairs else []
        unit_shares.append(part["outcome"].value_counts(normalize=True))
    observed, by_unit = np.mean(hits), np.mean(unit_hits)
    chance = (both["outcome"].value_counts(normalize=True) ** 2).sum()
    shares = pd.concat(unit_shares, axis=1).fillna(0).mean(axis=1)
    ac1, fleiss = (shares * (1 - shares)).sum() / (k - 1), (shares**2).sum()
    return {
        "percent": observed,
        "bennett_s": (observed - 1 / k) / (1 - 1 / k),
        "scott_pi": (observed - chance) / (1 - chance),
        "gwet_ac1": (by_unit - ac1) / (1 - ac1),
        "fleiss_kappa": (by_unit - fleiss) / (1 - fleiss),
    }


@pytest.mark.parametrize("among", ["inter", "intra"])
@pytest.mark.parametrize("seed", range(4))
def test_coefficients_with_repeats_are_those_of_loops(seed, among):
    frame = drawn(seed, repeats=True)
    found, expected = judged(frame, among=among), looped(frame, among)
    for name in ANY_LABELS:
        assert found[name] == pytest.approx(expected[name], abs=1e-12)
    assert found.drop(ANY_LABELS).isna().all()


def looped_cohen(frame):
    both = in_both_orientations(frame)
    observed = expected = 0.0
    for one, other in itertools.combinations(sorted(frame["judge"].unique()), 2):
        wide = both.pivot(index="unit", columns="judge", values="outcome")[[one, other]].dropna()
        shares = [wide[name].value_counts(normalize=True) for name in (one, other)]
        observed += (wide[one] == wide[other]).sum()
        expected += len(wide) * shares[0].mul(shares[1], fill_value=0).sum()
    total = sum(len(pairs) for _, pairs in looped_pairs(both, "inter")) / 2
    return (observed - expected) / (total - expected)


def looped_alpha(frame, far):
    """Observed: pairs within units, each unit as one; expected: different judgments, each in either orientation."""
    turned = {"i": "j", "j": "i", "tie": "tie"}
    both = in_both_orientations(frame)
    kept = both[both.groupby("unit")["judge"].transform("size") > 1]
    seen = sum(
        far(a.outcome, b.outcome) / (len(part) - 1) for part, pairs in looped_pairs(kept, "inter") for a, b in pairs
    ) / len(kept)
    once = kept[~kept["unit"].str.endswith("'")]["outcome"].tolist()
    pairs = [(a, b) for (m, a), (n, b) in itertools.product(enumerate(once), repeat=2) if m != n]
    chance = np.mean([far(x, y) for a, b in pairs for x in (a, turned[a]) for y in (b, turned[b])])
    return 1 - seen / chance


@pytest.mark.parametrize("seed", range(4))
def test_coefficients_of_one_label_each_are_those_of_loops(seed):
    frame = drawn(seed)
    found = judged(frame)
    for name, value in looped(frame, "inter").items():
        assert found[name] == pytest.approx(value, abs=1e-12)
    assert found["cohen_kappa"] == pytest.approx(looped_cohen(frame), abs=1e-12)
    assert found["krippendorff_alpha"] == pytest.approx(looped_alpha(frame, lambda a, b: a != b), abs=1e-12)
    code = {"i": -1, "tie": 0, "j": 1}  # with p(i) = p(j) the ordinal distances are those of equal steps
    ordinal = looped_alpha(frame, lambda a, b: (code[a] - code[b]) ** 2)
    assert found["krippendorff_alpha_ordinal"] == pytest.approx(ordinal, abs=1e-12)


# -- what must not matter ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("repeats", [False, True], ids=["once", "with repeats"])
def test_names_display_order_and_rows_do_not_matter(repeats):
    frame = drawn(5, repeats=repeats)
    renamed = frame.replace({side: {"a": "z", "b": "y", "d": "c", "c": "x"} for side in OBJECTS})
    swapped = frame.rename(columns=dict(zip(OBJECTS, OBJECTS[::-1], strict=True)))
    swapped["outcome"] = frame["outcome"].map({"i": "j", "j": "i", "tie": "tie"})
    half = pd.concat([frame.iloc[::2], swapped.iloc[1::2]])
    for other in (renamed, half, frame.iloc[::-1]):
        pd.testing.assert_series_equal(judged(other), judged(frame))


def test_labels_of_another_column_are_flipped_where_they_name_a_side():
    frame = drawn(1, ties=0.5)
    kinds = itertools.cycle(["good", "bad"])
    fine = frame.assign(fine=[said if said != "tie" else next(kinds) for said in frame["outcome"]])
    found = agreement(fine, unit="prompt", label="fine")
    assert found.labels == ("i", "bad", "good", "j")
    assert found.chance[0] == found.chance[3]
    agree = 0
    for a, b in itertools.combinations(fine.itertuples(), 2):
        same_unit = {a.object_i, a.object_j} == {b.object_i, b.object_j} and a.prompt == b.prompt
        winner = [getattr(x, f"object_{x.fine}") if x.fine in "ij" else x.fine for x in (a, b)]
        agree += same_unit and winner[0] == winner[1]
    assert found.to_frame()["agreements"].iloc[0] == agree
    assert estimates(found)[["cohen_kappa_linear", "krippendorff_alpha_ordinal"]].isna().all()
    assert any("labels have no order" in note for note in found.notes)


def test_same_columns_under_other_names():
    frame = drawn(2)
    other = frame.rename(columns={"judge": "worker", "object_i": "left", "object_j": "right"})
    found = agreement(other, unit="prompt", judge="worker", objects=("left", "right"))
    pd.testing.assert_series_equal(estimates(found), judged(frame))
    by = agreement(other, unit="prompt", judge="worker", objects=("left", "right"), by="worker")
    assert by.to_frame()["worker"].unique().tolist() == ["J0", "J1", "J2", "J3", "all"]


# -- judges, groups, chance --------------------------------------------------------------------------------------


@pytest.mark.parametrize("repeats", [False, True], ids=["once", "with repeats"])
def test_a_pair_of_judges_is_what_its_judgments_alone_give(repeats):
    frame = drawn(3, repeats=repeats, units=30)
    found = agreement(frame, unit="prompt").by_judges.to_frame().set_index(["judge_i", "judge_j", "term"])
    for pair in itertools.combinations(["J0", "J1", "J2", "J3"], 2):
        alone = agreement(frame[frame["judge"].isin(pair)], unit="prompt").to_frame().set_index("term")
        rows = found.loc[pair]
        columns = ["observed", "expected", "estimate", "agreements", "pairs", "units"]
        kept = [name for name in alone.index if not repeats or name != "gwet_ac1"]
        pd.testing.assert_frame_equal(rows.loc[kept, columns], alone.loc[kept, columns], check_dtype=False)


def test_groups_are_their_own_judgments_and_all():
    frame = drawn(4, units=24)
    frame["language"] = np.where(frame["prompt"] < 5, "de", "fr")
    found = agreement(frame, unit="prompt", by="language").to_frame()
    assert found["language"].unique().tolist() == ["de", "fr", "all"]
    for name, part in (*frame.groupby("language"), ("all", frame)):
        alone = agreement(part, unit="prompt").to_frame()
        rows = found[found["language"] == name].drop(columns="language").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, alone)


def test_a_group_without_shared_units_is_undefined_and_said():
    frame = drawn(4, units=24).assign(language="de")
    alone = pd.DataFrame([("a", "b", "i", "J0", 99, "fr")], columns=frame.columns)
    found = agreement(pd.concat([frame, alone]), unit="prompt", by="language")
    rows = found.to_frame().query("language == 'fr'")
    assert rows["estimate"].isna().all()
    assert (rows["pairs"] == 0).all()
    assert any(note.startswith("language 'fr': 0 units judged by two judges") for note in found.notes)


def test_chance_can_come_from_other_judgments():
    frame = drawn(6)
    without = frame[(frame[OBJECTS] != "d").all(axis=1)]
    found = agreement(without, unit="prompt", chance_from=frame).to_frame().set_index("term")
    p_tie = (frame["outcome"] == "tie").mean()
    assert found.loc["scott_pi", "expected"] == pytest.approx(p_tie**2 + (1 - p_tie) ** 2 / 2)
    own = agreement(without, unit="prompt").to_frame().set_index("term")
    assert own.loc["scott_pi", "expected"] != pytest.approx(found.loc["scott_pi", "expected"])
    pd.testing.assert_frame_equal(own.drop("scott_pi"), found.drop("scott_pi"))


def test_units_judged_once_count_for_chance():
    frame = drawn(6)
    alone = pd.DataFrame([("a", "b", "tie", "J0", 99 + k) for k in range(50)], columns=frame.columns)
    more = pd.concat([frame, alone])
    found = agreement(more, unit="prompt").to_frame().set_index("term")
    p_tie = (more["outcome"] == "tie").mean()
    assert found.loc["scott_pi", "expected"] == pytest.approx(p_tie**2 + (1 - p_tie) ** 2 / 2)


def test_without_ties_there_are_two_labels():
    found = agreement(drawn(1, ties=0), unit="prompt")
    assert found.labels == ("i", "j")
    assert found.to_frame().set_index("term").loc["bennett_s", "expected"] == 0.5
    assert any("there are no ties" in note for note in found.notes)


def test_all_ties_leave_nothing_to_correct():
    found = agreement(drawn(1, ties=1), unit="prompt")
    undefined = ["scott_pi", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "krippendorff_alpha_ordinal"]
    values = estimates(found)
    assert values[undefined].isna().all()
    assert values[["percent", "bennett_s", "gwet_ac1"]].tolist() == [1, 1, 1]
    assert any("scott_pi, cohen_kappa" in note and "undefined: only one label" in note for note in found.notes)


def test_one_label_of_another_column_leaves_all_undefined():
    found = agreement(rated({"J1": [1, 1, 1], "J2": [1, 1, 1]}), unit="item", label="rating", n=20, rng=1)
    assert estimates(found).drop("percent").isna().all()


def test_missing_labels_are_left_out_and_counted():
    frame = rated(KRIPPENDORFF)
    ragged = pd.concat([frame, frame.iloc[:3].assign(judge="E", rating=None)])
    found = agreement(ragged, unit="item", label="rating")
    assert "3 judgments left out: no value of 'rating'" in found.notes
    pd.testing.assert_series_equal(estimates(found), estimates(agreement(frame, unit="item", label="rating")))


def test_labels_that_only_the_judgments_of_chance_have_count():
    frame = drawn(1, ties=0)
    found = agreement(frame, unit="prompt", chance_from=drawn(1, ties=0.5))
    assert found.labels == ("i", "tie", "j")
    assert found.to_frame().set_index("term").loc["bennett_s", "expected"] == pytest.approx(1 / 3)
    assert found.to_frame()["agreements"].iloc[0] == agreement(frame, unit="prompt").to_frame()["agreements"].iloc[0]


def test_the_repeat_is_named_by_its_row_in_the_judgments():
    frame = rated({"J1": [1, 2, 3], "J2": [1, 2, 2]}).assign(rating=lambda f: f["rating"].astype(float))
    frame.loc[1, "rating"] = None
    again = pd.concat([frame, frame.iloc[[5]]])
    with pytest.raises(JudgmentError, match=r"1 of 6 judgments repeat .* at row 6 \(judge 'J2', objects .*, item 2\)"):
        agreement(again, unit="item", label="rating", coefficients="cohen_kappa")


def test_each_judge_with_itself():
    frame = drawn(2, repeats=True, units=40)
    found = agreement(frame, unit="prompt", among="intra", by="judge").to_frame().set_index(["judge", "term"])
    for name, part in frame.groupby("judge"):
        expected = looped(part, "intra")
        for term in ANY_LABELS:
            assert found.loc[(name, term), "estimate"] == pytest.approx(expected[term])
    assert found.loc[("all", "percent"), "pairs"] == found.xs("percent", level="term")["pairs"].iloc[:-1].sum()


# -- resamples ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_intervals_are_those_of_frames_put_together_from_the_drawn_units():
    frame, n, seed = drawn(7, units=12), 25, 11
    found = agreement(frame, unit="prompt", n=n, rng=seed, confidence=0.8).to_frame().set_index("term")
    names = [tuple(sorted(pair)) for pair in frame[OBJECTS].to_numpy()]
    keys = pd.Series(list(zip(frame["prompt"], names, strict=True)))
    units = sorted(keys.unique())
    values = []
    for draws in first_block(seed).integers(len(units), size=(n, len(units))):
        parts = [frame[(keys == units[u]).to_numpy()].assign(prompt=k) for k, u in enumerate(draws)]
        values.append(judged(pd.concat(parts)))
    replicates = pd.concat(values, axis=1).loc[list(found.index)]
    np.testing.assert_allclose(found["conf_low"], replicates.quantile(0.1, axis=1), atol=1e-12)
    np.testing.assert_allclose(found["conf_high"], replicates.quantile(0.9, axis=1), atol=1e-12)


def test_the_interval_of_the_share_that_agrees_is_the_binomial_one():
    """One pair of judgments in each of 400 units: the normal interval of a proportion."""
    agree = np.arange(400) % 4 > 0
    frame = rated({"J1": ["x"] * 400, "J2": np.where(agree, "x", "y")})
    row = agreement(frame, unit="item", label="rating", coefficients="percent", n=2000, rng=3).to_frame().iloc[0]
    half = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert row["conf_low"] == pytest.approx(0.75 - half, abs=0.004)
    assert row["conf_high"] == pytest.approx(0.75 + half, abs=0.004)


def test_a_resample_that_is_undefined_widens_and_is_counted():
    frame = rated({"J1": [1, 1, 1, 2], "J2": [1, 1, 1, 2]})
    found = agreement(frame, unit="item", label="rating", coefficients="cohen_kappa", n=200, rng=1)
    row = found.to_frame().iloc[0]
    assert row["estimate"] == 1
    assert [row["conf_low"], row["conf_high"]] == [-math.inf, math.inf]  # (3/4)⁴ = .32 of the resamples: one label
    assert any("resamples with an undefined coefficient" in note for note in found.notes)


# -- errors ------------------------------------------------------------------------------------------------------

GOOD = drawn(0)
TWICE = pd.concat([GOOD, GOOD.iloc[[4]]])
MIXED = GOOD.assign(kind=["x", "y"] * (len(GOOD) // 2) + ["x"] * (len(GOOD) % 2))


@pytest.mark.parametrize(
    ("frame", "options", "error", "fragment"),
    [
        (GOOD, {"among": "both"}, OptionError, "expected 'inter' or 'intra'"),
        (GOOD, {"coefficients": "kappa"}, OptionError, "expected 'percent'"),
        (GOOD, {"coefficients": []}, OptionError, "expected names among"),
        (GOOD, {"confidence": 95}, OptionError, "confidence=95"),
        (GOOD, {"n": -1}, OptionError, "n=-1"),
        (GOOD, {"rng": "one"}, OptionError, "rng='one'"),
        (GOOD, {"unit": "segment"}, JudgmentError, "no column 'segment' (unit=)"),
        (GOOD, {"judge": "worker"}, JudgmentError, "'worker'"),
        (GOOD, {"label": "kind"}, JudgmentError, "no column 'kind' (label=)"),
        (GOOD, {"by": "language"}, JudgmentError, "no column 'language' (by=)"),
        (GOOD.assign(kind=None), {"label": "kind"}, JudgmentError, "no value in any of"),
        (
            pd.concat([GOOD] * 40, ignore_index=True).assign(text=lambda f: [f"a{k}" for k in range(len(f))]),
            {"unit": ["prompt", "text"], "label": "text"},
            JudgmentError,
            "different labels, such as 'a0'",
        ),
        (GOOD[GOOD["judge"] == "J1"], {}, JudgmentError, "are by one judge, 'J1'"),
        (
            GOOD.drop_duplicates([*OBJECTS, "prompt"]).iloc[:3],
            {"unit": ["prompt", "judge"]},
            JudgmentError,
            "by two judges",
        ),
        (GOOD, {"unit": ["prompt", "judge"]}, JudgmentError, "no unit was judged by two judges"),
        (GOOD[GOOD["prompt"] == 4], {}, JudgmentError, "only one unit was judged by two judges (1 unit"),
        (GOOD, {"among": "intra"}, JudgmentError, "no unit was judged twice by a judge"),
        (TWICE, {"coefficients": "cohen_kappa"}, JudgmentError, "1 of"),
        (TWICE, {"coefficients": "fleiss_kappa"}, JudgmentError, f"the first at row {len(GOOD)} (judge"),
        (TWICE, {"coefficients": ["percent", "krippendorff_alpha"]}, JudgmentError, "needs one label per judge"),
        (drawn(0, repeats=True), {"among": "intra", "coefficients": "cohen_kappa"}, DesignError, "compares judges"),
        (MIXED, {"label": "kind", "coefficients": "cohen_kappa_linear"}, DesignError, "needs labels with an order"),
    ],
)
def test_errors_say_what_is_wrong(frame, options, error, fragment):
    with pytest.raises(error) as caught:
        agreement(frame, **{"unit": "prompt", **options})
    assert fragment in str(caught.value)


def test_judges_with_themselves_have_no_pairs():
    with pytest.raises(DesignError, match="by='judge'"):
        _ = agreement(drawn(0, repeats=True), unit="prompt", among="intra").by_judges


def test_a_judge_column_that_is_not_there_is_never_another():
    with pytest.raises(JudgmentError, match="worker"):
        agreement(llbt.read_judgments(GOOD), unit="prompt", judge="worker")


# -- the record --------------------------------------------------------------------------------------------------


def test_the_record_prints_and_survives_a_pickle():
    found = agreement(drawn(0), unit="prompt", n=10, rng=1)
    again = pickle.loads(pickle.dumps(found))
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    pd.testing.assert_frame_equal(again.by_judges.to_frame(), found.by_judges.to_frame())
    assert repr(again) == found.as_text()
    assert found.to_frame()["term"].tolist() == list(COEFFICIENTS)
    assert "Scott's π: P(E) by the label shares of all" in found.as_text()


def test_the_frame_of_the_caller_stays():
    frame = drawn(0)
    before = frame.copy()
    agreement(frame, unit="prompt", n=5, rng=1, by="judge")
    pd.testing.assert_frame_equal(frame, before)


# -- WMT10 -------------------------------------------------------------------------------------------------------

SENTENCE = ["srclang", "trglang", "srcIndex"]


@pytest.fixture(scope="module")
def wmt10(shared: Path):
    frame = llbt.read_judgments(shared / "data" / "wmt10_expert_RNK.csv.gz")
    return frame, frame.take((frame.to_frame()[OBJECTS] != "_ref").all(axis=1))


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("references", "among", "own", "s", "pi"),
    [
        (True, "inter", True, 0.4874776, 0.4538895),
        (False, "inter", False, 0.4393602, 0.4026187),
        (False, "inter", True, 0.4393602, 0.4093234),
        (True, "intra", True, 0.6329565, 0.6089024),
        (False, "intra", False, 0.6012695, 0.5751388),
        (False, "intra", True, 0.6012695, 0.5799072),
    ],
)
def test_wmt10(wmt10, references, among, own, s, pi):
    """With references, and without them by the chance of the judgments with them or their own."""
    frame = wmt10[0] if references else wmt10[1]
    options = {} if own else {"chance_from": wmt10[0]}
    found = estimates(agreement(frame, unit=SENTENCE, among=among, coefficients=["bennett_s", "scott_pi"], **options))
    assert found.tolist() == pytest.approx([s, pi], abs=1e-7)


@pytest.mark.shared
def test_wmt10_counts_pairs(wmt10):
    row = agreement(wmt10[0], unit=SENTENCE, coefficients="percent").to_frame().iloc[0]
    assert (row["agreements"], row["pairs"]) == (7360, 11180)


def test_many_groups_print_in_part_with_the_row_of_all():
    frame = pd.concat([GOOD.assign(day=f"d{day:02d}") for day in range(12)], ignore_index=True)
    found = agreement(frame, unit=["prompt", "day"], by="day")
    text = found.as_text().splitlines()
    assert len(found.to_frame()) == 130
    assert "… 70 more rows above the last 10: .to_frame()" in text
    assert sum(line.startswith("all ") for line in text) == 10
    assert sum(line.startswith("d0") for line in text) == 50


def test_coefficients_that_repeats_do_not_allow_are_in_the_frame_but_not_printed():
    frame = pd.concat([GOOD, GOOD[:1]], ignore_index=True)
    found = agreement(frame, unit="prompt")
    printed = {line.split(" ")[0] for line in found.as_text().splitlines()}
    assert found.to_frame()["term"].tolist() == list(COEFFICIENTS)
    assert printed & set(COEFFICIENTS) == {"percent", "bennett_s", "scott_pi", "gwet_ac1"}


def test_labels_are_the_outcomes_of_a_frame_that_names_its_own_columns() -> None:
    """The same judgments under the standard names are the second route."""
    rng = np.random.default_rng(5)
    swapped = rng.random(60) < 0.5
    own = pd.DataFrame(
        {
            "sys1": np.where(swapped, "b", "a"),
            "sys2": np.where(swapped, "a", "b"),
            "pick": rng.choice(["sys1", "sys2", "tie"], 60),
            "rater": np.tile(["ann", "bob", "cid"], 20),
            "item": np.repeat(np.arange(20), 3),
        }
    )
    standard = own.rename(columns={"sys1": "object_i", "sys2": "object_j", "rater": "judge", "pick": "outcome"})
    standard["outcome"] = standard["outcome"].map({"sys1": "i", "sys2": "j", "tie": "tie"})
    named = {"unit": ["item"], "objects": ("sys1", "sys2"), "label": "pick", "judge": "rater"}
    found, expected = llbt.judges.agreement(own, **named), llbt.judges.agreement(standard, unit=["item"])
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    again = llbt.judges.agreement(own.iloc[:30], **named, chance_from=own).to_frame().set_index("term")
    theirs = llbt.judges.agreement(standard.iloc[:30], unit=["item"], chance_from=standard).to_frame().set_index("term")
    assert again.loc["scott_pi", "expected"] == theirs.loc["scott_pi", "expected"]
    with pytest.raises(llbt.errors.JudgmentError, match="no column 'items'"):
        llbt.judges.agreement(own, **{**named, "unit": ["items"]})


def identical_outputs(n=60):
    """Judgments of two judges on segments in which a and b showed the same, as WMT15 writes them."""
    rng = np.random.default_rng(15)
    base = dict(srclang="cze", trglang="eng")
    return [
        base
        | dict(srcIndex=k, judgeID=judge, system1Id=names[flip], system2Id=names[1 - flip], rankingID=k)
        | dict(zip(("system1rank", "system2rank"), rng.integers(1, 4, 2).tolist(), strict=True))
        for k in range(n)
        for judge in ("J1", "J2")
        for flip in [int(rng.integers(2))]
        for names in [("a+b", "c") if k % 2 else ("c", "d") if k % 3 else ("a+b", "c+d+e")]
    ]


def test_a_record_of_identical_outputs_counts_once():
    """Two routes: the records as they are written, and one judgment of each after they were taken apart."""
    records = identical_outputs()
    frame, as_written = llbt.read_judgments(records), llbt.read_judgments(records, joined=False)
    assert (len(frame.to_frame()), len(as_written.to_frame())) == (280, 120)
    found, expected = (llbt.judges.agreement(x, unit="prompt").to_frame() for x in (frame, as_written))
    assert found["estimate"].to_numpy() == pytest.approx(expected["estimate"].to_numpy(), nan_ok=True)
    assert found["units"].tolist() == expected["units"].tolist()
    many = llbt.judges.agreement(frame.to_frame().drop(columns="record"), unit="prompt").to_frame()
    assert many["units"].iloc[0] > found["units"].iloc[0]
    assert "160 judgments not counted" in in_full(llbt.judges.agreement(frame, unit="prompt"))
    counts = llbt.judges.summary(frame).to_frame()
    assert counts["judgments"].tolist() == [60, 60]
    pd.testing.assert_frame_equal(counts, llbt.judges.summary(as_written).to_frame())


@pytest.mark.parametrize(
    ("objects", "column"),
    [(("model_a", "model_b"), "winner"), (("object_i", "object_j"), "verdict"), (("left", "right"), "verdict")],
)
def test_the_column_of_outcomes_under_its_own_name_is_the_label(objects, column):
    said = {"J1": ["a", "a", "b", "tie"], "J2": ["a", "b", "b", "tie"]}
    rows = [("A", "B", o, judge, prompt) for judge, row in said.items() for prompt, o in enumerate(row)]
    plain = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge", "prompt"])
    named = plain.set_axis([*objects, column, "judge", "prompt"], axis=1)
    asked = {"objects": objects} if objects == ("left", "right") else {}
    found = llbt.judges.agreement(named, unit="prompt", label=column, **asked)
    assert found.labels == ("i", "tie", "j")
    expected = llbt.judges.agreement(plain, unit="prompt").to_frame()
    pd.testing.assert_frame_equal(found.to_frame(), expected)


def test_a_matrix_has_the_coefficient_of_every_two_judges_alone() -> None:
    """Cohen's κ of each two judges by statsmodels' count of their cross table."""
    ratings = {"J1": [0, 1, 1, 0, 1, 0, 1], "J2": [0, 1, 0, 0, 1, 1, 1], "J3": [1, 1, 0, 0, 1, 0, 0]}
    found = agreement(rated(ratings), unit="item", label="rating").judge_matrix()
    for one, other in itertools.combinations(ratings, 2):
        table = pd.crosstab(pd.Series(ratings[one]), pd.Series(ratings[other]))
        kappa = inter_rater.cohens_kappa(table).kappa
        assert found.loc[one, other] == found.loc[other, one] == pytest.approx(kappa, abs=1e-12)
    assert np.isnan(np.diag(found)).all()
    with pytest.raises(OptionError, match="coefficient='kappa'"):
        agreement(rated(ratings), unit="item", label="rating").judge_matrix("kappa")
