"""Parts of messages: a short form of a value, a list of choices, a suggestion for a misspelled word."""

import difflib
import json
from collections.abc import Iterable

from sandmill.errors import shorten

_SHOWN = 60
"""Characters of a value that a message repeats."""


def show(value: object) -> str:
    """Write a value as in YAML, or name its kind if it is a list, a mapping or something else."""
    if isinstance(value, str):
        return f'"{shorten(value, _SHOWN)}"'
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a mapping of {len(value)} fields"
    try:
        return shorten(json.dumps(value), _SHOWN)
    except (TypeError, ValueError):
        return f"a {type(value).__name__}"


def any_of(choices: Iterable[str]) -> str:
    """List the accepted values."""
    listed = [str(choice) for choice in choices]
    return listed[0] if len(listed) == 1 else f"one of {', '.join(listed)}"


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """Suggest the choice that is closest to a word; empty if none is close."""
    by_folded = {str(choice).casefold().replace("-", "_"): str(choice) for choice in choices}
    folded = shorten(str(word), 200).casefold().replace("-", "_").replace(" ", "_")
    near = difflib.get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return f'Did you mean "{by_folded[near[0]]}"?' if near else ""
