"""NumPy, loaded when it is first used.

A command that makes no array (``align corpus``, which hands text to the core and gets text back) is 12 MB
smaller and a tenth of a second faster without it. Modules on its way take ``np`` from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """What NumPy has, by name; each name is kept once it was asked for."""

        def __getattr__(self, name: str) -> object:
            import numpy  # noqa: ICN001, PLC0415

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _NumPy()
