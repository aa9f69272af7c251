"""Readers: solvers that use what the texts of a task state, beside its data."""

from sandmill.calibrate.readers.run import READERS, read_table, reader_names, run_readers
from sandmill.calibrate.readers.stated import Stated, stated_facts

__all__ = ["READERS", "Stated", "read_table", "reader_names", "run_readers", "stated_facts"]
