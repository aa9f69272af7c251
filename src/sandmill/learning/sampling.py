"""Fast sampling of micro policies on a CPU.

The forward pass of one token is written out for the weights of `LlamaForCausalLM`: with a model this small, most of the
time of `generate` is overhead. A test compares both.
"""

from collections.abc import Sequence
from typing import Any


class TokenSampler:
    """Samples token numbers from the weights of one moment. Make a new one after each optimiser step."""

    def __init__(self, model: Any) -> None:
        import torch

        config = model.config
        self._heads, self._eps = config.num_attention_heads, config.rms_norm_eps
        self._width = config.hidden_size // self._heads
        self._embedding = model.get_input_embeddings().weight.detach()
        self._head = model.get_output_embeddings().weight.detach()
        self._norm = model.model.norm.weight.detach()
        self._layers = [_Layer(layer) for layer in model.model.layers]
        steps = torch.arange(config.max_position_embeddings, dtype=torch.float32)
        with torch.no_grad():
            cosine, sine = model.model.rotary_emb(self._embedding[:1, None], steps[None].long())
        self._cosine, self._sine = cosine[0], sine[0]
        self._end, self._pad = config.eos_token_id, config.pad_token_id

    def sample(
        self, prompts: Sequence[Sequence[int]], *, longest: int, temperature: float, generator: Any
    ) -> list[list[int]]:
        """Return one answer for each prompt, with the token of the end unless it was cut off.

        Each row has its own uniform numbers, drawn before the first token, so an answer depends on its own prompt, the
        number of its row and the weights alone.

        Args:
            prompts: token numbers.
            longest: tokens of an answer at most; the positions of the model may allow fewer.
            temperature: divides the logits; 0 takes the most probable token.
            generator: of torch; not used at temperature 0.
        """
        import torch

        if not prompts:
            return []
        with torch.inference_mode():
            uniform = torch.rand(len(prompts), longest, generator=generator) if temperature else None
            found: list[list[int]] = self._sample(prompts, longest, temperature, uniform)
            return found

    def _sample(self, prompts: Sequence[Sequence[int]], longest: int, temperature: float, uniform: Any) -> Any:
        import torch

        widest, number = max(map(len, prompts)), len(prompts)
        longest = min(longest, len(self._cosine) - widest)
        ids = torch.tensor([[self._pad] * (widest - len(prompt)) + list(prompt) for prompt in prompts])
        is_token = torch.ones(number, widest + longest, dtype=torch.bool)
        is_token[:, :widest] = torch.arange(widest) >= widest - torch.tensor([[len(prompt)] for prompt in prompts])
        shape = (len(self._layers), number, self._heads, widest + longest, self._width)
        keys, values = torch.zeros(shape), torch.zeros(shape)
        answers: list[list[int]] = [[] for _ in prompts]
        rows = torch.arange(number)
        logits = self._forward(ids, 0, keys, values, is_token)
        for step in range(longest):
            chosen = _choose(logits, temperature, None if uniform is None else uniform[rows, step])
            for row, token in zip(rows.tolist(), chosen.tolist(), strict=True):
                answers[row].append(token)
            going = chosen != self._end
            if not going.any() or step + 1 == longest:
                break
            if going.sum() < 0.75 * len(going):
                keys, values, is_token = keys[:, going], values[:, going], is_token[going]
                rows, chosen = rows[going], chosen[going]
            logits = self._forward(chosen[:, None], widest + step, keys, values, is_token)
        return [_until(answer, self._end) for answer in answers]

    def _forward(self, ids: Any, start: int, keys: Any, values: Any, is_token: Any) -> Any:
        """Add tokens to the cache and return the logits after the last one."""
        import torch
        from torch.nn import functional

        rows, length = ids.shape
        stop = start + length
        hidden = self._embedding[ids]
        cosine, sine = self._cosine[start:stop], self._sine[start:stop]
        mask = is_token[:, None, None, :stop]
        if length > 1:
            mask = mask & torch.ones(length, stop, dtype=torch.bool).tril(start)
            # A row of padding that sees nothing would give NaN; it sees itself, and nobody sees it.
            mask = mask | torch.eye(length, stop, dtype=torch.bool)
        for number, layer in enumerate(self._layers):
            normed = functional.rms_norm(hidden, hidden.shape[-1:], layer.before_attention, self._eps)
            parts = (normed @ layer.qkv).view(rows, length, 3, self._heads, self._width).permute(2, 0, 3, 1, 4)
            keys[number, :, :, start:stop] = _rotate(parts[1], cosine, sine)
            values[number, :, :, start:stop] = parts[2]
            seen = functional.scaled_dot_product_attention(
                _rotate(parts[0], cosine, sine), keys[number, :, :, :stop], values[number, :, :, :stop], attn_mask=mask
            )
            hidden = hidden + seen.transpose(1, 2).reshape(rows, length, -1) @ layer.out
            normed = functional.rms_norm(hidden, hidden.shape[-1:], layer.before_inner, self._eps)
            gate, up = (normed @ layer.gate_up).chunk(2, dim=-1)
            hidden = hidden + (functional.silu(gate) * up) @ layer.down
        last = functional.rms_norm(hidden[:, -1], hidden.shape[-1:], self._norm, self._eps)
        return last @ self._head.T


class _Layer:
    """Weights of one layer; those that take the same input are one matrix."""

    def __init__(self, layer: Any) -> None:
        import torch

        attention, inner = layer.self_attn, layer.mlp
        parts = [attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight]
        self.qkv = torch.cat([part.detach() for part in parts]).T.contiguous()
        self.out = attention.o_proj.weight.detach().T
        self.gate_up = torch.cat([inner.gate_proj.weight.detach(), inner.up_proj.weight.detach()]).T.contiguous()
        self.down = inner.down_proj.weight.detach().T
        self.before_attention = layer.input_layernorm.weight.detach()
        self.before_inner = layer.post_attention_layernorm.weight.detach()


def _rotate(states: Any, cosine: Any, sine: Any) -> Any:
    """Turn states by their positions."""
    import torch

    first, second = states.chunk(2, dim=-1)
    return states * cosine + torch.cat([-second, first], dim=-1) * sine


def _choose(logits: Any, temperature: float, uniform: Any) -> Any:
    """Return one token for each row, by inversion of the cumulative probabilities."""
    import torch

    if not temperature:
        return logits.argmax(dim=-1)
    cumulative = torch.softmax(logits / temperature, dim=-1).cumsum(dim=-1)
    below = uniform[:, None] * cumulative[:, -1:]
    return torch.searchsorted(cumulative, below, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)


def _until(answer: list[int], end: int) -> list[int]:
    """Cut an answer after its end."""
    return answer[: answer.index(end) + 1] if end in answer else answer
