"""Measure the traits of a task from its public files, by the code that measures seeds."""

import polars as pl

from sandmill.draw import render
from sandmill.kinds.files.base import layout_of
from sandmill.models.fidelity import Fidelity, FidelityVector, vector_of
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.package import TaskPackage
from sandmill.models.profile import TableProfile
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import Structure, TargetKind
from sandmill.seeds.profile import profile_sample

_TARGETS = frozenset({TargetKind.MULTILABEL, TargetKind.MULTI_TARGET})


def fidelity_of(package: TaskPackage) -> Fidelity:
    """Return the traits of a task beside those of its seed."""
    return Fidelity(seed=vector_of(package.spec.structure), task=traits_of(package))


def traits_of(package: TaskPackage) -> FidelityVector:
    """Return the traits of a task. Only tables have traits of columns."""
    spec, facts = package.spec, package.facts
    is_wide = facts.target in _TARGETS
    asked = Structure(
        modality=spec.structure.modality,
        target=facts.target,
        metric=facts.metric,
        split=spec.split,
        n_classes=None if is_wide else len(facts.classes) or None,
        n_targets=len(facts.submission_columns) if is_wide else 1,
    )
    return vector_of(asked, profile_of(package))


def draft(spec: TaskSpec, secret: bytes) -> TaskPackage:
    """Render a design with hardly any test rows, to measure what its training rows show."""
    few = spec.sizes.model_copy(update={"feedback": 100, "final": 100})
    return render(spec.model_copy(update={"sizes": few}), secret).package


def score_miss(spec: TaskSpec, secret: bytes) -> float:
    """Return how far a linear model scores on a table from what it scores on that of its seed, or boosting by half.

    Boosting follows a seed more often by itself than a linear model does.
    """
    made, seed = profile_of(draft(spec, secret)), spec.structure.profile
    if made is None or seed is None:
        return 0.0
    found = ((1.0, made.linear_score, seed.linear_score), (0.5, made.boosting_score, seed.boosting_score))
    known = ((share, one, other) for share, one, other in found if one is not None and other is not None)
    return max((share * abs(one - other) for share, one, other in known), default=0.0)


def profile_of(package: TaskPackage) -> TableProfile | None:
    """Profile train.csv; None where the items of a task are no rows of a table."""
    layout, facts = layout_of(package.spec), package.facts
    if package.spec.channel is not None or layout.train not in package.public:
        return None
    train = pl.read_csv(package.public[layout.train], infer_schema=False).drop(facts.id_column)
    targets = [name for name in facts.target_columns if name in train.columns]
    inputs = [name for name in train.columns if name not in targets]
    known = {layout.train, layout.test, layout.sample, "description.md"}
    extra = [path for path in package.public if path not in known]
    child = package.spec.mechanism.child
    profile = profile_sample(train, targets, facts.target, len(train), len(inputs))
    return profile.model_copy(
        update={
            "extra_files": len(extra),
            "has_dictionary": DATA_DICTIONARY in extra,
            "has_child": child is not None and child.path in extra,
        }
    )
