"""Removal of API keys from text that is logged, recorded or shown."""

import os
import re

MARK = "[key]"
_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
"""Environment variables whose values are keys."""
_LOOKS = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|AIza)[-_A-Za-z0-9]{16,}|(?<=[Bb]earer )[-._~+/A-Za-z0-9]{8,}=*")
"""Key formats of common providers, for keys that are not in the environment."""
_SHORTEST = 8
"""Shorter values are not replaced: they could be part of ordinary words."""


def redact(text: str) -> str:
    """Replace every key of the environment, and what looks like one, by `MARK`."""
    keys = {value for name, value in os.environ.items() if len(value) >= _SHORTEST and _NAMES.search(name)}
    for key in sorted(keys, key=len, reverse=True):
        text = text.replace(key, MARK)
    return _LOOKS.sub(MARK, text)
