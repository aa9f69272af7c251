"""A Llama in plain torch, whose training pass shares a prompt among all its answers.

A batch of answers to one prompt costs the prompt once. With 16 answers of 300 tokens to a prompt of 1,100 tokens this
is a fifth of the tokens of 16 separate sequences.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from torch import Tensor, nn


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


def attend_last(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend causally where queries are the last places of the keys. Shapes (batch, heads, places, head_size)."""
    if query.shape[2] == key.shape[2]:
        return functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    if query.is_cuda and not _State.plain_attention:
        from torch.nn.attention.bias import causal_lower_right

        try:
            bias: Any = causal_lower_right(query.shape[2], key.shape[2])
            return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        except (RuntimeError, NotImplementedError, TypeError):
            # A missing kernel costs speed, not the run.
            _State.plain_attention = True
    places, length = query.shape[2], key.shape[2]
    seen = torch.ones(places, length, dtype=torch.bool, device=query.device).tril(length - places)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)


class _State:
    plain_attention = False
    """Whether the kernel for queries at the end of the keys has failed."""


def check_attention(device: torch.device) -> str:
    """Compare the fast kernel with a mask, forwards and backwards, and do without it if they differ."""
    generator = torch.Generator(device).manual_seed(0)

    def draw(places: int) -> Tensor:
        made = torch.randn(4, 3, places, 64, device=device, generator=generator, dtype=torch.bfloat16)
        return made.requires_grad_()

    query, key, value = draw(17), draw(50), draw(50)
    found = []
    for plain in (True, False):
        _State.plain_attention = plain
        try:
            made = attend_last(query, key, value)
            made.float().square().sum().backward()
            found.append(
                [made.detach().float(), *(one.grad.float() for one in (query, key, value) if one.grad is not None)]
            )
        except Exception as error:
            _State.plain_attention = True
            return f"plain attention: {type(error).__name__}: {error}"
        query.grad = key.grad = value.grad = None
    worst = max(float((one - two).abs().max()) for one, two in zip(found[0], found[1], strict=True))
    _State.plain_attention = _State.plain_attention or worst > 0.1
    kind = "plain" if _State.plain_attention else "fast"
    return f"{kind} attention; the kernels differ by at most {worst:.3f}"


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

    def answer_hidden(self, prompt: Tensor, answers: Tensor) -> Tensor:
        """Return the hidden state before each token of the answers, shape (answers, tokens, hidden).

        Args:
            prompt: token numbers, shape (places,).
            answers: token numbers, shape (answers, tokens), padded at the end with any token.
        """
        shape, known, number, length = self.shape, len(prompt), len(answers), answers.shape[1]
        hidden = functional.embedding(torch.cat([prompt, answers.flatten()]), self.embedding)
        before = rotary(shape, torch.arange(known, device=prompt.device))
        after = rotary(shape, torch.arange(known, known + length, device=prompt.device))
        turns = [torch.cat([one, two.repeat(number, 1)])[:, None] for one, two in zip(before, after, strict=True)]
        times = shape.heads // shape.kv_heads
        for place in range(shape.layers):
            query, key, value = self.heads_of(hidden, place)
            query, key = rotate(query, turns[0], turns[1]), rotate(key, turns[0], turns[1])
            key, value = (part.repeat_interleave(times, dim=1) for part in (key, value))
            first = [part[:known].transpose(0, 1)[None] for part in (query, key, value)]
            later = [part[known:].unflatten(0, (number, length)).transpose(1, 2) for part in (query, key, value)]
            joined = [torch.cat([first[i].expand(number, -1, -1, -1), later[i]], dim=2) for i in (1, 2)]
            seen = attend_last(*first)[0].transpose(0, 1)
            made = attend_last(later[0], *joined).transpose(1, 2).flatten(0, 1)
            mixed = torch.cat([seen, made]).flatten(1)
            hidden = self.feed_forward(hidden + functional.linear(mixed, self.output[place]), place)
        answered = hidden[known:].unflatten(0, (number, length))
        start = hidden[known - 1].expand(number, 1, -1)
        return torch.cat([start, answered[:, :-1]], dim=1)

    def answer_logprobs(self, prompt: Tensor, answers: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of each token before the end of its answer, in one flat row each.

        The order is that of `answers[mask]` with the mask of the lengths.
        """
        kept = torch.arange(answers.shape[1], device=answers.device) < lengths[:, None]
        logits = self.logits(self.answer_hidden(prompt, answers)[kept])
        chances = functional.log_softmax(logits, dim=-1)
        chosen = chances.gather(1, answers[kept][:, None])[:, 0]
        return chosen, -(chances.exp() * chances).sum(dim=-1)
