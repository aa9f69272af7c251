"""Sections of a description and the headings that they may have."""

from collections.abc import Mapping
from types import MappingProxyType

HEADINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "overview": ("Overview", "Background", "About", "The setting", "Introduction", "Context", "Who is asking"),
        "files": ("Files", "Data", "Data files", "What you get", "The data"),
        "columns": ("Columns", "Fields", "Data fields", "What the columns mean", "Column by column", "Glossary"),
        "evaluation": ("Evaluation", "Scoring", "Metric", "How submissions are scored", "Score"),
        "environment": ("Environment", "Tools", "Where code runs", "Technical notes"),
        "submission": ("Submission", "Submission file", "What to hand in", "Answers", "Format of answers"),
    }
)
"""Headings of each section. The first is that of descriptions without a style of their own."""


def section_of(heading: str) -> str | None:
    """Return the section that a heading begins; None for headings that a task has of its own."""
    return next((section for section, headings in HEADINGS.items() if heading in headings), None)
