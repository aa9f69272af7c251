"""Zip archives of item files. They are the same bytes on every machine, and reveal nothing but names and content."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from sandmill.errors import name_some
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


def unpack(public: Mapping[str, bytes], path: str, faults: list[str]) -> list[tuple[str, bytes]]:
    """Return names and contents of an archive in its order. Whatever else an entry carries is a fault.

    Returns:
        Nothing if the archive cannot be read, would grow, or holds two files of the same name.
    """
    known = len(faults)
    if path not in public:
        faults.append(f"{path}: the file is not there")
        return []
    try:
        with ZipFile(BytesIO(public[path])) as archive:
            infos = archive.infolist()
            if told := [info.filename for info in infos if _tells_more(info)]:
                faults.append(f"{path}: files with a time, comment or packing of their own ({name_some(told)})")
            if archive.comment:
                faults.append(f"{path}: the archive has a comment")
            names = [info.filename for info in infos]
            if len(set(names)) < len(names):
                faults.append(f"{path}: files of the same name")
            if sum(info.file_size for info in infos) > len(public[path]):
                faults.append(f"{path}: files that share bytes of the archive")
            if len(faults) > known:
                return []
            files = [(info.filename, archive.read(info)) for info in infos]
    except BROKEN as error:
        faults.append(f"{path}: not a zip archive ({error})")
        return []
    if pack(files) != public[path]:
        faults.append(f"{path}: holds bytes beside its files, or files with attributes of their own")
    return files


def archive_excess(path: str, content: bytes, items: int, item: str) -> Iterator[str]:
    """Count bytes, files, pixels and samples without unpacking more than the start of a file.

    Entries that share bytes of the archive, and small files that decode to large items, are refused unread.

    Args:
        path: of the archive, which may be a stranger's.
        content: its bytes.
        items: files that it should hold.
        item: what a file holds.
    """
    if len(content) > MAX_FILE_BYTES:
        yield f"{path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
        return
    try:
        with ZipFile(BytesIO(content)) as archive:
            infos = archive.infolist()
            is_small = sum(info.file_size for info in infos) <= len(content) and len(infos) <= items
            packed = [info.filename for info in infos if info.compress_type != ZIP_STORED]
            faulty = [] if packed or not is_small else list(_item_faults(archive, infos))
    except BROKEN as error:
        yield f"{path} is not a zip archive ({error})"
        return
    if not is_small:
        yield f"{path} holds more files or bytes than an archive of {items} {item}s can"
    yield from (f"{path} holds {fault}" for fault in faulty[:1])
    if len(infos) != items:
        yield f"{path} has {len(infos)} files; its design has {items}"
    if packed:
        yield f"{path} holds compressed files ({name_some(packed)}); {item}s are stored as they are"


def _item_faults(archive: ZipFile, infos: list[ZipInfo]) -> Iterator[str]:
    return (fault for info in infos if (fault := item_fault(info.filename, archive.read(info))))


def _tells_more(info: ZipInfo) -> bool:
    """Whether an entry carries more than its name and content."""
    return info.date_time != _DAY or info.compress_type != ZIP_STORED or bool(info.comment or info.extra)
