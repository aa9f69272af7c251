"""The files of a task, read once, with what several solvers derive from them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.told import Told


@dataclass
class Table:
    """Training and test rows of one task."""

    told: Told
    ids: list[str]
    train: pd.DataFrame
    test: pd.DataFrame
    target: Any
    numeric: list[str]
    categorical: list[str]
    made: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path, told: Told) -> "Table":
        """Read train.csv and test.csv; an empty cell is a missing one, and columns that never change are dropped."""
        exact = {told.id_column: str} | ({told.target_column: str} if told.classes else {})
        reading: dict[str, Any] = {"dtype": exact, "keep_default_na": False, "na_values": [""]}
        train = pd.read_csv(folder / "train.csv", **reading)
        test = pd.read_csv(folder / "test.csv", **reading)
        if told.classes:
            codes = {name: code for code, name in enumerate(told.classes)}
            target = np.array([codes[name] for name in train[told.target_column]])
        else:
            target = train[told.target_column].to_numpy(dtype=float)
        varying = [name for name in test.columns if name != told.id_column and train[name].nunique(dropna=False) > 1]
        numeric = [name for name in varying if pd.api.types.is_numeric_dtype(train[name])]
        categorical = [name for name in varying if name not in numeric]
        return cls(told, list(test[told.id_column]), train, test, target, numeric, categorical)

    def once(self, name: str, make: Callable[["Table"], Any]) -> Any:
        """Keep what was made, so that it is made only once."""
        if name not in self.made:
            self.made[name] = make(self)
        return self.made[name]
