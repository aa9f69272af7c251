"""English readers. The module is short and needs the standard library alone: scripts of tasks contain it."""

import re
from collections.abc import Callable

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
ONES += "seventeen eighteen nineteen".split()
TENS = "_ ten twenty thirty forty fifty sixty seventy eighty ninety".split()
MONTHS = "january february march april may june july august september october november december".split()
IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
IRREGULAR |= {"twelve": "twelfth"}
COINS = {"$": ("dollar", "cent"), "€": ("euro", "cent"), "£": ("pound", "penny")}
UNITS = {"km": "kilometer", "kg": "kilogram", "cm": "centimeter", "ft": "foot", "lb": "pound", "mi": "mile"}
ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}


def cardinal(n: int, joint: str = "") -> str:
    """Read a whole number; `joint` joins hundreds and what follows them."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (" " + ONES[n % 10] if n % 10 else "")
    size, word = next(pair for pair in ((10**6, "million"), (1000, "thousand"), (100, "hundred")) if n >= pair[0])
    rest = n % size
    link = (joint if rest < 100 and size < 10**6 else "") + " "
    return f"{cardinal(n // size, joint)} {word}" + (link + cardinal(rest, joint) if rest else "")


def ordinal(n: int, joint: str = "") -> str:
    """Read a rank."""
    head, _, last = cardinal(n, joint).rpartition(" ")
    last = IRREGULAR.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return f"{head} {last}".strip()


def year(n: int, middle: str = "o") -> str:
    """Read a year in two halves; `middle` stands before a last figure below ten."""
    if n % 1000 < 10:
        return cardinal(n)
    low = "hundred" if n % 100 == 0 else f"{middle} {ONES[n % 100]}" if n % 100 < 10 else cardinal(n % 100)
    return f"{cardinal(n // 100)} {low}"


def digits(text: str, zero: str = "o") -> str:
    """Read figure by figure."""
    return " ".join(zero if d == "0" else ONES[int(d)] for d in text if d.isdigit())


def plural(word: str, n: str) -> str:
    """Return the noun that follows a number."""
    odd = {"foot": "feet", "penny": "pence"}
    return word if n == "1" else odd.get(word, word + "s")


def decimal(text: str, zero: str = "o", front: str = "zero") -> str:
    """Read a number with a decimal point."""
    whole, _, part = text.partition(".")
    head = front if whole == "0" else cardinal(int(whole))
    return f"{head} point {digits(part, zero)}".strip() if part else head


def money(text: str, joint: str = " and", small: bool = True) -> str:
    """Read an amount; `joint` stands before cents."""
    big, cent = COINS[text[0]]
    whole, _, part = text[1:].partition(".")
    said = f"{cardinal(int(whole))} {plural(big, whole)}"
    if not part or int(part) == 0:
        return said
    rest = cardinal(int(part))
    return f"{said}{joint} {rest} {plural(cent, str(int(part)))}" if small else f"{said} {rest}"


def fraction(top: int, bottom: int, over: bool = False) -> str:
    """Read a fraction."""
    if over:
        return f"{cardinal(top)} over {cardinal(bottom)}"
    part = {2: "half", 4: "quarter"}.get(bottom) or ordinal(bottom)
    many = "halves" if bottom == 2 else part + "s"
    return f"{cardinal(top)} {part if top == 1 else many}"


def date(day: int, month: int, rest: str | None, style: str) -> str | None:
    """Read a day of a month, with its year if there is one."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    said = f"the {ordinal(day)} of {MONTHS[month - 1]}" if style == "of" else f"{MONTHS[month - 1]} {ordinal(day)}"
    return f"{said} {year(int(rest))}" if rest else said


def clock(hour: int, minute: int, style: str) -> str | None:
    """Read a time of day."""
    if hour > 23 or minute > 59:
        return None
    if style == "past" and minute in (15, 30, 45) and hour < 13:
        near = hour % 12 + 1 if minute == 45 else hour
        return {15: "quarter past", 30: "half past", 45: "quarter to"}[minute] + " " + cardinal(near)
    if minute == 0:
        return f"{cardinal(hour)} o'clock"
    return f"{cardinal(hour)} " + (f"o {ONES[minute]}" if minute < 10 else cardinal(minute))


def roman(text: str) -> int:
    """Return the value of a Roman numeral."""
    values = [ROMAN[letter] for letter in text]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def long_date(text: str, style: str) -> str | None:
    """Read a date whose month is a word."""
    day, month, rest = text.split()
    return date(int(day), MONTHS.index(month.lower()) + 1, rest, style)


def spell(text: str, marks: str = "") -> str:
    """Read letter by letter."""
    names = {".": "dot", "-": "dash"} if marks else {}
    return " ".join(names.get(letter, letter) for letter in text.lower())


def reader(pattern: str, say: Callable[..., str | None]) -> Callable[[str], str | None]:
    """Make a reader of the tokens that match a pattern."""

    def read(token: str) -> str | None:
        found = re.fullmatch(pattern, token)
        try:
            return say(*found.groups()) if found else None
        except (ValueError, IndexError, KeyError):
            return None

    return read


