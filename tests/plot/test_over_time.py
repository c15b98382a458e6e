"""Pictures over time show the numbers of their answers."""

import matplotlib.dates
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.drifting import drifting_table

import llbt


@pytest.fixture(scope="module")
def found():
    c, _ = drifting_table(np.random.default_rng(2), 0.2, days=6, objects=4)
    return llbt.drift(llbt.fit("object + tie", c), time="day", confidence=0.9)


def games(number=60):
    rng = np.random.default_rng(1)
    i = rng.integers(0, 4, number)
    j = (i + rng.integers(1, 4, number)) % 4
    label = np.array(list("ABCD"))
    said = np.array(["i", "tie", "j"])[rng.integers(0, 3, number)]
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(number), unit="h")
    return pd.DataFrame({"object_i": label[i], "object_j": label[j], "outcome": said, "when": when})


def test_worths_have_a_curve_and_a_band_each(found) -> None:
    ax = llbt.plot.over_time(found)
    assert [line.get_label() for line in ax.lines] == ["0", "1", "2", "3"]
    frame = found.to_frame()
    for line, band in zip(ax.lines, ax.collections, strict=True):
        rows = frame[frame["object"] == int(line.get_label())]
        np.testing.assert_allclose(line.get_xydata(), rows[["day", "estimate"]])
        corners = band.get_paths()[0].vertices
        for bound in ("conf_low", "conf_high"):
            drawn = {(round(x, 9), round(y, 9)) for x, y in corners}
            assert {(round(x, 9), round(y, 9)) for x, y in rows[["day", bound]].to_numpy(dtype=float)} <= drawn
    assert {text.get_text() for text in ax.texts} == set("0123")
    assert "90 % intervals" in ax.get_ylabel()
    plt.close("all")


def test_a_fit_is_drawn_as_its_drift(found) -> None:
    one, two = llbt.plot.over_time(found.res, time="day"), llbt.plot.over_time(llbt.drift(found.res, time="day"))
    for first, second in zip(one.lines, two.lines, strict=True):
        np.testing.assert_allclose(first.get_xydata(), second.get_xydata())
    with pytest.raises(llbt.errors.OptionError, match=r"a fit without time=.*time='day'"):
        llbt.plot.over_time(found.res)
    with pytest.raises(llbt.errors.OptionError, match=r"time='day' given with a result"):
        llbt.plot.over_time(found, time="day")
    plt.close("all")


def test_beyond_most_the_others_are_grey(found) -> None:
    ax = llbt.plot.over_time(found, most=1)
    change = np.ptp(found.estimate, axis=0)
    assert [text.get_text() for text in ax.texts] == [str(int(change.argmax()))]
    assert len(ax.collections) == 1
    assert ax.get_xlabel() == "day\n(in colour: the 1 that change most)"
    plt.close("all")


def test_each_object_has_a_panel_against_the_others(found) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert llbt.plot.over_time(found, facets="object", ax=left) is left
    assert figure.axes == [left, right]
    best_first = np.argsort(-found.estimate[-1]).tolist()
    assert [panel.get_title(loc="left") for panel in left.child_axes] == [str(j) for j in best_first]
    for panel, j in zip(left.child_axes, best_first, strict=True):
        (own,) = panel.lines
        np.testing.assert_allclose(own.get_xydata(), np.column_stack([range(6), found.estimate[:, j]]))
        band, others = panel.collections
        assert len(band.get_paths()) == 1
        behind = np.sort([path.vertices[:, 1] for path in others.get_paths()], axis=0)
        np.testing.assert_allclose(behind, np.sort(np.delete(found.estimate, j, axis=1).T, axis=0))
        assert panel.get_xlim() == left.child_axes[0].get_xlim()
        assert panel.get_ylim() == left.child_axes[0].get_ylim()
    legend = [text.get_text() for text in left.get_legend().get_texts()]
    assert legend == ["the object of the panel, its intervals", "the others"]
    some = llbt.plot.over_time(found, facets="object", most=2)
    assert len(some.child_axes) == 2
    assert some.get_xlabel() == "day (the 2 that change most)"
    assert all(len(panel.collections[-1].get_paths()) == 3 for panel in some.child_axes)
    plt.close("all")


def test_panels_of_ratings_over_dates_share_their_scale() -> None:
    ax = llbt.plot.over_time(llbt.scores.elo_history(games(), time="when"), facets="object")
    first, *others = ax.child_axes
    low, high = matplotlib.dates.num2date(first.get_xlim())
    assert (str(low.date()), str(high.date())) == ("2026-01-01", "2026-01-03")
    assert {panel.get_xlim() for panel in others} == {first.get_xlim()}
    grey = np.concatenate([path.vertices for path in first.collections[0].get_paths()])
    assert first.get_xlim()[0] <= grey[:, 0].min() <= grey[:, 0].max() <= first.get_xlim()[1]
    plt.close("all")


def test_labels_stand_below_their_periods(found) -> None:
    frame = found.res.comparisons.to_frame(clusters=True)
    text = frame.assign(day=[f"day {day}" for day in frame["day"]])
    by_text = llbt.drift(llbt.fit("object + tie", llbt.from_counts(text, clusters="day")), time="day")
    ax = llbt.plot.over_time(by_text)
    assert [label.get_text() for label in ax.get_xticklabels()] == [f"day {day}" for day in range(6)]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), range(6))
    plt.close("all")


def test_ratings_go_by_steps_at_the_judgments_of_each_object() -> None:
    history = llbt.scores.elo_history(games())
    ax = llbt.plot.over_time(history)
    path = history.path().to_frame()
    for line in ax.lines:
        own = path[path["object"] == line.get_label()]
        x, y = line.get_xdata(), line.get_ydata()
        assert line.get_drawstyle() == "steps-post"
        assert (x[0], y[0], x[-1]) == (0, 1500, 60)
        np.testing.assert_allclose(x[1:-1], own["judgment"])
        np.testing.assert_allclose(y[1:-1], own["estimate"])
        assert y[-1] == history.ratings[line.get_label()]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("judgments", "Elo rating")
    plt.close("all")


def test_ratings_stand_over_dates_where_these_are_known() -> None:
    frame = games()
    ax = llbt.plot.over_time(llbt.scores.elo_history(frame, time="when"))
    assert ax.get_xlabel() == "when"
    last = matplotlib.dates.date2num(frame["when"].iloc[-1])
    assert matplotlib.dates.date2num(ax.lines[0].get_xdata()[-1]) == pytest.approx(last)
    ax = llbt.plot.over_time(llbt.scores.elo_history(frame.assign(when=frame["when"].astype(str)), time="when"))
    assert ax.get_xlabel() == "judgments"
    plt.close("all")


def test_of_many_judgments_a_thousand_or_so_are_drawn() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "outcome": rng.choice(["i", "j"], 5500)})
    history = llbt.scores.elo_history(frame)
    line = llbt.plot.over_time(history).lines[0]
    assert 900 < len(line.get_xdata()) < 1005
    places = line.get_xdata()[1:-1].astype(int)
    assert places[-1] == 5500
    np.testing.assert_allclose(line.get_ydata()[1:-1], history.after[places - 1, 0])
    plt.close("all")


def test_another_answer_is_refused() -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"^plot\.over_time: answer"):
        llbt.plot.over_time(pd.DataFrame())
