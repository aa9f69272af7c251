"""Prefect flows: each reads like a table of contents. Run from the repository root: python -m flows.build_release."""

import os

os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
