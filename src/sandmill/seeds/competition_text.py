"""What a competition's description tells: plain text to show, and whether its examples are files of another kind."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sandmill.models.structure import Modality
from sandmill.seeds.document import read_text
from sandmill.seeds.findings import Finding, Unsound
from sandmill.seeds.wording import shorten

MAX_SUMMARY = 600
"""Characters of the first paragraph that are kept."""

_SUFFIXES = {
    Modality.IMAGE: ("jpg", "jpeg", "png", "tif", "tiff", "dcm", "tfrec", "bmp"),
    Modality.AUDIO: ("wav", "aif", "aiff", "flac", "mp3", "ogg"),
}
_MODALITY_OF = {suffix: modality for modality, suffixes in _SUFFIXES.items() for suffix in suffixes}
_NAMED_FILE = re.compile(rf"\.({'|'.join(_MODALITY_OF)})\b", re.IGNORECASE)
_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^>]*>|[*_`#>]")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_LISTED_ENTRIES = 1000


@dataclass(frozen=True)
class Description:
    """What was read of a description."""

    summary: str
    named_modality: Modality | None
    """Kind of the files that the text names most."""


def read_description(path: Path, file: str) -> Description:
    """Take the first paragraph under the first heading as plain, short text; it is data and nothing acts on it.

    Raises:
        Unsound: if the file is absent, too large, not text or has no paragraph.
    """
    paragraph: list[str] = []
    whole = read_text(path, file)
    for line in whole.splitlines():
        text = plain_text(line) if not line.lstrip().startswith("#") else ""
        if text:
            paragraph.append(text)
        elif paragraph:
            break
    if not paragraph:
        raise Unsound([Finding(file, "no paragraph", "a heading and a paragraph of text")])
    return Description(shorten(" ".join(paragraph), MAX_SUMMARY), _most_common(_NAMED_FILE.findall(whole)))


def plain_text(line: str) -> str:
    """Drop markup, links and characters that do not print."""
    text = _MARKUP.sub("", _LINK.sub(r"\1", line))
    return " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text).split())


def modality_of_files(folder: Path) -> Modality | None:
    """Tell whether images or sounds lie beside the tables."""
    names = (entry.name for entry, _ in zip(folder.rglob("*"), range(_LISTED_ENTRIES), strict=False))
    return _most_common([Path(name).suffix[1:] for name in names])


def _most_common(suffixes: list[str]) -> Modality | None:
    found = Counter(_MODALITY_OF[suffix.lower()] for suffix in suffixes if suffix.lower() in _MODALITY_OF)
    return found.most_common(1)[0][0] if found else None
