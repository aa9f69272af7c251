"""What is said to be kept of a seed is kept, and what is said to change does change."""

import pytest

from sandmill.design import design_task
from sandmill.design.kept import kept_of, lost_of
from sandmill.models.base import Band
from sandmill.models.links import class_names
from sandmill.models.plan import Slot
from sandmill.models.structure import ColumnMix, MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.rng import Streams
from sandmill.seeds import ingest
from tests.designs import SECRET, make_seed

BINARY = (TargetKind.BINARY, MetricName.ROC_AUC)


def _structure(task=BINARY, columns=None, **changes):
    named = {name: changes.pop(name) for name in ("positive_share", "n_classes", "n_targets") if name in changes}
    structure = make_seed(*task, **{"missing_share": 0.0} | changes).structure
    return structure.model_copy(update=named | ({"columns": columns} if columns else {}))


@pytest.mark.parametrize(
    ("structure", "lost"),
    [
        (_structure(), ()),
        (_structure(positive_share=0.3), ()),
        (_structure(positive_share=0.002), ("positive share 0.002 (designs have 0.2)",)),
        (
            _structure(split=SplitKind.RANDOM, pathologies=(PathologyKind.GROUPS,)),
            ("split random (designs are grouped: it has groups)",),
        ),
        (
            _structure(split=SplitKind.TEMPORAL, pathologies=(PathologyKind.GROUPS,)),
            ("fault groups (a split by time has no groups)",),
        ),
        (
            _structure((TargetKind.REGRESSION, MetricName.RMSE), split=SplitKind.STRATIFIED),
            ("split stratified (designs are random: only classes can be stratified)",),
        ),
        (
            _structure((TargetKind.REGRESSION, MetricName.RMSE), pathologies=(PathologyKind.LABEL_NOISE,)),
            ("fault label_noise (only classes and labels have it)",),
        ),
        (
            _structure((TargetKind.MULTICLASS, MetricName.ACCURACY), n_classes=26),
            ("26 classes (designs have at most 7)",),
        ),
        (_structure(columns=ColumnMix(numeric=3, text=2)), ("2 text columns",)),
    ],
)
def test_what_designs_change_of_a_declared_structure_is_said(structure, lost):
    assert tuple(lost_of(structure)) == lost


@pytest.mark.parametrize("number", range(0, 46, 3))
def test_designs_have_what_is_said_to_be_kept(number):
    seed = ingest(()).supported[number]
    spec = design_task(Slot(number=number, seed=seed, band=Band.HARD), Streams(SECRET, f"kept {number}"), 0.6)
    kept = dict(line.split(" ", 1) for line in kept_of(seed.structure) if not line.startswith("positive"))
    assert (kept["target"], kept["metric"]) == (spec.target, spec.metric)
    assert spec.split in kept["split"].split(" or ")
    limits = {"classes": len(class_names(spec.mechanism.link))}
    for line in lost_of(seed.structure):
        count, _, rest = line.partition(" ")
        if "designs have at most" in rest and rest.split()[0] in limits:
            assert limits[rest.split()[0]] <= int(line.rstrip(")").rpartition(" ")[2]) < int(count)
