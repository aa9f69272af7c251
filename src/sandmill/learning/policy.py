"""Micro policies: a tiny transformer that reads facts of a task and writes fragments of Python."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandmill.errors import InputError, Problem
from sandmill.learning.extras import quiet_bars, require_learning
from sandmill.learning.folders import replace_folder
from sandmill.learning.policy_settings import PolicySize
from sandmill.learning.seeds import derive_seed
from sandmill.learning.tokenizer import ANSWER, UNKNOWN, build_tokenizer

if TYPE_CHECKING:
    from sandmill.learning.language import Language

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
            InputError: if a word occurs twice, or the extra `learning` is missing.
        """
        with require_learning():
            import torch
            from transformers import LlamaConfig, LlamaForCausalLM
        if facts is None:
            from sandmill.learning.facts import FACT_WORDS

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

        from sandmill.learning.sampling import TokenSampler

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
            InputError: if there is none, or the extra `learning` is missing.
        """
        from sandmill.learning.language import Fragment, Language

        with require_learning():
            from transformers import AutoModelForCausalLM, AutoTokenizer
        found = [path for path in (folder, folder / CHECKPOINT) if (path / VOCABULARY_FILE).is_file()]
        if not found:
            hint = "python -m flows.train_policy writes such folders."
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
