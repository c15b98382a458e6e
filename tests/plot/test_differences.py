"""Pictures of scores: what the artists hold, against numpy."""

import itertools
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

import llbt
from llbt.errors import JudgmentError, OptionError

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    plt.close("all")


def scores(systems: int = 6, instances: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    values = rng.normal(size=(instances, systems)) + np.linspace(0, 1.5, systems) + rng.normal(size=(instances, 1))
    return pd.DataFrame(values, columns=[f"S{k}" for k in range(systems)])


def points(ax: Axes) -> np.ndarray:
    return np.asarray(next(c for c in ax.collections if isinstance(c, PathCollection)).get_offsets())


# -- two systems --------------------------------------------------------------------------------------------------


def test_each_instance_with_both_scores_is_a_point() -> None:
    frame = scores()
    frame.iloc[3, 0] = frame.iloc[5, 1] = np.nan
    ax = llbt.plot.paired(frame, "S0", "S1")
    np.testing.assert_array_equal(points(ax), frame[["S0", "S1"]].dropna())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Score of S0", "Score of S1")
    assert ax.get_xlim() == ax.get_ylim()


def test_the_shaded_triangle_holds_what_i_wins() -> None:
    frame = scores()
    ax = llbt.plot.paired(frame, "S0", "S1")
    inside = ax.patches[0].get_path().contains_points(points(ax))
    wins = (frame["S0"] > frame["S1"]).to_numpy()
    np.testing.assert_array_equal(inside, wins)
    assert [text.get_text() for text in ax.texts] == [
        f"S0 wins {100 * wins.mean():.0f} %",
        f"S1 wins {100 * (1 - wins.mean()):.0f} %",
    ]


def test_the_shaded_triangle_is_the_other_one_where_lower_scores_are_better() -> None:
    frame = scores()
    ax = llbt.plot.paired(llbt.scores.SystemScores.from_wide(frame, higher_is_better=False), "S0", "S1")
    wins = (frame["S0"] < frame["S1"]).to_numpy()
    np.testing.assert_array_equal(ax.patches[0].get_path().contains_points(points(ax)), wins)
    placed = {text.get_text(): text.get_position() for text in ax.texts}
    assert placed[f"S0 wins {100 * wins.mean():.0f} %"] == (0.03, 0.97)
    assert placed[f"S1 wins {100 * (1 - wins.mean()):.0f} %"] == (0.97, 0.03)


def test_a_threshold_of_ties_is_that_of_the_scores() -> None:
    frame = pd.DataFrame({"A": [0.8, 0.2, 0.9], "B": [0.7, 0.9, 0.1]})
    close = llbt.scores.SystemScores.from_wide(frame, tie_threshold=0.1)
    assert "ties 33.3 %" in llbt.plot.differences(close, "A", "B").get_title()
    assert "ties" not in llbt.plot.differences(frame, "A", "B").get_title()


def test_means_and_medians_are_marked_for_either_system() -> None:
    frame = scores()
    ax = llbt.plot.paired(frame, "S0", "S1")
    down = [line for line in ax.lines if to_hex(line.get_color()) == BLUE]
    across = [line for line in ax.lines if to_hex(line.get_color()) == ORANGE]
    for lines, name, data in ((down, "S0", 0), (across, "S1", 1)):
        at = [line.get_data()[data][0] for line in lines]
        assert at == pytest.approx([frame[name].mean(), frame[name].median()])
        assert [line.get_linestyle() for line in lines] == ["-", "--"]


def test_margins_are_histograms_of_either_system_on_common_bins() -> None:
    frame = scores()
    ax = llbt.plot.paired(frame, "S0", "S1")
    top, right = ax.child_axes
    widths = [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in top.patches if isinstance(bar, Rectangle)]
    edges = np.array([x for x, *_ in widths] + [widths[-1][0] + widths[-1][1]])
    assert [h for *_, h in widths] == np.histogram(frame["S0"], edges)[0].tolist()
    lengths = [bar.get_width() for bar in right.patches if isinstance(bar, Rectangle)]
    assert lengths == np.histogram(frame["S1"], edges)[0].tolist()


def test_bars_of_differences_have_the_colour_of_the_side_that_wins() -> None:
    frame = scores().round(0)
    ax = llbt.plot.differences(frame, "S0", "S1")
    d = (frame["S0"] - frame["S1"]).to_numpy()
    heights = dict.fromkeys((ORANGE, GREY, BLUE), 0.0)
    for bar in ax.patches:
        assert isinstance(bar, Rectangle)
        colour, height = to_hex(bar.get_facecolor()), bar.get_height()
        heights[colour] += height
        if height:
            assert (bar.get_x() < -1e-9) == (colour == ORANGE)
    assert heights == {ORANGE: (d < 0).sum(), GREY: (d == 0).sum(), BLUE: (d > 0).sum()}
    assert (d == 0).any()
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx([0, d.mean(), np.median(d)])
    assert (
        ax.get_title()
        == f"S0 wins {np.mean(d > 0):.0%}, ties {np.mean(d == 0):.0%}, S1 wins {np.mean(d < 0):.0%}".replace("%", " %")
    )


def test_differences_name_mean_and_median() -> None:
    ax = llbt.plot.differences(pd.DataFrame({"A": [1.0, 2, 3, 0], "B": [3.0, 3, 3, 3]}), "A", "B")
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["mean −1.50", "median −1.50"]
    assert ax.get_xlabel() == "Score of A − score of B"


@pytest.mark.parametrize("plot", [llbt.plot.paired, llbt.plot.differences], ids=["paired", "differences"])
def test_long_names_stay_inside_a_small_picture(plot: Any) -> None:
    frame = scores(2).round(0).set_axis(["a-large-system-7b-chat", "another-large-system-9b"], axis=1)
    ax = plot(frame, *frame.columns)
    ax.figure.canvas.draw()
    for text in (text for text in (ax.title, *ax.texts) if text.get_text()):
        box = text.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= ax.figure.bbox.width


@pytest.mark.parametrize("plot", [llbt.plot.paired, llbt.plot.differences], ids=["paired", "differences"])
@pytest.mark.parametrize(
    "frame", [{"A": [1.0], "B": [2.0]}, {"A": [0.0, 0.0], "B": [0.0, 0.0]}, {"A": [1.0, 2.0], "B": [1.0, 2.0]}], ids=str
)
def test_one_instance_constant_scores_and_identical_systems_are_drawn(plot: Any, frame: Any) -> None:
    ax = plot(pd.DataFrame(frame), "A", "B")
    ax.figure.canvas.draw()
    assert ax.get_xlim()[0] < ax.get_xlim()[1]


@pytest.mark.parametrize("plot", [llbt.plot.paired, llbt.plot.differences], ids=["paired", "differences"])
def test_an_axes_is_drawn_on_and_long_frames_are_read(plot: Any) -> None:
    frame = scores(2)
    long = frame.rename_axis("text").reset_index().melt("text", var_name="model", value_name="bleu")
    _, (left, right) = plt.subplots(1, 2)
    known = llbt.scores.SystemScores.from_long(long, system="model", instance="text", score="bleu")
    assert plot(known, "S0", "S1", ax=right) is right
    assert not left.has_data()


@pytest.mark.parametrize("plot", [llbt.plot.paired, llbt.plot.differences], ids=["paired", "differences"])
def test_systems_that_are_not_there_or_share_nothing_are_errors(plot: Any) -> None:
    with pytest.raises(OptionError, match=rf"{plot.__name__}: no system 'S9'; expected two of 'S0', 'S1'"):
        plot(scores(2), "S0", "S9")
    apart = pd.DataFrame({"A": [1.0, np.nan], "B": [np.nan, 2.0]})
    with pytest.raises(JudgmentError, match="'A' and 'B' have no instance in common"):
        plot(apart, "A", "B")


# -- all pairs ----------------------------------------------------------------------------------------------------


def cells(ax: Axes) -> dict[tuple[int, int], str]:
    return {(int(t.get_position()[1]), int(t.get_position()[0])): t.get_text() for t in ax.texts}


@pytest.mark.parametrize("mechanism", ["wins", "bt", "mean", "median"])
def test_cells_are_the_probabilities_the_best_system_first(mechanism: Any) -> None:
    found = llbt.scores.pairwise(scores())
    ax = llbt.plot.win_probabilities(found, mechanism=mechanism)
    names = [label.get_text() for label in ax.get_yticklabels()]
    known = found.probabilities(mechanism)
    assert known.mean(axis=1)[names].is_monotonic_decreasing
    drawn = np.ma.filled(ax.images[0].get_array(), np.nan)
    np.testing.assert_array_equal(drawn, known.loc[names, names])
    assert names == [label.get_text() for label in ax.get_xticklabels()]
    written = {where: float(text.split("\n")[0]) / 100 for where, text in cells(ax).items()}
    assert len(written) == 30
    assert all(abs(share - known.loc[names[r], names[c]]) <= 0.005 + 1e-9 for (r, c), share in written.items())


@pytest.mark.parametrize("test", ["sign", "t", "median", "wilcoxon"])
def test_stars_are_those_of_the_adjusted_p_values(test: Any) -> None:
    found = llbt.scores.pairwise(scores())
    ax = llbt.plot.win_probabilities(found, test=test)
    names = [label.get_text() for label in ax.get_yticklabels()]
    p_values = {
        pair: p for pair, p in zip(itertools.combinations(found.systems, 2), found.p_adjusted[test], strict=True)
    }
    seen = set()
    for (r, c), text in cells(ax).items():
        p = p_values.get((names[r], names[c]), p_values.get((names[c], names[r]), np.nan))
        expected = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""
        assert text.partition("\n")[2] == expected
        seen.add(expected)
    assert len(seen) > 1


@pytest.mark.slow
def test_many_systems_have_stars_or_dots_and_names_that_do_not_overlap() -> None:
    found = llbt.scores.pairwise(scores(18, 20))
    significant = int(np.sum(found.p_adjusted["t"] < 0.05))
    assert significant > 0
    _, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
    llbt.plot.win_probabilities(found, test="t", ax=ax)
    assert len(ax.texts) == 18 * 17  # room for numbers
    _, ax = plt.subplots(figsize=(5.0, 5.0), layout="constrained")
    llbt.plot.win_probabilities(found, test="t", ax=ax)
    assert {text.get_text().strip("*") for text in ax.texts} == {""}
    assert len(ax.texts) == 2 * significant
    _, ax = plt.subplots(figsize=(2.0, 2.0), layout="constrained")
    llbt.plot.win_probabilities(found, test="t", ax=ax)
    assert not ax.texts
    assert len(points(ax)) == 2 * significant
    assert len(ax.get_yticklabels()) < 18
    assert_apart(ax, list(ax.get_yticklabels()))


def assert_apart(ax: Axes, labels: list[Any]) -> None:
    """No two labels cover each other."""
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in labels]
    for one, other in itertools.combinations(boxes, 2):
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        assert width <= 0 or height <= 0.35 * one.height  # boxes hold room for letters below and above the line


