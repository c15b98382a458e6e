"""Common parts of all pictures: colours, figures, names, axes, rows with intervals, matrices."""

from __future__ import annotations

import contextlib
import itertools
import re
import textwrap
import threading
import unicodedata
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..base.extras import need
from ..core.columns import FloatArray, IntArray
from ..errors import OptionError, kind_of, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable
    from matplotlib.colorbar import Colorbar
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Okabe & Ito (2008): eight colours that colour-blind readers tell apart; black stays for the text
BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, GREY = COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#999999",
)
MARKERS = "osD^vP*X"
PALE = "#DDDDDD"
COLUMN = 3.4  # inches: one column of a journal
BODY = 2.0  # inches: what axes keep beside their names
DASHED = (0, (4, 3))

_ON_PAGE: ContextVar[bool] = ContextVar("_ON_PAGE", default=False)
_OWN: weakref.WeakSet[Figure] = weakref.WeakSet()  # figures made here, which may grow; a caller's keep their size

INK = "#1A1A1A"  # on what is behind a picture; on the cells and bars of one it is _DARK, which a dark page leaves alone
_DARK, _LIGHT = "#111111", "#F2F2F2"
_LONGEST = 24  # characters of a name beside an axis
_SHORT = 8  # up to here names take little of the width
_SMALLEST, _SMALL = 6.5, 8.5  # points
_MANY, _VERY_MANY = 30, 100  # rows from which on they stand closer
_LARGEST = 60.0  # inches of a figure's side: far beyond, nothing can write it to a file
_PADS = 0.1  # inches around axes
_LEGEND = 42  # letters of a line of a legend
_LEAST_REACH = 0.05  # of a scale around ½: closer probabilities stay pale
_DECADES = 1.7  # powers of ten below an axis up to which 2 and 5 stand between them
_FULL = 2  # lines below an axis up to which their letters are of full size
_LABEL = 40  # letters of a line below an axis
# drawn with when the usual font lacks a letter; only those that are installed
_FALLBACKS = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Emoji",
    "Symbola",
    "Segoe UI",
    "Segoe UI Symbol",
    "Microsoft YaHei",
    "Yu Gothic",
    "Apple Symbols",
    "Hiragino Sans",
    "Arial Unicode MS",
)


