"""Extract a short plain summary from a competition's description."""

import re
import unicodedata
from pathlib import Path

from sandmill.errors import shorten
from sandmill.seeds.regular import read_text
from sandmill.seeds.source_problems import SourceProblem, Unsound

MAX_SUMMARY = 600
"""Characters of the first paragraph that are kept."""

_MAX_LINE = 5000
"""Characters of a line that are read. The patterns below take time that grows with its square."""
_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^>]*>|[*_`#>]")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def read_summary(path: Path, file: str) -> str:
    """Return the first paragraph under the first heading as short plain text.

    Raises:
        Unsound: if the file is absent, a link, too large, not text or has no paragraph.
    """
    paragraph: list[str] = []
    for line in read_text(path, file).splitlines():
        text = plain_text(line) if not line.lstrip().startswith("#") else ""
        if text:
            paragraph.append(text)
        elif paragraph:
            break
    if not paragraph:
        raise Unsound([SourceProblem(file, "no paragraph", "a heading and a paragraph of text")])
    return shorten(" ".join(paragraph), MAX_SUMMARY)


def plain_text(line: str) -> str:
    """Remove markup, links and control characters."""
    text = _LINK.sub(r"\1", _MARKUP.sub("", line[:_MAX_LINE]))
    return " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text).split())
