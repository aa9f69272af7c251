"""Read and check the footer and the page headers of a Parquet file, structs of Thrift, before Arrow reads it.

Arrow allocates the sizes that a footer declares, and an invalid enum value in it can abort the whole process. Readers
trust the header of each page and not the footer, so a file of a few kilobytes can fill all memory. Accepted is only
what the writer of releases writes: pages of version 1, plain or by dictionary. The output of other encodings has no
bound.

A reader process with a memory limit would not be shorter: it needs a protocol for row groups and for S3 files, a
restart after each kill, and checks of the footer for codecs that abort Arrow.
"""

import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

from sandmill.errors import IntegrityError, shorten
from sandmill.store.limits import (
    MAX_COLUMNS,
    MAX_CONTAINER,
    MAX_FOOTER_BYTES,
    MAX_GROUP_BYTES,
    MAX_GROUP_ROWS,
    MAX_GROUP_VALUES,
)

Fields = dict[int, Any]
"""Values of a struct by field number: int, bool, bytes, a list of these, or another struct."""

_DEEPEST = 10
_TRUE, _FALSE, _I8, _I16, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12
_BITS = {_I16: 16, _I32: 32, _I64: 64}
_LONG_LIST = 15


def read_struct(content: bytes, at: int = 0, depth: int = 0) -> tuple[Fields, int]:
    """Read a struct at a place of the content, within `depth` structs and lists. Returns its fields, and where it ends.

    Raises:
        IndexError: the content ends before the struct does.
        IntegrityError: it is written in another way than Parquet's writers write.
    """
    fields: Fields = {}
    number = 0
    while kind := content[at]:
        delta, kind = kind >> 4, kind & 15
        if not delta or depth > _DEEPEST:
            raise IntegrityError("its metadata is written in an unusual way")
        at, number = at + 1, number + delta
        if kind in _BITS and (value := content[at]) < 128:
            # Most numbers have one byte. This shortcut saves a call for each; a large release has thousands of footers.
            fields[number], at = (value >> 1) ^ -(value & 1), at + 1
        elif kind in (_TRUE, _FALSE):
            fields[number] = kind == _TRUE
        else:
            fields[number], at = _read_value(content, at, kind, depth + 1)
    return fields, at + 1


