"""Imports of torch and the packages around it, and the error of a missing extra."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sandmill.errors import InputError, Problem


@contextmanager
def require_learning() -> Iterator[None]:
    """Import torch and the packages around it, and name the extra if one is missing.

    The first import of huggingface_hub decides whether trainers report their use to its servers. They do not.

    Raises:
        InputError: if a package cannot be found.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        yield
    except ModuleNotFoundError as error:
        hint = "Install it with: pip install 'sandmill[learning]'"
        problem = Problem(f"package {error.name}", "no such package", "an installed package", hint)
        raise InputError("sandmill.learning", [problem], "") from error


@contextmanager
def quiet_bars() -> Iterator[None]:
    """Show no progress bars of transformers: a policy is read and written in milliseconds."""
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()
