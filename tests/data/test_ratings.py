"""Ratings as lists that keep them, and the pairs that they imply: near ratings as ties, differences as grades."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.data.rankings import from_rankings
from llbt.data.ratings import from_ratings
from llbt.errors import JudgmentError, OptionError

RATINGS = pd.DataFrame(
    {
        "judge": ["J1", "J1", "J1", "J2", "J2", "J2"],
        "object": ["A", "B", "C", "A", "B", "C"],
        "rating": [0.8, 0.7, 0.5, 0.2, None, 0.9],
    }
)


def rated(frame, tie_threshold=0.0, cuts=(), **options):
    """Read ratings and make comparisons of them."""
    return from_ratings(frame, **options).to_comparisons(tie_threshold=tie_threshold, cuts=cuts)


def rows(c, **options):
    return c.to_frame(**options).to_numpy().tolist()


class TestRatings:
    def test_plain(self):
        c = rated(RATINGS)
        assert rows(c) == [["A", "B", 1, 0, 0], ["A", "C", 1, 0, 1], ["B", "C", 1, 0, 0]]
        assert c.notes[:2] == (
            "1 rating missing: the ranks of these objects in these lists are unknown",
            "4 judgments implied by 2 lists: each object against each other one",
        )
        assert "groups='judge'" in c.notes[2]

    @pytest.mark.parametrize(
        ("threshold", "expected"),
        [
            (0.05, [["A", "B", 1, 0, 0], ["A", "C", 1, 0, 1], ["B", "C", 1, 0, 0]]),
            (0.1, [["A", "B", 0, 1, 0], ["A", "C", 1, 0, 1], ["B", "C", 1, 0, 0]]),  # 0.8 − 0.7 > 0.1 in floats
            (0.2, [["A", "B", 0, 1, 0], ["A", "C", 1, 0, 1], ["B", "C", 0, 1, 0]]),  # not transitive; 0.7 − 0.5 < 0.2
            (0.3, [["A", "B", 0, 1, 0], ["A", "C", 0, 1, 1], ["B", "C", 0, 1, 0]]),
            (1, [["A", "B", 0, 1, 0], ["A", "C", 0, 2, 0], ["B", "C", 0, 1, 0]]),
        ],
    )
    def test_threshold(self, threshold, expected):
        assert rows(rated(RATINGS, tie_threshold=threshold)) == expected

    def test_a_difference_of_rounding_decides_nothing(self):
        frame = pd.DataFrame({"A": [0.1 + 0.2, 1e-20], "B": [0.3, 2e-20]})
        assert rows(rated(frame, objects=["A", "B"])) == [["A", "B", 0, 1, 1]]

    def test_lower_may_be_better(self):
        turned = RATINGS.assign(rating=-RATINGS["rating"])
        for threshold in (0, 0.1, 0.2):
            c = rated(turned, higher_is_better=False, tie_threshold=threshold)
            assert c == rated(RATINGS, tie_threshold=threshold)
        as_ranks = from_rankings(RATINGS, rank="rating", judge="judge").to_comparisons()
        assert rated(RATINGS, higher_is_better=False) == as_ranks
        assert not any("negative" in note for note in rated(turned, higher_is_better=False).notes)

    def test_long_and_wide_agree(self):
        wide = RATINGS.pivot(index="judge", columns="object", values="rating").reset_index()
        kept = {"clusters": "judge", "tie_threshold": 0.1}
        assert rated(wide, objects=["A", "B", "C"], **kept) == rated(RATINGS, **kept)

    def test_prompts_and_blocks(self):
        twice = pd.concat([RATINGS.assign(item=1), RATINGS.assign(item=2)], ignore_index=True)
        c = rated(twice, prompt="item", covariates="item")
        assert c.pool().n_judgments == 8
        assert rated(twice, block=["judge", "item"], covariates="item") == c
        pooled = rated(RATINGS.assign(judge=["J1"] * 3 + ["J2"] * 3, all=[1, 1, 1, 2, 2, 2]), block="all")
        assert pooled == rated(RATINGS)


BAD_RATINGS = [
    (
        RATINGS.rename(columns={"judge": "worker"}),
        {},
        JudgmentError,
        "the frame has no column 'judge' (judge=); it has 'worker'",
    ),
    (RATINGS, {"judge": None}, OptionError, "no column says which rows belong together"),
    (RATINGS, {"rating": "score"}, JudgmentError, "the frame has no column 'score' (rating=)"),
    (
        pd.concat([RATINGS, RATINGS.iloc[[3]]], ignore_index=True),
        {},
        JudgmentError,
        "1 object repeated within a block, the first at row 6: 'A' in judge='J2'",
    ),
    (RATINGS, {"tie_threshold": -0.1}, OptionError, "tie_threshold=-0.1; expected a finite number, at least 0"),
    (RATINGS, {"tie_threshold": math.nan}, OptionError, "tie_threshold=nan; expected a finite number"),
    (RATINGS, {"tie_threshold": "1"}, OptionError, "tie_threshold='1'; expected a finite number"),
    (
        RATINGS.assign(rating="good"),
        {},
        JudgmentError,
        "column 'rating': 6 values not a number, the first at row 0 ('good')",
    ),
    (
        RATINGS.assign(rating=-math.inf),
        {},
        JudgmentError,
        "column 'rating': 6 infinite values, the first at row 0 (-inf)",
    ),
    (RATINGS.assign(rating=math.nan), {}, JudgmentError, "all ratings are missing"),
]


@pytest.mark.parametrize(("frame", "options", "error", "fragment"), BAD_RATINGS)
def test_bad_ratings(frame, options, error, fragment):
    with pytest.raises(error) as caught:
        rated(frame, **options)
    assert fragment in str(caught.value)


def test_lists_keep_the_order_and_the_ratings():
    r = from_ratings(RATINGS.assign(rating=[0.8, 0.7, 0.7, 0.2, None, 0.9]))
    assert r.items.tolist() == [0, 1, 2, 2, 0]
    assert r.places.tolist() == [1, 2, 2, 1, 2]
    assert r.ratings.tolist() == [0.8, 0.7, 0.7, 0.9, 0.2]
    assert r.to_frame()["rating"].tolist() == r.ratings.tolist()
    assert "0.8, 0.7, 0.7" in str(r)


def test_equal_orders_of_other_ratings_are_kept_apart_and_fitted_as_one():
    wide = pd.DataFrame({"A": [5, 3, 5, 1], "B": [4, 2, 4, 2], "C": [1, 1, 1, 3]})
    rated = from_ratings(wide, objects=list("ABC"))
    ranked = from_rankings(-wide, objects=list("ABC"))
    assert (len(rated), rated.n_judgments, len(ranked)) == (3, 4, 2)
    pd.testing.assert_series_equal(
        llbt.fit("object", rated, prior="jeffreys").params, llbt.fit("object", ranked, prior="jeffreys").params
    )


@pytest.mark.parametrize("options", [{"tie_threshold": 1}, {"cuts": (2,)}])
def test_rankings_have_no_thresholds(options):
    r = from_rankings(pd.DataFrame({"A": [1, 2], "B": [2, 1]}), objects=["A", "B"])
    with pytest.raises(
        OptionError, match=r"needs ratings, and the lists have none. Leave it out: rankings.to_comparisons\(\)"
    ):
        r.to_comparisons(**options)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("threshold", "cuts"), [(0, ()), (0.1, ()), (1, ()), (0, (1,)), (0.3, (0.7, 1.5))])
def test_pairs_are_those_of_a_plain_loop(seed, threshold, cuts):
    """Ties within a judge, missing ratings, covariates of judges, clusters; differences up to float rounding."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 21, (25, 4)) / 10
    wide = pd.DataFrame(np.where(rng.random((25, 4)) < 0.2, np.nan, values), columns=list("BADC"))
    wide = wide.assign(judge=rng.choice(list("xyz"), 25), sex=rng.choice(["m", "f"], 25))
    said = []
    for record in wide.to_dict("records"):
        for a, b in itertools.combinations("ABCD", 2):
            apart = round(record[a] - record[b], 9)  # NaN where one of them is missing
            if not math.isnan(apart):
                grade = sum(abs(apart) > bound for bound in (threshold, *cuts))
                said.append({**record, "object_i": a, "object_j": b, "grade": grade * math.copysign(1, apart)})
    expected = llbt.from_judgments(pd.DataFrame(said), strength="grade", covariates="sex", clusters="judge")
    c = rated(wide, threshold, cuts, objects=list("ABCD"), covariates="sex", clusters="judge")
    if not cuts:  # a judgment has no grade then
        expected = llbt.from_judgments(
            pd.DataFrame(said).assign(outcome=lambda x: np.sign(x["grade"]).map({1: "i", 0: "tie", -1: "j"})),
            covariates="sex",
            clusters="judge",
        )
    assert c == expected
    long = wide.assign(row=range(25)).melt(["row", "judge", "sex"], list("ABCD"), "object", "rating")
    lower = long.assign(rating=-long["rating"])
    kept = {"block": "row", "covariates": "sex", "clusters": "judge"}
    assert rated(long, threshold, cuts, **kept) == rated(lower, threshold, cuts, higher_is_better=False, **kept) == c
