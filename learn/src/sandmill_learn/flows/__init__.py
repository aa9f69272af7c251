"""Prefect flows: train a policy, and score one. Run: python -m sandmill_learn.flows.train_policy --help.

Prefect reads these settings when it is first imported, so they are set here. A setting of the operator's own wins.
"""

import os
from pathlib import Path

os.environ.setdefault("PREFECT_HOME", str(Path.cwd() / ".prefect"))
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
