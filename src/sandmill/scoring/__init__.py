"""Metrics with direction, decision rule and bootstrap, answer forms, and a strict reader of submissions."""

from sandmill.scoring.base import Metric
from sandmill.scoring.registry import encoding_for, get_metric

__all__ = ["Metric", "encoding_for", "get_metric"]
