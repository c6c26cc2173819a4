"""Read a model file with the standard library alone; docs/scale.md describes the format."""

import ast
import json
import zlib
from array import array
from struct import unpack_from

_TYPES = {"<f4": "f", "<f8": "d", "<u4": "I"}


def read_members(content: bytes) -> dict[str, bytes]:
    """Return the members of a model file by name.

    64 bytes of header, of which bytes 12 to 15 are the number of arrays; 32 bytes for each array, of which
    bytes 8 to 23 are the size of an element and their number; the arrays, each at a multiple of 64 bytes. The
    first array is JSON: the names of the others and, if they are deflated, their sizes.
    """
    (count,) = unpack_from("<I", content, 12)
    at, arrays = _padded(64 + 32 * count), []
    for n in range(count):
        size, number = unpack_from("<QQ", content, 64 + 32 * n + 8)
        arrays.append(content[at : at + size * number])
        at += _padded(size * number)
    named = zip(json.loads(arrays[0]), arrays[1:], strict=True)
    return {name: data if size is None else zlib.decompress(data) for (name, size), data in named}


def _padded(size: int) -> int:
    return -(-size // 64) * 64


def read_numbers(npy: bytes) -> list[float]:
    """Return the numbers of an array in NumPy's format."""
    begin = 10 + unpack_from("<H", npy, 8)[0]
    values: array[float] = array(_TYPES[ast.literal_eval(npy[10:begin].decode())["descr"]])
    values.frombytes(npy[begin:])
    return values.tolist()


def read_words(text: bytes) -> dict[str, int]:
    """Return the places of words, one a line."""
    return {word: place for place, word in enumerate(text.decode().split("\n")[:-1])}
