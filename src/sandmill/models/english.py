"""English as an editor reads it: articles and capitals for what is written, and rules that find faults of a text.

`unfit_parts` finds what no text of a seed, of a designer model or of a description may hold.
"""

import re
import unicodedata
from collections.abc import Iterator

from sandmill.models.words import WORDS

_VOWEL = re.compile(r"[aeiou]|hour|honest|honou?r|heir|[fhlmnrsx](?![a-z])")
"""Beginnings that are spoken with a vowel: among them silent h, and single letters such as the x of `x_ray`."""
_CONSONANT = re.compile(r"u(?![a-z])|eu|uni(?!n|m)|u[bkrst][aeiou]|one(?![a-z])|once")
"""Beginnings with a vowel that are spoken with a consonant, such as `unit`, `use`, `euro` or `one`."""

_EXCERPT = 30
"""Characters that a fault shows on each side."""
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"[|*#-]|\d+\. ")
"""Beginning of a line that is no paragraph: a heading, a row of a table, an entry of a list."""
_SENTENCE = re.compile(r"(?<=[.?!]) +(?=[A-Z`\"])")
_ARTICLE = re.compile(
    r"(?<![\w-])(?<!class )(?<!grade )([Aa]n?) [`\"]?(?!(?:is|are|and|or|in|of|to|as)[ ,.])([a-z]\w*)"
)
"""An article and its word. Beside some words, `a` is a name, as in `where a is the sum` and `class a at 7`."""
_SURE_QUESTION = re.compile(
    r"(?:What|Which|Who|Whom|Whose|Where|When|Why|How)\b(?: \w+)?? (?:do|does|did|will|can|could|should|would)\b|"
    r"(?:Why|How(?: \w+)?) (?:is|are|was|were|has|have)\b|(?:Is|Are|Was|Were|Could|Does|Did|Should|Would)\b|"
    r"(?:Do|Can|Will|Has|Have) (?:the|an?|they|we|you|it)\b"
)
"""Beginnings of questions. With `What was`, a sentence may state something: `What was found inside stands below.`"""
_SHORT_QUESTION = re.compile(r"(?:What|Who|Where|When|Which \w+) (?:is|are|was|were) (?:\S+ ){0,5}\S+$")
_OTHER_VERB = re.compile(r"\b(?:is|are|was|were|counts?|decides?|matters?|means?|goes|stands?)\b")

_TWICE = r"\b(?!that |had )([a-z]+) \1\b(?!-)"
_PATTERNS = tuple((fault, re.compile(pattern)) for fault, pattern in WORDS["faults"])

_DIMENSIONS: list[dict[str, str]] = WORDS["units_by_ending"]
"""Words for units of one dimension, by the ending of column names that states them; without one under the empty
ending."""
_NAME = re.compile(r"`(\w+)`")
_UNITS_OF = re.compile(r"`(\w+)`[^\n]*\n\n\| \w+ \| unit \|[^\n]*\n(?:\|[^\n]*(?:\n|$))+")
"""A table of the data dictionary with the units of one column."""
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


def article_of(name: str) -> str:
    """Return `a` or `an` for a word or a column name."""
    lowered = name.lower()
    return "an" if _VOWEL.match(lowered) and not _CONSONANT.match(lowered) else "a"


def with_article(name: str) -> str:
    """Return a name with its article."""
    return f"{article_of(name)} {name}"


def capitalized(text: str) -> str:
    """Return a text with a capital first letter and the rest as it is."""
    return text[:1].upper() + text[1:]


def repeats_word(text: str) -> bool:
    """Whether a word of a text stands twice in a row."""
    return re.search(_TWICE, text) is not None


def text_faults(text: str) -> list[str]:
    """List the faults of a text in Markdown, each with the words around it."""
    text = _FENCE.sub("", text)
    return [*_paragraphs(text), *_everywhere(text), *_units(text)]


def shown_faults(fault: str, pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield a fault for each match of a pattern, with the words around it."""
    yield from (f"{fault}: {_around(text, found)}" for found in pattern.finditer(text))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and sentences begin with a capital and end with their mark."""
    for block in re.split(r"\n\s*\n", text):
        paragraph = " ".join(line for line in block.strip().splitlines() if not _ENTRY.match(line))
        if not paragraph:
            continue
        if re.match(r"[a-z]", paragraph):
            yield f"a paragraph begins in lower case: {paragraph[: 2 * _EXCERPT]}"
        if not re.search(r"[.?!:;][)\"'”»`]*\s*$", paragraph):
            yield f"a paragraph ends without a mark: {paragraph[-2 * _EXCERPT :]}"
        yield from shown_faults("a sentence begins in lower case", re.compile(r"[\w)`][.?!] (?=[a-z])"), paragraph)
        yield from (f"a question without its mark: {one}" for one in _SENTENCE.split(paragraph) if _lacks_mark(one))


def _lacks_mark(sentence: str) -> bool:
    """Whether a sentence asks, and ends without a question mark."""
    if "?" in sentence[-3:]:
        return False
    if re.search(r"\b[Qq]uestion\b.*: ", sentence):
        return True
    if sentence.endswith(":"):
        return False
    rest = " ".join(sentence.split(" ")[2:])
    is_short = _SHORT_QUESTION.match(sentence) and not _OTHER_VERB.search(rest) and ":" not in rest
    return bool(_SURE_QUESTION.match(sentence) or is_short)


def _everywhere(text: str) -> Iterator[str]:
    """Find what is wrong in any line, also in tables and lists."""
    for found in _ARTICLE.finditer(text):
        if found[1].lower() != article_of(found[2]):
            yield f"the wrong article: {_around(text, found)}"
    if text.count("(") != text.count(")"):
        yield "brackets are not closed"
    for fault, pattern in _PATTERNS:
        yield from shown_faults(fault, pattern, text)


def _units(text: str) -> Iterator[str]:
    """A column whose name ends in a unit holds that unit."""
    tables = [
        (found[1], " ".join(re.findall(r"^\| [^|]* \|([^|]*)\|", found[0], re.MULTILINE)))
        for found in _UNITS_OF.finditer(text)
    ]
    lines = [line for line in text.splitlines() if line.startswith(("|", "-", "*"))]
    entries = [(names[0], line) for line in lines if len(names := list(filter(_unit_of, _NAME.findall(line)))) == 1]
    for name, said in (*entries, *tables):
        ending, dimension = _unit_of(name) or ("", {})
        stated = {key for key, words in dimension.items() if re.search(rf"(?<!['\w])(?:{words})s?\b", said)}
        if stated and (ending not in stated or ((name, said) in tables and stated != {ending})):
            yield f"the name {name} states another unit than its text: {said.strip()[: 3 * _EXCERPT]}"


def _unit_of(name: str) -> tuple[str, dict[str, str]] | None:
    """Return the unit at the end of a column's name, with its dimension."""
    ending = name.rpartition("_")[2]
    return next(((ending, units) for units in _DIMENSIONS if ending in units and ending != name), None)


def _around(text: str, found: re.Match[str]) -> str:
    return text[max(0, found.start() - _EXCERPT) : found.end() + _EXCERPT].replace("\n", " ").strip()


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
