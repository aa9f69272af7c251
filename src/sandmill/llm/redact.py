"""Keys never leave the environment: whatever is logged, recorded or shown passes through here first."""

import os
import re
from collections.abc import Mapping
from functools import cache

MARK = "[key]"
_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_LOOKS = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|AIza)[-_A-Za-z0-9]{16,}|(?<=[Bb]earer )[-._~+/A-Za-z0-9]{8,}=*")
"""What keys of the usual providers look like, for those that are not in the environment."""
_SHORTEST = 8
"""A shorter value would be found inside ordinary words."""


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Replace every key by a mark.

    Args:
        text: to be shown or kept.
        environment: where keys are; that of the process if None.
    """
    variables = os.environ if environment is None else environment
    values = {variables[name] for name in variables if _names_a_key(name)}
    for value in sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(value, MARK)
    return _LOOKS.sub(MARK, text)


@cache
def _names_a_key(variable: str) -> bool:
    return _NAMES.search(variable) is not None
