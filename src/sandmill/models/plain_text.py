"""What no text of a seed, of a designer model or of a description may hold."""

import re
import unicodedata

SPECIAL_TOKEN = re.compile(
    r"<(?=[|｜])"
    r"|<(?=/?[\w▁][\w▁.:=-]*>)(?!(?:NA|module|lambda|string|stdin|locals|\w+comp|genexpr)>)"
    r"|\[(?=/?[a-z]?[A-Z_]{2,}\])"
)
"""Start of a text that a tokenizer or a chat template may read as a mark of its own, such as `<|im_end|>`, `</s>`,
`<tool_call>`, `<start_of_turn>`, `<function=run>` and `[INST]`. Names that Python and pandas print are left out."""
_MARKUP = re.compile(rf"{SPECIAL_TOKEN.pattern}|<(?=[A-Za-z/!?][^<>\n]*>)|<!--|!\[|\]\(|://")
"""HTML, images and links of Markdown, addresses, and special tokens."""
_INVISIBLE = frozenset("\u034f\u115f\u1160\u2028\u2029\u2800\u3164\uffa0") | frozenset(
    chr(code) for first, last in ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF)) for code in range(first, last + 1)
)
"""Characters that show nothing, beside those of the categories C: fillers, separators and variation selectors."""
_SHOWN = 20
"""Characters of markup that a message quotes."""


def is_odd(character: str) -> bool:
    """Whether a character is a control, format, private or unassigned one, or shows nothing.

    Controls are such as ESC and NUL, formats such as marks of direction, zero-width spaces and tags. Letters of all
    scripts pass.
    """
    return character in _INVISIBLE or (unicodedata.category(character)[0] == "C" and character not in "\n\t")


def unfit_parts(text: str) -> list[str]:
    """Return what keeps a text from being plain, each once: odd characters by their number, then markup."""
    odd = [f"U+{ord(character):04X}" for character in dict.fromkeys(text) if is_odd(character)]
    marks = [text[found.start() :].split("\n")[0][:_SHOWN] for found in _MARKUP.finditer(text)]
    return list(dict.fromkeys([*odd, *(repr(mark) for mark in marks)]))
