"""Compute the decompressed size of a column of a Parquet file before anything is decompressed.

Parquet readers trust the header of each page and not the footer, so a file of a few kilobytes can fill all memory.
These functions read the page headers, and accept only what the writer of releases writes: pages of version 1, plain or
by dictionary. Other encodings are refused, since the size of their output has no bound.

A reader process with a memory limit would not be shorter: it needs a protocol for row groups and for S3 files, a
restart after each kill, and checks of the footer for codecs that abort Arrow.
"""

import io
from typing import BinaryIO

from sandmill.errors import IntegrityError
from sandmill.store.footer import ColumnChunk, Fields, read_struct
from sandmill.store.limits import MAX_GROUP_BYTES, MAX_GROUP_VALUES

_HEADER_BYTES = 1 << 10
_LONGEST_HEADER = 1 << 16
"""Bytes. A header holds the least and the largest value of its page."""
_LARGEST_DICTIONARY = 1 << 22
"""Bytes. The writer stops adding to a dictionary at a quarter of it."""

_DATA, _DICTIONARY = 0, 2
_PLAIN, _PLAIN_DICTIONARY, _RLE_DICTIONARY = 0, 2, 8
_TYPE, _UNCOMPRESSED, _COMPRESSED, _DATA_HEADER, _DICTIONARY_HEADER = 1, 2, 3, 5, 7
"""Fields of a page header."""
_VALUES, _ENCODING = 1, 2
"""Fields of both headers in it."""
_MAGIC = b"PAR1"
"""Begins a file."""


def column_bytes(file: BinaryIO, column: ColumnChunk) -> int:
    """Return the decompressed bytes of one column of one row group, whose pages must fill its range of the file.

    Raises:
        IntegrityError: the column is larger than any release needs, or is not written as our writer writes.
    """
    name, at, end = column.name, column.start, column.start + column.stored
    if at < len(_MAGIC) or end > file.seek(0, io.SEEK_END):
        raise IntegrityError(f"column {name} lies outside of its file")
    values = by_dictionary = size = 0
    dictionary = None
    while at < end:
        header, length = _read_header(file, at, end, name)
        is_dictionary, encoding, count = _read_kind(header, name)
        grown, stored = _sizes(header, (_UNCOMPRESSED, _COMPRESSED), name)
        if not is_dictionary:
            values += count
            by_dictionary += 0 if encoding == _PLAIN else count
        elif at == column.start:
            dictionary = at + length, stored, grown
        else:
            raise IntegrityError(f"column {name} has a dictionary that is not its first page")
        size += grown
        if size > MAX_GROUP_BYTES or values > MAX_GROUP_VALUES:
            raise IntegrityError(
                f"column {name} grows to {size} bytes and {values} values or more; the most is "
                f"{MAX_GROUP_BYTES} bytes and {MAX_GROUP_VALUES} values"
            )
        at += length + stored
    if at != end or values != column.values:
        raise IntegrityError(f"column {name}: {values} values in its pages; its footer says {column.values}")
    if not by_dictionary:
        return size
    if dictionary is None:
        raise IntegrityError(f"column {name} refers to a dictionary that is not there")
    return size + by_dictionary * _longest_value(file, column, *dictionary)


def _read_kind(header: Fields, name: str) -> tuple[bool, int, int]:
    """Return whether a page is a dictionary, its encoding, and the number of its values."""
    (kind,) = _sizes(header, (_TYPE,), name)
    inner = header.get({_DATA: _DATA_HEADER, _DICTIONARY: _DICTIONARY_HEADER}.get(kind, -1))
    if not isinstance(inner, dict) or {_DATA_HEADER, _DICTIONARY_HEADER} <= header.keys():
        raise IntegrityError(f"column {name} has a page of a kind that releases do not use")
    encoding, values = _sizes(inner, (_ENCODING, _VALUES), name)
    if encoding not in (_PLAIN, _PLAIN_DICTIONARY) and (kind, encoding) != (_DATA, _RLE_DICTIONARY):
        raise IntegrityError(f"column {name} has a page in encoding {encoding}, which releases do not use")
    return kind == _DICTIONARY, encoding, values


def _sizes(fields: Fields, numbers: tuple[int, ...], name: str) -> list[int]:
    found = [fields.get(number) for number in numbers]
    if not all(isinstance(value, int) and value >= 0 for value in found):
        raise IntegrityError(f"column {name} has a page header that lacks a number")
    return [int(value) for value in found if value is not None]


def _longest_value(file: BinaryIO, column: ColumnChunk, start: int, stored: int, size: int) -> int:
    """Read the dictionary at a place of the file, and return the bytes of its longest value."""
    if size > _LARGEST_DICTIONARY:
        raise IntegrityError(f"column {column.name} has a dictionary of {size} bytes")
    if not column.holds_bytes:
        return 8
    import pyarrow as pa

    file.seek(start)
    content = file.read(stored)
    if column.is_compressed:
        content = pa.decompress(content, size, codec="zstd", asbytes=True)
    longest = at = 0
    while at + 4 <= len(content):
        length = int.from_bytes(content[at : at + 4], "little")
        longest, at = max(longest, length), at + 4 + length
    return longest + 4


def _read_header(file: BinaryIO, at: int, end: int, name: str) -> tuple[Fields, int]:
    """Read a page header. Return its fields and its length."""
    for room in (_HEADER_BYTES, _LONGEST_HEADER):
        file.seek(at)
        content = file.read(min(room, end - at))
        try:
            return read_struct(content)
        except IndexError:
            if len(content) < room:
                break
    raise IntegrityError(f"column {name} has a page header that does not end")
