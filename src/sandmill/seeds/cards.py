"""Seed cards: facts of one real task in one YAML file."""

import unicodedata
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

from sandmill.models.seed import SeedTask
from sandmill.seeds.document import Document, read_document
from sandmill.seeds.explain import Refusal
from sandmill.seeds.reading import Reading
from sandmill.seeds.source_problems import SourceProblem, Unsound, gathered

TEXT_LIMITS = {"id": 100, "title": 200, "summary": 2000, "source": 500, "licence": 500}
"""Longest text of each field, in characters. Texts are short because a language model may read them."""

PROFILE_NOTE = "the field profile is ignored, since designs do not use it; delete it"
"""Warning for cards that still describe single columns."""


class Card(SeedTask):
    """A seed from a card. Its origin cannot be a table or a competition."""

    origin: Literal["card"] = "card"


def read_card(path: Path, file: str) -> Reading:
    """Read one card.

    Raises:
        Unsound: with every problem of the card.
    """
    document = read_document(path, file)
    problems = text_problems(document)
    notes = (PROFILE_NOTE,) if document.data.pop("profile", None) else ()
    card = None
    with gathered(problems):
        card = document.parse(Card)
    if card is None or problems:
        raise Unsound(problems)
    return Reading(SeedTask.model_validate(card.model_dump()), notes)


def text_problems(document: Document) -> list[SourceProblem]:
    """Find texts that are too long, or that hold control characters."""
    texts = [(name, document.data.get(name)) for name in TEXT_LIMITS]
    return [
        problem for name, text in texts if isinstance(text, str) for problem in _text_problems(document, name, text)
    ]


def _text_problems(document: Document, name: str, text: str) -> Iterable[SourceProblem]:
    limit = TEXT_LIMITS[name]
    if len(text) > limit:
        yield document.problem(Refusal((name,), f"{len(text)} characters", f"at most {limit}"))
    if odd := next((c for c in text if unicodedata.category(c)[0] == "C" and c not in "\n\t"), None):
        yield document.problem(Refusal((name,), f"the control character U+{ord(odd):04X}", "text that prints"))


def bundled_cards() -> list[tuple[Path, str]]:
    """List the cards of the library, each with its name for messages."""
    with as_file(files("sandmill.seeds") / "cards") as folder:
        return [(path, f"bundled/{path.name}") for path in sorted(folder.glob("*.yaml"))]
