"""Metrics with their direction, decision rule and bootstrap; submissions in, scores out."""

from sandmill.metrics.base import Metric
from sandmill.metrics.registry import SUPPORTED, encoding_for, get_metric

__all__ = ["SUPPORTED", "Metric", "encoding_for", "get_metric"]
