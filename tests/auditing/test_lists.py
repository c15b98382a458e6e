"""Audits of lists: every check finds what was put into them, and judges of lists of two are those of the pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

import llbt
from llbt.auditing.list_checks import LIST_CHECKS
from llbt.auditing.lists import lists_evidence
from llbt.errors import OptionError
from llbt.fitting.clusters import kept_way
from llbt.kernel.likelihood import probabilities
from llbt.kernel.list_units import compare_list_units, list_dependence
from llbt.kernel.unit_scores import compare_units, dependence

WORTHS = np.linspace(0.8, -0.8, 8)


def board(seed=1, lists=300, length=4, judges=10, *, round_to=0.0, bad="", vary=0.0):
    """Lists drawn by the Plackett-Luce model; judge J0 guesses, turns the scale round or favours object d."""
    rng = np.random.default_rng(seed)
    own = vary * rng.normal(size=(judges, 8))
    rows = []
    for k in range(lists):
        judge, some = rng.integers(judges), np.sort(rng.choice(8, length, replace=False))
        worths = WORTHS[some] + own[judge, some]
        if judge == 0:
            worths = {"guesses": 0 * worths, "turns": -worths, "favours": worths + 3 * (some == 3)}.get(bad, worths)
        said = 2 * worths + rng.gumbel(size=length)
        said = np.round(said / round_to) if round_to else said
        ranks = pd.Series(-said).rank(method="dense").astype(int)
        rows += [(k, f"J{judge}", "abcdefgh"[o], r) for o, r in zip(some, ranks, strict=True)]
    return pd.DataFrame(rows, columns=["list", "judge", "object", "rank"])


def of(frame, **named):
    return llbt.from_rankings(frame, block="list", clusters="judge", **named)


def of_rows(rows, judges=None, **named):
    """Rankings of texts such as ``"A B=C"``, one list each."""
    entries = [
        (k, (judges or ["J"] * len(rows))[k], label, place)
        for k, row in enumerate(rows)
        for place, group in enumerate(row.split(), start=1)
        for label in group.split("=")
    ]
    return of(pd.DataFrame(entries, columns=["list", "judge", "object", "rank"]), **named)


def found(r, check, **named):
    return llbt.audit(r, **named).finding(check)


# -- nothing to find, and what it is about -----------------------------------------------------------------


def test_a_clean_board_passes_every_check():
    report = llbt.audit(of(board()))
    assert {f.check for f in report.findings} == set(LIST_CHECKS)
    assert report.failed("warning") == ()
    assert str(report).startswith("Audit: ")
    assert report.sizes[0] == ("8 objects, 300 lists of 4, no ties, 28 of 28 pairs in a list together, 10 judges")
    assert any("1,800 comparisons that they imply (6 per list)" in note for note in report.notes)
    assert report.judge == "judge"


def test_lists_of_two_have_no_hint_about_pairs():
    assert not any("comparisons that they imply" in note for note in llbt.audit(of(board(length=2))).notes)


def test_checks_that_lists_do_not_have_are_no_names():
    report = llbt.audit(of(board()))
    with pytest.raises(OptionError, match=r"no check 'drift'; expected names among 'labels'"):
        report.finding("drift")
    with pytest.raises(OptionError, match="no check 'position'"):
        report.failed("error", "position")


@pytest.mark.parametrize("option", ["block", "task", "time"])
def test_columns_that_lists_do_not_have_are_refused(option):
    with pytest.raises(OptionError, match=f"'{option}' given with lists"):
        llbt.audit(of(board(lists=30)), **{option: "judge"})


def test_unknown_judges_are_refused():
    with pytest.raises(OptionError, match="no covariate or cluster 'who' of the lists"):
        llbt.audit(of(board(lists=30)), judge="who")


def test_without_judges_their_checks_say_so():
    frame = board(lists=60)
    report = llbt.audit(llbt.from_rankings(frame.drop(columns="judge"), block="list"))
    unchecked = {f.check for f in report.findings if f.level == "unchecked"}
    assert unchecked == {"duplicates", "blocks", "judges", "outlying_judges", "dominant_judge"}


# -- what is put in is found ---------------------------------------------------------------------------------


def test_labels():
    r = of_rows(["A B C", "a C B", "B A C", "C a B"], judges=["J", "j ", "J", "K"])
    finding = found(r, "labels")
    assert finding.level == "warning"
    assert finding.found == "object 'A' = 'a' (2) = (2)".replace("'A' = 'a' (2) = (2)", "'A' (2) = 'a' (2)") + (
        "; judge 'J' (2) = 'j ' (1)"
    )
    near = of_rows(["mistral-large B", "B mistral-larg", "mistral-larg mistral-large"])
    assert found(near, "similar_labels").level == "note"


def test_groups_that_no_list_connects():
    r = of_rows(["A B", "B A", "C D", "D C"])
    finding = found(r, "disconnected")
    assert (finding.level, finding.found) == ("error", "2 groups of objects that no list connects: {A, B}; {C, D}")
    assert found(r, "separation").level == "ok"  # within each group
    assert found(r, "outlying_judges").found == "objects are not connected: see disconnected"


def test_groups_that_few_lists_connect():
    apart = ["A B C", "C B A", "B A C", "C A B"] * 5 + ["X Y Z", "Z Y X", "Y X Z", "Z X Y"] * 5
    finding = found(of_rows([*apart, "A X", "X A"]), "bridges")
    assert finding.level == "warning"
    assert finding.found.startswith("only 2 lists connect {")
    assert finding.figures["smaller"] == 3


def test_estimates_that_are_infinite_and_who_is_always_first():
    r = of_rows(["A B C", "A C B", "A B C D", "D B C", "A D"] * 2)
    finding = found(r, "separation")
    assert finding.level == "error"
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object", r)
    ends = found(r, "ends")
    assert ends.level == "note"
    assert ends.found.startswith("'A' is first in all lists with it; 'B', 'C' are never first")
    assert found(r, "outlying_judges").level == "ok"  # Firth's estimates are finite


def test_ties_that_are_infinite():
    r = of_rows(["A=B", "A=C", "B=C"] * 2)
    finding = found(r, "separation")
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object + tie", r)
    assert finding.level == "error"
    assert finding.found.startswith("object + tie: the likelihood increases without bound along 'tie'")


def test_objects_in_few_lists():
    finding = found(of_rows(["A B C", "B A C", "C B A", "A C B", "B C A"] * 2 + ["D A", "A D"]), "sparse")
    assert (finding.level, finding.found) == ("warning", "1 of 4 objects in fewer than 10 lists: 'D' (2)")


def test_objects_without_a_place():
    rows = pd.DataFrame({"A": [1, 2, np.nan, 1], "B": [2, 1, 1, 2], "C": [np.nan, np.nan, 2, 3], "D": [3, 3, 3, 4]})
    finding = found(llbt.from_rankings(rows, objects=list("ABCD"), unranked="below"), "unranked")
    assert finding.level == "note"
    assert finding.found == "3 of 4 lists end before all are ranked: 18.8 % of the objects shown have no place"


def test_repeats_of_lists_and_how_many_agree():
    finding = found(of_rows(["A B C", "A B C", "B A C", "C B A", "A B C"], list("JJJJK")), "duplicates")
    assert finding.level == "note"  # no column names the prompt
    assert finding.figures == {"n": 3.0, "agreement": pytest.approx(1 / 6)}
    assert "the prompts may differ" in finding.found


def test_judges_who_tie_and_judges_who_tie_all():
    frame = board(round_to=0.0)
    flat = frame["judge"] == "J0"
    frame.loc[flat, "rank"] = 1
    report = llbt.audit(of(frame))
    n = frame.loc[flat, "list"].nunique()
    assert report.finding("judges").found == (
        f"1 of 10 judges with 5 or more lists tie all objects in each of them: 'J0' ({n} lists)"
    )
    ties = report.finding("ties")
    assert ties.level == "warning"
    assert f"'J0': in {n} of {n}" in ties.found
    assert ties.figures["of 4"] == n


def test_the_dominant_judge():
    frame = board(lists=200)
    frame.loc[frame["list"] < 100, "judge"] = "J0"
    finding = found(of(frame), "dominant_judge")
    assert finding.level == "warning"
    assert finding.found.startswith("1 of 10 judges with far more lists than the others (median ")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("guesses", "'J0' agrees too little with the overall worths"),
        ("turns", "'J0' agrees too little with the overall worths"),
        ("favours", "'J0' ranks 'd' too high"),
    ],
)
def test_judges_unlike_the_rest(bad, said):
    finding = found(of(board(bad=bad)), "outlying_judges")
    assert finding.level == "warning"
    assert finding.found.startswith("1 of 10 judges ranks differently from the others")
    assert said in finding.found


def test_lists_of_one_judge_that_are_alike():
    finding = found(of(board(judges=30, vary=0.5)), "blocks")
    assert finding.level == "warning"
    assert "groups='judge'" in finding.remedy


def test_sets_with_a_best_and_a_worst():
    rng = np.random.default_rng(3)
    rows = []
    for k in range(120):
        some = rng.choice(8, 4, replace=False)
        order = some[np.argsort(-(2 * WORTHS[some] * (-1 if k % 6 == 0 else 1) + rng.gumbel(size=4)))]
        rows.append([*("abcdefgh"[o] for o in some), "abcdefgh"[order[0]], "abcdefgh"[order[-1]], f"J{k % 6}"])
    frame = pd.DataFrame(rows, columns=["w", "x", "y", "z", "best", "worst", "judge"])
    r = llbt.from_choices(frame, objects=["w", "x", "y", "z"], best="best", worst="worst", clusters="judge")
    report = llbt.audit(r)
    assert report.finding("unranked").level == "ok"
    assert "'J0' agrees too little" in report.finding("outlying_judges").found


# -- by another route -----------------------------------------------------------------------------------------


def _as_pairs(frame):
    """The lists of two as judgments, and their fit with judges as clusters."""
    wide = frame.pivot_table(index=["list", "judge"], columns="rank", values="object", aggfunc="first").reset_index()
    rows = pd.DataFrame({"object_i": wide[1], "object_j": wide[2], "outcome": "i", "judge": wide["judge"]})
    res = llbt.fit("object", llbt.from_judgments(rows, clusters="judge"))
    return res, kept_way(res.comparisons, "judge", ("judge",))


def test_judges_of_lists_of_two_are_those_of_the_pairs():
    """Scores, their variances and the test of dependence, by the likelihood of judgments of pairs."""
    frame = board(lists=400, length=2, vary=0.3)
    e = lists_evidence(of(frame), None, None)
    units = e.expected.units(e.judge)
    n = np.bincount(e.judge.codes, e.rankings.counts)
    own = compare_list_units(units, n, e.expected.objects)
    res, way = _as_pairs(frame)
    problem = res.problem()
    p = probabilities(problem, res.solution.params)
    lead = res.params.reindex([f"object[{o}]" for o in "abcdefg"]).to_numpy()
    lead = np.append(lead, 0.0)
    pairs = res.comparisons.pairs
    other = compare_units(
        problem, res.solution, p, way.clusters, pairs, {"agreement": (0, lead[pairs[:, 0]] - lead[pairs[:, 1]])}
    )
    order = [list(way.levels).index(level) for level in e.judge.levels]
    np.testing.assert_allclose(own.statistics["agreement"], other.statistics["agreement"][order], rtol=1e-7)
    z, p_value = dependence(pairs, 8, res.comparisons.response, p, way.clusters)
    own_z, own_p = list_dependence(units)
    assert own_z == pytest.approx(z, rel=1e-7)
    assert p_value < own_p < 30 * p_value  # the skewness has the products of two objects, too


def test_scores_of_judges_by_refits():
    """The standardized score of a judge is the root of twice the likelihood that a scale of his own gains, nearly."""
    frame = board(lists=400, length=4, round_to=1.0)
    e = lists_evidence(of(frame), None, None)
    x = e.expected
    units = x.units(e.judge)
    z = compare_list_units(units, np.full(10, 100.0), x.objects).statistics["agreement"]
    worths = x.lists.matrix @ x.fit.params[: x.lists.matrix.shape[1]]
    beside = x.fit.params[x.lists.matrix.shape[1] :]
    gained = []
    for g in range(10):
        own = x.lists.of_lists(e.judge.codes == g)

        def lost(scale, own=own):  # a scale of the judge, all else as it is
            return -sum(
                float(own.counts[b.of] @ b.evaluated(scale * worths[b.rows], beside).value) for b in own.parts()
            )

        best = minimize_scalar(lost, bounds=(0, 3), method="bounded")
        gained.append(np.sign(best.x - 1) * np.sqrt(2 * max(lost(1.0) - best.fun, 0.0)))
    np.testing.assert_allclose(z, gained, atol=0.35)
    assert np.corrcoef(z, gained)[0, 1] > 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("length", "round_to"), [(2, 0.0), (4, 0.0), (4, 1.0)])
def test_clean_boards_are_hardly_ever_accused(length, round_to):
    accused = sum(
        bool(
            llbt.audit(of(board(seed, lists=200, length=length, round_to=round_to))).failed("outlying_judges", "blocks")
        )
        for seed in range(40)
    )
    assert accused <= 2


@pytest.mark.shared
def test_a_judge_of_wmt10_who_puts_the_reference_last(shared):
    """Czech to English: j0055 puts the translation by a human behind nearly all systems, and others put it first."""
    raw = pd.read_csv(shared / "data" / "wmt10_expert_RNK.csv.gz")
    raw = raw[(raw["srclang"] == "Czech") & (raw["trglang"] == "English")]
    systems, ranks = ([f"system{k}{what}" for k in range(1, 6)] for what in ("Id", "rank"))
    r = llbt.from_rankings(raw, object=systems, rank=ranks, missing=-1, clusters="judgeId")
    finding = found(r, "outlying_judges", judge="judgeId")
    assert "'j0055' agrees too little with the overall worths (z = -13.1)" in finding.found
    lists = r.to_frame()
    place = lists[lists["object"] == "_ref"].set_index("judgeId")["place"].astype(int)
    assert (place.loc[["j0055"]] >= 2).all()
    assert place.loc["j0055"].mean() > 3.5
    assert (place.drop("j0055") == 1).mean() > 0.8
