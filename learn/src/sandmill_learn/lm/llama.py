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


class Llama(nn.Module):
    """A decoder with tied embeddings. Parameters are float32; autocast computes in bfloat16."""

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

    def feed_forward(self, hidden: Tensor, place: int) -> Tensor:
        """Apply the gated feed-forward part of a layer, with its residual."""
        inner = functional.linear(self.norm(hidden, self.inner_norm[place]), self.gate_up[place])
        gate, up = inner.chunk(2, dim=-1)
        return hidden + functional.linear(functional.silu(gate) * up, self.down[place])

    def heads_of(self, hidden: Tensor, place: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, shapes (..., heads, head_size), before the rotation."""
        shape = self.shape
        mixed = functional.linear(self.norm(hidden, self.attention_norm[place]), self.qkv[place])
        mixed = mixed.unflatten(-1, (-1, shape.head_size))
        query, key, value = mixed.split([shape.heads, shape.kv_heads, shape.kv_heads], dim=-2)
        return query, key, value

    def logits(self, hidden: Tensor) -> Tensor:
        """Return float32 logits. bfloat16 logits differ by more than the ratios that PPO clips."""
        with torch.autocast(hidden.device.type, enabled=False):
            normed = self.norm(hidden.float(), self.final_norm.float())
            return functional.linear(normed, self.embedding.float())

    def answer_hidden(self, prompts: Tensor, known: Tensor, answers: Tensor) -> Tensor:
        """Return the hidden state before each token of the answers, shape (prompts, answers, tokens, hidden).

        Args:
            prompts: token numbers, shape (prompts, places), padded at the end with any token.
            known: tokens of each prompt.
            answers: token numbers, shape (prompts, answers, tokens), padded at the end with any token.
        """
        shape, (count, places), (_, each, length) = self.shape, prompts.shape, answers.shape
        device, heads, times = prompts.device, shape.heads, shape.heads // shape.kv_heads
        flat = torch.cat([prompts.flatten(), answers.flatten()])
        hidden, split = functional.embedding(flat, self.embedding), count * places
        at = torch.arange(length, device=device)
        later_at = (known[:, None, None] + at).expand(count, each, length)
        positions = torch.cat([torch.arange(places, device=device).repeat(count), later_at.flatten()])
        cosines, sines = (part[:, None] for part in rotary(shape, positions))
        # An answer sees its prompt without the padding, and its own tokens up to the one it is at. The mask has a
        # multiple of eight columns, as fast kernels want.
        spare = -(places + length) % 8
        seen = torch.zeros(count, 1, 1, length, places + spare + length, dtype=torch.bool, device=device)
        seen[..., :places] = (torch.arange(places, device=device) < known[:, None])[:, None, None, None]
        seen[..., places + spare :] = torch.ones(length, length, dtype=torch.bool, device=device).tril()
        mask = seen.expand(count, each, 1, length, -1).flatten(0, 1)

        def first(part: Tensor) -> Tensor:
            return part[:split].unflatten(0, (count, places)).transpose(1, 2)

        def later(part: Tensor) -> Tensor:
            return part[split:].unflatten(0, (count * each, length)).transpose(1, 2)

        def joined(part: Tensor) -> Tensor:
            before = functional.pad(first(part), (0, 0, 0, spare))
            return torch.cat([before.repeat_interleave(each, dim=0), later(part)], dim=2)

        for place in range(shape.layers):
            query, key, value = self.heads_of(hidden, place)
            query, key = rotate(query, cosines, sines), rotate(key, cosines, sines)
            key, value = (part.repeat_interleave(times, dim=1) for part in (key, value))
            ahead = functional.scaled_dot_product_attention(first(query), first(key), first(value), is_causal=True)
            behind = functional.scaled_dot_product_attention(later(query), joined(key), joined(value), attn_mask=mask)
            mixed = torch.cat([part.transpose(1, 2).reshape(-1, heads * shape.head_size) for part in (ahead, behind)])
            hidden = self.feed_forward(hidden + functional.linear(mixed, self.output[place]), place)
        start = hidden[torch.arange(count, device=device) * places + known - 1]
        answered = hidden[split:].unflatten(0, (count, each, length))
        return torch.cat([start[:, None, None].expand(-1, each, -1, -1), answered[:, :, :-1]], dim=2)

    def answer_logprobs(
        self, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[Sequence[int]]]
    ) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of each token of the answers, in one flat row each.

        The order is that of the answers. All prompts have equally many answers.
        """
        device, places = self.embedding.device, max(map(len, prompts))
        length = max(len(answer) for group in answers for answer in group)
        known = torch.tensor([len(prompt) for prompt in prompts], device=device)
        padded = torch.tensor([[*prompt, *[0] * (places - len(prompt))] for prompt in prompts], device=device)
        rows = [[[*answer, *[0] * (length - len(answer))] for answer in group] for group in answers]
        tokens = torch.tensor(rows, device=device)
        sizes = torch.tensor([[len(answer) for answer in group] for group in answers], device=device)
        kept = torch.arange(length, device=device) < sizes[..., None]
        hidden, chosen = self.answer_hidden(padded, known, tokens)[kept], tokens[kept]
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
