"""Formulas as MathML, which browsers draw themselves: the site needs no script and no network for them."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def _visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Let ``html_math_renderer = "mathml"`` name this renderer."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
