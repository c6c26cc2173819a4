"""What the site's builder does beyond MkDocs: docstrings name classes in Sphinx's way, pages should not."""

from __future__ import annotations

import re
from typing import Any


def on_page_content(html: str, **_: Any) -> str:
    """Leave out the roles of docstrings, as in :class:`Name`, and keep the name."""
    return re.sub(r":(?:class|func|meth|mod):(?=<code>)", "", html)
