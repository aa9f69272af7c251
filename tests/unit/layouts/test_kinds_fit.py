"""The largest task of every kind stays below the limits of the store and of the sandbox."""

import pytest

from sandmill.kinds.files.media import MediaFiles
from sandmill.models import kind as registry
from sandmill.sandbox.public_folder import MOST_ENTRIES
from sandmill.store.limits import MAX_TASK_FILES

MOST_TRAIN, OTHERS = 200, 50


@pytest.mark.parametrize("name", sorted(registry._KINDS))
def test_the_largest_task_of_a_kind_can_be_stored_and_run(name):
    kind = registry._KINDS[name]
    layout = kind.load("layout")
    if not layout.folders:
        return
    items = MOST_TRAIN + round((1 + kind.unscored) * (kind.most_feedback + kind.most_final))
    names = [layout.name, *(copy.name for copy in layout.copies)] if isinstance(layout, MediaFiles) else ["{id}"]
    assert items * len(names) + OTHERS <= MAX_TASK_FILES
    assert items * sum(1 + name.count("/") for name in names) + OTHERS <= MOST_ENTRIES
