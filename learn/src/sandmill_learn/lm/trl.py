"""GRPO with TRL, in place of the module `grpo`: any causal model in a folder of transformers, with vLLM if it is there.

Needs trl and datasets beside torch and transformers. Prompts, rewards and the pool of scripts are those of `grpo`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sandmill_learn.lm.folder import Record
from sandmill_learn.lm.grading import Table
from sandmill_learn.lm.scripts import Pool, result_of
from sandmill_learn.lm.settings import Arguments
from sandmill_learn.lm.weights import END, FENCE, chat_prompt, load_transformers

_CLIP_HIGH = 0.28
"""Ratios of probabilities count up to 1 + this, as in `grpo`."""

Reward = Callable[..., list[float]]
"""A reward function of TRL."""


def train_with_trl(arguments: Arguments, tables: Mapping[str, Table], pool: Pool, record: Record) -> None:
    """Train the model of a folder, and save it as WORK/trl-REWARD.

    A Llama with tied embeddings is also saved as WORK/grpo-trl-REWARD.pt, which the phase `evaluate` scores.

    Raises:
        ValueError: the model is not a folder, or the reward is no reward of a single script.
    """
    if not Path(arguments.model).is_dir():
        raise ValueError(f"--model {arguments.model}: trl trains the model of a folder that transformers can load")
    if arguments.reward == "rejection":
        raise ValueError("--reward rejection: trl takes gap, ladder or ladder-facts")
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOTrainer

    tokenizer = AutoTokenizer.from_pretrained(arguments.model, local_files_only=True)
    if tokenizer.convert_tokens_to_ids(END) not in (None, tokenizer.unk_token_id):
        tokenizer.eos_token = END
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    chosen = [table for table in tables.values() if table.group == "grpo"][: arguments.tables]
    rows = [{"prompt": chat_prompt(table.prompt), "table": table.name} for table in chosen]
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(arguments.model, local_files_only=True),
        args=_config(arguments, min(arguments.prompts, len(rows))),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows),
        reward_funcs=make_reward(arguments.reward, pool, record),
        callbacks=[_time_limit(arguments.grpo_seconds)],
    )
    record.say(f"trl {arguments.reward}: {len(rows)} tables, vLLM {'yes' if trainer.args.use_vllm else 'no'}")
    try:
        trainer.train()
    finally:
        place = arguments.work / f"trl-{arguments.reward}"
        trainer.save_model(str(place))
    record.say(f"trl {arguments.reward}: {trainer.state.global_step} updates, model in {place}")
    config = trainer.model.config
    if config.model_type == "llama" and config.tie_word_embeddings:
        torch.save(load_transformers(place).state_dict(), arguments.work / f"grpo-trl-{arguments.reward}.pt")


def make_reward(name: str, pool: Pool, record: Record) -> Reward:
    """Return a reward function that runs all scripts of a batch at once.

    Args:
        name: gap, ladder or ladder-facts.
        pool: runs the scripts.
        record: gets the figures of each batch.
    """

    def reward(completions: Sequence[str], table: Sequence[str], **_: Any) -> list[float]:
        scripts = [completion.split(FENCE)[0] for completion in completions]
        futures = [pool.submit(*pair) for pair in zip(table, scripts, strict=True)]
        graded = [result_of(future) for future in futures]
        paid = [one.reward(name) for one in graded]
        figures: dict[str, list[float]] = {
            "reward": paid,
            "gap": [one.gap for one in graded],
            "valid": [float(one.valid) for one in graded],
            "caught": [one.mean_caught for one in graded if one.mean_caught is not None] or [0.0],
        }
        means = {key: float(np.mean(values)) for key, values in figures.items()}
        record.add(f"trl {name}", executed=pool.executed, **means)
        return paid

    return reward


def _config(arguments: Arguments, groups: int) -> Any:
    """Return settings like those of `grpo`, with one optimiser step for all groups of an update."""
    from trl import GRPOConfig

    has_gpu = torch.cuda.is_available()
    with_vllm = has_gpu and find_spec("vllm") is not None
    return GRPOConfig(
        output_dir=str(arguments.work / "trl"),
        max_steps=arguments.steps or 1_000_000,
        per_device_train_batch_size=arguments.samples,
        gradient_accumulation_steps=groups,
        num_generations=arguments.samples,
        max_completion_length=arguments.answer_tokens,
        learning_rate=arguments.grpo_learning_rate,
        lr_scheduler_type="constant",
        epsilon_high=_CLIP_HIGH,
        seed=arguments.seed,
        use_cpu=not has_gpu,
        bf16=has_gpu,
        use_vllm=with_vllm,
        **({"vllm_mode": "colocate"} if with_vllm else {}),
        logging_steps=1,
        save_strategy="no",
        report_to=[],
    )


def _time_limit(seconds: float) -> Any:
    """Return a callback that ends the training after the update in which the time is over."""
    from transformers import TrainerCallback

    class TimeLimit(TrainerCallback):
        ends = time.monotonic() + seconds

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop = control.should_training_stop or time.monotonic() > self.ends

    return TimeLimit()
