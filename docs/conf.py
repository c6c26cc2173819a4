"""The site: Sphinx with Markdown pages. ``make docs`` builds it into site/ and fails on a broken link.

Pages stay plain Markdown that reads well anywhere. Sphinx's own notation is used in two places only: the
lists of pages in index.md, and the reference, which is made from docstrings.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

from hiddenite.version import VERSION

project = "hiddenite"
author = "The hiddenite authors"
copyright = author
version = release = VERSION

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["pictures", "ports", ".*"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"hiddenite {VERSION}"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_remove_prompts = True

# A block that is a file has its name: ```text title="corpus.txt"
FENCE = re.compile(r'^(```+)(\w+) title="([^"]+)"$', re.MULTILINE)


def plain_markdown(_: Sphinx, __: str, source: list[str]) -> None:
    """Show the names of files above their blocks."""
    source[0] = FENCE.sub(r"\1{code-block} \2\n:caption: \3\n", source[0])


def setup(app: Sphinx) -> None:
    """Read pages as they are written for other readers of Markdown."""
    app.connect("source-read", plain_markdown)
