"""A Llama in plain torch, whose training pass shares a prompt among its answers and takes several prompts at once.

A batch of answers to one prompt costs the prompt once. With 16 answers of 300 tokens to a prompt of 1,100 tokens this
is a fifth of the tokens of 16 separate sequences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

_TOKENS_OF_PASS = 26_000
"""Tokens, padding included, of one training pass: about 40 GB of a GPU's memory."""
_PLACES, _TOKENS = 64, 32
"""Prompts and answers are padded to multiples of these: kernels want multiples of eight, and few shapes."""
_TOKENS_OF_LOGITS = 4096
"""Tokens whose logits over the vocabulary are held at a time: 0.8 GB."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a model."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    inner: int
    vocab: int
    theta: float
    epsilon: float

    @property
    def head_size(self) -> int:
        """Numbers of one head."""
        return self.hidden // self.heads


def rotary(shape: Shape, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Return cosines and sines of the rotary embedding, shape (..., head_size)."""
    half = shape.head_size // 2
    steps = torch.arange(half, device=positions.device, dtype=torch.float32) / half
    # No tensor is copied from the host here: a CUDA graph that is being captured refuses that.
    angles = positions[..., None].float() * torch.pow(shape.theta, -steps)
    doubled = torch.cat([angles, angles], dim=-1)
    return doubled.cos(), doubled.sin()


