"""Size limits for releases, which may be untrusted. Releases of a build stay far below them.

A reader holds one row group in memory, and a pull from S3 a few whole parts of limited size (`store/part_files.py`). So
these limits bound the memory of a reader and, with `MAX_RATIO`, the disk space of a pull.
"""

MIB = 1 << 20

MAX_MANIFEST_BYTES = 64 * MIB
MAX_MANIFEST_MARKS = 2_000_000
"""Commas and opening brackets of a manifest: each costs memory when it is parsed, and 250,000 parts have 1.5
million."""
MAX_KEYS = 32
"""Keys of one object in a manifest. Each unknown key would become an error in memory."""

MAX_REPORT_BYTES = 64 * MIB
"""Of one file in reports/ that is no table."""

MAX_FOOTER_BYTES = MIB
"""Of one Parquet file: about 2,000 row groups. Parsing takes up to 300 times the memory."""

GROUPS_PER_FILE = 1_000
"""Row groups that a writer puts into one Parquet file at most."""

MAX_CONTAINER = 20_000
"""Elements of a list in a Parquet footer, which are allocated before they are read."""

MAX_COLUMNS = 256
MAX_GROUP_ROWS = 65_536
MAX_GROUP_VALUES = 1_000_000
"""Of one column in one row group; a cell that is a list has several."""

MAX_GROUP_BYTES = 64 * MIB
"""Content of one row group, decompressed and with dictionaries written out: one half of one task. Tasks have 1 MB."""

MAX_RATIO = 100
RATIO_FREE_BYTES = 64 << 10
"""A row group may have this much content, and beyond it `MAX_RATIO` times its bytes in the file. CSV reaches 10."""

MAX_RECORD_BYTES = MIB
"""JSON of one task's record; usual are 10 kB."""

MAX_TASK_FILE_BYTES = 4 * MIB
"""private/task.json or private/leaderboard.csv of one task, when they are compared with its record."""

MAX_SECRET_BYTES = 4096
"""Of a file that holds a release secret; usual are 64."""


MAX_DEPTH = 16
"""Folders within each other in a dataset; those of a release have 3."""

MAX_TASK_FILES = 10_000
"""Files of one half of a task; usual are four, and usually 3,000 where items lie in folders."""
