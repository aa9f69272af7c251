"""Ids that are time stamps say nothing, and tables under other names are read by all that reads tables."""

import re

import polars as pl

from sandmill.calibrate.solver_runs import child_tables
from sandmill.check import check_package
from sandmill.draw import render
from sandmill.kinds.files.base import write_files
from sandmill.kinds.table import read as tables_reader
from sandmill.models.kind import kind_named
from sandmill.rng import Streams
from tests.designs import SECRET, make_spec

STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{7}")
STREAMS = Streams(b"s" * 32, "stamps")
KIND = kind_named("table_keys")


def test_a_task_with_keys_passes_the_gates_and_is_read_under_its_own_names(tmp_path):
    spec = make_spec()
    few = spec.sizes.model_copy(update={"feedback": 150, "final": 150})
    structure = spec.structure.model_copy(update={"kind": "table_keys"})
    spec = spec.model_copy(update={"structure": structure, "sizes": few})
    package = render(spec, SECRET).package
    assert not check_package(package)
    assert package.facts.id_column == "key"
    assert {"labels.csv", "test.csv"} <= package.public.keys()
    assert "train.csv" not in package.public
    assert not child_tables(package.public, package.facts)
    write_files(tmp_path, package.public)
    train, test = tables_reader.read(tmp_path, package.facts)
    assert list(test["key"]) == pl.read_csv(package.public["test.csv"])["key"].to_list()
    assert len(train) == spec.sizes.train
    assert all(STAMP.fullmatch(name) for name in train["key"])