def test_pairs_without_a_probability_are_empty_cells() -> None:
    ax = llbt.plot.win_probabilities(llbt.scores.pairwise(scores(3).assign(S9=np.nan)))
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "S9"
    assert len(ax.texts) == 6


def test_the_bar_explains_stars_and_dots() -> None:
    """Stars where three of them fit into a cell with a gap, else dots; nothing where no pair differs."""
    rng = np.random.default_rng(1)
    ends = []
    for size, gain in ((4, 3.0), (40, 3.0), (4, 0.0)):
        frame = pd.DataFrame(rng.normal(size=(40, size)) + gain * np.linspace(1, 0, size))
        figure = llbt.plot.win_probabilities(llbt.scores.pairwise(frame)).get_figure(root=True)
        ends.append(figure.axes[-1].get_xlabel().partition("\n")[2])
    assert ends == ["adjusted p: * < .05, ** < .01, *** < .001", "dot: adjusted p < .05", ""]


def test_the_heat_map_refuses_what_it_does_not_know() -> None:
    with pytest.raises(OptionError, match=r"plot\.win_probabilities: pairs is of type DataFrame; expected Pairwise"):
        llbt.plot.win_probabilities(scores())  # type: ignore[arg-type]
    found = llbt.scores.pairwise(scores(2))
    with pytest.raises(OptionError, match="test='z'; expected 't', 'median', 'sign'"):
        llbt.plot.win_probabilities(found, test="z")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="mechanism='elo'"):
        llbt.plot.win_probabilities(found, mechanism="elo")  # type: ignore[arg-type]


