"""Data of tests."""

from pathlib import Path

DATA = Path(__file__).parent
SCRIPTS = DATA / "scripts"
