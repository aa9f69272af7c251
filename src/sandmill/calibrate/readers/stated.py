"""What a reader knows of a task: the facts that stand in its public files."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandmill.kinds.files.base import DESCRIPTION
from sandmill.models.channel import Cue
from sandmill.models.columns import Categorical, ChildTable
from sandmill.models.hints import Fact
from sandmill.models.spec import TaskSpec


@dataclass(frozen=True)
class Stated:
    """Facts stated by a task, with the names that they refer to by code."""

    facts: tuple[Fact, ...]
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the levels of categorical columns, in the order of their codes."""
    child: ChildTable | None = None
    cues: tuple[Cue, ...] = ()
    """How the items show latent columns."""

    def __bool__(self) -> bool:
        """Whether anything is stated."""
        return bool(self.facts or self.cues)


def stated_facts(spec: TaskSpec, public: Mapping[str, bytes]) -> Stated:
    """Return the facts whose text stands word for word in the public file that should hold it.

    Whether a fact matters for the target is not part of what a reader knows.
    """
    texts = {path: public[path].decode() for path in {hint.file for hint in spec.hints} & public.keys()}
    laws = {column.name: column.distribution for column in spec.mechanism.columns}
    levels = {name: law.levels for name, law in laws.items() if isinstance(law, Categorical)}
    facts = tuple(hint.fact for hint in spec.hints if hint.text in texts.get(hint.file, ""))
    description = texts[DESCRIPTION] if DESCRIPTION in texts else public[DESCRIPTION].decode()
    cues = tuple(cue for cue in (spec.channel.cues if spec.channel else ()) if cue.text in description)
    return Stated(facts, levels, spec.mechanism.child, cues)
