"""A strict reader of Thrift's compact protocol, as far as Parquet uses it, so that no two readers differ.

Fields must be in ascending order, and numbers must fit their type. Types that Parquet does not use are refused.
"""

from typing import Any

from sandmill.errors import IntegrityError
from sandmill.store.limits import MAX_CONTAINER

Fields = dict[int, Any]
"""Values of a struct by field number: int, bool, bytes, a list of these, or another struct."""

_DEEPEST = 10
_TRUE, _FALSE, _I8, _I16, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12
_BITS = {_I16: 16, _I32: 32, _I64: 64}
_LONG_LIST = 15


def read_struct(content: bytes, at: int = 0, depth: int = 0) -> tuple[Fields, int]:
    """Read a struct.

    Args:
        content: holds the struct.
        at: where it begins.
        depth: structs and lists around it.

    Returns:
        Its fields, and where it ends.

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
    if kind == _BINARY:
        length, at = _read_number(content, at)
        if at + length > len(content):
            raise IndexError
        return content[at : at + length], at + length
    if kind == _STRUCT:
        return read_struct(content, at, depth)
    if kind in _BITS:
        value, at = _read_number(content, at)
        if value >> _BITS[kind]:
            raise IntegrityError("its metadata holds a number that is too large")
        return (value >> 1) ^ -(value & 1), at
    if kind == _LIST:
        return _read_list(content, at, depth)
    if kind == _I8:
        return content[at], at + 1
    raise IntegrityError("its metadata holds a type that Parquet does not use")


def _read_list(content: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    size, kind = content[at] >> 4, content[at] & 15
    at += 1
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
