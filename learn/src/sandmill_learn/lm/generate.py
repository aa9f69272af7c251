"""Sampling of answers: static caches, a prompt read once for all its answers, and a CUDA graph of one token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor

from sandmill_learn.lm.llama import Llama, rotary, rotate

_CHECK_EVERY = 16
"""Tokens between two looks at whether all answers have ended. A look waits for the device."""


@dataclass(frozen=True)
class Limits:
    """Static sizes of a sampler."""

    prompts: int
    """Prompts of one batch."""
    samples: int
    """Answers to each prompt."""
    prompt_tokens: int
    answer_tokens: int


class Sampler:
    """Samples answers of one model. `refresh` takes over its weights after an update."""

    def __init__(self, model: Llama, limits: Limits, end: int, say: Callable[[str], None] = lambda text: None) -> None:
        """Allocate caches on the device of the model; nothing is captured before the first batch."""
        self._model, self._limits, self._end, self._say = model, limits, end, say
        self.prompts, self.samples = limits.prompts, limits.samples
        shape, device = model.shape, model.embedding.device
        self._type = torch.bfloat16 if device.type == "cuda" else torch.float32
        self._device = device
        self._weights = {
            name: value.detach().to(device, torch.float32 if name == "embedding" else self._type, copy=True)
            for name, value in model.named_parameters()
        }
        rows = limits.prompts * limits.samples

        def cache(number: int, places: int) -> Tensor:
            sizes = (shape.layers, number, shape.kv_heads, places, shape.head_size)
            return torch.zeros(sizes, dtype=self._type, device=device)

        self._known_key, self._known_value = (cache(limits.prompts, limits.prompt_tokens) for _ in range(2))
        self._own_key, self._own_value = (cache(rows, limits.answer_tokens) for _ in range(2))
        self._known_bias = torch.zeros(limits.prompts, limits.prompt_tokens, device=device)
        self._lengths = torch.zeros(limits.prompts, dtype=torch.long, device=device)
        self._step = torch.zeros(1, dtype=torch.long, device=device)
        self._token = torch.zeros(rows, dtype=torch.long, device=device)
        self._ended = torch.zeros(rows, dtype=torch.bool, device=device)
        self._answers = torch.full((rows, limits.answer_tokens), end, dtype=torch.long, device=device)
        self._temperature = torch.ones(1, device=device)
        places = torch.arange(limits.prompt_tokens + limits.answer_tokens, device=device)
        self._turns = rotary(shape, places)
        self._own_places = torch.arange(limits.answer_tokens, device=device)
        self._graph: Any = None
        self._has_failed = device.type != "cuda"

    def refresh(self) -> None:
        """Copy the weights of the model. Their places in memory stay, as the graph needs."""
        with torch.no_grad():
            for name, value in self._model.named_parameters():
                self._weights[name].copy_(value)

    @torch.no_grad()
    def sample(self, prompts: Sequence[Sequence[int]], temperature: float) -> list[list[list[int]]]:
        """Return the answers to each prompt, without what follows their end. Temperature 0 is greedy.

        Args:
            prompts: token numbers; at most as many as the limits say, none longer.
            temperature: of the sampling.
        """
        limits = self._limits
        if len(prompts) > limits.prompts or max(map(len, prompts)) > limits.prompt_tokens:
            raise ValueError(f"{len(prompts)} prompts, longest {max(map(len, prompts))}; the sampler takes {limits}")
        padded = [*prompts, *[prompts[0]] * (limits.prompts - len(prompts))]
        self._temperature.fill_(max(temperature, 1e-4))
        self._step.zero_()
        self._ended.zero_()
        self._answers.fill_(self._end)
        self._choose(self._read_prompts(padded))
        for place in range(1, limits.answer_tokens):
            if place % _CHECK_EVERY == 0 and bool(self._ended.all()):
                break
            self._advance()
        rows = self._answers.tolist()
        found = [row[: row.index(self._end) + 1] if self._end in row else row for row in rows]
        size = limits.samples
        return [found[place * size : (place + 1) * size] for place in range(len(prompts))]

    def _weight(self, name: str, place: int) -> Tensor:
        return self._weights[f"{name}.{place}"]

    def _norm(self, hidden: Tensor, weight: Tensor) -> Tensor:
        shape = self._model.shape
        return functional.rms_norm(hidden, (shape.hidden,), weight, shape.epsilon)

    def _heads(self, hidden: Tensor, place: int) -> tuple[Tensor, Tensor, Tensor]:
        shape = self._model.shape
        mixed = functional.linear(self._norm(hidden, self._weight("attention_norm", place)), self._weight("qkv", place))
        mixed = mixed.unflatten(-1, (-1, shape.head_size))
        query, key, value = mixed.split([shape.heads, shape.kv_heads, shape.kv_heads], dim=-2)
        return query, key, value

    def _rest(self, hidden: Tensor, mixed: Tensor, place: int) -> Tensor:
        hidden = hidden + functional.linear(mixed, self._weight("output", place))
        inner = functional.linear(self._norm(hidden, self._weight("inner_norm", place)), self._weight("gate_up", place))
        gate, up = inner.chunk(2, dim=-1)
        return hidden + functional.linear(functional.silu(gate) * up, self._weight("down", place))

    def _logits(self, hidden: Tensor) -> Tensor:
        normed = self._norm(hidden.float(), self._weights["final_norm"].float())
        return functional.linear(normed, self._weights["embedding"])

    def _read_prompts(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        """Fill the caches of the prompts, and return the logits after each."""
        shape, found = self._model.shape, list[Tensor]()
        times = shape.heads // shape.kv_heads
        self._known_bias.fill_(float("-inf"))
        done: dict[int, int] = {}
        for number, prompt in enumerate(prompts):
            length = len(prompt)
            self._lengths[number] = length
            self._known_bias[number, :length] = 0.0
            if id(prompt) in done:
                before = done[id(prompt)]
                self._known_key[:, number] = self._known_key[:, before]
                self._known_value[:, number] = self._known_value[:, before]
                found.append(found[before])
                continue
            done[id(prompt)] = number
            tokens = torch.tensor(prompt, device=self._device)
            hidden = functional.embedding(tokens, self._weights["embedding"]).to(self._type)
            cosines, sines = (part[:length, None] for part in self._turns)
            for place in range(shape.layers):
                query, key, value = self._heads(hidden, place)
                query, key = rotate(query, cosines, sines), rotate(key, cosines, sines)
                self._known_key[place, number, :, :length] = key.transpose(0, 1)
                self._known_value[place, number, :, :length] = value.transpose(0, 1)
                wide = [part.repeat_interleave(times, dim=1) for part in (key, value)]
                first, second, third = (part.transpose(0, 1)[None] for part in (query, *wide))
                mixed = functional.scaled_dot_product_attention(first, second, third, is_causal=True)[0]
                mixed = mixed.transpose(0, 1).flatten(1)
                hidden = self._rest(hidden, mixed, place)
            found.append(self._logits(hidden[-1:]))
        return torch.cat(found).repeat_interleave(self._limits.samples, dim=0)

    def _choose(self, logits: Tensor) -> None:
        """Draw the next token of every answer, and write it. Answers that ended stay as they are."""
        noise = torch.empty_like(logits).exponential_().clamp_(min=1e-20)
        # The largest of logit / temperature plus Gumbel noise is a draw of the softmax.
        scores = logits / self._temperature - noise.log() * (self._temperature > 1e-3)
        token = scores.argmax(dim=-1)
        token = token.masked_fill(self._ended, self._end)
        self._token.copy_(token)
        self._ended.logical_or_(token == self._end)
        self._answers.index_copy_(1, self._step, token[:, None])
        self._step.add_(1)

    def _decode(self) -> None:
        """Compute one more token of every answer, from static tensors into static tensors."""
        shape, limits = self._model.shape, self._limits
        at = self._step - 1
        rows, times = limits.prompts * limits.samples, shape.heads // shape.kv_heads
        positions = (self._lengths.repeat_interleave(limits.samples, output_size=rows)) + at
        cosines, sines = (part[:, None] for part in rotary(shape, positions))
        places = torch.arange(limits.answer_tokens, device=self._device)
        own_bias = torch.zeros_like(places, dtype=torch.float32).masked_fill(places > at, float("-inf"))
        scale = shape.head_size**-0.5
        hidden = functional.embedding(self._token, self._weights["embedding"]).to(self._type)
        for place in range(shape.layers):
            query, key, value = self._heads(hidden, place)
            query, key = rotate(query, cosines, sines), rotate(key, cosines, sines)
            own_key, own_value = self._own_key[place], self._own_value[place]
            own_key.index_copy_(2, at, key[:, :, None])
            own_value.index_copy_(2, at, value[:, :, None])
            query = query.unflatten(1, (shape.kv_heads, times)) * scale
            grouped = query.unflatten(0, (limits.prompts, limits.samples)).permute(0, 2, 1, 3, 4).flatten(2, 3)
            known = grouped @ self._known_key[place].transpose(2, 3)
            known = known.float() + self._known_bias[:, None, None]
            own = (query @ own_key.transpose(2, 3)).float() + own_bias
            back = known.unflatten(2, (limits.samples, times)).permute(0, 2, 1, 3, 4).flatten(0, 1)
            weights = torch.cat([back, own], dim=-1).softmax(dim=-1).to(self._type)
            to_known, to_own = weights.split([limits.prompt_tokens, limits.answer_tokens], dim=-1)
            packed = to_known.unflatten(0, (limits.prompts, limits.samples)).permute(0, 2, 1, 3, 4).flatten(2, 3)
            seen = packed @ self._known_value[place]
            seen = seen.unflatten(2, (limits.samples, times)).permute(0, 2, 1, 3, 4).flatten(0, 1)
            mixed = (seen + to_own @ own_value).flatten(1)
            hidden = self._rest(hidden, mixed, place)
        self._choose(self._logits(hidden))

    def _advance(self) -> None:
        """Run one token, in a CUDA graph where that works."""
        if self._graph is None and not self._has_failed:
            self._capture()
        if self._graph is not None:
            self._graph.replay()
        else:
            self._decode()

    def _capture(self) -> None:
        """Capture one token as a graph. The tokens that warming up draws are undone."""
        kept = [self._step.clone(), self._token.clone(), self._ended.clone(), self._answers.clone()]

        def restore() -> None:
            for static, former in zip((self._step, self._token, self._ended, self._answers), kept, strict=True):
                static.copy_(former)

        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(2):
                    self._decode()
                    restore()
            torch.cuda.current_stream().wait_stream(stream)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self._decode()
            self._graph = graph
        except Exception as error:
            self._say(f"no CUDA graph ({type(error).__name__}: {error}); tokens are computed one kernel at a time")
            self._has_failed = True
        restore()