WHOLE, SLASH = r"(\d{1,7})", r"(\d{1,2})/(\d{1,2})(?:/(\d{4}))?"
READERS = {
    "cardinal": reader(WHOLE, lambda n: cardinal(int(n))),
    "cardinal_and": reader(WHOLE, lambda n: cardinal(int(n), " and")),
    "commas": reader(r"(\d{1,3}(?:,\d{3})+)", lambda n: cardinal(int(n.replace(",", "")))),
    "commas_and": reader(r"(\d{1,3}(?:,\d{3})+)", lambda n: cardinal(int(n.replace(",", "")), " and")),
    "year": reader(r"(\d{4})", lambda n: year(int(n))),
    "year_oh": reader(r"(\d{4})", lambda n: year(int(n), "oh")),
    "year_and": reader(r"(\d{4})", lambda n: year(int(n), "hundred and")),
    "digits": reader(r"([\d-]+)", lambda n: digits(n)),
    "digits_zero": reader(r"([\d-]+)", lambda n: digits(n, "zero")),
    "phone": reader(r"([\d-]+-[\d-]+)", lambda n: " sil ".join(digits(part) for part in n.split("-"))),
    "phone_zero": reader(r"([\d-]+-[\d-]+)", lambda n: " sil ".join(digits(part, "zero") for part in n.split("-"))),
    "ordinal": reader(r"(\d+)(?:st|nd|rd|th)", lambda n: ordinal(int(n))),
    "ordinal_the": reader(r"(\d+)(?:st|nd|rd|th)", lambda n: "the " + ordinal(int(n))),
    "decimal": reader(r"(\d+\.\d+)", decimal),
    "decimal_zero": reader(r"(\d+\.\d+)", lambda n: decimal(n, "zero")),
    "decimal_point": reader(r"(\d+\.\d+)", lambda n: decimal(n, "o", "")),
    "percent": reader(r"([\d.]+)%", lambda n: decimal(n) + " percent"),
    "per_cent": reader(r"([\d.]+)%", lambda n: decimal(n) + " per cent"),
    "money": reader(r"([$€£][\d.]+)", money),
    "money_plain": reader(r"([$€£][\d.]+)", lambda n: money(n, "")),
    "money_short": reader(r"([$€£][\d.]+)", lambda n: money(n, "", small=False)),
    "fraction": reader(r"(\d+)/(\d+)", lambda top, bottom: fraction(int(top), int(bottom))),
    "fraction_over": reader(r"(\d+)/(\d+)", lambda top, bottom: fraction(int(top), int(bottom), over=True)),
    "date_dm": reader(SLASH, lambda a, b, rest: date(int(a), int(b), rest, "of")),
    "date_dm_plain": reader(SLASH, lambda a, b, rest: date(int(a), int(b), rest, "plain")),
    "date_md": reader(SLASH, lambda a, b, rest: date(int(b), int(a), rest, "of")),
    "date_md_plain": reader(SLASH, lambda a, b, rest: date(int(b), int(a), rest, "plain")),
    "long_date": reader(r"(\d+ [A-Za-z]+ \d{4})", lambda text: long_date(text, "of")),
    "long_date_plain": reader(r"(\d+ [A-Za-z]+ \d{4})", lambda text: long_date(text, "plain")),
    "clock": reader(r"(\d+):(\d\d)", lambda hour, minute: clock(int(hour), int(minute), "plain")),
    "clock_past": reader(r"(\d+):(\d\d)", lambda hour, minute: clock(int(hour), int(minute), "past")),
    "ratio": reader(r"(\d+):(\d+)", lambda one, two: f"{cardinal(int(one))} to {cardinal(int(two))}"),
    "range": reader(r"(\d+)-(\d+)", lambda one, two: f"{cardinal(int(one))} to {cardinal(int(two))}"),
    "score": reader(r"(\d+)-(\d+)", lambda one, two: f"{cardinal(int(one))} {cardinal(int(two))}"),
    "measure": reader(r"([\d.]+) (\w+)", lambda n, unit: f"{decimal(n)} {plural(UNITS[unit], n)}"),
    "measure_re": reader(r"([\d.]+) (\w+)", lambda n, u: f"{decimal(n)} {plural(UNITS[u].replace('ter', 'tre'), n)}"),
    "meters": reader(r"([\d.]+) m", lambda n: f"{decimal(n)} {plural('meter', n)}"),
    "metres": reader(r"([\d.]+) m", lambda n: f"{decimal(n)} {plural('metre', n)}"),
    "minutes": reader(r"([\d.]+) m", lambda n: f"{decimal(n)} {plural('minute', n)}"),
    "millions": reader(r"([\d.]+) m", lambda n: f"{decimal(n)} million"),
    "roman": reader(r"([IVXL]+)", lambda text: cardinal(roman(text))),
    "roman_the": reader(r"([IVXL]+)", lambda text: "the " + ordinal(roman(text))),
    "letters": reader(r"([A-Z]{1,6})", spell),
    "web": reader(r"([\w.-]+\.[a-z]{2,4})", lambda text: spell(text, ".-")),
    "web_words": reader(
        r"([\w.-]+\.[a-z]{2,4})", lambda text: text.lower().replace(".", " dot ").replace("-", " dash ")
    ),
}