# -- several methods ----------------------------------------------------------------------------------------------


def methods(systems: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    truth = rng.normal(size=systems)
    noise = rng.normal(size=(systems, 3)) * [0.1, 0.4, 0.2]
    return pd.DataFrame(truth[:, None] + noise, [f"S{k:02d}" for k in range(systems)], ["mean", "median", "BT"])


@pytest.mark.parametrize("systems", [5, 35])
def test_lines_are_the_ranks_of_pandas(systems: int) -> None:
    frame = methods(systems)
    frame.iloc[1] = frame.iloc[2]
    ax = llbt.plot.ranks_by_method(frame)
    known = frame.rank(ascending=False)
    for line in ax.lines:
        assert line.get_ydata() == pytest.approx(known.loc[line.get_label()].to_numpy())
    assert len(ax.lines) == systems
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["mean", "median", "BT"]
    ranked = llbt.plot.ranks_by_method(known, values="ranks")
    for one, other in zip(ax.lines, ranked.lines, strict=True):
        np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())


def test_names_stand_below_each_other_even_of_level_systems() -> None:
    frame = pd.DataFrame({"a": [4.0, 3, 2, 1], "b": [0.3, 0.1 + 0.2, 0.3, 0.5]}, index=list("WXYZ"))
    ax = llbt.plot.ranks_by_method(frame)
    assert [line.get_ydata()[1] for line in ax.lines] == [3, 3, 3, 1]
    assert {text.get_text(): text.xy for text in ax.texts} == {"Z": (1, 1), "W": (1, 2), "X": (1, 3), "Y": (1, 4)}  # type: ignore[attr-defined]
    assert_apart(ax, list(ax.texts))


