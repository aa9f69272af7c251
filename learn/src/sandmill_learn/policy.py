"""Micro policies: a tiny transformer that reads facts of a task and writes fragments of Python.

Sampling writes out the forward pass of one token for the weights of `LlamaForCausalLM`: with a model this small, most
of the time of `generate` is overhead. A test compares both.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandmill.errors import InputError, Problem, shorten
from sandmill_learn.records import replace_folder
from sandmill_learn.settings import PolicySize, derive_seed, quiet_bars, require_learning

if TYPE_CHECKING:
    from sandmill_learn.language import Language

PAD, BEGIN, END, ANSWER, UNKNOWN = SPECIALS = ("<pad>", "<begin>", "<end>", "<answer>", "<unknown>")
"""Padding; start of a prompt; end of an answer; end of a prompt; a fact that is masked or not in the vocabulary."""


def build_tokenizer(facts: Iterable[str], fragments: Sequence[str], longest: int) -> Any:
    """Return a tokenizer of transformers.

    A text is split at blanks, so a prompt is fact words joined by blanks. Decoding joins the texts of fragments with
    nothing between them, which gives the exact source. The order of the arguments decides the numbers of the tokens.

    Args:
        facts: fact words, without blanks.
        fragments: texts of fragments.
        longest: tokens of a sequence at most.

    Raises:
        InputError: a word occurs twice, or a fact has a blank.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = [*SPECIALS, *facts, *fragments]
    _check(words, words[: -len(fragments) or None])
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.Fuse()
    ends = [(word, words.index(word)) for word in (BEGIN, ANSWER)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{BEGIN} $A {ANSWER}", special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BEGIN,
        eos_token=END,
        unk_token=UNKNOWN,
        additional_special_tokens=[ANSWER],
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=longest,
    )


def _check(words: Sequence[str], prompt_words: Sequence[str]) -> None:
    counts = Counter(words)
    expected = "a word that occurs once in facts and fragments"
    problems = [Problem("word", shorten(repr(word)), expected) for word, count in counts.items() if count > 1]
    blank = [word for word in prompt_words if not word or len(word.split()) != 1 or word.strip() != word]
    problems += [Problem("fact", shorten(repr(word)), "a word without blanks") for word in blank]
    if problems:
        raise InputError("vocabulary", problems, "")


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


VOCABULARY_FILE = "vocabulary.json"
"""Facts and fragments of a saved policy, beside the files of transformers."""
CHECKPOINT = "policy"
"""Folder with the policy inside the folder of a training."""
LONGEST = 80
"""Fragments of an answer at most, unless the caller says otherwise."""