def rotate(vectors: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Apply the rotary embedding to the last axis."""
    left, right = vectors.chunk(2, dim=-1)
    turned = torch.cat([-right, left], dim=-1)
    return (vectors * cosines + turned * sines).to(vectors.dtype)


@dataclass(frozen=True)
class _Turns:
    """What all layers share: cosines and sines of prompts and of answers, and what answers attend to."""

    ahead: tuple[Tensor, Tensor]
    behind: tuple[Tensor, Tensor]
    mask: Tensor


def _padded(rows: Sequence[Sequence[int]], step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return token numbers with zeros behind them, up to a multiple of a step, and the number of each row."""
    made = np.zeros((len(rows), -(-max(map(len, rows)) // step) * step), dtype=np.int64)
    for place, row in enumerate(rows):
        made[place, : len(row)] = row
    return torch.from_numpy(made).to(device), torch.tensor([len(row) for row in rows], device=device)


class Llama(nn.Module):
    """A decoder with tied embeddings. Parameters are float32; a GPU computes in bfloat16, a CPU in float32."""

    def __init__(self, shape: Shape) -> None:
        """Allocate weights without values."""
        super().__init__()
        self.shape = shape
        width, inner = shape.hidden, shape.inner
        kept = (shape.heads + 2 * shape.kv_heads) * shape.head_size

        def matrices(rows: int, columns: int) -> nn.ParameterList:
            return nn.ParameterList([nn.Parameter(torch.empty(rows, columns)) for _ in range(shape.layers)])

        def vectors() -> nn.ParameterList:
            return nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(shape.layers)])

        self.embedding = nn.Parameter(torch.empty(shape.vocab, width))
        self.final_norm = nn.Parameter(torch.ones(width))
        self.attention_norm, self.inner_norm = vectors(), vectors()
        self.qkv, self.output = matrices(kept, width), matrices(width, width)
        self.gate_up, self.down = matrices(2 * inner, width), matrices(width, inner)

    @classmethod
    def random(cls, shape: Shape, seed: int) -> "Llama":
        """Return a model with random weights."""
        model, generator = cls(shape), torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for values in model.parameters():
                if values.ndim > 1:
                    values.normal_(0.0, 0.02, generator=generator)
        return model

    def set_global(self, embedding: Any, norm: Any) -> None:
        """Set the weights outside the layers."""
        with torch.no_grad():
            self.embedding.copy_(torch.from_numpy(np.asarray(embedding)))
            self.final_norm.copy_(torch.from_numpy(np.asarray(norm)))

    def set_layer(self, place: int, **weights: Any) -> None:
        """Set the weights of one layer by their names in the literature."""
        given = {name: torch.from_numpy(np.asarray(value)) for name, value in weights.items()}
        with torch.no_grad():
            self.attention_norm[place].copy_(given["attention_norm"])
            self.inner_norm[place].copy_(given["inner_norm"])
            self.qkv[place].copy_(torch.cat([given["query"], given["key"], given["value"]]))
            self.output[place].copy_(given["output"])
            self.gate_up[place].copy_(torch.cat([given["gate"], given["up"]]))
            self.down[place].copy_(given["down"])

    def norm(self, hidden: Tensor, weight: Tensor) -> Tensor:
        """Normalise by the root mean square."""
        return functional.rms_norm(hidden, (self.shape.hidden,), weight.to(hidden.dtype), self.shape.epsilon)

    def layer(self, ahead: Tensor, behind: Tensor, turns: "_Turns", place: int) -> tuple[Tensor, Tensor]:
        """Apply one layer to prompts, shape (prompts, places, hidden), and answers, shape (answers, tokens, hidden)."""
        shape, kind = self.shape, ahead.dtype
        qkv, output, gate_up, down = (
            matrices[place].to(kind) for matrices in (self.qkv, self.output, self.gate_up, self.down)
        )
        each, times = len(behind) // len(ahead), shape.heads // shape.kv_heads

        def heads_of(hidden: Tensor, at: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
            mixed = functional.linear(self.norm(hidden, self.attention_norm[place]), qkv)
            mixed = mixed.unflatten(-1, (-1, shape.head_size)).transpose(1, 2)
            query, key, value = mixed.split([shape.heads, shape.kv_heads, shape.kv_heads], dim=1)
            return rotate(query, *at), rotate(key, *at), value

        def wide(part: Tensor) -> Tensor:
            return part.repeat_interleave(times, dim=1)

        def joined(first: Tensor, later: Tensor) -> Tensor:
            return wide(torch.cat([first.repeat_interleave(each, dim=0), later], dim=2))

        def after(hidden: Tensor, mixed: Tensor) -> Tensor:
            hidden = hidden + functional.linear(mixed.transpose(1, 2).flatten(2), output)
            gate, up = functional.linear(self.norm(hidden, self.inner_norm[place]), gate_up).chunk(2, dim=-1)
            return hidden + functional.linear(functional.silu(gate) * up, down)

        query, key, value = heads_of(ahead, turns.ahead)
        own_query, own_key, own_value = heads_of(behind, turns.behind)
        attend = functional.scaled_dot_product_attention
        mixed = attend(query, wide(key), wide(value), is_causal=True)
        own = attend(own_query, joined(key, own_key), joined(value, own_value), attn_mask=turns.mask)
        return after(ahead, mixed), after(behind, own)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return float32 logits. bfloat16 logits differ by more than the ratios that PPO clips."""
        return functional.linear(self.norm(hidden.float(), self.final_norm), self.embedding)

    def answer_hidden(self, prompts: Tensor, known: Tensor, answers: Tensor) -> Tensor:
        """Return the hidden state before each token of the answers, shape (answers of all prompts, tokens, hidden).

        Args:
            prompts: token numbers, shape (prompts, places), padded at the end with any token.
            known: tokens of each prompt.
            answers: token numbers, shape (answers of all prompts, tokens), padded at the end with any token.
        """
        each, device = len(answers) // len(prompts), prompts.device
        kind = torch.bfloat16 if device.type == "cuda" else torch.float32
        embedding = self.embedding.to(kind)
        ahead, behind = functional.embedding(prompts, embedding), functional.embedding(answers, embedding)
        turns = self._turns(prompts.shape[1], answers.shape[1], known.repeat_interleave(each), kind)
        for place in range(self.shape.layers):
            ahead, behind = self.layer(ahead, behind, turns, place)
        start = ahead[torch.arange(len(prompts), device=device), known - 1].repeat_interleave(each, dim=0)
        return torch.cat([start[:, None], behind[:, :-1]], dim=1)

    def _turns(self, places: int, length: int, known: Tensor, kind: torch.dtype) -> "_Turns":
        """Return the rotations, and the mask: an answer sees its prompt without padding, and its tokens so far."""
        at, before = (torch.arange(size, device=known.device) for size in (length, places))
        seen = torch.zeros(len(known), 1, length, places + length, dtype=torch.bool, device=known.device)
        seen[..., :places] = (before < known[:, None])[:, None, None]
        seen[..., places:] = at[:, None] >= at
        mask = torch.zeros(seen.shape, dtype=kind, device=known.device).masked_fill_(~seen, float("-inf"))

        def rotation(positions: Tensor) -> tuple[Tensor, Tensor]:
            cosines, sines = rotary(self.shape, positions)
            return cosines[:, None].to(kind), sines[:, None].to(kind)

        return _Turns(rotation(before[None]), rotation(known[:, None] + at), mask)

    def answer_logprobs(
        self, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[Sequence[int]]]
    ) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of each token of the answers, in one flat row each.

        The order is that of the answers. All prompts have equally many answers.
        """
        device = self.embedding.device
        padded, known = _padded(prompts, _PLACES, device)
        tokens, sizes = _padded([answer for group in answers for answer in group], _TOKENS, device)
        kept = (torch.arange(tokens.shape[1], device=device) < sizes[:, None]).flatten().nonzero()[:, 0]
        hidden, chosen = self.answer_hidden(padded, known, tokens).flatten(0, 1)[kept], tokens.flatten()[kept]
        made = [
            checkpoint(self._scores_of, part, wanted, use_reentrant=False)
            for part, wanted in zip(hidden.split(_TOKENS_OF_LOGITS), chosen.split(_TOKENS_OF_LOGITS), strict=True)
        ]
        return torch.cat([one[0] for one in made]), torch.cat([one[1] for one in made])

    def _scores_of(self, hidden: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
        chances = functional.log_softmax(self.logits(hidden), dim=-1)
        return chances.gather(1, wanted[:, None])[:, 0], -(chances.exp() * chances).sum(dim=-1)


def in_chunks(prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[Sequence[int]]]) -> Iterator[list[int]]:
    """Yield the numbers of prompts that a pass takes together: many small passes would wait for their kernels.

    Prompts of a pass have equally many answers, and the passes are sorted by the length of their prompts.
    """
    chunk: list[int] = []
    for place in sorted(range(len(prompts)), key=lambda place: (len(answers[place]), len(prompts[place]))):
        longest = max(len(answer) for one in (*chunk, place) for answer in answers[one])
        size = (len(chunk) + 1) * (len(prompts[place]) + len(answers[place]) * longest)
        if chunk and (size > _TOKENS_OF_PASS or len(answers[chunk[0]]) != len(answers[place])):
            yield chunk
            chunk = []
        chunk.append(place)
    if chunk:
        yield chunk
