"""Compute the decompressed size of a column of a Parquet file before anything is decompressed.

Parquet readers trust the header of each page and not the footer, so a file of a few kilobytes can fill all memory.
These functions read the page headers, and accept only what the writer of releases writes: pages of version 1, plain or
by dictionary. Other encodings are refused, since the size of their output has no bound.

A reader process with a memory limit would not be shorter: it needs a protocol for row groups and for S3 files, a
restart after each kill, and checks of the footer for codecs that abort Arrow.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sandmill.errors import IntegrityError
from sandmill.store.footer import Column
from sandmill.store.limits import MAX_GROUP_BYTES, MAX_GROUP_VALUES
from sandmill.store.thrift import Fields, read_struct

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


@dataclass(frozen=True)
class _Page:
    is_dictionary: bool
    values: int
    by_dictionary: bool
    size: int
    """Bytes once decompressed."""
    start: int
    stored: int
    """Place and bytes in the file, without the header."""


def column_bytes(file: BinaryIO, column: Column) -> int:
    """Return the decompressed bytes of one column of one row group.

    Raises:
        IntegrityError: the column is larger than any release needs, or is not written as our writer writes.
    """
    pages = list(_pages(file, column))
    dictionary = next((page for page in pages if page.is_dictionary), None)
    written_out = sum(page.values for page in pages if not page.is_dictionary and page.by_dictionary)
    plain = sum(page.size for page in pages)
    if not written_out:
        return plain
    if dictionary is None:
        raise IntegrityError(f"column {column.name} refers to a dictionary that is not there")
    if dictionary.size > _LARGEST_DICTIONARY:
        raise IntegrityError(f"column {column.name} has a dictionary of {dictionary.size} bytes")
    return plain + written_out * _longest_value(file, column, dictionary)


def _pages(file: BinaryIO, column: Column) -> Iterator[_Page]:
    """Yield the pages of a column, which must fill its range of the file exactly."""
    at, end, values, size = column.start, column.start + column.stored, 0, 0
    if at < len(_MAGIC) or end > file.seek(0, io.SEEK_END):
        raise IntegrityError(f"column {column.name} lies outside of its file")
    while at < end:
        page = _read_page(file, at, end, column.name)
        if page.is_dictionary and at != column.start:
            raise IntegrityError(f"column {column.name} has a dictionary that is not its first page")
        values += 0 if page.is_dictionary else page.values
        size += page.size
        if size > MAX_GROUP_BYTES or values > MAX_GROUP_VALUES:
            raise IntegrityError(
                f"column {column.name} grows to {size} bytes and {values} values or more; the most is "
                f"{MAX_GROUP_BYTES} bytes and {MAX_GROUP_VALUES} values"
            )
        at = page.start + page.stored
        yield page
    if at != end or values != column.values:
        raise IntegrityError(f"column {column.name}: {values} values in its pages; its footer says {column.values}")


def _read_page(file: BinaryIO, at: int, end: int, name: str) -> _Page:
    header, length = _read_header(file, at, end, name)
    kind = _size(header, _TYPE, name)
    inner = header.get({_DATA: _DATA_HEADER, _DICTIONARY: _DICTIONARY_HEADER}.get(kind, -1))
    if not isinstance(inner, dict) or {_DATA_HEADER, _DICTIONARY_HEADER} <= header.keys():
        raise IntegrityError(f"column {name} has a page of a kind that releases do not use")
    encoding = _size(inner, _ENCODING, name)
    if encoding not in (_PLAIN, _PLAIN_DICTIONARY) and (kind, encoding) != (_DATA, _RLE_DICTIONARY):
        raise IntegrityError(f"column {name} has a page in encoding {encoding}, which releases do not use")
    return _Page(
        is_dictionary=kind == _DICTIONARY,
        values=_size(inner, _VALUES, name),
        by_dictionary=encoding != _PLAIN,
        size=_size(header, _UNCOMPRESSED, name),
        start=at + length,
        stored=_size(header, _COMPRESSED, name),
    )


def _size(fields: Fields, number: int, name: str) -> int:
    value = fields.get(number)
    if not isinstance(value, int) or value < 0:
        raise IntegrityError(f"column {name} has a page header that lacks a number")
    return value


def _longest_value(file: BinaryIO, column: Column, page: _Page) -> int:
    """Read a dictionary, whose size was checked, and return the bytes of its longest value."""
    if not column.holds_bytes:
        return 8
    import pyarrow as pa

    file.seek(page.start)
    content = file.read(page.stored)
    if column.is_compressed:
        content = pa.decompress(content, page.size, codec="zstd", asbytes=True)
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
