"""The code blocks of docs/training.md, for the tests that run them."""

import re

from tests.releases import REPOSITORY

TEXT = (REPOSITORY / "docs" / "training.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def python_blocks() -> list[str]:
    """Return the Python blocks, in order."""
    return blocks("python")
