"""Systems that won or lost everything, setups that fail, and columns that number the rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import special
from support.mechanisms import mechanism

import llbt
from llbt.scores.bradley_terry import BradleyTerry


def separated(seed=0, n=30):
    """C and D are above A and B on every instance; within each two either may win."""
    rng = np.random.default_rng(seed)
    low, high = rng.normal(size=(2, n, 2)) + np.array([0.0, 0.4])
    return pd.DataFrame({"A": low[:, 0], "B": low[:, 1], "C": high[:, 0] + 20, "D": high[:, 1] + 20})


FRAME = separated()


@pytest.mark.parametrize("method", ["bt", "llbt"])
@pytest.mark.parametrize("penalty", [{"prior": 0.5}, {"prior": "jeffreys"}, {"prior": 1.0, "ties": "half"}])
def test_penalized_scores_are_those_of_the_fit(method, penalty):
    found = llbt.scores.aggregate(FRAME, method=mechanism(method, **penalty))
    fitted = llbt.fit("object", llbt.from_scores(FRAME), prior=penalty["prior"])
    board = llbt.leaderboard(fitted).to_frame().set_index("object")
    assert found.objects == tuple(board.index)
    np.testing.assert_allclose(found.estimate, board["estimate"], atol=1e-7)
    assert any("shrinks the scores towards each other" in note for note in found.notes)


def test_the_order_without_finite_scores_is_that_of_the_groups_and_within_them():
    """Within a group, where scores are finite, probabilities are those of the group fitted alone."""
    found = llbt.scores.aggregate(FRAME, method=BradleyTerry(separated="rank"))
    alone = [llbt.scores.aggregate(FRAME[list(group)], method="bt") for group in ("CD", "AB")]
    assert found.objects == (*alone[0].objects, *alone[1].objects)
    assert found.rank.tolist() == [1, 2, 3, 4]
    assert np.isnan(found.estimate).all()
    for part in alone:
        i, j = part.objects
        assert found.probabilities.loc[i, j] == pytest.approx(part.probabilities.loc[i, j], abs=1e-5)
    assert found.probabilities.loc["C", "A"] == pytest.approx(1, abs=1e-5)
    worth = dict(zip(found.objects, found.extra["worth"], strict=True))
    assert worth["C"] == pytest.approx(alone[0].probabilities.loc["C", "D"], abs=1e-5)
    assert any("prior near 0" in note for note in found.notes)
    same = llbt.scores.aggregate(separated().assign(B=FRAME["A"]), method=BradleyTerry(separated="rank", ties="half"))
    assert same.rank.tolist()[2:] == [3, 3]


def test_finite_scores_are_untouched_by_what_is_asked_of_others():
    frame = FRAME - [0, 0, 20, 20]
    plain, asked = (llbt.scores.aggregate(frame, method=method) for method in ("bt", BradleyTerry(separated="rank")))
    pd.testing.assert_frame_equal(plain.to_frame(), asked.to_frame())


def test_no_decision_at_all_ranks_all_alike():
    tied = pd.DataFrame({"A": [1.0, 2], "B": [1.0, 2], "C": [1.0, 2]})
    found = llbt.scores.aggregate(tied, method=BradleyTerry(separated="rank"))
    assert found.rank.tolist() == [1, 1, 1]
    assert llbt.scores.aggregate(tied, method=BradleyTerry(prior=1.0)).estimate == pytest.approx(np.zeros(3), abs=1e-8)


@pytest.mark.slow
def test_resamples_under_a_prior_are_fits_of_resampled_tables():
    """Percentiles of 200 resamples against 200 fits of tables drawn in the same way, up to simulation error."""
    frame = separated(n=12)
    found = llbt.scores.aggregate(frame, method=BradleyTerry(prior=1.0), n=400, rng=1).to_frame().set_index("object")
    rng, scores = np.random.default_rng(2), []
    for _ in range(200):
        drawn = frame.iloc[rng.integers(len(frame), size=len(frame))].reset_index(drop=True)
        scores.append(
            llbt.scores.aggregate(drawn, method=BradleyTerry(prior=1.0)).to_frame().set_index("object")["estimate"]
        )
    spread = pd.DataFrame(scores)
    assert found["conf_low"].notna().all()
    for name in frame:
        low, high = spread[name].quantile([0.025, 0.975])
        assert (found.loc[name, "conf_low"], found.loc[name, "conf_high"]) == pytest.approx((low, high), abs=0.35)


# -- many setups -------------------------------------------------------------------------------------------------


def setups():
    rng = np.random.default_rng(1)
    fine = {f"fine {k}": pd.DataFrame(rng.normal(size=(20, 3)), columns=list("ABC")) for k in range(2)}
    return {"above": FRAME, **fine, "below": -FRAME}


def test_one_setup_that_fails_does_not_take_the_others_with_it():
    with pytest.raises(
        llbt.errors.SeparationError, match=r"setup 'above': .*So do 1 of 3 other setups: 'below'.*on_error='nan'"
    ):
        llbt.scores.aggregate_setups(setups())
    with pytest.warns(
        llbt.errors.LLBTWarning, match="2 of 4 setups lack scores, NaN there: bt in 'above', 'below'. The first"
    ):
        found = llbt.scores.aggregate_setups(setups(), on_error="nan")
    assert found["above"]["bt"].isna().all()
    assert found["above"][["mean", "median"]].notna().all(axis=None)
    compared = llbt.scores.compare(found).to_frame().set_index(["first", "second"])["n"]
    assert compared.to_dict() == {("mean", "median"): 4, ("mean", "bt"): 2, ("median", "bt"): 2}
    alone = llbt.scores.aggregate_setups({name: frame for name, frame in setups().items() if "fine" in name})
    pd.testing.assert_frame_equal(found["fine 1"], alone["fine 1"])


@pytest.mark.parametrize("penalty", [{"prior": 0.5}, {"prior": "jeffreys"}, {"separated": "rank"}])
def test_setups_are_scored_where_the_penalty_allows(penalty):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = llbt.scores.aggregate_setups(setups(), methods=("mean", "median", BradleyTerry(**penalty)))
    for name, sign in (("above", 1), ("below", -1)):
        order = (sign * found[name]["bt"]).sort_values().index
        assert set(order[:2]) == {"A", "B"}
    one = llbt.scores.aggregate_methods(FRAME, methods=[BradleyTerry(**penalty)])
    pd.testing.assert_series_equal(one["bt"], found["above"]["bt"])


BAD = [
    (
        {"algorithm": "mm", "ties": "half", "prior": 0.5},
        "BradleyTerry: prior=0.5, separated='raise' and wald=False with",
    ),
    ({"algorithm": "mm", "ties": "half", "separated": "rank"}, "separated='rank' and wald=False with algorithm='mm'"),
    ({"algorithm": "mm", "ties": "half", "wald": True}, "wald=True with algorithm='mm'. Leave them out"),
    ({"prior": 0}, "scores.BradleyTerry: prior=0; expected a positive number"),
    ({"prior": "firth"}, "prior='firth'"),
    ({"separated": "drop"}, "separated='drop'"),
    ({"ties": "split"}, "ties='split'; expected 'davidson', 'half' or 'drop'"),
    ({"algorithm": "mm"}, "algorithm='mm' with ties='davidson': the recursion has no tie effect"),
    ({"wald": "yes"}, "wald='yes'"),
]


@pytest.mark.parametrize(("options", "fragment"), BAD, ids=[fragment for _, fragment in BAD])
def test_bad_options(options, fragment):
    with pytest.raises(llbt.errors.OptionError) as caught:
        BradleyTerry(**options)
    assert fragment in str(caught.value)


def test_nothing_is_resampled_with_firths_bias_reduction():
    with pytest.raises(llbt.errors.OptionError, match=r"aggregate: n=100 with prior='jeffreys'. Pass prior=0.5"):
        llbt.scores.aggregate(FRAME, method=BradleyTerry(prior="jeffreys"), n=100)


def test_the_error_names_the_ways_out():
    with pytest.raises(llbt.errors.SeparationError, match=r"prior=0.5.*prior='jeffreys' .*separated='rank'"):
        llbt.scores.aggregate(FRAME, method="bt")


# -- columns that number the rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["id", "ID", "segment_id", "Unnamed: 0", "doc.id", "index"])
def test_a_column_called_an_id_is_no_system(name):
    frame = FRAME.assign(**{name: [7, 7, 9] * 10})[[name, *FRAME]]
    found = llbt.scores.aggregate(frame)
    assert found.objects == llbt.scores.aggregate(FRAME).objects
    assert f"column {name!r} taken for row numbers, not for systems" in found.notes
    assert llbt.from_scores(frame).objects == ("A", "B", "C", "D")
    assert len(llbt.scores.pairwise(frame).to_frame()) == 6
    assert llbt.scores.aggregate(llbt.scores.SystemScores.from_wide(frame, [name, "A"])).objects == (name, "A")


def test_a_column_of_row_numbers_in_any_order_is_no_system():
    rows = np.random.default_rng(1).permutation(len(FRAME)) + 100
    assert llbt.scores.aggregate(FRAME.assign(key=rows)).objects == llbt.scores.aggregate(FRAME).objects


def test_scores_that_are_whole_numbers_stay_systems():
    whole = pd.DataFrame({"A": [3, 1, 2, 4, 0], "B": [1, 2, 3, 4, 5], "paid": [5, 4, 4, 4, 1]})
    assert set(llbt.scores.aggregate(whole).objects) == {"A", "B", "paid"}
    ranks = pd.DataFrame({"A": range(9), "B": range(9, 0, -1)})
    assert set(llbt.scores.aggregate(ranks).objects) == {"A", "B"}  # nothing would be left


def test_probabilities_are_those_of_the_scores():
    found = llbt.scores.aggregate(FRAME, method=BradleyTerry(prior=0.5))
    lead = found.estimate[:, None] - found.estimate
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(found.probabilities.to_numpy()[off], special.expit(lead)[off])
