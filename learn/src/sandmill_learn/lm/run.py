"""The order of the phases. A phase that fails is logged, and the others go on with what there is."""

import json
import time
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from sandmill_learn.lm.evaluate import Evaluation
from sandmill_learn.lm.folder import FACTS, Record
from sandmill_learn.lm.generate import Limits, Sampler
from sandmill_learn.lm.grading import Table
from sandmill_learn.lm.grpo import GrpoSettings, train_grpo
from sandmill_learn.lm.llama import Llama
from sandmill_learn.lm.scripts import Pool
from sandmill_learn.lm.settings import Arguments
from sandmill_learn.lm.sft import SftSettings, choose_start, copy_state, read_lessons, train_sft
from sandmill_learn.lm.weights import Words, load_model

_PROMPTS_OF_SFT = 16
"""Most prompts of one step of fine-tuning: many steps teach more than large ones."""
_TRIES = 8
"""Scripts of each validation table that choose the start."""
_SMALL = {"validation": 4, "held_out": 6, "real": 2}
"""Tables of each group in the phase `smoke`."""


class Session:
    """Model, sampler and pool of one run."""

    def __init__(self, arguments: Arguments, tables: Mapping[str, Table], pool: Pool, record: Record) -> None:
        """Load the model onto the GPU, or the CPU where there is none."""
        self.arguments, self.pool, self.record = arguments, pool, record
        self.tables = _limited(tables, arguments)
        torch.manual_seed(arguments.seed)
        torch.set_float32_matmul_precision("high")
        # cuDNN makes a plan for each new shape, which costs its attention more time than the arithmetic.
        torch.backends.cuda.enable_cudnn_sdp(False)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        name = torch.cuda.get_device_name() if self.device.type == "cuda" else "CPU"
        self.model: Llama = load_model(arguments.folder, arguments.model).to(self.device)
        in_folder = Path(arguments.model)
        self.words = Words(in_folder if in_folder.is_dir() else arguments.folder)
        size = sum(value.numel() for value in self.model.parameters())
        record.say(f"{name}, torch {torch.__version__}; {arguments.model}: {size / 1e6:.1f} million weights")
        self._samplers: dict[Limits, Sampler] = {}

    def sampler(self, prompts: int, samples: int) -> Sampler:
        """Return the sampler of these sizes with the weights of now. Samplers are kept, since each captures a graph."""
        limits = Limits(prompts, samples, self._longest, self.arguments.answer_tokens)
        if limits not in self._samplers:
            self.record.say(f"sampler: {limits}")
            self._samplers[limits] = Sampler(self.model, limits, self.words.end, self.record.say)
        self._samplers[limits].refresh()
        return self._samplers[limits]

    @cached_property
    def _longest(self) -> int:
        """Tokens of the longest prompt, up to a multiple of 64."""
        texts = [text for one in self.tables.values() for text in (one.prompt, *one.prompts.values())]
        return -(-max(len(self.words.prompt(text)) for text in texts) // 64) * 64

    def group(self, name: str) -> list[Table]:
        """Return the tables of a group."""
        return [table for table in self.tables.values() if table.group == name]

    def path(self, name: str) -> Path:
        """Return the place of a checkpoint."""
        return self.arguments.work / f"{name}.pt"

    def save(self, name: str) -> None:
        """Write the weights."""
        self.arguments.work.mkdir(parents=True, exist_ok=True)
        part = self.path(f"{name}.part")
        torch.save(self.model.state_dict(), part)
        part.replace(self.path(name))

    def load(self, name: str) -> None:
        """Read the weights of a checkpoint."""
        self.model.load_state_dict(torch.load(self.path(name), map_location=self.device, weights_only=True))

    def sft(self) -> None:
        """Fine-tune, and keep the best start."""
        arguments = self.arguments
        lessons = read_lessons(arguments.folder, self.words)
        number = sum(len(one.answers) for one in lessons)
        self.record.say(f"{len(lessons)} prompts with {number} demonstrations")
        settings = SftSettings(
            seconds=arguments.sft_seconds,
            prompts=min(_PROMPTS_OF_SFT, arguments.prompts),
            learning_rate=arguments.learning_rate,
            seed=arguments.seed,
            steps=arguments.steps,
        )
        kept = train_sft(self.model, lessons, settings, self.words.end, self.record)
        self.save("sft")
        tables = self.group("validation")
        if tables and len(kept) > 1 and arguments.starts > 1:
            sampler = self.sampler(len(tables), _TRIES)
            choose_start(kept[-arguments.starts :], self.model, sampler, self.words, self.pool, tables, self.record)
            self.save("sft")

    def grpo(self) -> None:
        """Train from a checkpoint with a reward."""
        arguments = self.arguments
        self.load(arguments.start)
        made = f"{'grpo' if arguments.start == 'sft' else arguments.start}-{arguments.reward}"
        settings = GrpoSettings(
            seconds=arguments.grpo_seconds,
            reward=arguments.reward,
            prompts=arguments.prompts,
            samples=arguments.samples,
            learning_rate=arguments.grpo_learning_rate,
            seed=arguments.seed,
            steps=arguments.steps,
        )
        try:
            steps = train_grpo(
                self.model,
                self.sampler(arguments.prompts, arguments.samples),
                self.words,
                self.pool,
                self.group("grpo"),
                settings,
                self.record,
            )
        finally:
            self.save(made)
        self.record.say(f"{made}: {steps} updates")

    def evaluate(self) -> None:
        """Score the checkpoints."""
        arguments, evaluation = self.arguments, Evaluation(self.tables, self.record)
        found = [name for name in arguments.only if self.path(name).exists()]
        if not arguments.only:
            trained = sorted(path.stem for path in arguments.work.glob("grpo-*.pt") if ".part" not in path.name)
            found = [name for name in ("sft", *trained) if self.path(name).exists()]
        states = {}
        for name in found:
            self.load(name)
            states[name] = copy_state(self.model)

        def sampler_of(name: str, prompts: int, samples: int) -> Sampler:
            self.model.load_state_dict(states[name])
            return self.sampler(prompts, samples)

        evaluation.measure(found, sampler_of, self.words, self.pool, arguments.evaluate_seconds)
        print(evaluation.markdown(), flush=True)


def run_phases(arguments: Arguments, tables: Mapping[str, Table], pool: Pool, record: Record) -> int:
    """Run the phases that were asked for."""
    if arguments.phase == "smoke":
        _probe(arguments.folder, pool, record)
    session = Session(arguments, tables, pool, record)
    steps: dict[str, Callable[[], None]] = {"sft": session.sft, "grpo": session.grpo, "evaluate": session.evaluate}
    wanted = ["sft", "grpo", "evaluate"] if arguments.phase in ("all", "smoke") else [arguments.phase]
    failed = []
    for name in wanted:
        started = time.monotonic()
        try:
            steps[name]()
        except Exception as error:
            failed.append(name)
            record.say(f"{name} failed: {traceback.format_exc()}")
            record.add(name, error=f"{type(error).__name__}: {error}")
        record.say(f"phase {name}: {time.monotonic() - started:.1f} s")
        if session.device.type == "cuda":
            record.say(f"memory: at most {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    record.say("OK" if not failed else f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _probe(folder: Path, pool: Pool, record: Record) -> None:
    """Run demonstrations whose share of the gap is known, and compare."""
    probes: list[dict[str, Any]] = json.loads((folder / FACTS).read_text(encoding="utf-8"))["probes"]
    started = time.monotonic()
    graded = pool.run((one["table"], one["script"]) for one in probes)
    for probe, one in zip(probes, graded, strict=True):
        caught = [None if value is None else round(value, 2) for value in one.caught]
        record.say(
            f"probe {probe['table']}: gap {one.gap:.3f}, expected {probe['gap']:.3f}, caught {caught}, "
            f"{one.seconds:.2f} s {one.problem}"
        )
    record.say(f"{len(probes)} probes in {time.monotonic() - started:.1f} s")


def _limited(tables: Mapping[str, Table], arguments: Arguments) -> dict[str, Table]:
    """Leave out tables above the number that each group may have."""
    kept: dict[str, Table] = {}
    counts: dict[str, int] = {}
    for name, table in tables.items():
        most = _SMALL.get(table.group) if arguments.phase == "smoke" else arguments.tables
        counts[table.group] = counts.get(table.group, 0) + 1
        if most is None or counts[table.group] <= most:
            kept[name] = table
    return kept
