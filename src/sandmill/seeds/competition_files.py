"""Classify the files in the public folder of a competition by their names. No file is opened."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandmill.models.structure import Modality
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.table_files import TABLE_SUFFIXES

_SUFFIXES = {
    Modality.IMAGE: ("jpg", "jpeg", "png", "tif", "tiff", "dcm", "dicom", "tfrec", "bmp", "gif", "webp"),
    Modality.AUDIO: ("wav", "aif", "aiff", "flac", "mp3", "ogg"),
}
_MODALITY_OF = {suffix: modality for modality, suffixes in _SUFFIXES.items() for suffix in suffixes}
_ARCHIVES = frozenset({".zip", ".7z", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".rar"})
_DOCUMENTS = frozenset({".md", ".html", ".pdf"})
_TOP_LEVEL_DOCUMENTS = _DOCUMENTS | {".txt"}
"""At the top level a text file is documentation; in a subfolder it is data."""

_MOST_ENTRIES = 2000
"""Files that are classified at most."""
_MOST_FOLDERS = 20_000
_MOST_LEVELS = 50
_FEWER_FOLDERS = f"at most {_MOST_FOLDERS} folders, at most {_MOST_LEVELS} levels deep"


@dataclass(frozen=True)
class PublicFiles:
    """The files of a public folder, by kind."""

    tables: dict[str, Path]
    """CSV and Parquet files directly in the folder, by name."""
    media: Modality | None
    """Image or audio, whichever has more files."""
    archives: tuple[str, ...]
    """Archives that are not also unpacked in the folder."""
    others: tuple[str, ...]
    """All other files that may hold data, including tables in subfolders."""


def list_public(folder: Path, file: str) -> PublicFiles:
    """List a public folder, `file` in messages, without hidden files. Links are not followed; a missing one is empty.

    Raises:
        Unsound: if it has more or deeper folders than any competition needs.
    """
    tables: dict[str, Path] = {}
    archives: list[str] = []
    others: list[str] = []
    suffixes: list[str] = []
    names = list(_walk(folder, file))
    for name in names:
        suffix, is_top = Path(name).suffix.lower(), "/" not in name
        if is_top and suffix in TABLE_SUFFIXES and not (folder / name).is_dir():
            tables[name] = folder / name
        elif suffix[1:] in _MODALITY_OF:
            suffixes.append(suffix[1:])
        elif suffix in _ARCHIVES:
            archives += [] if name.removesuffix(suffix) in names else [name]
        elif suffix not in (_TOP_LEVEL_DOCUMENTS if is_top else _DOCUMENTS):
            others.append(name)
    return PublicFiles(tables, _most_common(suffixes), tuple(archives), tuple(others))


def modality_of_names(names: Iterable[str | None]) -> Modality | None:
    """Return image or audio if at least half of the cells of a column are names of such files."""
    present = [name for name in names if name]
    found = [Path(name).suffix.lower()[1:] for name in present]
    known = [suffix for suffix in found if suffix in _MODALITY_OF]
    return _most_common(known) if present and 2 * len(known) >= len(present) else None


def _walk(folder: Path, file: str) -> Iterator[str]:
    """Yield relative paths in a fixed order: the files of a folder before its subfolders."""
    seen = folders_seen = 0
    for place, folders, names in os.walk(folder):
        inside = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(name for name in inside if not Path(place, name).is_symlink())
        level = Path(place).relative_to(folder).parts
        for name in sorted({*inside, *names} - {*folders}):
            if not name.startswith("."):
                yield "/".join((*level, name))
                seen += 1
                if seen >= _MOST_ENTRIES:
                    return
        folders_seen += len(folders)
        if folders and len(level) >= _MOST_LEVELS:
            raise Unsound([SourceProblem(file, f"folders more than {_MOST_LEVELS} levels deep", _FEWER_FOLDERS)])
        if folders_seen > _MOST_FOLDERS:
            raise Unsound([SourceProblem(file, f"more than {_MOST_FOLDERS} folders", _FEWER_FOLDERS)])


def _most_common(suffixes: list[str]) -> Modality | None:
    found = Counter(_MODALITY_OF[suffix] for suffix in suffixes)
    return found.most_common(1)[0][0] if found else None
