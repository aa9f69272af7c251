"""Metrics with direction, decision rule and bootstrap, answer forms, and a strict reader of submissions."""

from sandmill.score.base import Metric
from sandmill.score.catalogue import get_metric
from sandmill.score.support import encoding_for

__all__ = ["Metric", "encoding_for", "get_metric"]
