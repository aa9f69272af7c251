"""Short scripts that solve a task, written from what the panel's searches found on its training rows."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

BLOCKS: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("blocks.yaml").read_text("utf-8"))
"""Blocks of source by name, and texts about them."""


def block(name: str, /, **texts: str) -> list[str]:
    """Return the lines of a named block of source code. The given texts replace fields such as `@name` in it."""
    return re.sub(r"@(\w+)", lambda field: texts[field[1]], BLOCKS[name]).splitlines()
