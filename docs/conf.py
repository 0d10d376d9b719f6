"""How Sphinx builds the site: `make docs`."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent / "python"), str(DOCS.parent / "papers")]

project = "Longfat"
author = "the Longfat contributors"
project_copyright = "the Longfat contributors"
release = version = installed("longfat")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "gallery"]
exclude_patterns = ["_*", "Thumbs.db"]
source_suffix = {".md": "markdown"}
needs_sphinx = "9.0"

# Markdown
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]

# Docstrings: Google style; `name` is code, as in Markdown
default_role = "code"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Types of the standard library and of other packages: their pages are elsewhere, and no network is asked
nitpick_ignore_regex = [
    ("py:.*", r"(collections|gymnasium|matplotlib|numpy|os|pandas|pathlib|polars|pyarrow|rich)\..*"),
    ("py:.*", r"longfat\.(runs\.simulate\.Reduced|sweep\.layout\.Layout|sweep\.where\.Filter)"),
    ("py:class", r"Paths|Source"),
    ("py:class", r"Recovery|Variant"),  # words that a key takes
]

# Looks
html_theme = "furo"
html_title = f"Longfat {release}"
html_static_path = ["_static"]
html_css_files = ["longfat.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "tango"
pygments_dark_style = "monokai"
highlight_language = "none"
smartquotes = False  # quotes in help texts and docstrings are typed as they stand
