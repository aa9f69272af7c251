"""A tokenizer of bytes, a random model of 0.1 million parameters, and a trainer whose samples are scripted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOTrainer

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Make a tokenizer with a token for each byte, and the chat template of Qwen 3, which knows tools."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_alone = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(SPECIAL + alphabet)}, merges=[]))
    bytes_alone.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytes_alone.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_alone, eos_token=SPECIAL[2], pad_token=SPECIAL[0])
    tokenizer.add_special_tokens({"additional_special_tokens": [SPECIAL[1]]})
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    return tokenizer


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Make a random model."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32_768,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


class ScriptedTrainer(GRPOTrainer):
    """A trainer that takes the samples of a script instead of those of its model. All other steps are TRL's own."""

    script: Callable[[int, str], str]
    """Gives the answer to (number in the batch, text so far)."""

    def _generate_single_turn(self, prompt_ids: list[list[int]], *others: Any, **named: Any) -> Any:
        texts = [self.processing_class.decode(ids) for ids in prompt_ids]
        answers = [self.script(number, text) for number, text in enumerate(texts)]
        return [self.processing_class(f"{answer}<|im_end|>")["input_ids"] for answer in answers], None
