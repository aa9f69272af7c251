"""Weights and tokenizers: a small dequantiser of GGUF blocks, folders of transformers, and a tiny random model."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill_learn.lm.folder import read_parts
from sandmill_learn.lm.llama import Llama, Shape

WEIGHTS, INDEX, TOKENIZER = "weights.bin", "weights.json", "tokenizer.json"
END, START, FENCE = "<|im_end|>", "<|im_start|>", "```"
TINY = Shape(layers=2, hidden=64, heads=4, kv_heads=2, inner=128, vocab=49152, theta=10_000.0, epsilon=1e-5)
_RANDOM = {
    "tiny": TINY,
    "random": Shape(layers=30, hidden=576, heads=9, kv_heads=3, inner=1536, vocab=49152, theta=1e5, epsilon=1e-5),
}
"""Shapes of models with random weights, for tests. `random` has that of SmolLM2-135M."""
_BLOCK = 32
"""Numbers of one block of the formats Q4_1 and Q8_0."""
Floats = NDArray[np.float32]


def dequantise(content: bytes | memoryview, kind: str, shape: Sequence[int]) -> Floats:
    """Return the numbers of one tensor of a GGUF file.

    Args:
        content: its bytes.
        kind: Q4_1, Q8_0, F16 or F32.
        shape: rows first.

    Raises:
        ValueError: another format.
    """
    if kind == "F32":
        return np.frombuffer(content, np.float32).reshape(shape).copy()
    if kind == "F16":
        return np.frombuffer(content, np.float16).reshape(shape).astype(np.float32)
    raw = np.frombuffer(content, np.uint8)
    if kind == "Q8_0":
        blocks = raw.reshape(-1, 2 + _BLOCK)
        scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        return (scale * blocks[:, 2:].view(np.int8).astype(np.float32)).reshape(shape)
    if kind == "Q4_1":
        blocks = raw.reshape(-1, 4 + _BLOCK // 2)
        ends = blocks[:, :4].copy().view(np.float16).astype(np.float32)
        cells = blocks[:, 4:]
        codes = np.concatenate([cells & 15, cells >> 4], axis=1).astype(np.float32)
        return (ends[:, :1] * codes + ends[:, 1:]).reshape(shape)
    raise ValueError(f"tensor format {kind!r}; expected Q4_1, Q8_0, F16 or F32")


def pack_gguf(path: Path) -> tuple[bytes, dict[str, Any]]:
    """Return the tensor blocks of a GGUF file of a Llama as they are, and an index of them. Needs the package gguf."""
    from gguf import GGUFReader

    reader = GGUFReader(str(path))

    def value(key: str) -> Any:
        return reader.fields[f"llama.{key}"].contents()

    content, tensors = bytearray(), {}
    for tensor in reader.tensors:
        raw = tensor.data.tobytes()
        rows = [int(size) for size in reversed(tensor.shape)]
        tensors[tensor.name] = [len(content), len(raw), tensor.tensor_type.name, rows]
        content += raw
    shape = {
        "layers": value("block_count"),
        "hidden": value("embedding_length"),
        "heads": value("attention.head_count"),
        "kv_heads": value("attention.head_count_kv"),
        "inner": value("feed_forward_length"),
        "vocab": value("vocab_size"),
        "theta": value("rope.freq_base"),
        "epsilon": value("attention.layer_norm_rms_epsilon"),
    }
    return bytes(content), {"shape": shape, "tensors": tensors}


def load_packed(folder: Path) -> Llama:
    """Return the model of a prepared folder."""
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    content, shape = memoryview(read_parts(folder / WEIGHTS)), Shape(**index["shape"])

    def tensor(name: str) -> Floats:
        start, size, kind, rows = index["tensors"][name]
        return dequantise(content[start : start + size], kind, rows)

    def rotated(name: str, heads: int) -> Floats:
        """Undo the order of rows with which GGUF files hold queries and keys."""
        found = tensor(name)
        pairs = found.reshape(heads, shape.head_size // 2, 2, found.shape[1])
        return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(found.shape)

    model = Llama(shape)
    model.set_global(tensor("token_embd.weight"), tensor("output_norm.weight"))
    for place in range(shape.layers):
        at = f"blk.{place}"
        model.set_layer(
            place,
            attention_norm=tensor(f"{at}.attn_norm.weight"),
            query=rotated(f"{at}.attn_q.weight", shape.heads),
            key=rotated(f"{at}.attn_k.weight", shape.kv_heads),
            value=tensor(f"{at}.attn_v.weight"),
            output=tensor(f"{at}.attn_output.weight"),
            inner_norm=tensor(f"{at}.ffn_norm.weight"),
            gate=tensor(f"{at}.ffn_gate.weight"),
            up=tensor(f"{at}.ffn_up.weight"),
            down=tensor(f"{at}.ffn_down.weight"),
        )
    return model


def load_transformers(folder: Path) -> Llama:
    """Return a Llama with tied embeddings that transformers saved.

    Raises:
        ValueError: another architecture.
    """
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(str(folder), local_files_only=True)
    if config.model_type != "llama" or not config.tie_word_embeddings:
        raise ValueError(f"{folder}: {config.model_type}; expected a Llama with tied embeddings")
    theta = getattr(config, "rope_theta", None) or config.rope_parameters["rope_theta"]
    shape = Shape(
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        inner=config.intermediate_size,
        vocab=config.vocab_size,
        theta=float(theta),
        epsilon=config.rms_norm_eps,
    )
    loaded = AutoModelForCausalLM.from_pretrained(str(folder), local_files_only=True, dtype="float32")
    state = {name: value.numpy() for name, value in loaded.state_dict().items()}
    model = Llama(shape)
    model.set_global(state["model.embed_tokens.weight"], state["model.norm.weight"])
    for place in range(shape.layers):
        at = f"model.layers.{place}"
        model.set_layer(
            place,
            attention_norm=state[f"{at}.input_layernorm.weight"],
            query=state[f"{at}.self_attn.q_proj.weight"],
            key=state[f"{at}.self_attn.k_proj.weight"],
            value=state[f"{at}.self_attn.v_proj.weight"],
            output=state[f"{at}.self_attn.o_proj.weight"],
            inner_norm=state[f"{at}.post_attention_layernorm.weight"],
            gate=state[f"{at}.mlp.gate_proj.weight"],
            up=state[f"{at}.mlp.up_proj.weight"],
            down=state[f"{at}.mlp.down_proj.weight"],
        )
    return model


def load_model(folder: Path, name: str) -> Llama:
    """Return the model `packed` in the folder, `tiny` or `random` with random weights, or that of another folder."""
    if name == "packed":
        return load_packed(folder)
    if name in _RANDOM:
        return Llama.random(_RANDOM[name], seed=0)
    return load_transformers(Path(name))


def chat_prompt(text: str) -> str:
    """Return the prompt of a task as a chat that ends with an opened Python code block, for the model to go on."""
    return f"{START}user\n{text}{END}\n{START}assistant\n{FENCE}python\n"


class Words:
    """The tokenizer, and how a task becomes a prompt."""

    def __init__(self, folder: Path) -> None:
        """Read the tokenizer of a prepared folder, or of a folder of transformers."""
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        end = self._tokenizer.token_to_id(END)
        if end is None:
            raise ValueError(f"{folder / TOKENIZER}: no token {END}")
        self.end: int = end

    def prompt(self, text: str) -> list[int]:
        """Return the tokens of a prompt."""
        return self.prompts([text])[0]

    def prompts(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of prompts, with all processors."""
        return self._encoded(list(map(chat_prompt, texts)))

    def answers(self, scripts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of answers with their ends, with all processors."""
        return [[*tokens, self.end] for tokens in self._encoded(scripts)]

    def _encoded(self, texts: Sequence[str]) -> list[list[int]]:
        return [list(one.ids) for one in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def script(self, tokens: Sequence[int]) -> str:
        """Return the script of an answer: everything before its end."""
        kept = list(tokens)
        if self.end in kept:
            kept = kept[: kept.index(self.end)]
        return str(self._tokenizer.decode(kept)).split(FENCE)[0]
