"""Read real tasks as `SeedTask`s: cards, tables and MLE-bench competitions."""

from sandmill.seeds.graders import missing_support
from sandmill.seeds.intake import ingest, survey

__all__ = ["ingest", "missing_support", "survey"]