@pytest.mark.parametrize(("systems", "size"), [(5, (3.4, 2.4)), (35, (3.4, 5.5)), (60, (3.4, 3.0)), (60, (9.0, 9.0))])
def test_names_do_not_overlap(systems: int, size: tuple[float, float]) -> None:
    _, ax = plt.subplots(figsize=size, layout="constrained")
    llbt.plot.ranks_by_method(methods(systems), most=systems if systems < 60 else 10, ax=ax)
    assert_apart(ax, list(ax.texts))
    assert len(ax.texts) == (systems if systems < 60 else 10)
    assert all(text.get_fontsize() >= 5 for text in ax.texts)


@pytest.mark.parametrize(("systems", "most"), [(20, 10), (200, 3)])
def test_of_many_systems_those_whose_rank_changes_most_are_coloured_and_named(systems: int, most: int) -> None:
    frame = methods(systems)
    ax = llbt.plot.ranks_by_method(frame, most=most)
    ranks = frame.rank(ascending=False)
    change = ranks.max(axis=1) - ranks.min(axis=1)
    coloured = [str(line.get_label()) for line in ax.lines if line.get_color() != GREY]
    assert len(coloured) == most
    assert change[coloured].min() >= change.drop(coloured).max()
    assert {text.get_text() for text in ax.texts} == set(coloured)
    assert ax.get_xlabel() == f"(in colour: the {most} that change most)"
    assert ax.get_figure(root=True).get_size_inches()[1] < 5


def test_of_systems_that_all_methods_rank_alike_the_best_are_coloured() -> None:
    ax = llbt.plot.ranks_by_method(pd.DataFrame({"a": range(9), "b": range(9)}), most=2)
    assert [line.get_label() for line in ax.lines if line.get_color() != GREY] == ["7", "8"]


def test_a_method_that_does_not_rate_a_system_ends_its_line() -> None:
    frame = pd.DataFrame({"a": [3.0, 2, 1], "b": [1.0, 2, np.nan]}, index=list("XYZ"))
    ax = llbt.plot.ranks_by_method(frame)
    assert [line.get_ydata()[1] for line in ax.lines] == pytest.approx([2, 1, np.nan], nan_ok=True)
    assert next(text for text in ax.texts if text.get_text() == "Z").xy == (0, 3)  # type: ignore[attr-defined]


def test_infinite_scores_are_ranked_first_or_last() -> None:
    frame = pd.DataFrame({"a": [np.inf, 2, -np.inf], "b": [1.0, 2, 3]}, index=list("XYZ"))
    assert [line.get_ydata()[0] for line in llbt.plot.ranks_by_method(frame).lines] == [1, 2, 3]


ERRORS: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "no frame": ([[1, 2]], {}, JudgmentError, "plot.ranks_by_method: found a list; expected a DataFrame"),
    "one method": (methods(3)[["mean"]], {}, JudgmentError, "3 systems and 1 methods; expected two or more of each"),
    "text": (methods(3).assign(other="a"), {}, JudgmentError, "column 'other' holds no numbers"),
    "twice": (pd.concat([methods(2)] * 2), {}, JudgmentError, "system 'S00' occurs twice"),
    "values": (methods(3), {"values": "rank"}, OptionError, "values='rank'; expected 'scores'"),
}


@pytest.mark.parametrize(("frame", "options", "error", "says"), ERRORS.values(), ids=list(ERRORS))
def test_errors_say_what_was_found(frame: Any, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        llbt.plot.ranks_by_method(frame, **options)


@pytest.mark.slow
@pytest.mark.shared
def test_real_scores_are_drawn(shared: Path) -> None:
    """TAC-08, S3_pyr: 57 systems and humans on 48 inputs."""
    every = pd.read_csv(shared / "data" / "TAC_08_scores.csv.gz")
    wide = every[every["metric"] == "S3_pyr"].drop(columns="metric")
    found = llbt.scores.pairwise(wide)
    ax = llbt.plot.win_probabilities(found)
    assert np.isnan(np.ma.filled(ax.images[0].get_array(), np.nan)).sum() == len(found.systems)
    assert len(points(llbt.plot.paired(wide, "M3", "M20"))) == 48


@pytest.mark.parametrize("draw", [llbt.plot.paired, llbt.plot.differences])
def test_scores_whose_sums_are_no_floats_are_refused(draw) -> None:
    huge = pd.DataFrame({"A": [1e308, -1e308, 1e308], "B": [-1e308, 1e308, 0]})
    with pytest.raises(JudgmentError, match=r"expected scores of at most ±1e\+300\. Divide all scores by one number."):
        draw(huge, "A", "B")
    assert draw(huge / 1e10, "A", "B")
