"""Real tasks in: cards, tables and MLE-bench competitions are read, checked and profiled into `SeedTask`s."""

from sandmill.seeds.intake import ingest, survey
from sandmill.seeds.support import missing_support

__all__ = ["ingest", "missing_support", "survey"]
