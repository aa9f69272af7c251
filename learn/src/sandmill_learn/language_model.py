"""Training of language models of transformers on the full text of tasks, with GRPO or on reference scripts."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from sandmill.errors import InputError, Problem
from sandmill.models.calibration import RUNG_FILES, Rung
from sandmill.rewards import get_reward
from sandmill.trainers.trl import train_rows
from sandmill_learn.batches import CountingRunner, schedule
from sandmill_learn.grpo import CHECKPOINTS, GrpoProgress, RecordedReward, grpo_config, make_callback, make_trainer
from sandmill_learn.records import CurveRow, latest_checkpoint, replace_folder
from sandmill_learn.settings import GrpoSettings, derive_seed, require_learning

if TYPE_CHECKING:
    from sandmill.play.release import Release
    from sandmill_learn.task_sets import LearningTask

_NO_LIST = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
"""Chat template for models that have none: the text of the task."""
_TAUGHT = (Rung.COMPETENT, Rung.REFERENCE)
_LORA_SCALE = 2
"""Scale of the adapters as a multiple of their rank."""


def load_model(folder: Path) -> tuple[Any, Any]:
    """Return a causal language model and its tokenizer from a local folder.

    Raises:
        InputError: if the folder has none, or a package of this distribution is missing.
    """
    with require_learning():
        from transformers import AutoModelForCausalLM, AutoTokenizer
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, padding_side="left")
        model = AutoModelForCausalLM.from_pretrained(str(folder), local_files_only=True, dtype="float32")
    except (OSError, ValueError, KeyError) as error:
        expected = "a folder with a causal language model and its tokenizer, as transformers saves them"
        raise InputError("model", [Problem(str(folder), f"{type(error).__name__}: {error}", expected)], "") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.chat_template is None:
        tokenizer.chat_template = _NO_LIST
    return model, tokenizer


def train_grpo(
    folder: Path,
    start: Path,
    release: "Release",
    tasks: Sequence["LearningTask"],
    executor: CountingRunner,
    settings: GrpoSettings,
    *,
    seed: int,
    reward: str,
    listen: Callable[[CurveRow], None],
    explain: Callable[[str], None],
    lora_rank: int = 0,
) -> tuple[Callable[[Path], None], list[CurveRow]]:
    """Train with GRPO, and return a function that saves the last checkpoint, and the curve.

    TRL generates with transformers. There are no validations: generating scripts of a language model takes long.

    Args:
        folder: for checkpoints.
        start: folder of the model.
        release: gives the prompts.
        tasks: of its training split, without replicates.
        executor: runs the scripts.
        settings: of the training. `longest` counts tokens.
        seed: of all draws.
        reward: name of a preset.
        listen: gets each row of the curve.
        explain: gets the reason of an early stop.
        lora_rank: rank of the adapters that learn in place of all weights; 0 trains all weights.
    """
    with require_learning():
        from datasets import Dataset
    model, tokenizer = load_model(start)
    prompts = {row["task_id"]: row["prompt"] for row in train_rows(release, split="train")}
    planned = schedule(tasks, updates=settings.updates, size=settings.tasks, seed=derive_seed(seed, "schedule"))
    rows = [{"prompt": prompts[task.id], "task_id": task.id} for update in planned for task in update]
    recorded = RecordedReward(executor, get_reward(reward), settings.samples)
    trainer = make_trainer(
        model=model,
        args=_config(settings, folder / CHECKPOINTS, seed),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        reward_funcs=[recorded],
        peft_config=_lora(lora_rank) if lora_rank else None,
    )
    progress = GrpoProgress(
        settings, executor, recorded, validate=lambda: None, save_best=lambda: None, listen=listen, rows=[]
    )
    if found := latest_checkpoint(folder / CHECKPOINTS):
        progress.resume(found[1])
    trainer.add_callback(make_callback(progress))
    trainer.train(resume_from_checkpoint=str(found[0]) if found else None)
    if progress.stopped:
        explain(progress.stopped)
    return lambda path: _save(trainer.model, tokenizer, path), progress.rows


def train_sft(
    start: Path,
    release: "Release",
    tasks: Sequence["LearningTask"],
    *,
    steps: int,
    longest: int,
    seed: int,
    learning_rate: float,
    listen: Callable[[CurveRow], None] = lambda row: None,
    lora_rank: int = 0,
) -> tuple[Callable[[Path], None], list[CurveRow]]:
    """Train on published scripts of the reference ladder, and return a function that saves the model, and the curve.

    The scripts are `competent.py` and `solution.py` of the private half, as answers to the prompt of their task. Each
    step takes one script. There are no checkpoints: a killed training starts again.

    Args:
        start: folder of the model.
        release: with its private half.
        tasks: of its training split, without replicates.
        steps: optimiser steps.
        longest: tokens of a script at most; longer ones are left out.
        seed: of the order.
        learning_rate: of all steps.
        listen: gets each row of the curve.
        lora_rank: rank of the adapters that learn in place of all weights; 0 trains all weights.

    Raises:
        InputError: if no script is short enough, or the model cannot be read.
    """
    model, tokenizer = load_model(start)
    import torch

    examples = ladder_examples(tokenizer, release, tasks, longest)
    random = Random(derive_seed(seed, "ladder"))
    if lora_rank:
        model = _with_adapters(model, lora_rank, seed)
    optimizer = torch.optim.AdamW([weights for weights in model.parameters() if weights.requires_grad], learning_rate)
    rows: list[CurveRow] = []
    for step in range(1, steps + 1):
        started = time.monotonic()
        prompt, answer = examples[random.randrange(len(examples))]
        ids = torch.tensor([[*prompt, *answer]])
        labels = torch.tensor([[*([-100] * len(prompt)), *answer]])
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds = time.monotonic() - started
        rows.append(
            CurveRow(stage="sft", update=step, loss=float(loss.detach()), learning_rate=learning_rate, seconds=seconds)
        )
        listen(rows[-1])
    return lambda path: _save(model, tokenizer, path), rows


def ladder_examples(
    tokenizer: Any, release: "Release", tasks: Sequence["LearningTask"], longest: int
) -> list[tuple[list[int], list[int]]]:
    """Return tokens of prompts and answers: scripts of the reference ladder in a fence.

    Raises:
        InputError: if there is no script of at most `longest` tokens.
    """
    prompts = {row["task_id"]: row["prompt"] for row in train_rows(release, split="train")}
    examples, shortest = [], 0
    for task in tasks:
        files = release.files("private", task.id)
        for name in (RUNG_FILES[rung] for rung in _TAUGHT if RUNG_FILES[rung] in files):
            text = f"```python\n{files[name].decode()}```\n{tokenizer.eos_token}"
            prompt = tokenizer.apply_chat_template(prompts[task.id], add_generation_prompt=True, return_dict=False)
            answer = tokenizer(text, add_special_tokens=False).input_ids
            shortest = min(shortest or len(answer), len(answer))
            if len(answer) <= longest:
                examples.append((list(prompt), list(answer)))
    if not examples:
        saw = f"none; the shortest has {shortest} tokens" if shortest else "none in the release"
        problem = Problem("reference scripts", saw, f"one of at most {longest} tokens", "Raise --max-tokens.")
        raise InputError("sft", [problem], "Nothing was trained.")
    return examples


def _config(settings: GrpoSettings, folder: Path, seed: int) -> Any:
    """Return the configuration of the trainer: one group of scripts at a time goes through the model."""
    import torch

    has_gpu = torch.cuda.is_available()
    return grpo_config(
        settings,
        folder,
        seed,
        per_device_train_batch_size=settings.samples,
        gradient_accumulation_steps=settings.tasks,
        use_cpu=not has_gpu,
        bf16=has_gpu and torch.cuda.is_bf16_supported(),
    )


def _lora(rank: int) -> Any:
    """Return the configuration of adapters on all linear layers (LoRA, arXiv 2106.09685)."""
    with require_learning():
        from peft import LoraConfig
    return LoraConfig(r=rank, lora_alpha=_LORA_SCALE * rank, target_modules="all-linear", task_type="CAUSAL_LM")


def _with_adapters(model: Any, rank: int, seed: int) -> Any:
    """Return the model with adapters whose first weights depend on the seed alone."""
    with require_learning():
        import torch
        from peft import get_peft_model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "adapters"))
        return get_peft_model(model, _lora(rank))


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a model that transformers reads without peft: adapters are added to the weights."""
    if hasattr(model, "merge_and_unload"):
        model = model.merge_and_unload()
    with replace_folder(folder) as written:
        model.save_pretrained(written)
        tokenizer.save_pretrained(written)
