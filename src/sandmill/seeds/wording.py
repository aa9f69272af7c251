"""Small texts that every message needs: a value shown short, a list of choices, the word that was probably meant."""

import difflib
import json
from collections.abc import Iterable

_SHOWN = 60
"""Characters of a value that a message repeats: enough to find it, too few to carry a text."""


def shorten(text: str, limit: int = _SHOWN) -> str:
    """Cut a long text and drop what does not print, since it goes to a terminal."""
    head = "".join(c if c.isprintable() else "?" for c in text[: limit + 1])
    return head if len(text) <= limit else f"{head[:limit]}..."


def show(value: object) -> str:
    """Write a value as a person would in YAML, with its kind where that is the mistake."""
    if isinstance(value, str):
        return f'"{shorten(value)}"'
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a mapping of {len(value)} fields"
    try:
        return shorten(json.dumps(value))
    except (TypeError, ValueError):
        return f"a {type(value).__name__}"


def any_of(choices: Iterable[str]) -> str:
    """List the values that would have been right."""
    listed = [str(choice) for choice in choices]
    return listed[0] if len(listed) == 1 else f"one of {', '.join(listed)}"


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """Guess the meant word; empty if none is near."""
    by_folded = {str(choice).casefold().replace("-", "_"): str(choice) for choice in choices}
    folded = shorten(str(word), 200).casefold().replace("-", "_").replace(" ", "_")
    near = difflib.get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return f'Did you mean "{by_folded[near[0]]}"?' if near else ""
