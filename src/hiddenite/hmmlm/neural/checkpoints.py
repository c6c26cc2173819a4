"""Training states as archives: bit for bit what was in memory, with the identity of what was trained.

A tree of arrays is written leaf by leaf, flattened; reading needs a tree of the same shapes, which the
training has anyway.
"""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import FormatError
from hiddenite.files.archive import Archive, read_archive, write_archive

FORMAT = "hiddenite hmmlm gradient checkpoint"
VERSION = 1
HINT = "delete it to begin anew, or name another file"


def save_checkpoint(
    path: str | os.PathLike[str], identity: dict[str, Any], progress: dict[str, Any], tree: Any
) -> None:
    """Write the state, whole or not at all."""
    arrays: dict[str, NDArray[Any]] = {
        f"leaf{i}": np.asarray(leaf).reshape(-1) for i, leaf in enumerate(jax.tree.leaves(tree))
    }
    header = {"format": FORMAT, "version": VERSION, "identity": identity, "progress": progress}
    write_archive(path, header, {}, arrays, compress=False)


def load_checkpoint(
    path: str | os.PathLike[str], identity: dict[str, Any], like: Any
) -> tuple[dict[str, Any], Any]:
    """Read progress and state; refuses the checkpoint of another training."""

    def read(archive: Archive) -> tuple[dict[str, Any], Any]:
        found = archive.header["identity"]
        for name, value in identity.items():
            if found.get(name) != value:
                raise FormatError(
                    os.fspath(path), None, f"is a checkpoint of a training with another {name}; {HINT}"
                )
        leaves, structure = jax.tree.flatten(like)
        loaded = []
        for i, leaf in enumerate(leaves):
            array = archive.matrix(f"leaf{i}", np.dtype(leaf.dtype).type, 1)
            loaded.append(jnp.asarray(array.reshape(leaf.shape)))
        return archive.header["progress"], jax.tree.unflatten(structure, loaded)

    return read_archive(path, FORMAT, VERSION, HINT, read)