@dataclass(frozen=True, eq=False)
class MicroPolicy:
    """A causal transformer, its tokenizer and the language whose fragments it writes."""

    model: Any
    """`LlamaForCausalLM`."""
    tokenizer: Any
    language: "Language"
    facts: tuple[str, ...]
    """Fact words that the policy knows. Other words are read as unknown."""

    @classmethod
    def create(
        cls,
        language: "Language",
        seed: int,
        *,
        facts: Sequence[str] | None = None,
        size: PolicySize = PolicySize(),  # noqa: B008
    ) -> "MicroPolicy":
        """Return a policy with random weights.

        Args:
            language: the fragments.
            seed: of the weights.
            facts: fact words; None means all that `facts_of` gives.
            size: of the transformer.

        Raises:
            InputError: if a word occurs twice, or a package of this distribution is missing.
        """
        with require_learning():
            import torch
            from transformers import LlamaConfig, LlamaForCausalLM
        if facts is None:
            from sandmill_learn.facts import FACT_WORDS

            facts = FACT_WORDS
        tokenizer = build_tokenizer(facts, [fragment.text for fragment in language.fragments], size.positions)
        config = LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=size.hidden,
            intermediate_size=size.inner,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.heads,
            max_position_embeddings=size.positions,
            tie_word_embeddings=True,
            # The default, 0.02, is made for wide models: one this narrow would hardly attend to its facts at first.
            initializer_range=size.hidden**-0.5,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
        # The initialisation of transformers reads the global generator.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive_seed(seed, "weights"))
            model = LlamaForCausalLM(config)
        return cls(model, tokenizer, language, tuple(facts))

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return sum(weights.numel() for weights in self.model.parameters())

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return dict(self.tokenizer.get_vocab())

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {fragment.name: fragment.text for fragment in self.language.fragments}

    @cached_property
    def _names(self) -> dict[int, str]:
        return {self._numbers[text]: name for name, text in self._texts.items()}

    def prompt_ids(self, facts: Sequence[str], is_unknown: Callable[[], bool] = lambda: False) -> list[int]:
        """Return the tokens of a prompt. `is_unknown` decides for each fact whether it is masked."""
        numbers, unknown = self._numbers, self._numbers[UNKNOWN]
        words = [unknown if is_unknown() else numbers.get(fact, unknown) for fact in facts]
        return [self.tokenizer.bos_token_id, *words, self._numbers[ANSWER]]

    def answer_ids(self, names: Sequence[str]) -> list[int]:
        """Return the tokens of an answer, with the end.

        Raises:
            KeyError: if the language has no such fragment.
        """
        return [*(self._numbers[self._texts[name]] for name in names), self.tokenizer.eos_token_id]

    def names_of(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Return the names of the fragments among the tokens of an answer; other tokens are left out."""
        return tuple(self._names[number] for number in ids if number in self._names)

    def text_of(self, ids: Sequence[int]) -> str:
        """Return the text of an answer: the texts of its fragments with nothing between them."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))

    def sample_ids(
        self, prompts: Sequence[Sequence[int]], *, temperature: float, seed: int, longest: int = LONGEST
    ) -> list[list[int]]:
        """Return the tokens of one answer to each prompt. Temperature 0 takes the most probable token."""
        import torch

        from sandmill_learn.policy import TokenSampler

        generator = torch.Generator().manual_seed(derive_seed(seed, "answers"))
        return TokenSampler(self.model).sample(prompts, longest=longest, temperature=temperature, generator=generator)

    def sample(
        self,
        prompts: Sequence[Sequence[str]],
        *,
        n: int = 1,
        temperature: float = 1.0,
        seed: int = 0,
        longest: int = LONGEST,
    ) -> list[list[str]]:
        """Return `n` answers to each prompt, as texts with a fence.

        Args:
            prompts: fact words of tasks.
            n: answers to each prompt. With temperature 0 all are equal, and one is computed.
            temperature: divides the logits; 0 takes the most probable fragment.
            seed: of the answers. Equal prompts in the same order with the same seed give the same answers.
            longest: fragments of an answer at most.
        """
        each = n if temperature else 1
        ids = [self.prompt_ids(facts) for facts in prompts for _ in range(each)]
        texts = list(map(self.text_of, self.sample_ids(ids, temperature=temperature, seed=seed, longest=longest)))
        groups = [texts[start : start + each] for start in range(0, len(texts), each)]
        return [group * (n // each) for group in groups]

    def with_model(self, model: Any) -> "MicroPolicy":
        """Return the policy with the weights of another model of the same shape, which it shares."""
        return MicroPolicy(model, self.tokenizer, self.language, self.facts)

    def save(self, folder: Path) -> None:
        """Write the policy to a folder, which it replaces at once. `AutoModelForCausalLM` can read it."""
        with replace_folder(folder) as written:
            with quiet_bars():
                self.model.save_pretrained(written)
            self.tokenizer.save_pretrained(written)
            vocabulary = {
                "facts": self.facts,
                "fragments": [fragment.model_dump(mode="json") for fragment in self.language.fragments],
            }
            (written / VOCABULARY_FILE).write_text(json.dumps(vocabulary, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "MicroPolicy":
        """Read a policy from its folder, or from the folder of a training.

        Raises:
            InputError: if there is none, or a package of this distribution is missing.
        """
        from sandmill_learn.language import Fragment, Language

        with require_learning():
            from transformers import AutoModelForCausalLM, AutoTokenizer
        found = [path for path in (folder, folder / CHECKPOINT) if (path / VOCABULARY_FILE).is_file()]
        if not found:
            hint = "python -m sandmill_learn.flows.train_policy writes such folders."
            raise InputError(
                "policy", [Problem(str(folder), "no micro policy", f"{VOCABULARY_FILE} and a model", hint)], ""
            )
        try:
            vocabulary = json.loads((found[0] / VOCABULARY_FILE).read_text(encoding="utf-8"))
            language = Language(fragments=tuple(map(Fragment.model_validate, vocabulary["fragments"])))
            facts = tuple(map(str, vocabulary["facts"]))
            with quiet_bars():
                model = AutoModelForCausalLM.from_pretrained(str(found[0]), local_files_only=True, use_safetensors=True)
            tokenizer = AutoTokenizer.from_pretrained(str(found[0]), local_files_only=True)
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = Problem(str(found[0]), f"{type(error).__name__}: {error}", "a policy that MicroPolicy.save wrote")
            raise InputError("policy", [problem], "") from error
        return cls(model, tokenizer, language, facts)
