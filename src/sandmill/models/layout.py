"""Files of an agent's working directory. All texts for agents take the names from here."""

PUBLIC = "public"
"""Read-only folder in the working directory that holds the task's public files."""
SUBMISSION = "submission.csv"
"""File that the agent's code writes into the working directory."""
SCRIPT = "solution.py"
"""Name of the agent's code in the working directory."""
COMMAND = f"python {SCRIPT} {PUBLIC} {SUBMISSION}"
"""Command line of a run."""


def public_path(name: str) -> str:
    """Return the path of a public file, relative to the working directory."""
    return f"{PUBLIC}/{name}"
