"""Where an agent's code finds its files and leaves its answer, so that every text states the layout of the sandbox."""

PUBLIC = "public"
"""Read-only folder in the working directory that holds the task's public files."""
SUBMISSION = "submission.csv"
"""File that the agent's code writes into the working directory."""
SCRIPT = "solution.py"
"""Name under which the agent's code lies in the working directory."""
COMMAND = f"python {SCRIPT} {PUBLIC} {SUBMISSION}"
"""Command line of a run."""


def public_path(name: str) -> str:
    """Path of a public file as code in the working directory opens it."""
    return f"{PUBLIC}/{name}"
