"""How many designs of a language model become verified tasks: python -m benchmarks.llm_yield --designs 48.

A scripted server answers all roles from drafts written by hand, over the structures of all seeds; a third of its
answers are spoilt in ways that models really do. What holds after at most two repairs is built as in any build: drawn,
calibrated, checked and verified, the first attempt of each, whatever its band. How many are in the band asked for is
printed beside it: a build turns the knob for the others.
"""

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.first_tries import report, try_slots
from sandmill.design.llm import Designed, Refused
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.designing import open_client, settle
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.run import open_dataset
from sandmill.seeds import ingest
from tests.llm_playbook import Playbook
from tests.llm_server import Answer, Received, Script, good, serve

SPOILT_SHARE = 1 / 3
Spoil = Callable[[dict[str, Any]], Any]


def spoilt_playbook(seed: int) -> Script:
    """Answer from the drafts, a third of the answers spoilt. Which ones follows from the questions alone."""
    book = Playbook()

    def script(received: Received) -> Answer:
        role = received.body["response_format"]["json_schema"]["name"]
        answer = book.answer(role, received.body["messages"])
        draws = random.Random(f"{seed} {received.prompt}")
        if draws.random() < SPOILT_SHARE:
            answer = draws.choice((*_ANYWHERE, *_OF_COLUMNS) if role == "developer" else _ANYWHERE)(answer)
        return answer if isinstance(answer, Answer) else good(answer, tokens=None)

    return script


def _with(answer: dict[str, Any], value: object, *path: Any) -> dict[str, Any]:
    changed = json.loads(json.dumps(answer))
    inner = changed
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return dict(changed)


_ANYWHERE: tuple[Spoil, ...] = (
    lambda answer: {**answer, "comment": "I hope that this helps!"},
    lambda answer: dict(list(answer.items())[1:]),
    lambda answer: dict.fromkeys(answer, None),
    lambda answer: Answer(text=json.dumps(answer)[:-20]),
    lambda answer: Answer(text=f"Here it is:\n```json\n{json.dumps(answer, indent=1)}\n```\nShall I go on?"),
    lambda answer: {"answer": answer},
)
"""A field too many, a field too few, nothing in any, an end that is missing, prose around it, one object too many."""
_OF_COLUMNS: tuple[Spoil, ...] = (
    lambda answer: _with(answer, {"kind": "normal", "mean": 1, "sd": 9}, "numeric", 0, "distribution"),
    lambda answer: _with(answer, ["no_such_column"], "motifs", 0, "columns"),
    lambda answer: _with(answer, answer["motifs"][0]["columns"], "motifs", 1, "columns"),
    lambda answer: _with(answer, answer["numeric"][1]["meaning"], "numeric", 0, "meaning"),
    lambda answer: _with(answer, answer["motifs"][:4], "motifs"),
)
"""Magnitudes that cannot be, a column that is none, one that serves twice, two of one meaning, too few motifs."""


def design(designs: int, seed: int) -> list[Designed | Refused]:
    """Let the scripted server design a build's slots, two repairs allowed, no sample shown."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    request = BuildRequest(
        name="bench", tasks=designs, seed=seed, designer="llm", model=("openai/hand-written",), revise=False
    )
    plan = plan_build(request, ingest(()))
    with TemporaryDirectory(prefix="sandmill-bench-") as root, serve(spoilt_playbook(seed)) as server:
        settings = RunSettings(root=root, api_base=server.base, llm_calls=32)
        client = open_client(plan, settings, open_dataset(plan, settings))
        return settle(plan, plan_slots(plan), [], settings, client, "round 0")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=48)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    outcomes = design(given.designs, given.seed)
    made = [outcome.slot for outcome in outcomes if isinstance(outcome, Designed)]
    sent_back = sum(slot.authorship.repairs for slot in made if slot.authorship)
    print(
        f"{len(made)} of {len(outcomes)} designs are well-formed after at most 2 repairs; {sent_back} answers of theirs"
    )
    print(f"were sent back. Refused: {dict(Counter(one.reason for one in outcomes if isinstance(one, Refused)))}.\n")
    tries = try_slots(made, given.workers)
    for slot, one in zip(made, tries, strict=True):
        if one.outcome != "verified" and slot.draft:
            print(f"- {slot.draft.domain.name}, {slot.structure.target}, {slot.seed.id}: {one.outcome}: {one.detail}")
    report(tries)


if __name__ == "__main__":
    main()
