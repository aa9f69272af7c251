"""What all texts for agents name alike: files of the working directory, headings of descriptions, and libraries."""

from collections.abc import Mapping
from types import MappingProxyType

PUBLIC = "public"
"""Read-only folder in the working directory that holds the task's public files."""
SUBMISSION = "submission.csv"
"""File that the agent's code writes into the working directory."""
SCRIPT = "solution.py"
"""Name of the agent's code in the working directory."""
COMMAND = f"python {SCRIPT} {PUBLIC} {SUBMISSION}"
"""Command line of a run."""
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
"""Headings of each section, of which a description has one."""
LIBRARIES: Mapping[str, str] = {
    "numpy": "numpy",
    "pandas": "pandas",
    "polars": "polars",
    "scipy": "scipy.stats",
    "scikit-learn": "sklearn.ensemble",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "pyarrow": "pyarrow",
    "joblib": "joblib",
    "Pillow": "PIL.Image",
}
"""Usual name of each library, and a module whose import shows that the library works."""
TORCH_LIBRARIES: Mapping[str, str] = {"torch": "torch", "torchvision": "torchvision.models"}
"""The same for the libraries of an agent environment with PyTorch."""


def public_path(name: str) -> str:
    """Return the path of a public file, relative to the working directory."""
    return f"{PUBLIC}/{name}"


def section_of(heading: str) -> str | None:
    """Return the section that a heading begins; None for headings that a task has of its own."""
    return next((section for section, headings in HEADINGS.items() if heading in headings), None)
