"""Record the demo's replies again: python -m tests.llm_record. Needed when prompts, seeds or the demo's plan change.

The first round of the demo is designed against a scripted server that answers from drafts written by hand; what was
answered becomes what `make demo-llm` replays. It is marked as a fixture, in the files and in the lineage of every task.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.check import load_suites
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.designing import design_round
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import plan_round
from sandmill.seeds import ingest
from tests.llm_playbook import Playbook
from tests.llm_server import serve
from tests.releases import REPOSITORY

DEMO = REPOSITORY / "demo" / "llm"
REQUEST = BuildRequest(name="llm-demo", tasks=10, seed=18, designer="llm", model=("openai/hand-written",))
"""What `make demo-llm` asks for."""
SOURCE = "fixture"
NOTE = "Written by hand for the demo and its tests; no language model was asked. See tests/llm_drafts."


def record(folder: Path, root: Path) -> int:
    """Design against a scripted server and keep what was answered. Gives the number of recordings."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    plan = plan_build(REQUEST, ingest(REQUEST.seeds))
    with serve(Playbook().serve) as server:
        settings = RunSettings(root=str(root), api_base=server.base)
        pending = plan_round(plan, [], settings, load_suites(REPOSITORY / "expectations"))
        design_round(plan, pending, [], settings)
    shutil.rmtree(folder / "replies", ignore_errors=True)
    replies = root / REQUEST.name / "llm" / "replies"
    for path in sorted(replies.rglob("*.json")):
        target = folder / "replies" / path.relative_to(replies)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_marked(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    return len(list(folder.rglob("*.json")))


def _marked(kept: dict[str, object]) -> str:
    """Say who wrote it, and leave the question out: the name of the file is its hash."""
    reply = kept["reply"]
    assert isinstance(reply, dict)
    marked = {"note": NOTE, "role": kept["role"], "draw": kept["draw"], "reply": {**reply, "source": SOURCE}}
    return json.dumps(marked, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    with TemporaryDirectory(prefix="sandmill-record-") as name:
        sys.stdout.write(f"{record(DEMO, Path(name))} replies in {DEMO}\n")