def _read_value(content: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind == _STRUCT:
        return read_struct(content, at, depth)
    if kind == _I8:
        return content[at], at + 1
    if kind in _BITS:
        value, at = _read_number(content, at)
        if value >> _BITS[kind]:
            raise IntegrityError("its metadata holds a number that is too large")
        return (value >> 1) ^ -(value & 1), at
    if kind == _BINARY:
        length, at = _read_number(content, at)
        if at + length > len(content):
            raise IndexError
        return content[at : at + length], at + length
    if kind != _LIST:
        raise IntegrityError("its metadata holds a type that Parquet does not use")
    size, kind, at = content[at] >> 4, content[at] & 15, at + 1
    if size == _LONG_LIST:
        size, at = _read_number(content, at)
    if size > MAX_CONTAINER:
        raise IntegrityError(f"its metadata holds a list of {size}; the most is {MAX_CONTAINER}")
    values = []
    for _ in range(size):
        value, at = _read_value(content, at, kind, depth + 1)
        values.append(value)
    return values, at


def _read_number(content: bytes, at: int) -> tuple[int, int]:
    if (value := content[at]) < 128:
        return value, at + 1
    value = 0
    for shift in range(0, 70, 7):
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise IntegrityError("its metadata holds a number that does not end")


_WRITER = b"parquet-cpp-arrow"
"""The only accepted writer. Arrow reads files of some old writers differently from what their footers say."""

_TRAILER = 8
_NO_CODEC, _ZSTD = 0, 6
_PHYSICAL_TYPES = range(8)
_ENCODINGS = range(10)
_PAGE_TYPES = range(4)


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """One column of one row group."""

    name: str
    """Name of the table's column; for lists or structs the first part of the path."""
    is_nested: bool
    holds_bytes: bool
    """Whether its values are texts or bytes, which have no fixed length."""
    is_compressed: bool
    values: int
    start: int
    stored: int
    """Offset and bytes in the file."""
    least: bytes | None
    greatest: bytes | None


@dataclass(frozen=True, slots=True)
class Group:
    """One row group."""

    rows: int
    columns: tuple[ColumnChunk, ...]


def read_footer(file: BinaryIO) -> tuple[Group, ...]:
    """Read and check the footer. The columns of all groups together claim no more bytes than the file has.

    Raises:
        IntegrityError: it is not that of a file that our writer wrote, or is larger than a release needs.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _TRAILER))
    trailer = file.read(_TRAILER)
    length = int.from_bytes(trailer[:4], "little")
    if trailer[4:] != b"PAR1" or not 0 < length <= min(size - _TRAILER, MAX_FOOTER_BYTES):
        raise IntegrityError(f"no Parquet file with a footer of at most {MAX_FOOTER_BYTES} bytes")
    file.seek(size - _TRAILER - length)
    try:
        fields, end = read_struct(file.read(length))
        if end != length:
            raise IntegrityError("its footer is longer than what it holds")
        return _groups(fields, size - _TRAILER - length)
    except (IndexError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise IntegrityError(f"its footer is damaged ({type(error).__name__})") from None


def _groups(fields: Fields, room: int) -> tuple[Group, ...]:
    written_by = fields.get(6, b"")
    if not written_by.startswith(_WRITER) or fields.keys() & {8, 9}:
        by = shorten(written_by.decode("utf-8", "replace"))
        raise IntegrityError(f"written by {by!r}; releases are written by {_WRITER.decode()}, without encryption")
    if (columns := max((len(one[1]) for one in fields[4]), default=0)) > MAX_COLUMNS:
        raise IntegrityError(f"{columns} columns; the most is {MAX_COLUMNS}")
    groups = tuple(Group(_count(one, 3), tuple(map(_column, one[1]))) for one in fields[4])
    rows, sizes = _count(fields, 3), [group.rows for group in groups]
    if sum(sizes) != rows or max(sizes, default=0) > MAX_GROUP_ROWS:
        raise IntegrityError(f"{rows} rows in groups that have others, or more than {MAX_GROUP_ROWS}")
    # Otherwise a small file could hold many large tasks.
    claimed = sum(column.stored for group in groups for column in group.columns)
    if claimed > room:
        raise IntegrityError(f"its columns claim {claimed} bytes of {room}")
    return groups


def _column(chunk: Fields) -> ColumnChunk:
    if chunk.keys() & {1, 8, 9}:
        raise IntegrityError("a column lies in another file or is encrypted")
    fields: Fields = chunk[3]
    path = [part.decode() for part in fields[3]]
    kinds_fit = fields[1] in _PHYSICAL_TYPES and all(encoding in _ENCODINGS for encoding in fields[2])
    stats_fit = all(one[1] in _PAGE_TYPES and one[2] in _ENCODINGS for one in fields.get(13, ()))
    if not kinds_fit or not stats_fit or fields[4] not in (_NO_CODEC, _ZSTD):
        raise IntegrityError(f"column {shorten(path[0])} is not written as releases are: plain or dictionary, zstd")
    noted: Mapping[int, Any] = fields.get(12, {})
    dictionary = _count(fields, 11) if 11 in fields else None
    start = _count(fields, 9)
    return ColumnChunk(
        name=path[0],
        is_nested=len(path) > 1,
        holds_bytes=fields[1] in (6, 7),
        is_compressed=fields[4] == _ZSTD,
        values=_count(fields, 5),
        start=start if dictionary is None else min(start, dictionary),
        stored=_count(fields, 7),
        least=noted.get(6),
        greatest=noted.get(5),
    )


def _count(fields: Fields, number: int) -> int:
    value = fields[number]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise IntegrityError("its footer holds a negative number")
    return value


_HEADER_BYTES = 1 << 10
_LONGEST_HEADER = 1 << 16
"""Bytes. A header holds the least and the largest value of its page."""
_LARGEST_DICTIONARY = 1 << 22
"""Bytes. The writer stops adding to a dictionary at a quarter of it."""

_DATA, _DICTIONARY = 0, 2
_PLAIN, _PLAIN_DICTIONARY, _RLE_DICTIONARY = 0, 2, 8
_TYPE, _UNCOMPRESSED, _COMPRESSED, _DATA_HEADER, _DICTIONARY_HEADER = 1, 2, 3, 5, 7  # fields of a page header
_VALUES, _ENCODING = 1, 2  # fields of both headers in it
_MAGIC = b"PAR1"  # begins a file


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
    """Return the fields of a page header, and its length."""
    for room in (_HEADER_BYTES, _LONGEST_HEADER):
        file.seek(at)
        with suppress(IndexError):
            return read_struct(file.read(min(room, end - at)))
    raise IntegrityError(f"column {name} has a page header that does not end")
