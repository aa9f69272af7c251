"""Read tables."""

from pathlib import Path
from typing import Any

import pandas as pd


def read_csv(path: Path, **settings: Any) -> pd.DataFrame:
    """Read a table, also an empty one."""
    try:
        return pd.read_csv(path, **{"float_precision": "round_trip", **settings})
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
