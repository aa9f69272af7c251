"""One training, from a request as the command line takes it to a saved policy, in stages that can be resumed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sandmill.errors import InputError, Problem
from sandmill.fingerprint import fingerprint
from sandmill.models.base import Frozen
from sandmill_learn import grpo, rejection, sft
from sandmill_learn.policy import CHECKPOINT, MicroPolicy
from sandmill_learn.records import CURVES_FILE, CurveRow, read_curves, recover_folder, write_curves, write_file
from sandmill_learn.settings import (
    CPU_SECONDS,
    GrpoSettings,
    Method,
    RejectionSettings,
    SftSettings,
    derive_seed,
    require_learning,
)

if TYPE_CHECKING:
    from sandmill_learn.executions import Executor
    from sandmill_learn.task_sets import LearningTask

RewardName = Literal[
    "ladder",
    "ladder-facts",
    "gap",
    "sandmle-paper",
    "sparse",
    "partial-credit-grpo",
]


class TrainRequest(Frozen):
    """What to train. Equal requests give equal policies on one machine."""

    release: str = Field(min_length=1)
    """Release to learn from, with its private half, such as releases/micro@3. Only its training split is used."""
    method: Method = "grpo"
    """sft imitates teacher scripts; rejection and grpo do that first, and then learn from rewards."""
    reward: RewardName = "gap"
    """What grpo and rejection learn from: the name of a reward preset."""
    seed: int = Field(default=0, ge=0, lt=2**31)
    """Decides the first weights and every draw."""
    start: Path | None = None
    """Policy to start from, instead of a random one and teacher scripts: a folder that this flow wrote."""
    replicates: int = Field(default=4, ge=0, le=64)
    """Further renderings of each training design with fresh rows; they need the release secret."""
    updates: int = Field(default=64, ge=1, le=100_000)
    """Updates of grpo."""
    rounds: int = Field(default=6, ge=1, le=1000)
    """Rounds of rejection."""
    sft_steps: int = Field(default=800, ge=1, le=1_000_000)
    """Optimiser steps on teacher scripts."""
    tasks: int = Field(default=16, ge=1, le=4096)
    """Tasks of one update or round."""
    samples: int = Field(default=8, ge=2, le=256)
    """Scripts sampled for each of these tasks."""
    learning_rate: float | None = Field(default=None, gt=0, le=1)
    """Highest learning rate of grpo or rejection. Default: 2e-3 for grpo, 1e-3 for rejection."""
    temperature: float = Field(default=1.0, gt=0, le=10)
    """Divides the logits while sampling."""
    entropy: float = Field(default=0.01, ge=0, le=10)
    """Weight of the entropy bonus of grpo, which works against collapse."""
    beta: float = Field(default=0.0, ge=0, le=10)
    """Weight of the KL divergence from the start in grpo."""
    fact_dropout: float = Field(default=0.1, ge=0, lt=1)
    """Share of the facts that are hidden in each prompt during training."""
    validate_every: int = Field(default=8, ge=1)
    """Updates of grpo between validations on the validation split, and between checkpoints."""

    @property
    def sft(self) -> SftSettings:
        """Settings of supervised fine-tuning."""
        return SftSettings(steps=self.sft_steps, fact_dropout=self.fact_dropout)

    @property
    def rejection(self) -> RejectionSettings:
        """Settings of rejection fine-tuning."""
        return RejectionSettings(
            rounds=self.rounds,
            tasks=self.tasks,
            samples=self.samples,
            temperature=self.temperature,
            fact_dropout=self.fact_dropout,
            **({} if self.learning_rate is None else {"learning_rate": self.learning_rate}),
        )

    @property
    def grpo(self) -> GrpoSettings:
        """Settings of GRPO."""
        return GrpoSettings(
            updates=self.updates,
            tasks=self.tasks,
            samples=self.samples,
            temperature=self.temperature,
            entropy=self.entropy,
            beta=self.beta,
            fact_dropout=self.fact_dropout,
            validate_every=self.validate_every,
            **({} if self.learning_rate is None else {"learning_rate": self.learning_rate}),
        )


class TrainSettings(Frozen):
    """Where to train, and with which limits."""

    to: Path
    """Folder of the training. A second run with the same folder goes on where the first one was stopped."""
    timeout: float = Field(default=CPU_SECONDS, gt=0, le=600)
    """Seconds of processor time of one script; the wall time may be 5 times as long."""
    cache: Path | None = None
    """Folder in which facts, replicates and rollouts are kept for other trainings. Default: below --to."""
    threads: int = Field(default=1, ge=1, le=256)
    """Threads of torch. Equal curves need equal numbers of threads."""


REQUEST_FILE, RESULT_FILE = "request.json", "result.json"
WORDS_FILE = "words.sha256"
"""Hash of the vocabulary of the policy."""


class Trained(Frozen):
    """The result of a training."""

    folder: Path
    """Folder of the training. The policy is in `policy/`, the curve in `curves.csv`."""
    rows: tuple[CurveRow, ...]
    message: str
    """What was trained, and how it ended."""
    is_new: bool = True
    """False if an earlier run had finished it."""


@dataclass(frozen=True)
class Training:
    """A training that was opened: its tasks, and what runs their scripts."""

    request: TrainRequest
    settings: TrainSettings
    tasks: Sequence["LearningTask"]
    validation: Sequence["LearningTask"]
    executor: "Executor"


def find_finished(request: TrainRequest, settings: TrainSettings) -> Trained | None:
    """Return the result of an earlier run with the same folder and request; None if there is none yet.

    Raises:
        InputError: if the folder is that of another request, or holds other files.
    """
    folder = settings.to
    wanted = request.model_dump(mode="json")
    if (folder / REQUEST_FILE).is_file():
        _require_equal(json.loads((folder / REQUEST_FILE).read_text(encoding="utf-8")), wanted, folder)
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problem = Problem("--to", f"{folder}, which holds other files", "a new or empty folder, or that of a training")
        raise InputError("train", [problem], "Nothing was trained.")
    if not (folder / RESULT_FILE).is_file():
        return None
    found = Trained.model_validate_json((folder / RESULT_FILE).read_text(encoding="utf-8"))
    return found.model_copy(update={"is_new": False, "folder": folder})


def open_training(request: TrainRequest, settings: TrainSettings) -> Training:
    """Read tasks and facts, make replicates, and claim the folder.

    Raises:
        InputError: if a package of this distribution is missing, or the release cannot be used.
        StoreError: if the release cannot be read.
        SandboxUnavailable: if this machine cannot run scripts.
    """
    with require_learning():
        import torch
        import trl  # noqa: F401
    from sandmill.play.release import load
    from sandmill_learn.executions import Executor
    from sandmill_learn.task_sets import TaskSet, from_release

    torch.set_num_threads(settings.threads)
    cache = settings.cache or settings.to / "cache"
    release = load(request.release)
    splits = set(release.facts["split"])
    tasks = from_release(release, split="train", replicates=request.replicates, cache=cache)
    validation = from_release(release, split="validation", cache=cache) if "validation" in splits else TaskSet(())
    executor = Executor(tasks + validation, cache=cache, timeout=settings.timeout)
    write_file(settings.to / REQUEST_FILE, request.model_dump_json(indent=1) + "\n")
    return Training(request, settings, tasks.tasks(), validation.tasks(), executor)


def run_training(training: Training, listen: Callable[[CurveRow], None], explain: Callable[[str], None]) -> Trained:
    """Train a policy through all stages of its method, and save it with its curve.

    Args:
        training: from `open_training`.
        listen: gets each row of the curve.
        explain: gets the reason of an early stop.

    Raises:
        InputError: if the policy to start from cannot be read.
    """
    request, folder = training.request, training.settings.to
    messages: list[str] = []
    rows = read_curves(folder / CURVES_FILE) if (folder / CURVES_FILE).is_file() else []

    def note(row: CurveRow) -> None:
        # Rows after the checkpoint from which a killed training goes on are written again.
        rows[:] = [old for old in rows if old.stage != row.stage or old.update < row.update]
        rows.append(row)
        write_curves(folder / CURVES_FILE, rows)
        listen(row)

    def note_message(message: str) -> None:
        messages.append(message)
        explain(message)

    policy = _start(request)
    _require_words(policy, folder)
    taught: list[CurveRow] = []
    more: list[CurveRow] = []
    if request.method == "sft" or request.start is None:
        policy, taught = sft.train(
            policy,
            training.tasks,
            request.sft,
            seed=derive_seed(request.seed, "sft"),
            folder=folder / "sft",
            listen=note,
        )
    if request.method != "sft":
        policy, more = _learn_from_rewards(training, policy, note, note_message)
    recover_folder(folder / CHECKPOINT)
    policy.save(folder / CHECKPOINT)
    return conclude(training, [*taught, *more], messages)


def _learn_from_rewards(
    training: Training, policy: MicroPolicy, listen: Callable[[CurveRow], None], explain: Callable[[str], None]
) -> tuple[MicroPolicy, list[CurveRow]]:
    request, folder = training.request, training.settings.to
    arguments: dict[str, Any] = {
        "seed": derive_seed(request.seed, request.method),
        "folder": folder / request.method,
        "reward": request.reward,
        "validation": training.validation,
        "listen": listen,
    }
    if request.method == "rejection":
        return rejection.train(policy, training.tasks, training.executor, request.rejection, **arguments)
    return grpo.train(policy, training.tasks, training.executor, request.grpo, **arguments, explain=explain)


def conclude(training: Training, rows: Sequence[CurveRow], messages: Sequence[str]) -> Trained:
    """Write the curve and the result. A run that finds the result does nothing more."""
    folder = training.settings.to
    write_curves(folder / CURVES_FILE, rows)
    found = Trained(folder=folder, rows=tuple(rows), message="\n".join([_summary(training.request, rows), *messages]))
    write_file(folder / RESULT_FILE, found.model_dump_json(indent=1) + "\n")
    return found


def _start(request: TrainRequest) -> MicroPolicy:
    from sandmill_learn.language import load_language

    if request.start is not None:
        return MicroPolicy.load(request.start)
    return MicroPolicy.create(load_language(), request.seed)


def _require_words(policy: MicroPolicy, folder: Path) -> None:
    """Refuse checkpoints of a policy with other words: the numbers of its tokens mean something else."""
    digest, path = fingerprint({"words": policy.tokenizer.get_vocab()}), folder / WORDS_FILE
    if not path.is_file():
        write_file(path, digest + "\n")
    elif path.read_text(encoding="utf-8").strip() != digest:
        problem = Problem(str(folder), "checkpoints with other facts or fragments", "those of this version of sandmill")
        raise InputError("train", [problem], "Nothing was trained. Give another folder with --to.")


def _summary(request: TrainRequest, rows: Sequence[CurveRow]) -> str:
    last = rows[-1]
    parts = [f"Trained with {request.method} on {request.release}: {last.requested} executions asked for"]
    measured = [row for row in rows if row.greedy_gap is not None]
    if measured:
        first, best = measured[0], max(measured, key=lambda row: (row.greedy_gap or 0.0) + (row.sampled_gap or 0.0))
        parts.append(
            f"validation gap {first.greedy_gap:.3f} greedy, {first.sampled_gap:.3f} sampled at update {first.update}, "
            f"{best.greedy_gap:.3f} and {best.sampled_gap:.3f} at update {best.update}"
        )
    return "; ".join(parts) + "."


def _require_equal(found: dict[str, object], wanted: dict[str, object], folder: Path) -> None:
    problems = [
        Problem(f"--{name.replace('_', '-')}", str(wanted.get(name)), f"{found.get(name)}, as in {folder}")
        for name in wanted
        if found.get(name) != wanted.get(name)
    ]
    if problems:
        raise InputError("train", problems, "Nothing was trained. Give another folder with --to, or the same options.")
