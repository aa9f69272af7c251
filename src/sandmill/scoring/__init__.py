"""Metrics with direction, decision rule and bootstrap, answer forms, and a strict reader of submissions."""

from sandmill.scoring.base import Metric
from sandmill.scoring.catalogue import get_metric
from sandmill.scoring.support import encoding_for

__all__ = ["Metric", "encoding_for", "get_metric"]
