# mypy: disable-error-code="no-untyped-call"
"""Figures as SVG inside a page, with letters as text; imported only when a picture is drawn.

matplotlib can do this by rcParams, but these belong to the whole process, so llbt has its own renderer and canvas.
"""

from __future__ import annotations

import codecs
import functools
import io
from typing import Any

from matplotlib import font_manager
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure


class _TextRenderer(RendererSVG):
    """matplotlib's renderer with ``svg.fonttype`` "none": the browser finds the letters of every script."""

    def draw_text(
        self, gc: Any, x: Any, y: Any, s: str, prop: Any, angle: Any, ismath: Any = False, mtext: Any = None
    ) -> None:
        self._draw_text_as_text(gc, x, y, s, prop, angle, ismath, mtext)

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> Any:
        # letters that no font here has are as wide as an M: matplotlib would warn of each, and the browser has them
        known = _letters(tuple(prop.get_family()))
        shown = "".join(letter if ord(letter) in known else "M" for letter in s)
        return super().get_text_width_height_descent(shown, prop, ismath)


class _TextCanvas(FigureCanvasBase):
    @classmethod
    def get_default_filetype(cls) -> str:
        return "svg"

    def print_svg(self, file: Any) -> None:
        """Write the figure to an open file of bytes; matplotlib also calls this to get a renderer for measuring."""
        dpi = self.figure.dpi
        self.figure.dpi = 72
        width, height = self.figure.get_size_inches()
        text = codecs.getwriter("utf-8")(file)
        svg = _TextRenderer(72 * width, 72 * height, text, image_dpi=dpi, metadata={"Date": None})
        renderer: Any = MixedModeRenderer(self.figure, width, height, dpi, svg)
        self.figure.draw(renderer)
        renderer.finalize()


def page_figure(width: float, height: float) -> Figure:
    """Return a white figure of this size in inches, not registered with pyplot."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    _TextCanvas(figure)
    return figure


def page_svg(figure: Figure) -> bytes:
    """Return the SVG of a figure of `page_figure`."""
    file = io.BytesIO()
    _TextCanvas(figure).print_svg(file)
    return file.getvalue()


@functools.cache
def _letters(families: tuple[str, ...]) -> frozenset[int]:
    """Return the code points that one of the fonts of these families has."""
    paths = [font_manager.findfont(font_manager.FontProperties(family=[family])) for family in families]
    fonts = [font_manager.get_font(path) for path in paths]
    return frozenset(code for font in fonts for code in font.get_charmap())
