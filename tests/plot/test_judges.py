"""Pictures of judges show their worths, ties and order effects."""

import numpy as np
import pandas as pd
import pytest
from support.pictures import bars, made, row_names
from support.worths import TABLE1, fit

import llbt


def centred_by_hand(res, at):
    frame = llbt.worth(res, at, "log_worth").to_frame().set_index("object")["estimate"]
    return frame - frame.mean()


@pytest.mark.slow
def test_judges_are_drawn_beside_the_pooled_model(by_judge):
    base = fit("object + tie", TABLE1)
    ax = llbt.plot.judges(by_judge, base)
    stroke = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    shared = centred_by_hand(base, None).loc[row_names(ax)]
    np.testing.assert_allclose(stroke, shared)
    assert (np.diff(shared) <= 0).all()
    drawn = {container.get_label(): container for container in ax.containers if hasattr(container, "lines")}
    for judge in ("J1", "J2", "J3", "J4"):
        values, rows = bars(drawn[judge])
        np.testing.assert_allclose(values[:, 0], centred_by_hand(by_judge, {"judge": judge}).loc[row_names(ax)])
        np.testing.assert_array_equal(np.round(rows), range(4))
        board = llbt.leaderboard(by_judge, at={"judge": judge}, scale="log_worth").to_frame().set_index("object")
        np.testing.assert_allclose(values[:, 1:], board.loc[row_names(ax), ["conf_low", "conf_high"]], rtol=1e-9)


def test_by_default_judges_are_drawn_beside_their_average(by_judge):
    ax = llbt.plot.judges(by_judge)
    stroke = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(stroke, centred_by_hand(by_judge, "average").loc[row_names(ax)])


def test_many_judges_are_points():
    res = fit("object * judge + tie", made(list("abc"), judges=10))
    ax = llbt.plot.judges(res)
    points = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) > 1]
    assert len(points) == 10
    np.testing.assert_allclose(points[0].get_xdata(), centred_by_hand(res, {"judge": "J0"}).loc[row_names(ax)])
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["average", "one dot per class", "far from the others"]


def test_judges_far_from_the_others_are_named():
    frame = made(list("abc"), judges=12)
    res = fit("object * judge + tie", frame)
    ax = llbt.plot.judges(res)
    estimates = np.array([centred_by_hand(res, {"judge": f"J{k}"}).loc[row_names(ax)] for k in range(12)])
    away = np.abs(estimates - np.median(estimates, axis=0))
    far = away / (1.4826 * np.median(away, axis=0)) > 3.5
    marked = {
        (round(float(line.get_xdata()[0]), 9), round(line.get_ydata()[0]))
        for line in ax.lines
        if len(line.get_xdata()) == 1
    }
    expected = sorted(zip(*np.nonzero(far), strict=True), key=lambda at: -(away / np.median(away, axis=0))[at])[:12]
    assert marked == {(round(float(estimates[at]), 9), int(at[1])) for at in expected}


def test_tie_effects_are_the_parameters_of_each_judge(by_judge):
    ax = llbt.plot.ties(by_judge)
    values, rows = bars(ax.containers[0])
    assert row_names(ax) == ["J1", "J2", "J3", "J4"]
    gamma = by_judge.params["tie"]
    expected = [gamma, *(gamma + by_judge.params[f"tie:judge[J{k}]"] for k in (2, 3, 4))]
    np.testing.assert_allclose(values[:, 0], expected)
    np.testing.assert_allclose(values[0, 1:], by_judge.conf_int().loc["tie"])
    for k in (1, 2, 3):  # the second route: the same fit with another first level
        hypothesis = by_judge.t_test(f"tie + tie:judge[J{k + 1}]").to_frame()
        np.testing.assert_allclose(values[k], hypothesis.loc[0, ["estimate", "conf_low", "conf_high"]].to_numpy(float))
    np.testing.assert_array_equal(rows, range(4))


def test_order_effects_stand_beside_tie_effects():
    res = fit("object + tie + order * judge", made(list("abc")))
    ax = llbt.plot.ties(res)
    drawn = {container.get_label(): bars(container) for container in ax.containers}
    assert set(drawn) == {"tie effect γ", "order effect δ"}
    np.testing.assert_allclose(drawn["tie effect γ"][0][:, 0], [res.params["tie"]])
    assert row_names(ax) == ["all", "J0", "J1", "J2"]
    expected = res.params["order"] + np.array([0, res.params["order:judge[J1]"], res.params["order:judge[J2]"]])
    np.testing.assert_allclose(drawn["order effect δ"][0][:, 0], expected)


@pytest.mark.parametrize(
    ("formula", "rows"),
    [("object + tie:pair", ["a – b", "a – c", "b – c"]), ("object + tie + order:object", list("abc"))],
)
def test_effects_by_pair_and_by_object(formula, rows):
    res = fit(formula, made(list("abc")))
    ax = llbt.plot.ties(res)
    assert set(rows) <= set(row_names(ax))
    values, _ = bars(ax.containers[-1])
    names = [name for name in res.params.index if "pair" in name or name.startswith("order")]
    np.testing.assert_allclose(np.sort(values[:, 0]), np.sort(effects_by_hand(res, names)))


def effects_by_hand(res, names):
    """Effects of treatment-coded classes: all parameters are levels where there is no main effect."""
    main = [name for name in names if "[" not in name]
    levels = [res.params[name] for name in names if "[" in name]
    return levels if not main else [res.params[main[0]], *(res.params[main[0]] + level for level in levels)]


@pytest.mark.parametrize("link", ["adjacent", "cumulative"])
def test_grades_stand_beside_the_tie(link):
    """By the parameters of a fit with another first level, for each judge."""
    names = ("+++", "++", "+", "=", "-", "--", "---")
    rng = np.random.default_rng(1)
    rows = [(a, b, who, *rng.poisson(9, 7)) for a, b in ("ab", "bc", "ac") for who in "pq"]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", *names])
    c = llbt.from_counts(frame, grades=names, covariates="judge")
    res = llbt.fit("object + tie + grade * judge", c, link=link)
    ax = llbt.plot.ties(res)
    kind = "γ" if link == "adjacent" else "step"
    drawn = {container.get_label(): bars(container) for container in ax.containers}
    assert list(drawn) == ["tie effect γ", f"grade + {kind}", f"grade ++ {kind}"]
    assert row_names(ax) == ["all", "p", "q"]
    other = llbt.fit("object + tie + grade * judge", c, link=link, reference={"judge": "q"})
    for level in ("+", "++"):
        expected = [fitted.params[f"grade[{level}]"] for fitted in (res, other)]
        np.testing.assert_allclose(drawn[f"grade {level} {kind}"][0][:, 0], expected, rtol=1e-5)
