"""What a good language model would answer, from drafts written by hand: for scripted servers and recordings."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sandmill.design.llm.conversation import AREAS
from sandmill.kinds.library import load_domains
from sandmill.models.structure import TargetKind
from tests.llm_server import Answer as ServerAnswer
from tests.llm_server import Received, good

FOLDER = Path(__file__).parent / "llm_drafts"

_KEPT_UNDER = {TargetKind.MULTI_TARGET: "regression"}
_STRUCTURE = re.compile(r"^- (metric|split|target): (\w+)$", re.MULTILINE)
_SHOWN = re.compile(r"^DATA \(what the items can show, as JSON\): (\{.+\})$", re.MULTILINE)
_MEDIUM = re.compile(r"^DATA \(the world that items came from so far, as JSON\): (\{.+\})$", re.MULTILINE)
_NAMES = re.compile(r"^The target needs at least (\d+) (\w+)\.$", re.MULTILINE)
_AREA = re.compile(r"in or near this area: (.+)\.$", re.MULTILINE)

_SENTENCES = {
    "english": {
        "openings": ["The porter says they", "Every evening the crew", "Two sisters", "A guest told us they", "They"],
        "links": ["and soon", ", meanwhile they", "because everyone"],
        "closings": ["to be safe", "without a word", "and nobody minded"],
    },
    "russian": {
        "openings": ["Сторож говорит что", "Каждый вечер бригада", "Сёстры", "Гость сказал что они", "Они"],
        "links": ["и вскоре", ", тем временем", "потому что все"],
        "closings": ["без лишних слов", "и никто не возражал", "как было велено"],
    },
}
"""Parts of sentences, by language."""

Answer = dict[str, Any]


@cache
def load_drafts() -> tuple[Mapping[str, Any], ...]:
    """Read all drafts, by file name."""
    return tuple(yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml")))


class Playbook:
    """Answers every role's question from the draft whose turn it is: slot n takes draft n modulo their number.

    A strategist's question is recognised by the area of its slot, the others by the domain that they name.

    Args:
        spoil: changes an answer before it is given, by role and by how often that role was asked for the slot.
    """

    def __init__(self, spoil: Callable[[str, int, Answer], Any] | None = None) -> None:
        self._spoil, self._asked = spoil, dict[tuple[str, str], int]()

    def answer(self, role: str, messages: list[Mapping[str, Any]]) -> Any:
        """Answer one question."""
        question = next(str(message["content"]) for message in messages if message["role"] == "user")
        draft = _draft_for(role, question)
        answer = _ANSWERS[role](draft, question)
        about = draft["domain"]["name"]
        times = self._asked[role, about] = self._asked.get((role, about), 0) + 1
        return self._spoil(role, times, answer) if self._spoil else answer

    def serve(self, received: Received) -> ServerAnswer:
        """Answer as a server does: the schema that is asked for has the role's name."""
        asked = received.body["response_format"]["json_schema"]["name"]
        answer = self.answer(asked, received.body["messages"])
        return answer if isinstance(answer, ServerAnswer) else good(answer, tokens=None)


def _draft_for(role: str, question: str) -> Mapping[str, Any]:
    drafts = load_drafts()
    if role in ("strategist", "dresser", "narrator"):
        found = _AREA.search(question)
        place = AREAS.index(found[1]) if found else 0
        return drafts[place * pow(7, -1, len(AREAS)) % len(AREAS) % len(drafts)]
    return next(draft for draft in drafts if any(mark in question for mark in _marks(draft)))


