"""Seed cards: facts of one real task in one YAML file."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

import yaml

from sandmill.models.english import is_odd
from sandmill.models.seed import SeedTask, UnsupportedSeed
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.explain import RefusedValue
from sandmill.seeds.source_files import SourceProblem, Unsound, gathered

TEXT_LIMITS = {"id": 100, "title": 200, "summary": 2000, "source": 500, "licence": 500}
"""Longest text of each field, in characters. Texts are short because a language model may read them."""

LITE = frozenset(yaml.safe_load(files("sandmill.seeds").joinpath("lite.yaml").read_text("utf-8")))
"""Ids of the seeds of `--structures lite`."""


@dataclass(frozen=True)
class SeedReading:
    """The result of reading one source: a seed, or the reasons why it is set aside, and warnings."""

    seed: SeedTask | UnsupportedSeed
    notes: tuple[str, ...] = ()
    guard: bytes = b""
    """Salted hashes of the rows of its table, if it has one."""


class Card(SeedTask):
    """A seed from a card. Its origin cannot be a table or a competition."""

    origin: Literal["card"] = "card"


def read_card(path: Path, file: str) -> SeedReading:
    """Read one card.

    Raises:
        Unsound: with every problem of the card.
    """
    document = read_document(path, file)
    problems = text_problems(document)
    card = None
    with gathered(problems):
        card = document.parse(Card)
    if card is None or problems:
        raise Unsound(problems)
    return SeedReading(SeedTask.model_validate(card.model_dump()))


def text_problems(document: Document) -> list[SourceProblem]:
    """Find texts that are too long, or that hold control characters."""
    found = []
    for name, limit in TEXT_LIMITS.items():
        text = document.data.get(name)
        if not isinstance(text, str):
            continue
        if len(text) > limit:
            found.append(RefusedValue((name,), f"{len(text)} characters", f"at most {limit}"))
        if odd := next(filter(is_odd, text), None):
            found.append(RefusedValue((name,), f"the control character U+{ord(odd):04X}", "text that prints"))
    return [document.problem(refusal) for refusal in found]


def bundled_cards() -> list[tuple[Path, str]]:
    """List the cards of the library, each with its name for messages."""
    with as_file(files("sandmill.seeds") / "cards") as folder:
        return [(path, f"bundled/{path.name}") for path in sorted(folder.glob("*.yaml"))]
