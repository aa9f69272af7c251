"""What item files show beside their contents must not tell targets: a gate tries to learn them from it."""

import pytest

from sandmill.check.file_gates import check_traces
from sandmill.check.package_tables import read_package
from sandmill.draw import render
from sandmill.kinds.files.archives import pack, unpack
from sandmill.models.spec import Sizes
from tests.designs import SECRET, make_image_spec


@pytest.fixture(scope="module")
def package():
    spec = make_image_spec()
    return render(spec.model_copy(update={"sizes": Sizes(train=120, feedback=100, final=100)}), SECRET).package


def by_label(files):
    return sorted(files, key=lambda file: file[0][0])


def longer(files):
    return [(name, content + b"\0" * int(name[0])) for name, content in files]


@pytest.mark.parametrize(("change", "trace"), [(by_label, "the place in the archive"), (longer, "the size")])
def test_a_trace_that_tells_the_target_is_found(package, change, trace):
    content = pack(change(unpack(package.public, "train.zip")))
    tables = read_package(package.model_copy(update={"public": {**package.public, "train.zip": content}}))
    found = list(check_traces(tables))
    assert any(f"train.zip: {trace} of the files tells the target" in finding for finding in found), found


def test_nothing_is_found_in_a_task_as_it_is_rendered(package):
    assert list(check_traces(read_package(package))) == []
