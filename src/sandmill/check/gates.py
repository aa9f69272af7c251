"""The list of gates: checks on the files of one package."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sandmill.check.data_gates import (
    check_child,
    check_order,
    check_proxy,
    check_targets,
    check_time,
    check_twins,
    check_units,
)
from sandmill.check.description_gate import check_description, check_prose
from sandmill.check.file_gates import check_files, check_ids, check_items, check_missing, check_traces
from sandmill.check.hint_gate import check_hints, check_notes
from sandmill.check.package_tables import PackageTables, read_package
from sandmill.models.package import TaskPackage


@dataclass(frozen=True)
class Finding:
    """One fault of one task. The detail has columns, shares and counts, and no answers, rule or thresholds."""

    gate: str
    """Name of the gate, or `expectations` for a suite. It becomes the reason of a `Rejection`."""
    detail: str

    def __str__(self) -> str:
        return f"{self.gate}: {self.detail}"


class Gate(NamedTuple):
    """One check, with the name under which its findings are reported."""

    name: str
    check: Callable[[PackageTables], Iterator[str]]
    needs_rows: bool = True
    """Whether it reads rows. Such a gate is skipped if a file cannot be read, which the gate `files` reports."""


GATES: tuple[Gate, ...] = (
    Gate("files", check_files, needs_rows=False),
    Gate("items", check_items),
    Gate("traces", check_traces),
    Gate("ids", check_ids),
    Gate("targets", check_targets),
    Gate("twins", check_twins),
    Gate("order", check_order),
    Gate("proxy", check_proxy),
    Gate("missing", check_missing),
    Gate("units", check_units),
    Gate("time", check_time),
    Gate("child", check_child),
    Gate("notes", check_notes),
    Gate("description", check_description, needs_rows=False),
    Gate("prose", check_prose, needs_rows=False),
    Gate("hints", check_hints, needs_rows=False),
)


def check_package(package: TaskPackage) -> list[Finding]:
    """Say everything that is wrong with a package at once; an empty list means that it may be proved.

    Exceptions of a gate itself pass: they are no fault of the package.
    """
    tables = read_package(package)
    gates = [gate for gate in GATES if not (gate.needs_rows and tables.faults)]
    return [Finding(gate.name, detail) for gate in gates for detail in gate.check(tables)]
