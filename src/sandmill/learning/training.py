"""One training from a request to a saved policy, in stages that can be resumed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandmill.errors import InputError, Problem
from sandmill.fingerprint import fingerprint
from sandmill.learning import grpo, rejection, sft
from sandmill.learning.curves import CURVES_FILE, CurveRow, read_curves, write_curves
from sandmill.learning.extras import require_learning
from sandmill.learning.folders import recover_folder, write_file
from sandmill.learning.policy import CHECKPOINT, MicroPolicy
from sandmill.learning.seeds import derive_seed
from sandmill.learning.training_request import LANGUAGE_MODEL_RATE, TrainRequest, TrainSettings
from sandmill.models.base import Frozen

if TYPE_CHECKING:
    from sandmill.learning.executions import Executor
    from sandmill.learning.task_sets import LearningTask
    from sandmill.play.release import Release

REQUEST_FILE, RESULT_FILE, CHART_FILE = "request.json", "result.json", "curves.svg"
WORDS_FILE = "words.sha256"
"""Hash of the vocabulary of the policy."""


class Trained(Frozen):
    """The result of a training."""

    folder: Path
    """Folder of the training. The policy is in `policy/`, the curve in `curves.csv` and `curves.svg`."""
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
    release: "Release"
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
        InputError: if the extra `learning` is missing, or the release cannot be used.
        StoreError: if the release cannot be read.
        SandboxUnavailable: if this machine cannot run scripts.
    """
    with require_learning():
        import torch
        import trl  # noqa: F401
    from sandmill.learning.executions import Executor
    from sandmill.learning.task_sets import TaskSet, from_release
    from sandmill.play.release import load

    torch.set_num_threads(settings.threads)
    cache = settings.cache or settings.to / "cache"
    release = load(request.release)
    splits = set(release.facts["split"])
    replicates = 0 if request.model else request.replicates
    tasks = from_release(release, split="train", replicates=replicates, cache=cache)
    validation = from_release(release, split="validation", cache=cache) if "validation" in splits else TaskSet(())
    executor = Executor(tasks + validation, cache=cache, timeout=settings.timeout)
    write_file(settings.to / REQUEST_FILE, request.model_dump_json(indent=1) + "\n")
    return Training(request, settings, release, tasks.tasks(), validation.tasks(), executor)


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

    if request.model is not None:
        save, found = _train_language_model(training, request.model, note, note_message)
        save(folder / CHECKPOINT)
        return conclude(training, found, messages)
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


def _train_language_model(
    training: Training, model: Path, listen: Callable[[CurveRow], None], explain: Callable[[str], None]
) -> tuple[Callable[[Path], None], list[CurveRow]]:
    from sandmill.learning import language_model

    request, release, tasks = training.request, training.release, training.tasks
    if request.method == "sft":
        return language_model.train_sft(
            model,
            release,
            tasks,
            steps=request.sft_steps,
            longest=request.max_tokens,
            seed=request.seed,
            learning_rate=request.learning_rate or LANGUAGE_MODEL_RATE,
            listen=listen,
            lora_rank=request.lora_rank,
        )
    return language_model.train_grpo(
        training.settings.to / "grpo",
        model,
        release,
        tasks,
        training.executor,
        request.grpo,
        seed=derive_seed(request.seed, "grpo"),
        reward=request.reward,
        listen=listen,
        explain=explain,
        lora_rank=request.lora_rank,
    )


def conclude(training: Training, rows: Sequence[CurveRow], messages: Sequence[str]) -> Trained:
    """Write the curve, its chart and the result. A run that finds the result does nothing more."""
    folder = training.settings.to
    write_curves(folder / CURVES_FILE, rows)
    write_file(folder / CHART_FILE, draw_curves(rows))
    found = Trained(folder=folder, rows=tuple(rows), message="\n".join([_summary(training.request, rows), *messages]))
    write_file(folder / RESULT_FILE, found.model_dump_json(indent=1) + "\n")
    return found


def draw_curves(rows: Sequence[CurveRow]) -> str:
    """Return an SVG of reward, share of valid scripts and validation by update."""
    from sandmill.learning.plots import learning_curves

    names = {
        "reward": "reward",
        "valid": "valid scripts",
        "greedy_gap": "validation, greedy",
        "sampled_gap": "validation",
    }
    learned = [row for row in rows if row.stage != "sft"]
    shown = {
        label: [[(float(row.update), float(getattr(row, name))) for row in learned if getattr(row, name) is not None]]
        for name, label in names.items()
    }
    if not learned:
        shown = {"loss": [[(float(row.update), row.loss) for row in rows if row.loss is not None]]}
    title = "Learning curve"
    return learning_curves(
        {label: curve for label, curve in shown.items() if curve[0]}, title=title, value="", per="update"
    )


def _start(request: TrainRequest) -> MicroPolicy:
    from sandmill.learning.language import load_language

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
