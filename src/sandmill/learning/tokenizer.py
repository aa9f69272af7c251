"""The tokenizer of micro policies: one token for each fact word and for each fragment of code."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sandmill.errors import InputError, Problem, shorten

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
