"""Formulas as MathML, which browsers draw themselves: no script, and no network."""

import re

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)


def _formula(visitor, node, as_block: bool) -> None:
    formula = re.sub(r"\\dots\b", r"\\ldots", node.astext())  # docutils has no \dots
    try:
        drawn = latex2mathml.tex2mathml(formula, as_block=as_block)
        # Each bar of a norm would stretch by itself, and the two differ.
        bars = drawn.replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')
        visitor.body.append(bars)
    except Exception as error:  # docutils has several, of its own and of Python
        _log.warning("formula not understood: %s", error, location=node)
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda visitor, node: _formula(visitor, node, False), None),
        block_renderers=(lambda visitor, node: _formula(visitor, node, True), None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
