"""Pages for users show what their Python blocks print and draw.

The blocks of a page run in the order of the page when it is read, as
tests/docs/test_pages.py runs them; LRISK_DOCS_PLOT=0 leaves them unrun.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

from sphinx.util import logging

_log = logging.getLogger(__name__)
#: What `lrisk[docs]` does not bring: blocks that need it are shown without output.
LARGE = ("torch",)
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PAGES = re.compile(r"(start|guide)/|(coming_from|faq)$")


def with_outputs(text: str, pictures: Path, link: str, name: str) -> str:
    """Add after every block what it printed, and the figures that it drew.

    Parameters
    ----------
    text : str
        The page, in Markdown.
    pictures : Path
        An existing folder for the figures.
    link : str
        How the page names that folder.
    name : str
        What the names of the figures begin with.
    """
    names = {"__name__": "page"}
    drawn = 0

    def run(found: re.Match) -> str:
        nonlocal drawn
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(found[1], name, "exec"), names)
        except ModuleNotFoundError as error:
            if error.name not in LARGE:
                raise
            _log.info("a block of %s is not run: no %s here", name, error.name)
            return found[0]
        parts = [found[0]]
        if out := printed.getvalue().rstrip():
            parts.append(f"```{{code-block}} text\n:class: output\n\n{out}\n```")
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else []:
            drawn += 1
            file = f"{name}-{drawn}.png"
            figure = pyplot.figure(number)
            figure.savefig(pictures / file, dpi=100, bbox_inches="tight")
            pyplot.close(figure)
            parts.append(f"![What the lines above draw]({link}/{file})")
        return "\n\n".join(parts)

    return _BLOCK.sub(run, text)


def _read(app, docname, source):
    if not _PAGES.match(docname) or os.environ.get("LRISK_DOCS_PLOT", "1") != "1":
        return
    pictures = Path(app.srcdir) / "_build" / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    name = docname.replace("/", "-")
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            source[0] = with_outputs(source[0], pictures, "/_build/pictures", name)
        except Exception as error:
            _log.warning("a block of %s fails: %r", docname, error)
        finally:
            os.chdir(here)


def setup(app):
    """Connect to the reading of pages."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    app.connect("source-read", _read, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
