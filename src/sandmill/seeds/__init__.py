"""Read real tasks as `SeedTask`s: cards, tables and MLE-bench competitions."""

from sandmill.seeds.intake import ingest, survey
from sandmill.seeds.support import missing_support

__all__ = ["ingest", "missing_support", "survey"]
