"""What lies in the public folder of a competition, judged by the names of files: nothing is opened here."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandmill.models.structure import Modality
from sandmill.seeds.tables import TABLE_SUFFIXES

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


def list_public(folder: Path) -> PublicFiles:
    """List a public folder, links not followed and hidden files left out. A folder that is absent is empty."""
    tables: dict[str, Path] = {}
    archives: list[str] = []
    others: list[str] = []
    suffixes: list[str] = []
    names = list(_walk(folder))
    for name in names:
        suffix, is_top = Path(name).suffix.lower(), "/" not in name
        if is_top and suffix in TABLE_SUFFIXES and (folder / name).is_file():
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


def _walk(folder: Path) -> Iterator[str]:
    """Relative names in a fixed order, files of the folder itself first."""
    seen = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield (Path(place) / name).relative_to(folder).as_posix()
                seen += 1
            if seen >= _MOST_ENTRIES:
                return


def _most_common(suffixes: list[str]) -> Modality | None:
    found = Counter(_MODALITY_OF[suffix] for suffix in suffixes)
    return found.most_common(1)[0][0] if found else None
