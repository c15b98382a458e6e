"""The picture of the worths shows the numbers of their table."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.drawn import by_judge as long_table
from support.drawn import pooled
from support.pictures import bars, row_names
from support.worths import SCALES, TABLE1, fit, partly_connected, rich_table

import llbt


@pytest.fixture(scope="module")
def by_judge():
    return fit("object * judge + tie", TABLE1)


@pytest.fixture(scope="module")
def plain():
    return fit("object + tie", TABLE1)


@pytest.fixture(scope="module")
def rich():
    return rich_table()


def drawn(ax):
    """Centers and intervals of each line, read from the artists: label -> (y, low, high), by class."""
    found = {}
    for container in ax.containers:
        line, _, (bars,) = container.lines
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        x = np.array([segment[0, 0] for segment in bars.get_segments()])
        np.testing.assert_allclose(line.get_xdata(), x)
        np.testing.assert_array_equal(np.round(x), np.arange(len(x)))  # near its class
        found[container.get_label()] = np.column_stack([line.get_ydata(), ends])
    return found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("at", [None, {"judge": ["J3", "J1"]}, "average"])
@pytest.mark.slow
def test_the_picture_shows_the_worths(by_judge, scale, at):
    ax = llbt.plot.worth(by_judge, at=at, scale=scale)
    frame = llbt.worth(by_judge, at, scale).to_frame()
    lines = drawn(ax)
    assert list(lines) == ["A", "B", "C", "D"]
    for label, values in lines.items():
        rows = frame[frame["object"] == label]
        np.testing.assert_allclose(values, rows[["estimate", "conf_low", "conf_high"]], rtol=1e-9, atol=1e-12)
    if at != "average":
        ticks = [label.get_text() for label in ax.get_xticklabels()]
        assert ticks == frame["judge"].unique().tolist()
        assert ax.get_xlabel() == "judge"
    assert ax.get_yscale() == ("log" if scale in ("probability", "odds_ratio") else "linear")
    assert ax.get_ylabel()


def test_every_object_is_named_beside_its_last_point(by_judge):
    ax = llbt.plot.worth(by_judge)
    last = llbt.worth(by_judge, {"judge": "J4"}).to_frame().sort_values("estimate")
    texts = sorted(ax.texts, key=lambda text: text.xyann[1])
    assert [text.get_text() for text in texts] == last["object"].tolist()
    heights = [text.xyann[1] for text in texts]
    assert min(np.diff(heights)) > 0.03  # apart, so that they can be read


def test_classes_of_two_covariates(rich):
    res = fit("object * judge + object:age + tie", rich)
    ax = llbt.plot.worth(res, at={"age": [20, 60]})
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        f"{a}, {b}" if ax.get_xlabel() == "age, judge" else f"{b}, {a}" for a in ("20.0", "60.0") for b in ("J1", "J2")
    ]
    assert all(len(values) == 4 for values in drawn(ax).values())


def test_a_class_that_is_asked_for_twice_is_drawn(rich):
    res = fit("object * age + tie", rich)
    assert set(drawn(llbt.plot.worth(res, at={"age": [20, 20]}))) == set("abcd")


def test_the_axes_given_are_used_and_no_figure_is_made(by_judge):
    figure, (left, right) = plt.subplots(1, 2)
    before = plt.get_fignums()
    assert llbt.plot.worth(by_judge, ax=left) is left
    assert plt.get_fignums() == before
    assert len(left.containers) == 4
    assert not right.containers
    assert figure.axes == [left, right]


def test_without_axes_one_figure_is_made(by_judge):
    ax = llbt.plot.worth(by_judge)
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.figure.axes == [ax]


@pytest.mark.slow
def test_no_global_setting_is_changed(by_judge):
    settings = dict(mpl.rcParams)
    backend = mpl.get_backend()
    for scale in SCALES:
        llbt.plot.worth(by_judge, scale=scale)
    assert dict(mpl.rcParams) == settings
    assert mpl.get_backend() == backend


@pytest.mark.slow
def test_pictures_raise_no_warning(by_judge, plain, rich):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for res in (by_judge, plain, fit("price + tie", rich), fit("object + tie", llbt.load_dataset("dras_modpref"))):
            ax = llbt.plot.worth(res)
            ax.figure.canvas.draw()


def test_undetermined_worths_leave_gaps():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = llbt.plot.worth(partly_connected(), scale="log_worth")
    values = {container.get_label(): container.lines[0].get_ydata() for container in ax.containers}
    gaps = {label: np.isnan(value).tolist() for label, value in values.items()}
    assert gaps == {"a": [False, False], "b": [False, False], "c": [False, True]}
    assert sorted(text.get_text() for text in ax.texts) == ["a", "b", "c"]  # at the heights of their last points


@pytest.mark.parametrize("scale", ["probability", "log_worth"])
def test_of_many_objects_those_whose_worth_changes_most_are_coloured_and_named(scale):
    res = long_table(60, 2)
    ax = llbt.plot.worth(res, scale=scale, facets=None)
    wide = llbt.worth(res, scale="log_worth").to_frame().pivot(index="object", columns="judge", values="estimate")
    first, second = (wide[judge] - wide[judge].mean() for judge in wide)
    most = (first - second).abs().nlargest(10)
    assert set(drawn(ax)) == set(most.index)
    assert len(ax.texts) == 10
    grey = {line.get_label(): line for line in ax.lines if line.get_color() == "#999999"}
    assert set(grey) == set(wide.index) - set(most.index)
    table = llbt.worth(res, scale=scale).to_frame().set_index(["object", "judge"])["estimate"]
    for label, line in grey.items():
        np.testing.assert_allclose(line.get_ydata(), table[label].to_numpy())
    assert ax.get_xlabel() == "judge\n(in colour: the 10 that change most)"


@pytest.mark.slow
def test_of_many_objects_of_one_class_the_best_are_coloured():
    res = pooled(60)
    ax = llbt.plot.worth(res, most=3)
    best = llbt.worth(res).to_frame().nlargest(3, "estimate")["object"]
    assert set(drawn(ax)) == set(best)
    assert ax.get_xlabel() == "the best object first\n(in colour: the best 3)"
    assert len(llbt.plot.worth(res, most=60).containers) == 60


@pytest.mark.parametrize("scale", ["probability", "log_worth"])
def test_each_object_has_a_panel_against_the_others(by_judge, scale):
    figure, (left, right) = plt.subplots(1, 2)
    ax = llbt.plot.worth(by_judge, scale=scale, facets="object", ax=left)
    assert (ax, figure.axes) == (left, [left, right])
    table = llbt.worth(by_judge, scale=scale).to_frame().set_index("object")
    found = [panel.get_title(loc="left") for panel in ax.child_axes]
    wide = table.reset_index().pivot(index="object", columns="judge", values="estimate")
    mean = (np.log(wide) if scale == "probability" else wide).mean(axis=1)
    assert found == mean.sort_values(ascending=False).index.tolist()
    for panel, label in zip(ax.child_axes, found, strict=True):
        (values,) = drawn(panel).values()
        rows = table.loc[label]
        np.testing.assert_allclose(values, rows[["estimate", "conf_low", "conf_high"]], rtol=1e-9, atol=1e-12)
        behind = sorted(tuple(path.vertices[:, 1]) for path in panel.collections[-1].get_paths())
        np.testing.assert_allclose(behind, sorted(map(tuple, wide.drop(index=label).to_numpy())))
        assert (panel.get_xlim(), panel.get_ylim()) == (ax.child_axes[0].get_xlim(), ax.child_axes[0].get_ylim())
        assert panel.get_yscale() == ("log" if scale == "probability" else "linear")
    assert len(ax.get_legend().get_texts()) == 2


def test_each_class_has_a_panel_with_a_row_for_each_object(by_judge):
    ax = llbt.plot.worth(by_judge, facets="class", most=1)
    assert [panel.get_title(loc="left") for panel in ax.child_axes] == ["J1", "J2", "J3", "J4"]
    names = row_names(ax.child_axes[0])
    for panel in ax.child_axes:
        values, rows = bars(panel.containers[0])
        board = llbt.worth(by_judge, {"judge": panel.get_title(loc="left")}).to_frame().set_index("object").loc[names]
        np.testing.assert_allclose(values, board[["estimate", "conf_low", "conf_high"]], rtol=1e-9)
        np.testing.assert_array_equal(rows, range(4))
        assert panel.get_xlim() == ax.child_axes[0].get_xlim()
        assert panel.get_ylim() == (3.5, -0.5)


def test_panels_of_one_class_are_refused(plain):
    with pytest.raises(llbt.errors.DesignError, match=r"one class.*llbt\.plot\.intervals\(res\)"):
        llbt.plot.worth(plain, facets="object")


def test_seven_objects_have_a_panel_each() -> None:
    """More than six lines that cross cannot be told apart; with one class they do not cross."""
    assert [len(llbt.plot.worth(long_table(size, 2)).child_axes) for size in (6, 7)] == [0, 7]
    assert not llbt.plot.worth(long_table(7, 2), facets=None).child_axes
    assert not llbt.plot.worth(long_table(7, 2), ax=plt.figure().add_subplot()).child_axes
    assert not llbt.plot.worth(long_table(7, 2), at={"judge": "annotator-number-00"}).child_axes
