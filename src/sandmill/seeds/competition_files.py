"""What lies in the public folder of a competition, judged by the names of files: nothing is opened here."""

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
"""A text file beside the tables describes them; one in a folder is data."""

_MOST_ENTRIES = 2000
"""Files looked at: enough to see what a folder is made of."""
_MOST_FOLDERS = 20_000
_MOST_LEVELS = 50
_FEWER_FOLDERS = f"at most {_MOST_FOLDERS} folders, at most {_MOST_LEVELS} levels deep"


@dataclass(frozen=True)
class PublicFiles:
    """The files of a public folder by what they are."""

    tables: dict[str, Path]
    """CSV and Parquet files directly in the folder, by name."""
    media: Modality | None
    """Images or sounds, whichever are more."""
    archives: tuple[str, ...]
    """Packed files that have no unpacked twin beside them."""
    others: tuple[str, ...]
    """Every other file that may hold data, tables in folders included."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to learn from."""
        return not (self.tables or self.media or self.archives or self.others)


def list_public(folder: Path, file: str) -> PublicFiles:
    """List a public folder, links not followed and hidden files left out. A folder that is absent is empty.

    Args:
        folder: `prepared/public` of a competition.
        file: its name in messages.

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
    """Tell what files the cells of a column name, if at least half of them name images or sounds."""
    present = [name for name in names if name]
    found = [Path(name).suffix.lower()[1:] for name in present]
    known = [suffix for suffix in found if suffix in _MODALITY_OF]
    return _most_common(known) if present and 2 * len(known) >= len(present) else None


def _walk(folder: Path, file: str) -> Iterator[str]:
    """Relative names in a fixed order, files of a folder before its subfolders.

    Raises:
        Unsound: if folders lie deeper inside each other than `_MOST_LEVELS`, or are more than `_MOST_FOLDERS`.
    """
    waiting = [""]
    seen = folders_seen = 0
    while waiting:
        place = waiting.pop()
        files, folders = _children(folder / place)
        for name in files:
            yield f"{place}{name}"
            seen += 1
            if seen >= _MOST_ENTRIES:
                return
        folders_seen += len(folders)
        if folders and place.count("/") >= _MOST_LEVELS:
            raise Unsound([SourceProblem(file, f"folders more than {_MOST_LEVELS} levels deep", _FEWER_FOLDERS)])
        if folders_seen > _MOST_FOLDERS:
            raise Unsound([SourceProblem(file, f"more than {_MOST_FOLDERS} folders", _FEWER_FOLDERS)])
        waiting += [f"{place}{name}/" for name in reversed(folders)]


def _children(folder: Path) -> tuple[list[str], list[str]]:
    """Names of files and of folders, sorted, hidden ones left out; a folder that cannot be listed is empty."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:
        return [], []
    return sorted(files), sorted(folders)


def _most_common(suffixes: list[str]) -> Modality | None:
    found = Counter(_MODALITY_OF[suffix] for suffix in suffixes)
    return found.most_common(1)[0][0] if found else None
