"""Zip archives, the same bytes on every machine."""

import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from sandmill.kinds.files.base import Fault, Files
from sandmill.kinds.files.item_files import MAX_FILE_BYTES, item_fault

_DAY = (2020, 1, 1, 0, 0, 0)
"""Time of every file, so that times tell nothing."""
BROKEN = (BadZipFile, ValueError, NotImplementedError, OSError, RuntimeError, EOFError, zlib.error)
"""What reading a damaged or hostile archive can raise."""


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return an archive of files in their order, without compression. Equal files give equal bytes."""
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_STORED) as archive:
        for name, content in files:
            info = ZipInfo(name, _DAY)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content)
    return whole.getvalue()


def unpack(public: Files, path: str, most: int | None = None) -> list[tuple[str, bytes]]:
    """Return names and contents of an archive in its order. It may be a stranger's.

    Raises:
        Fault: if the archive cannot be read, has more than `most` files or two of the same name, would grow, or is not
            as `pack` writes it.
    """
    if path not in public:
        raise Fault(f"{path}: the file is not there")
    try:
        with ZipFile(BytesIO(public[path])) as archive:
            infos = archive.infolist()
            if most is not None and len(infos) > most:
                raise Fault(f"{path} has {len(infos)} files; its design has {most}")
            if len({info.filename for info in infos}) < len(infos):
                raise Fault(f"{path}: files of the same name")
            if sum(info.file_size for info in infos) > len(public[path]):
                raise Fault(f"{path}: files that share bytes of the archive, or are compressed")
            files = [(info.filename, archive.read(info)) for info in infos]
    except BROKEN as error:
        raise Fault(f"{path}: not a zip archive ({error})") from error
    if pack(files) != public[path]:
        raise Fault(f"{path}: holds times, comments, attributes or bytes beside its files, or compressed ones")
    return files


def archive_excess(path: str, content: bytes, items: int) -> Iterator[str]:
    """Count bytes, files, pixels and samples. The archive may be a stranger's.

    Small files that decode to large items are refused by their heads.
    """
    if len(content) > MAX_FILE_BYTES:
        yield f"{path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
        return
    try:
        files = unpack({path: content}, path, items)
    except Fault as fault:
        yield str(fault)
        return
    if len(files) < items:
        yield f"{path} has {len(files)} files; its design has {items}"
    yield from islice((f"{path} holds {found}" for file in files if (found := item_fault(*file))), 1)
