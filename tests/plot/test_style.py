"""What all pictures share: where they draw, colours, names letter by letter."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex, to_rgba
from support.pictures import made
from support.worths import TABLE1, fit

import llbt
from llbt.plot import style

MARKUP = ["$x_1$", "50%_a", r"a|b<b>\frac", "שלום"]


PICTURES = {
    "plot.intervals": llbt.plot.intervals,
    "plot.probabilities": llbt.plot.probabilities,
    "plot.network": llbt.plot.network,
    "plot.residuals": llbt.plot.residuals,
    "plot.worth": llbt.plot.worth,
    "plot.ties": llbt.plot.ties,
    "plot.ranks": lambda res, ax=None: llbt.plot.ranks(llbt.leaderboard(res), ax=ax),
    "plot.outcomes": lambda res, ax=None: llbt.plot.outcomes(res.comparisons, ax=ax),
    "plot.anova": lambda res, ax=None: llbt.plot.anova(llbt.anova(res), ax=ax),
    "plot.judges": lambda res, ax=None: llbt.plot.judges(
        fit("object * judge + tie", res.comparisons if res.comparisons.covariates else TABLE1), ax=ax
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_draw_where_they_are_told_and_leave_settings_alone(name, pooled):
    plt.close("all")  # those of examples elsewhere
    settings = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    assert PICTURES[name](pooled, ax=left) is left
    assert plt.get_fignums() == [figure.number]
    assert left.has_data() or left.images
    assert not right.has_data()
    assert dict(mpl.rcParams) == settings


@pytest.mark.parametrize("name", PICTURES)
def test_a_new_figure_is_white_with_dark_letters_whatever_the_style(name, pooled):
    with plt.style.context("dark_background"):
        ax = PICTURES[name](pooled)
        assert to_hex(ax.figure.get_facecolor()) == "#ffffff"
        letters = [ax.xaxis.label, *ax.get_yticklabels(), *ax.get_xticklabels()]
        on_white = [text for text in letters if text.get_text()]
        assert all(style.contrasting(text.get_color()) != style.contrasting("white") for text in on_white)
        assert ax.figure.axes[0] is ax
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ax.figure.canvas.draw()


@pytest.mark.parametrize("name", PICTURES)
def test_names_are_drawn_letter_by_letter(name):
    res = fit("object + tie", made(MARKUP, judges=2, n=12))
    ax = PICTURES[name](res)
    ax.figure.canvas.draw()
    everything = [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts]
    named = [text for text in everything if any(label in text.get_text() for label in MARKUP)]
    if name not in ("plot.anova", "plot.ties"):
        assert {label for label in MARKUP if any(label in text.get_text() for text in named)} == set(MARKUP)
    assert not any(text.get_parse_math() or text.get_usetex() for text in named)


def test_long_names_are_cut_in_the_middle_and_stay_different():
    names = [f"organization/{'x' * 30}-model-{k}" for k in range(12)]
    short = style.short_names(names)
    assert len(set(short)) == 12
    assert max(map(len, short)) <= 24
    twins = ["a" * 20 + "-one-" + "b" * 20, "a" * 20 + "-two-" + "b" * 20]
    assert len(set(style.short_names(twins))) == 2
    assert style.short_names(["two\nlines", "plain"]) == ["two lines", "plain"]


@pytest.mark.parametrize(("behind", "dark"), [("white", True), ("black", False), ("#0072B2", False), ("#DDDDDD", True)])
def test_letters_contrast_with_what_is_behind_them(behind, dark):
    assert (style.contrasting(behind) == style.contrasting("white")) is dark
    _, ax = plt.subplots(facecolor=behind)
    ax.set_facecolor("none")
    assert style.ink(ax) == (style.INK if dark else style.contrasting(behind))


def test_rows_lower_than_letters_are_named_every_so_often():
    _, ax = plt.subplots(figsize=(2, 2))
    style.name_rows(ax, [f"n{k}" for k in range(100)])
    named = [label.get_text() for label in ax.get_yticklabels()]
    step = int(named[1][1:])
    assert named == [f"n{k}" for k in range(0, 100, step)]
    row = 72 * ax.get_window_extent().height / ax.figure.dpi / 100
    assert step * row >= 6.5 / 0.85 > (step - 1) * row  # points: lines of the smallest letters, and no fewer of them


def test_no_figure_is_too_large_for_a_file():
    ax = style.axes_of(None, 3.4, 500.0)
    style.make_room(ax, 2.0, 800.0)
    assert max(ax.figure.get_size_inches()) <= 60


@pytest.mark.parametrize(("size", "ticks"), [(2, [1, 2]), (8, list(range(1, 9))), (60, [1, *range(10, 61, 10)])])
def test_ranks_begin_with_one(size, ticks):
    _, ax = plt.subplots()
    style.mark_ranks(ax.xaxis, size)
    assert ax.get_xticks().tolist() == ticks


@pytest.mark.parametrize("colour", [*style.COLOURS, style.INK, "#0a0B0c"])
def test_colours_are_read_as_matplotlib_reads_them(colour):
    assert tuple(style._rgba(colour)) == to_rgba(colour)


def test_names_are_cut_where_they_do_not_differ():
    first, *others = [
        f"{maker}/language-model-{k}-instruct" for k, maker in enumerate(("anthracite", "river", "quartz"))
    ]
    short = style.short_names([f"{first} less {other}" for other in others], 32)
    assert short == ["anth…less river…anguage-model-1…", "anth…less quart…anguage-model-2…"]
    assert style.short_names(["gpt-4-turbo-2024-04-09-a-long", "gpt-4-turbo-2024-04-09-b-long", "gpt-4o"]) == [
        "gpt-4-turb…2024-04-09-a…",
        "gpt-4-turb…2024-04-09-b…",
        "gpt-4o",
    ]
    markers = ["x" * 30, f"y-{'z' * 30}", f"y…{'z' * 30}"]
    assert len(set(style.short_names([*markers, *markers]))) == 3
