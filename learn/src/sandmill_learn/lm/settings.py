"""Arguments of the phases."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PHASES = ("prepare", "sft", "grpo", "evaluate", "all", "smoke", "trl")
_NOTE = """\
prepare  writes the folder; the only phase that needs sandmill
sft      fine-tunes on demonstrations and chooses the start of GRPO      -> WORK/sft.pt
grpo     trains from WORK/sft.pt with one reward                         -> WORK/grpo-REWARD.pt
         with --start grpo-rejection from that checkpoint                -> WORK/grpo-rejection-REWARD.pt
evaluate scores WORK/sft.pt and all WORK/grpo-*.pt, or those of --only
all      sft, grpo and evaluate
smoke    all phases in a few steps with random weights
trl      trains the model of the folder --model with TRL, and vLLM if it is there     -> WORK/trl-REWARD
"""


@dataclass(frozen=True)
class Arguments:
    """Arguments of a run."""

    phase: str
    folder: Path
    work: Path
    out: Path
    model: str
    reward: str
    start: str
    sft_seconds: float
    grpo_seconds: float
    evaluate_seconds: float
    prompts: int
    samples: int
    answer_tokens: int
    learning_rate: float
    grpo_learning_rate: float
    starts: int
    steps: int | None
    workers: int | None
    tables: int | None
    seed: int
    only: tuple[str, ...]
    sizes: tuple[int, int, int, int]
    reading: str
    unstated: float
    real: int
    processes: int


def parse(given: Sequence[str] | None) -> Arguments:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m lm", description=__doc__, epilog=_NOTE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("phase", choices=PHASES)
    parser.add_argument("--folder", type=Path, default=Path(), help="prepared folder (default: here)")
    parser.add_argument("--work", type=Path, default=Path("work"), help="checkpoints")
    parser.add_argument("--out", type=Path, default=Path("out"), help="log, figures, tables and samples")
    parser.add_argument("--model", default="packed", help="packed, tiny, random, or a folder of transformers")
    parser.add_argument(
        "--reward",
        default="ladder-facts",
        choices=("gap", "ladder", "ladder-facts", "rejection"),
        help="of grpo; rejection imitates the best scripts of each group instead",
    )
    parser.add_argument("--start", default="sft", help="checkpoint in WORK that grpo trains from")
    parser.add_argument("--seconds", type=float, help="time of the phase, in place of its own option")
    parser.add_argument("--sft-seconds", type=float, default=160.0)
    parser.add_argument("--grpo-seconds", type=float, default=180.0)
    parser.add_argument("--evaluate-seconds", type=float, default=65.0)
    parser.add_argument("--prompts", type=int, default=16, help="groups of one update of GRPO")
    parser.add_argument("--samples", type=int, default=16, help="scripts of one group")
    parser.add_argument("--answer-tokens", type=int, default=528, help="longest answer")
    parser.add_argument("--learning-rate", type=float, default=8e-4, help="of sft")
    parser.add_argument("--grpo-learning-rate", type=float, default=1e-5)
    parser.add_argument(
        "--starts", type=int, default=2, help="checkpoints of sft that are compared by their scripts; 1: none"
    )
    parser.add_argument("--steps", type=int, help="most steps of sft and of grpo; for tests")
    parser.add_argument("--workers", type=int, help="processes that run scripts (default: processors)")
    parser.add_argument("--tables", type=int, help="most tables of each group; for tests")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="models to evaluate, such as grpo-gap,sft")
    parser.add_argument(
        "--sizes", default="1800,150,24,80", help="prepare: designs for sft, grpo, validation, held out"
    )
    parser.add_argument(
        "--reading",
        default="plain=1",
        help="prepare: shares of the levels of reading, such as plain=0.5,prose=0.5 (default: plain=1)",
    )
    parser.add_argument(
        "--unstated", type=float, default=0.2, help="prepare: share of training designs whose prompts lose their facts"
    )
    parser.add_argument("--real", type=int, default=26, help="prepare: real tables (one without a scale is left out)")
    parser.add_argument("--processes", type=int, default=2, help="prepare: processes")
    found = parser.parse_args(given)
    seconds = {name: getattr(found, f"{name}_seconds") for name in ("sft", "grpo", "evaluate")}
    if found.seconds is not None:
        seconds = dict.fromkeys(seconds, found.seconds)
    sizes = [int(size) for size in found.sizes.split(",")]
    if len(sizes) != 4:
        parser.error(f"--sizes {found.sizes}: expected four numbers, such as 1800,150,24,80")
    return Arguments(
        phase=found.phase,
        folder=found.folder,
        work=found.work,
        out=found.out,
        model=found.model,
        reward=found.reward,
        start=found.start,
        sft_seconds=seconds["sft"],
        grpo_seconds=seconds["grpo"],
        evaluate_seconds=seconds["evaluate"],
        prompts=found.prompts,
        samples=found.samples,
        answer_tokens=found.answer_tokens,
        learning_rate=found.learning_rate,
        grpo_learning_rate=found.grpo_learning_rate,
        starts=found.starts,
        steps=found.steps,
        workers=found.workers,
        tables=found.tables,
        seed=found.seed,
        only=tuple(name for name in found.only.split(",") if name),
        sizes=(sizes[0], sizes[1], sizes[2], sizes[3]),
        reading=found.reading,
        unstated=found.unstated,
        real=found.real,
        processes=found.processes,
    )
