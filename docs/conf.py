"""Settings of the site: `make docs` builds it, offline, with warnings as errors."""

import importlib
import importlib.util
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "src"))

from sphinx.ext.autodoc import mock  # noqa: E402

import lrisk  # noqa: E402

project = "lrisk"
author = "The lrisk developers"
copyright = "the lrisk developers"
version = release = lrisk.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "outputs",
    "site_check",
]
exclude_patterns = ["_build", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = False
smartquotes = False  # options of commands begin with two hyphens, not with a dash
highlight_language = "python"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
myst_all_links_external = False

# What is not installed is not described in detail, but does not stop the build either.
_OPTIONAL = ("torch", "dask", "distributed", "river", "lightgbm", "xgboost")
autodoc_mock_imports = [m for m in _OPTIONAL if importlib.util.find_spec(m) is None]
if autodoc_mock_imports:
    # Annotations such as Tensor | None are evaluated, and a stand-in knows no "|".
    with mock(["nothing"]):
        _stand_in = type(importlib.import_module("nothing").Thing).__mro__[-2]
    _stand_in.__or__ = _stand_in.__ror__ = lambda self, other: self
autodoc_typehints = "none"  # numpydoc has the types, in words
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "ignore_pattern": r"^(?!plot_)",
    "plot_gallery": os.environ.get("LRISK_DOCS_PLOT", "1") == "1",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": (),
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "copyfile_regex": r"",
    "within_subsection_order": "FileNameSortKey",
}
suppress_warnings = ["config.cache"]

html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = f"lrisk {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "lrisk"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Where there is nothing to list beside a page.
html_sidebars = {
    name: [] for name in ("index", "start/*", "coming_from", "faq", "limits", "cli")
}


def _of_others(app, what, name, obj, skip, options):
    """Leave out what classes inherit from scikit-learn, torch or Python."""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    inner = getattr(obj, "fget", None) or getattr(obj, "__func__", None) or obj
    home = getattr(inner, "__module__", None)
    if callable(inner) and isinstance(home, str) and not home.startswith("lrisk"):
        return True
    return None


#: What stays as it is: literals, formulas, examples.
_VERBATIM = (
    r"``.+?``|:math:`.+?`|^ *\.\. math::.*?(?:\n\s*\n(?=\S)|\Z)|^ *(?:>>>|\.\.\.) .*?$"
)
_SPECIAL = re.compile(rf"({_VERBATIM})|\||_(?=,\))", re.DOTALL | re.MULTILINE)


def _plain(app, what, name, obj, options, lines):
    """Let docstrings say |y − z| and (n_features_,) in plain characters.

    Docutils would take the first for a substitution and the second for a reference. And
    a line that ends in a backslash goes on in the next.
    """
    text = re.sub(r" *\\\n *", " ", "\n".join(lines))
    text = _SPECIAL.sub(lambda found: found[1] or "\\" + found[0], text)
    lines[:] = text.split("\n")


def _as_printed(app, ctx, lines):
    """Lines that a command's help prints as they stand do so on its page."""
    kept = []
    for line in lines:
        if line.startswith("| ") and not (kept and kept[-1].startswith("    ")):
            kept += ["", ".. code-block:: text", ""]
        kept.append("    " + line[2:] if line.startswith("| ") else line)
    lines[:] = kept


def _without_missing_results(app, docname, source):
    """A results page that nobody has written yet is named, but not linked."""

    def link(found):
        here = (HERE / docname).parent / found[2]
        return found[0] if here.exists() else found[1]

    source[0] = re.sub(r"\[([^\[\]]+)\]\((results/[\w-]+\.md)\)", link, source[0])


def setup(app):
    """Connect the rules above."""
    app.connect("autodoc-skip-member", _of_others)
    app.connect("autodoc-process-docstring", _plain, priority=400)
    app.connect("source-read", _without_missing_results)
    app.connect("sphinx-click-process-description", _as_printed)
    app.connect("sphinx-click-process-epilog", _as_printed)
