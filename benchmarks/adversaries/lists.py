"""Lists of columns, read by the generator's own wordings: each is turned into regular expressions."""

import re
from collections.abc import Set
from functools import cache
from itertools import product

from sandmill.draw.wording import phrases
from sandmill.models.spoken import spoken

KINDS = ("text", "category", "date", "integer", "number", "0 or 1")
FIELDS = {
    "name": r"`(?P<name>\w+)`",
    "meaning": "(?P<meaning>.+)",
    "unit": "(?P<unit>.+)",
    "by": r"(?P<by>\w+)",
    "most": r"(?P<most>\d+)",
    "levels": "(?P<levels>[^,]+(?:, [^,]+)+)",
}


def expression(wording: str, **fields: str) -> str:
    """Return an expression for a wording without choices."""
    known = FIELDS | fields
    parts = re.split(r"\{(\w+)\}", wording)
    return "".join(known.get(part, ".+?") if place % 2 else re.escape(part) for place, part in enumerate(parts))


@cache
def forms(name: str, lead: str = "") -> tuple[re.Pattern[str], ...]:
    """Return expressions for all forms of the wordings of a name, behind a lead."""
    split = [re.split(r"<([^<>]*)>", wording) for wording in phrases()[name]]
    options = (product(*(part.split("|") if at % 2 else [part] for at, part in enumerate(parts))) for parts in split)
    return tuple(re.compile(lead + expression("".join(parts))) for several in options for parts in several)


def listed(text: str) -> dict[str, str]:
    """Return what the list of columns says of each name: the layout that reads most lines is that of the text."""
    sets = phrases()["types"]
    kinds = sorted({*KINDS, *(kind for known in sets for kind in known.values())}, key=len, reverse=True)
    kind = f"(?:{'|'.join(map(re.escape, kinds))}|grade from .+ to .+)"
    best: dict[str, str] = {}
    for style in phrases()["columns_style"]:
        if re.search(f"(?mi:^{expression(style['head'], kind=kind)}$)", text):
            line = expression(style["line"].strip(), kind=kind)
            found = [(hit["name"], hit["meaning"]) for hit in re.finditer(rf"(?m:^{line} *$)", text)]
            best = max(best, dict(reversed(found)), key=len)
    return best


def plain_meaning(said: str, levels: Set[str], *, is_number: bool) -> str:
    """Return the meaning of a column as sentences know it: without remarks, and in the words of its design."""
    for name in ("only_train", "written_units", "gaps"):
        said = min((re.sub(f"{form.pattern}$", "", said) for form in forms(name, r"\.? ")), key=len)
    said = shortest("converted", said)
    dated = said if is_number else shortest("date_format", said)
    is_date = dated != said
    said = shortest("horizon", dated) if is_number else shortest("shared_unit", dated)
    hits = [hit for form in forms("levels") if (hit := form.fullmatch(said))]
    shown = [(hit["meaning"], hit["levels"].split(", ")) for hit in hits]
    sure = [meaning for meaning, names in shown if names[0] in levels]
    said = min(sure or [meaning for meaning, names in shown if names[1] in levels] or [said], key=len)
    units = [form.fullmatch(said) for form in forms("unit", FIELDS["meaning"])] if is_number else []
    known = [hit for hit in units if hit and spoken(f"Length in {hit['unit']}").unit == hit["unit"]]
    if known:
        hit = min(known, key=lambda one: len(one["meaning"]))
        said = f"{hit['meaning']} in {hit['unit']}"
    for pattern, own, others in reversed(reworded()):
        hits = [hit for other in others if (hit := other.match(said))]
        if hits and not re.match(pattern, said) and (is_date or "Date" not in own):
            hit = max(hits, key=lambda one: one.end() - sum(map(len, one.groups())))
            said = hit.expand(own) + said[hit.end() :]
    return said


@cache
def reworded() -> list[tuple[str, str, list[re.Pattern[str]]]]:
    """Return what meanings are reworded by: a pattern, the design's words, and expressions for the others."""
    found = []
    for pattern, wordings in phrases()["meanings"]:
        tail = "$" if pattern.endswith("$") else "".join(re.findall(r"\(\?=.*$", pattern))
        others = [re.sub(r"\\\\(\d)", r"(?P<g\1>.+)", re.escape(other)) + tail for other in wordings[1:]]
        found.append((pattern, re.sub(r"\\(\d)", r"\\g<g\1>", wordings[0]), [*map(re.compile, others)]))
    return found


def shortest(name: str, said: str) -> str:
    """Return a meaning without what the wordings of a name add to it."""
    hits = (form.fullmatch(said) for form in forms(name))
    return min((said, *(hit["meaning"] for hit in hits if hit)), key=len)
