"""Names help to guess which columns matter, and do not tell it."""

import numpy as np
import pytest

from benchmarks.names import auc, plausible
from sandmill.check.meta_leak import NO_ROLE, check_meta_leak, guess_held_out, lay_out_columns
from sandmill.design import design_task
from sandmill.models.request import BuildRequest
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.rng import Streams
from sandmill.seeds import ingest
from tests.designs import SECRET


@pytest.mark.slow
def test_knowing_what_is_plausible_helps_and_learning_names_from_other_tasks_does_not():
    slots = plan_slots(plan_build(BuildRequest(name="names", tasks=200, seed=3, kinds={"table": 1.0}), ingest(())))
    specs = [
        design_task(slot, Streams(SECRET, f"slot {slot.number}"), first_hardness(slot.structure, slot.band))
        for slot in slots
    ]
    examples = lay_out_columns(specs, np.arange(len(specs)))
    none, guesses = examples.roles.index(NO_ROLE), guess_held_out(examples)
    matters = examples.role != none
    known, is_known = plausible(specs)
    assert 0.59 < auc(matters[is_known], known[is_known]) < 0.71
    seen, names, words = (auc(matters, -guess[:, none]) for guess in (guesses.seen, guesses.names, guesses.words))
    assert max(names, words) < 0.71
    assert max(names, words) < seen + 0.03
    assert check_meta_leak(specs).verdict == "clean"