# -- figures --------------------------------------------------------------------------------------------------


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes to draw in: the given axes, or the axes of a new white figure of this size in inches.

    The figure is white with dark letters in every style of matplotlib, so it can be read on a light and on a dark page.
    """
    need("matplotlib", "pictures", "'llbt[plot]'")
    if ax is not None:
        return _own_axes(ax)
    figure = _new_figure(min(width, _LARGEST), min(height, _LARGEST))
    _OWN.add(figure)
    ax = figure.add_subplot()
    ax.set_facecolor("white")
    ax.tick_params(colors=INK, which="both", labelsize="small")
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(INK)
    for side, spine in ax.spines.items():
        spine.set_edgecolor(INK)
        spine.set_visible(side in ("left", "bottom"))
    ax.grid(visible=False)
    return ax


def _own_axes(ax: object) -> Axes:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise OptionError(f"ax is {kind_of(ax)}", "fig, ax = plt.subplots()", expected="axes of matplotlib to draw in")
    return ax


def _new_figure(width: float, height: float) -> Figure:
    """Return a figure, registered with pyplot in the main thread, so that notebooks and ``plt.show()`` find it.

    In other threads, and for a page, the figure is not registered: pyplot's list of figures belongs to the process.
    """
    if _ON_PAGE.get():
        from .svg import page_figure

        return page_figure(width, height)
    if threading.current_thread() is not threading.main_thread():
        from matplotlib.figure import Figure

        return Figure(figsize=(width, height), layout="constrained", facecolor="white")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained", facecolor="white")


@contextlib.contextmanager
def on_page() -> Iterator[None]:
    """Draw for a page inside this context: letters are kept as text, for which the browser finds the fonts."""
    token = _ON_PAGE.set(True)
    try:
        yield
    finally:
        _ON_PAGE.reset(token)


def rows_height(rows: int, row: float = 0.2) -> float:
    """Return the height of a figure with this number of rows; many rows are closer together, so that it fits a page."""
    return 0.85 + rows * row * (1.0 if rows <= _MANY else 0.68 if rows <= _VERY_MANY else 0.5)


def make_room(ax: Axes, width: float = BODY, height: float = 0.0) -> None:
    """Enlarge a figure made by llbt until its axes have at least this size in inches, without names and legends."""
    figure = ax.get_figure(root=True)
    if figure not in _OWN or figure is None:
        return
    around, axes = ax.get_tightbbox(), ax.get_window_extent()
    assert around is not None
    beside = np.maximum(np.array(around.size) - axes.size, 0) / figure.dpi + _PADS
    asked = np.minimum(beside + np.array([width, height]), _LARGEST)
    figure.set_size_inches(np.maximum(figure.get_size_inches(), asked))


def lay_out(ax: Axes) -> None:
    """Give the axes their final place, so that the room for further texts is known."""
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]


def ink(ax: Axes) -> str:
    """Return a colour of letters and lines that contrasts with the background of the axes."""
    face = ax.get_facecolor()
    behind = ax.figure.get_facecolor()
    alpha = _rgba(face)[3]
    return INK if contrasting(tuple(alpha * _rgba(face)[:3] + (1 - alpha) * _over_white(behind))) == _DARK else _LIGHT


def contrasting(colour: Any) -> str:
    """Return dark or light, whichever reads better on a colour (WCAG's relative luminance)."""
    rgb = _rgba(colour)[:3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return _DARK if float(linear @ [0.2126, 0.7152, 0.0722]) > 0.2 else _LIGHT


def darker(colour: Any) -> str:
    """Return a colour darkened for text on white."""
    return _hex(0.65 * _rgba(colour)[:3])


def lighter(colour: Any) -> str:
    """Return a colour lightened for text on a dark page."""
    return _hex(0.55 * _rgba(colour)[:3] + 0.45)


def _hex(rgb: FloatArray) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def _rgba(colour: Any) -> FloatArray:
    if isinstance(colour, str) and re.fullmatch("#[0-9a-fA-F]{6}", colour):  # ours, which the page reads on import
        return np.array([*bytes.fromhex(colour[1:]), 255]) / 255
    from matplotlib.colors import to_rgba

    return np.array(to_rgba(colour))


def _over_white(colour: Any) -> FloatArray:
    rgba = _rgba(colour)
    return np.asarray(rgba[3] * rgba[:3] + (1 - rgba[3]))


# -- names ----------------------------------------------------------------------------------------------------


def short_names(labels: Iterable[Any], most: int = _LONGEST) -> list[str]:
    """Return labels as names of at most `most` characters, cut in the middle; longer if names would be equal.

    Common beginnings and ends of long names are cut first, so the names still differ.
    """
    full = _without_shared([printable(re.sub(r"[\t\n\r]+", " ", str(label))) for label in labels], most)
    while True:
        names = [_cut(name, most) for name in full]
        if len(set(names)) == len(set(full)):
            return names
        most += 4


def _without_shared(full: list[str], most: int) -> list[str]:
    """Return names; names of more than `most` characters lose the first and last words that all of them share."""
    long = {name for name in full if len(name) > most}
    if len(long) < 2:
        return full
    start = _shared_words(list(long))
    end = _shared_words([name[len(start) :][::-1] for name in long])
    own = {name: name[len(start) : len(name) - len(end)] + ("…" if end else "") for name in long}
    before = _cut(start, max(most // 3, most - max(map(len, own.values()))))
    short = [before + own[name] if name in own else name for name in full]
    return short if len(set(short)) == len(set(full)) else full


def _shared_words(texts: list[str]) -> str:
    """Return the words with which all texts begin."""
    shared = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return re.sub(r"[^\W_]*$", "", "".join(letters[0] for letters in shared))


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - most // 2 - 1]}…{name[-(most // 2) :]}"


def literally(texts: Iterable[Text]) -> None:
    r"""Draw texts letter by letter: ``$`` and ``\`` are not markup; missing letters come from another font."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)
        if not text.get_text().isascii():
            text.set_fontfamily(_families())


def _families() -> list[str]:
    from matplotlib import font_manager, rcParams

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return list(dict.fromkeys([*rcParams["font.family"], *(name for name in _FALLBACKS if name in installed)]))


def left_to_right(text: str) -> str:
    """Return a text of several names that reads from left to right in every script."""
    right = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return "\u200e" + text if right else text


def row_size(ax: Axes, rows: int) -> float:
    """Return the font size, in points, at which a number of rows of names fits the axes."""
    height = 72 * ax.get_window_extent().height / ax.figure.dpi
    return float(np.clip(0.85 * height / max(1, rows), _SMALLEST, _SMALL))


def thinned(ax: Axes, rows: int, which: Literal["x", "y"] = "y") -> range:
    """Return the rows that are named: all of them, or every second, third, … if rows are lower than letters."""
    extent = ax.get_window_extent()
    length = 72 * (extent.height if which == "y" else extent.width) / ax.figure.dpi
    return range(0, rows, max(1, int(np.ceil(_SMALLEST / 0.85 * rows / length))))


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write names left of the rows 0, 1, …, the first at the top, and leave room for half a row at either end."""
    ticks = thinned(ax, len(names))
    ax.set_yticks(ticks, [names[k] for k in ticks], fontsize=row_size(ax, len(ticks)))
    literally(ax.get_yticklabels())
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def note_beside(ax: Axes, notes: Sequence[str], heading: str = "") -> None:
    """Write a note right of each row, and a heading above them."""
    ticks = thinned(ax, len(notes))
    size = row_size(ax, len(ticks))
    where = ax.get_yaxis_transform()
    for row in ticks:
        ax.text(1.02, row, notes[row], transform=where, va="center", fontsize=size, color=ink(ax))
    if heading:
        ax.annotate(
            heading,
            (1.02, 1),
            (0, 2),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=min(size, 7),
            color=ink(ax),
        )
    literally(ax.texts)


def name_ends(ax: Axes, ends: Sequence[tuple[float, str, str]], height: float) -> None:
    """Write each curve's name (where it ends, name, colour) right of its end, moved apart where they are close.

    A figure made by llbt is enlarged until the axes are `height` inches high.
    """
    make_room(ax, height=height)
    lay_out(ax)
    to_axes = ax.transData + ax.transAxes.inverted()
    left = ax.get_xlim()[0]
    known = sorted((float(to_axes.transform((left, y))[1]), name, colour) for y, name, colour in ends)
    size = row_size(ax, len(known))
    line = 1.15 * size / 72 * ax.figure.dpi / ax.get_window_extent().height
    places = moved_apart([at for at, _, _ in known], min(line, 1 / max(1, len(known))), 1.0)
    for (_, name, colour), place in zip(known, places, strict=True):
        ax.annotate(
            name,
            (1.02, place),
            xycoords="axes fraction",
            color=darker(colour),
            va="center",
            fontsize=size,
            annotation_clip=False,
        )
    literally(ax.texts)
    make_room(ax)


def label_scale(ax: Axes, text: str) -> None:
    """Write the scale of the x axis; with long names at the left, the text ends at the end of the axis, not cut off."""
    lines = [textwrap.fill(line, _LABEL) for line in text.split("\n")]
    loc: Any = "right" if _long(ax) else "center"
    size = "medium" if len(lines) <= _FULL else "small"
    ax.set_xlabel("\n".join(lines), loc=loc, multialignment=loc, fontsize=size)
    literally([ax.xaxis.label])


def _long(ax: Axes) -> bool:
    """Whether names at the left of the axes, but none at the right, take much of the width."""
    left, right = (max((len(text.get_text()) for text in side), default=0) for side in (ax.get_yticklabels(), ax.texts))
    return left > _SHORT >= right


# -- parts of pictures ----------------------------------------------------------------------------------------


def rows_of(ax: Axes | None, names: Sequence[str], row: float = 0.2, more: float = 0.0) -> Axes:
    """Return axes with a named, shaded row for each name, for a forest plot."""
    ax = axes_of(ax, COLUMN, rows_height(len(names), row) + more)
    bands(ax, len(names))
    name_rows(ax, names)
    return ax


def points(
    ax: Axes, x: Any, y: Any, bounds: Any, look: tuple[str, str], *, label: str | None = None, across: bool = True
) -> Any:
    """Draw points with their intervals (n, 2): horizontal in the rows of a forest plot (`across`), or vertical."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    spread = np.abs(np.asarray(bounds, dtype=float).T - (x if across else y))
    sides = {"xerr": spread} if across else {"yerr": spread}
    return ax.errorbar(x, y, **sides, fmt=look[1], color=look[0], markersize=4, elinewidth=1, label=label)


def without_frame(ax: Axes) -> None:
    """Remove the frame of the axes, for a matrix or a network."""
    for spine in ax.spines.values():
        spine.set_visible(False)


def finish(ax: Axes, width: float = BODY, height: float = 0.0) -> Axes:
    """Return the finished axes: texts are literal, and a figure made by llbt has at least this size."""
    literally([*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.title, ax.xaxis.label, ax.yaxis.label])
    _thin_log_axis(ax)
    make_room(ax, width, height)
    return ax


# -- axes -----------------------------------------------------------------------------------------------------


def set_log_axis(ax: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, with plain numbers: 0.1, 0.2, 0.5, 1."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def mark_ranks(axis: Axis, size: int, most: int = 8) -> None:
    """Write the ranks 1 to `size` at an axis; if they are many, only the first and round ones."""
    step = next(step for step in (1, 2, 5, 10, 20, 25, 50, 100, size) if size / step <= most)
    axis.set_ticks([1, *range(step if step > 1 else 2, size + 1, step)])


def zero_line(ax: Axes, x: float = 0.0) -> None:
    """Draw the line of no difference."""
    ax.axvline(x, color=GREY, linewidth=0.8, zorder=0)


def _thin_log_axis(ax: Axes) -> None:
    """Keep only powers of ten where numbers below a logarithmic axis would overlap."""
    from matplotlib.ticker import LogLocator

    low, high = ax.get_xlim()
    if ax.get_xscale() == "log" and np.log10(high / low) > _DECADES:
        ax.xaxis.set_major_locator(LogLocator(numticks=5))


def bands(ax: Axes, rows: int) -> None:
    """Shade every second row, to lead the eye from a name to its point."""
    for row in range(1, rows, 2):
        ax.axhspan(row - 0.5, row + 0.5, color=GREY, alpha=0.1, linewidth=0, zorder=-1)


def look_of(k: int) -> tuple[str, str]:
    """Return colour and marker of the k-th series; the first 56 are different."""
    return COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]


def look_beside_grey(k: int) -> tuple[str, str]:
    """Return colour and marker of the k-th series that stands out from grey ones: black takes the place of grey."""
    colour, marker = look_of(k)
    return "#000000" if colour == GREY else colour, marker


def standing_out(values: FloatArray, most: int) -> IntArray:
    """Return at most `most` rows, in their order: those that change most over the columns, then the highest.

    With one column, the highest rows are taken. NaN is ignored.
    """
    highest = np.fmax.reduce(values, axis=1)
    with np.errstate(invalid="ignore"):  # of infinite ones
        change = highest - np.fmin.reduce(values, axis=1)
    order = np.lexsort((-np.nan_to_num(highest, nan=-np.inf), -np.nan_to_num(change)))
    return np.sort(order[:most])


def moved_apart(heights: Sequence[float], gap: float, most: float) -> list[float]:
    """Return ascending heights at least `gap` apart and at most `most`: moved up, then down if they exceed `most`."""
    places = list(heights)
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + gap)
    for k in range(len(places) - 1, -1, -1):
        places[k] = min(places[k], most if k == len(places) - 1 else places[k + 1] - gap)
    return places


def diverging(middle: str) -> LinearSegmentedColormap:
    """Return a colour scale from orange over the colour `middle` to blue."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("llbt", [ORANGE, middle, BLUE])


def scale_around_half(values: FloatArray) -> tuple[float, float]:
    """Return the limits of a colour scale of probabilities: as far from ½ on either side as the furthest value."""
    known = np.abs(np.asarray(values)[np.isfinite(values)] - 0.5)
    reach = min(0.5, max(float(known.max(initial=0.0)), _LEAST_REACH))
    return 0.5 - reach, 0.5 + reach


def colour_bar(ax: Axes, mappable: ScalarMappable, label: str, *, extend: Any = "neither") -> Colorbar:
    """Draw the colour bar with its scale below the axes, and return it."""
    figure = ax.get_figure(root=False)
    assert figure is not None
    bar = figure.colorbar(mappable, ax=ax, location="bottom", fraction=0.05, pad=0.02, aspect=30, extend=extend)
    bar.set_label(label, color=ink(ax), fontsize="small", loc="right" if _long(ax) else "center")
    bar.ax.tick_params(colors=ink(ax), labelsize="x-small", length=2)
    bar.outline.set_visible(False)
    return bar


def legend_above(ax: Axes, handles: Sequence[Any] | None = None, columns: int = 2, title: str = "") -> None:
    """Draw the legend above the axes, where it hides nothing, in as many columns as there is room for."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    columns = max(1, min(columns, _LEGEND // (longest + 4)))
    legend = ax.legend(
        handles=handles,
        frameon=False,
        fontsize="small",
        title=title or None,
        title_fontsize="small",
        loc="lower right" if _long(ax) else "lower center",
        bbox_to_anchor=(1.0 if _long(ax) else 0.5, 1.0),
        ncols=columns,
        columnspacing=1,
        handletextpad=0.4,
        handlelength=1.5,
        borderaxespad=0.1,
        labelcolor=ink(ax),
    )
    legend.get_title().set_color(ink(ax))
    literally([*legend.get_texts(), legend.get_title()])
