"""Map the grader names of MLE-bench configurations to metric names, and list what designs do not support yet."""

import re
from importlib.resources import files
from types import MappingProxyType

import yaml

from sandmill.errors import shorten
from sandmill.models.kind import kind_of, kinds_of
from sandmill.models.structure import MetricName, Structure, TargetKind
from sandmill.scoring.support import RENDERED_FORMS, SUPPORTED_TASKS

_ALIASES: dict[str, list[str]] = yaml.safe_load(files("sandmill.seeds").joinpath("graders.yaml").read_text("utf-8"))
GRADERS = MappingProxyType(
    {name.replace("_", "-"): name for name in MetricName}
    | {alias: MetricName(name) for name, aliases in _ALIASES.items() for alias in aliases}
)
"""Metrics by name of the grader: lower case, and a dash in place of everything but letters and digits."""

_WIDE = frozenset({TargetKind.MULTI_TARGET, TargetKind.MULTILABEL})
_RENDERED = {kind: tuple(metric for target, metric in RENDERED_FORMS if target is kind) for kind, _ in RENDERED_FORMS}
_TASKS = {**SUPPORTED_TASKS, **_RENDERED}
_METRICS = frozenset(metric for metrics in _TASKS.values() for metric in metrics)


def metric_of(grader: str) -> MetricName | None:
    """Return the metric of a grader's name, in any spelling; None if it is unknown."""
    return GRADERS.get(re.sub(r"[^a-z0-9]+", "-", shorten(grader, 200).lower()).strip("-"))


def missing_metric(metric: MetricName) -> tuple[str, ...]:
    """Return a need if no target can be made for a metric; empty otherwise."""
    return () if metric in _METRICS else (f"metric {metric}",)


def missing_support(structure: Structure) -> tuple[str, ...]:
    """List the parts of a structure that cannot be made yet.

    Returns:
        Needs such as `modality image`, `target multi_target`, `metric rmsle_columns` or
        `metric rmse with target binary`; empty if the structure is supported.
    """
    needs = []
    if not kinds_of(structure.modality):
        needs.append(f"modality {structure.modality}")
    if structure.target not in _TASKS:
        needs.append(f"target {structure.target}")
    needs += missing_metric(structure.metric)
    if structure.metric in _METRICS and structure.metric not in _TASKS.get(structure.target, _METRICS):
        needs.append(f"metric {structure.metric} with target {structure.target}")
    if structure.n_targets > 1 and structure.target in _TASKS and structure.target not in _WIDE:
        needs.append(f"{structure.n_targets} targets")
    kind = kind_of(structure)
    if not needs and (kind is None or (kind.tasks is None and structure.target not in SUPPORTED_TASKS)):
        needs.append(f"modality {structure.modality} with this target and metric")
    return tuple(needs)
