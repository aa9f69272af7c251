"""What all texts for agents name alike: files of the working directory, headings of descriptions, and libraries."""

from collections.abc import Mapping, Sequence

from sandmill.models.words import WORDS

PUBLIC = "public"
"""Read-only folder in the working directory that holds the task's public files."""
SUBMISSION = "submission.csv"
"""File that the agent's code writes into the working directory."""
SCRIPT = "solution.py"
"""Name of the agent's code in the working directory."""
COMMAND = f"python {SCRIPT} {PUBLIC} {SUBMISSION}"
"""Command line of a run."""
HEADINGS: Mapping[str, Sequence[str]] = WORDS["headings"]
"""Headings of each section, of which a description has one."""
LIBRARIES: Mapping[str, str] = WORDS["libraries"]
"""Usual name of each library, and a module whose import shows that the library works."""
TORCH_LIBRARIES: Mapping[str, str] = WORDS["torch_libraries"]
"""The same for the libraries of an agent environment with PyTorch."""


def public_path(name: str) -> str:
    """Return the path of a public file, relative to the working directory."""
    return f"{PUBLIC}/{name}"


def section_of(heading: str) -> str | None:
    """Return the section that a heading begins; None for headings that a task has of its own."""
    return next((section for section, headings in HEADINGS.items() if heading in headings), None)