def _marks(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """What a question about a draft holds: the domain's title, or the name of its first column."""
    return draft["domain"]["title"], json.dumps(draft["domain"]["numeric"][0]["name"])


def _idea(draft: Mapping[str, Any], question: str) -> Answer:
    domain, kind = draft["domain"], TargetKind(dict(_STRUCTURE.findall(question))["target"])
    target = _targets(draft, kind)[0]
    return {
        **{key: domain[key] for key in ("name", "title", "row", "overview")},
        "target_name": target["name"],
        "target_meaning": target["meaning"],
        "quantities": [word["name"] for word in domain["numeric"]],
        "categories": [word["name"] for word in (*domain["categorical"], *domain["high_cardinality"])][:8],
        "motifs": draft["motifs"],
        "faults": draft.get("faults", []),
        "baselines": draft["baselines"],
    }


def _ideas(draft: Mapping[str, Any], question: str) -> Answer:
    idea = _idea(draft, question)
    # A second one that is like the library's own domains, so that the first is taken.
    parcels = next(domain for domain in load_domains() if domain.name == "parcels")
    words = {"title": f"{idea['title']} by post", "row": parcels.row, "overview": list(parcels.overview)}
    plain = {**idea, "name": f"{idea['name']}_by_post", **words}
    return {"candidates": [idea, plain]}


def _dress(draft: Mapping[str, Any], question: str) -> Answer:
    """A world for items that show what the question lists, with the texts and targets of the draft."""
    domain, kind = draft["domain"], TargetKind(dict(_STRUCTURE.findall(question))["target"])
    shown = json.loads(_SHOWN.search(question)[1])  # type: ignore[index]
    numbers = [name for name, word in shown.items() if word["kind"] == "quantity"]
    categories = [name for name, word in shown.items() if word["kind"] == "category"]
    motifs = [
        {"kind": "linear", "columns": numbers[:1]},
        {"kind": "saturation", "columns": numbers[1:2]},
        {"kind": "lookup", "columns": categories[:1]},
        {"kind": "interaction", "columns": numbers[2:4]},
        {"kind": "threshold", "columns": numbers[4:5]},
        {"kind": "curve", "columns": numbers[5:6]},
    ]
    plain: Answer = {
        **{key: domain[key] for key in ("name", "title", "row", "overview")},
        "item": "File from the archive of the house",
        "targets": _with_names(json.loads(json.dumps(_targets(draft, kind), default=str)), question),
        "motifs": motifs,
        "baselines": draft["baselines"],
    }
    return plain


def _with_names(targets: list[Answer], question: str) -> list[Answer]:
    """Return targets with as many classes or labels as the question asks for; further ones are named `other_N`."""
    if asked := _NAMES.search(question):
        for target in targets:
            names = target[asked[2]]
            names += [f"other_{place}" for place in range(len(names), int(asked[1]))]
    return targets


def _narrate(draft: Mapping[str, Any], question: str) -> Answer:
    """A world with the texts of the draft, for items as the question shows them."""
    medium, domain = json.loads(_MEDIUM.search(question)[1]), draft["domain"]  # type: ignore[index]
    told = {**{key: domain[key] for key in ("name", "title", "row", "overview")}, "baselines": draft["baselines"]}
    if "openings" not in medium:
        return {**told, "target_meaning": "What the house has marked by hand", "item": "File from the archive"}
    return {**told, "target_meaning": "The token as it is spoken", **_SENTENCES[medium["language"]]}


def _columns(draft: Mapping[str, Any], question: str) -> Answer:
    domain = draft["domain"]
    kind = TargetKind(re.search(r"of kind (\w+)", question)[1])  # type: ignore[index]
    names = ("numeric", "categorical", "high_cardinality", "dates", "units", "periods")
    columns = {name: domain[name] for name in names} | {"motifs": draft["motifs"]}
    plain: Answer = json.loads(json.dumps(columns | {"targets": _targets(draft, kind)}, default=str))
    return plain


def _targets(draft: Mapping[str, Any], kind: TargetKind) -> list[Answer]:
    words = draft["targets"][_KEPT_UNDER.get(kind, str(kind))]
    return list(words[:3] if kind is TargetKind.MULTI_TARGET else words[:1])


def _texts(_: Mapping[str, Any], question: str) -> Answer:
    told = json.loads(question[question.index("{") :])
    meanings = [{"name": name, "meaning": word["meaning"]} for name, word in told["names"].items()]
    return {**{key: told[key] for key in ("title", "row", "overview")}, "meanings": meanings}


def _review(_: Mapping[str, Any], __: str) -> Answer:
    return {"objections": []}


_ANSWERS: dict[str, Callable[[Mapping[str, Any], str], Answer]] = {
    "strategist": _ideas,
    "dresser": _dress,
    "narrator": _narrate,
    "developer": _columns,
    "writer": _texts,
    "reviewer": _review,
}
