"""The texts of a task: what its prompt says, and which of its public files scripts do not see.

Description and data dictionary stand in the prompt, and runs get the other public files alone: a script cannot search
them for facts. Descriptions of older releases list the data dictionary among the files; there it is one.
"""

from collections.abc import Mapping

from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.layout import public_path

DESCRIPTION = "description.md"
TEXTS = frozenset({DESCRIPTION, DATA_DICTIONARY})
"""Names of the texts among the public files."""
_LISTED = f"`{public_path(DATA_DICTIONARY)}`"


def hidden_texts(description: str) -> frozenset[str]:
    """Return the names of the public files that runs do not get; none if the description lists the data dictionary."""
    return frozenset() if _LISTED in description else TEXTS


def prompt_text(public: Mapping[str, bytes]) -> str:
    """Return what the prompt says of a task: its description, and the data dictionary as the last section.

    Args:
        public: public files by path, or the two texts alone.

    Raises:
        UnicodeDecodeError: if a text is not UTF-8.
    """
    description, dictionary = (public.get(name, b"").decode("utf-8") for name in (DESCRIPTION, DATA_DICTIONARY))
    if not dictionary or _LISTED in description:
        return description
    section = f"#{dictionary}" if dictionary.startswith("# ") else dictionary
    return f"{description.rstrip()}\n\n{section}"


def files_of_runs(public: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the public files that scripts read."""
    hidden = hidden_texts(public.get(DESCRIPTION, b"").decode(errors="replace"))
    return {path: content for path, content in public.items() if path not in hidden}
