"""Read the training and the test table, here and in scripts."""

from sandmill.kinds.files.base import Layout
from sandmill.kinds.script_text import Reader
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts


def source(facts: TaskFacts) -> list[str]:
    """Read both tables: ids and classes as text, an empty cell as a missing one."""
    is_named = facts.classes and not (facts.is_binary or facts.is_wide or len(facts.target_columns) > 1)
    types = "{ID: str, TARGET: str}" if is_named else "{ID: str}"
    train, test = files(facts)
    return [
        'public = sys.argv[1] if len(sys.argv) > 1 else "public"',
        f'cells = {{"dtype": {types}, "keep_default_na": False, "na_values": [""]}}',
        f'train = pd.read_csv(f"{{public}}/{train}", **cells)',
        f'test = pd.read_csv(f"{{public}}/{test}", **cells)',
    ]


def files(facts: TaskFacts) -> tuple[str, str]:
    """Return the file names of the training table and of the test table."""
    layout: Layout = kind_named(facts.kind).load("layout")
    return layout.train, layout.test


read = Reader(source).read
