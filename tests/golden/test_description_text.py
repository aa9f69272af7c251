"""Descriptions, word for word, one for each form of submission. Write them anew with SANDMILL_WRITE_GOLDEN=1."""

import os
from pathlib import Path

import pytest

from sandmill.draw import render
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.scoring.support import ANSWER_FORMS
from tests.designs import SECRET, make_spec

FOLDER = Path(__file__).parent / "descriptions"
_T, _M, _S, _P = TargetKind, MetricName, SplitKind, PathologyKind

CASES = {
    "probability.md": (_T.BINARY, _M.ROC_AUC, _S.GROUPED, (_P.MIXED_TYPES, _P.HIGH_CARDINALITY)),
    "label-binary.md": (_T.BINARY, _M.MCC, _S.RANDOM, (_P.OUTLIERS,)),
    "label.md": (_T.MULTICLASS, _M.BALANCED_ACCURACY, _S.STRATIFIED, (_P.DUPLICATES,)),
    "label-ordinal.md": (_T.ORDINAL, _M.QWK, _S.STRATIFIED, ()),
    "class_probabilities.md": (_T.MULTICLASS, _M.LOG_LOSS, _S.TEMPORAL, ()),
    "ranked_list.md": (_T.MULTICLASS, _M.MAP_AT_K, _S.RANDOM, (_P.LABEL_NOISE,)),
    "label_probabilities.md": (_T.MULTILABEL, _M.LWLRAP, _S.GROUPED, ()),
    "label_list.md": (_T.MULTILABEL, _M.F1_SAMPLES, _S.RANDOM, (_P.TIMESTAMPS,)),
    "value.md": (_T.REGRESSION, _M.RMSLE, _S.TEMPORAL, (_P.MIXED_TYPES,)),
    "value-count.md": (_T.COUNT, _M.POISSON_DEVIANCE, _S.RANDOM, (_P.HIGH_CARDINALITY,)),
    "values.md": (_T.MULTI_TARGET, _M.RMSE_COLUMNS, _S.GROUPED, (_P.TIMESTAMPS,)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_description_reads_as_it_did(name):
    target, metric, split, pathologies = CASES[name]
    slot = list(CASES).index(name)
    spec = make_spec(target, metric, slot, split=split, pathologies=pathologies)
    text, path = render(spec, SECRET).package.public["description.md"].decode(), FOLDER / name
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def test_every_encoding_that_is_made_has_its_text():
    assert {ANSWER_FORMS[target, metric] for target, metric, _, _ in CASES.values()} == set(ANSWER_FORMS.values())
