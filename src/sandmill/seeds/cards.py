"""Seed cards: one real task in one YAML file, facts in our own words."""

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
"""Characters. Longer texts are refused: a card states facts, and what it says may be shown to a model."""

PROFILE_NOTE = "the field profile is ignored, since designs do not use it; delete it"
"""Warning for cards that still describe single columns."""


class Card(SeedTask):
    """A seed whose file cannot claim to be measured from a table."""

    origin: Literal["card"] = "card"


def read_card(path: Path, file: str) -> Reading:
    """Read one card.

    Raises:
        Unsound: with every problem of the card.
    """
    document = read_document(path, file)
    findings = text_findings(document)
    notes = (PROFILE_NOTE,) if document.data.pop("profile", None) else ()
    card = None
    with gathered(findings):
        card = document.parse(Card)
    if card is None or findings:
        raise Unsound(findings)
    return Reading(SeedTask.model_validate(card.model_dump()), notes)


def text_findings(document: Document) -> list[SourceProblem]:
    """Find texts that are too long or hold characters that do not print, in any field a person writes."""
    texts = [(name, document.data.get(name)) for name in TEXT_LIMITS]
    return [
        finding for name, text in texts if isinstance(text, str) for finding in _text_findings(document, name, text)
    ]


def _text_findings(document: Document, name: str, text: str) -> Iterable[SourceProblem]:
    limit = TEXT_LIMITS[name]
    if len(text) > limit:
        yield document.finding(Refusal((name,), f"{len(text)} characters", f"at most {limit}"))
    if odd := next((c for c in text if unicodedata.category(c)[0] == "C" and c not in "\n\t"), None):
        yield document.finding(Refusal((name,), f"the control character U+{ord(odd):04X}", "text that prints"))


def bundled_cards() -> list[tuple[Path, str]]:
    """List the cards that come with the library, with their names in messages."""
    with as_file(files("sandmill.seeds") / "cards") as folder:
        return [(path, f"bundled/{path.name}") for path in sorted(folder.glob("*.yaml"))]
