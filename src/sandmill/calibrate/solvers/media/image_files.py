"""Read the pictures of a task with their table, here and in scripts."""

from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.models.package import TaskFacts


def read_pictures(folder: Path, facts: TaskFacts):
    raise NotImplementedError


def reading_lines(facts: TaskFacts) -> list[str]:
    raise NotImplementedError
