"""Russian readers. The module is short and needs the standard library alone: scripts of tasks contain it."""

import re
from collections.abc import Callable

CASES = "nom gen dat ins pre".split()
ONES = [
    "ноль ноля нолю нолем ноле".split(),
    "один одного одному одним одном".split(),
    "два двух двум двумя двух".split(),
    "три трех трем тремя трех".split(),
    "четыре четырех четырем четырьмя четырех".split(),
    *([f"{stem}{end}" for end in "ь и и ью и".split()] for stem in "пят шест сем".split()),
    "восемь восьми восьми восемью восьми".split(),
    *([f"{stem}{end}" for end in "ь и и ью и".split()] for stem in "девят десят одиннадцат двенадцат".split()),
    *([f"{stem}надцат{end}" for end in "ь и и ью и".split()] for stem in "три четыр пят шест сем восем девят".split()),
]
TENS = {n: [f"{stem}{end}" for end in "ь и и ью и".split()] for n, stem in ((2, "двадцат"), (3, "тридцат"))}
TENS |= {4: ["сорок", *["сорока"] * 4], 9: ["девяносто", *["девяноста"] * 4]}
for _n in range(5, 9):
    _low, _ins = ONES[_n][1] + "десяти", ONES[_n][3] + "десятью"
    TENS[_n] = [ONES[_n][0] + "десят", _low, _low, _ins, _low]
HUNDREDS = {1: ["сто", *["ста"] * 4], 2: "двести двухсот двумстам двумястами двухстах".split()}
HUNDREDS |= {3: "триста трехсот тремстам тремястами трехстах".split()}
HUNDREDS |= {4: "четыреста четырехсот четыремстам четырьмястами четырехстах".split()}
for _n in range(5, 10):
    _parts = zip((0, 1, 1, 3, 1), ("сот", "сот", "стам", "стами", "стах"), strict=True)
    HUNDREDS[_n] = [ONES[_n][place] + end for place, end in _parts]
THOUSAND = ["тысяча тысячи тысяче тысячей тысяче", "тысячи тысяч тысячам тысячами тысячах"]
THOUSAND += ["тысяч тысяч тысячам тысячами тысячах"]
STEMS = "нулев перв втор трет четверт пят шест седьм восьм девят десят одиннадцат двенадцат тринадцат".split()
STEMS += "четырнадцат пятнадцат шестнадцат семнадцат восемнадцат девятнадцат".split()
TEN_STEMS = "_ _ двадцат тридцат сороков пятидесят шестидесят семидесят восьмидесят девяност".split()
HUNDRED_STEMS = "_ сот двухсот трехсот четырехсот пятисот шестисот семисот восьмисот девятисот".split()
ENDINGS = {"m": "ый ого ому ым ом", "f": "ая ой ой ой ой", "n": "ое ого ому ым ом"}
THIRD = {"m": "ий ьего ьему ьим ьем", "f": "ья ьей ьей ьей ьей", "n": "ье ьего ьему ьим ьем"}
MONTHS = "января февраля марта апреля мая июня июля августа сентября октября ноября декабря".split()
NOUNS = {
    "км": "километр километра километров",
    "кг": "килограмм килограмма килограммов",
    "см": "сантиметр сантиметра сантиметров",
    "га": "гектар гектара гектаров",
    "руб.": "рубль рубля рублей",
    "$": "доллар доллара долларов",
    "%": "процент процента процентов",
}
NAMES = "бэ вэ гэ дэ жэ зэ ка эл эм эн пэ эр эс тэ эф ха цэ че ша".split()
LETTERS = dict(zip("бвгджзклмнпрстфхцчш", NAMES, strict=True))
ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}


def kind_of(n: int) -> int:
    """Return 0 for numbers like 1, 1 for numbers like 2 to 4, 2 for all others."""
    if n % 100 in range(11, 15):
        return 2
    return 0 if n % 10 == 1 else 1 if n % 10 in (2, 3, 4) else 2


def cardinal(n: int, case: str = "nom", gender: str = "m", bare: bool = True) -> str:
    """Read a whole number; `bare` leaves out the one of one thousand."""
    place, words = CASES.index(case), []
    if n >= 1000:
        count = n // 1000
        words += [] if count == 1 and bare else [cardinal(count, case, "f")]
        words.append(THOUSAND[kind_of(count)].split()[place])
        n %= 1000
        if not n:
            return " ".join(words)
    if n >= 100:
        words.append(HUNDREDS[n // 100][place])
    low = n % 100
    if low >= 20:
        words.append((TENS.get(low // 10) or [])[place])
        low %= 10
    if low or not words:
        word = ONES[low][place]
        if low == 1 and gender != "m":
            word = ("одна" if gender == "f" else "одно") if case == "nom" else "одной" if gender == "f" else word
        words.append("две" if low == 2 and gender == "f" and case == "nom" else word)
    return " ".join(words)


def ordinal(n: int, case: str = "nom", gender: str = "m") -> str:
    """Read a rank."""
    place = CASES.index(case)
    if n % 1000 == 0:
        stem, rest = {1: "тысячн", 2: "двухтысячн"}[n // 1000], 0
    elif n % 100 == 0:
        stem, rest = HUNDRED_STEMS[n // 100 % 10], n - n % 1000
    elif n % 100 >= 20 and n % 10 == 0:
        stem, rest = TEN_STEMS[n % 100 // 10], n - n % 100
    else:
        last = n % 100 if n % 100 < 20 else n % 10
        stem, rest = STEMS[last], n - last
    ending = (THIRD if stem == "трет" else ENDINGS)[gender].split()[place]
    if ending == "ый" and stem in ("втор", "шест", "седьм", "восьм", "сороков", "нулев"):
        ending = "ой"
    return (cardinal(rest) + " " if rest else "") + stem + ending


def counted(n: int, noun: str, case: str = "nom", gender: str = "m") -> str:
    """Read a number with its noun."""
    one, few, many = NOUNS[noun].split()
    stem = one[:-1] if one.endswith("ь") else one
    soft = one.endswith("ь")
    single = {
        "gen": few,
        "dat": stem + ("ю" if soft else "у"),
        "ins": stem + ("ем" if soft else "ом"),
        "pre": stem + "е",
    }
    several = {"gen": many, "dat": stem + ("ям" if soft else "ам"), "ins": stem + ("ями" if soft else "ами")}
    several["pre"] = stem + ("ях" if soft else "ах")
    said = (one, few, many)[kind_of(n)] if case == "nom" else (single if kind_of(n) == 0 else several)[case]
    return f"{cardinal(n, case, gender)} {said}"


def decimal(text: str, joint: str = " и", noun: str = "") -> str:
    """Read a number with a decimal comma, with its noun if there is one."""
    whole, part = text.split(",")
    sizes = {1: "десят", 2: "сот", 3: "тысячн"}
    one, low = int(whole), int(part)
    head = f"{cardinal(one, gender='f')} {'целая' if kind_of(one) == 0 else 'целых'}"
    tail = f"{cardinal(low, gender='f')} {sizes[len(part)]}{'ая' if kind_of(low) == 0 else 'ых'}"
    return f"{head}{joint} {tail}" + (f" {NOUNS[noun].split()[1]}" if noun else "")


def date(day: str, month: str, year: str | None, case: str, end: str = " года") -> str | None:
    """Read a day of a month, with its year if there is one."""
    number = MONTHS.index(month) + 1 if month in MONTHS else int(month)
    if not (1 <= int(day) <= 31 and 1 <= number <= 12):
        return None
    said = f"{ordinal(int(day), case, 'n')} {MONTHS[number - 1]}"
    return f"{said} {ordinal(int(year), 'gen')}{end}" if year else said


def clock(hour: str, minute: str, named: bool) -> str | None:
    """Read a time of day."""
    one, two = int(hour), int(minute)
    if one > 23 or two > 59:
        return None
    hours = f"{cardinal(one)} {('час', 'часа', 'часов')[kind_of(one)]}"
    minutes = f"{cardinal(two, gender='f')} {('минута', 'минуты', 'минут')[kind_of(two)]}"
    if named:
        return f"{hours} {minutes}" if two else hours
    return f"{cardinal(one)} {'ноль ' if 0 < two < 10 else ''}{cardinal(two) if two else 'ноль ноль'}"


def fraction(top: str, bottom: str) -> str:
    """Read a fraction."""
    one = int(top)
    special = {2: ("вторая", "вторых"), 3: ("треть", "трети"), 4: ("четверть", "четверти")}.get(int(bottom))
    parts = special or (ordinal(int(bottom), "nom", "f"), ordinal(int(bottom), "nom", "f")[:-2] + "ых")
    return f"{cardinal(one, gender='f')} {parts[0] if kind_of(one) == 0 else parts[1]}"


def by_parts(text: str, zero: str = "ноль", pairs: bool = False, gap: str = " ") -> str:
    """Read the parts between dashes, by figures or as numbers."""

    def part(one: str) -> str:
        if not pairs:
            return " ".join(zero if d == "0" else ONES[int(d)][0] for d in one)
        zeros = len(one) - len(one.lstrip("0"))
        return " ".join([*["ноль"] * zeros, *([cardinal(int(one))] if one.lstrip("0") else [])])

    return gap.join(part(one) for one in text.split("-"))


def roman(text: str) -> int:
    """Return the value of a Roman numeral."""
    values = [ROMAN[letter] for letter in text]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def spell(text: str, names: dict[str, str]) -> str:
    """Read letter by letter."""
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


WHOLE, UNIT = r"(\d{1,6})", r"(\d+) (км|кг|см|га)"
DAY, SLASH = r"(\d{1,2}) ([а-я]+)(?: (\d{4}) года)?", r"(\d{1,2})/(\d{1,2})()"
READERS = {
    "cardinal": reader(WHOLE, lambda n: cardinal(int(n))),
    "cardinal_f": reader(WHOLE, lambda n: cardinal(int(n), gender="f")),
    "cardinal_n": reader(WHOLE, lambda n: cardinal(int(n), gender="n")),
    "cardinal_gen": reader(WHOLE, lambda n: cardinal(int(n), "gen")),
    "cardinal_gen_f": reader(WHOLE, lambda n: cardinal(int(n), "gen", "f")),
    "cardinal_dat": reader(WHOLE, lambda n: cardinal(int(n), "dat")),
    "cardinal_ins": reader(WHOLE, lambda n: cardinal(int(n), "ins")),
    "cardinal_pre": reader(WHOLE, lambda n: cardinal(int(n), "pre")),
    "one_thousand": reader(WHOLE, lambda n: cardinal(int(n), bare=False)),
    "one_thousand_gen": reader(WHOLE, lambda n: cardinal(int(n), "gen", bare=False)),
    "year": reader(r"(\d{4})", lambda n: ordinal(int(n))),
    "year_gen": reader(r"(\d{4})", lambda n: ordinal(int(n), "gen")),
    "year_dat": reader(r"(\d{4})", lambda n: ordinal(int(n), "dat")),
    "year_pre": reader(r"(\d{4})", lambda n: ordinal(int(n), "pre")),
    "digits": reader(r"([\d-]+)", by_parts),
    "ordinal": reader(r"(\d+)-й", lambda n: ordinal(int(n))),
    "ordinal_pre": reader(r"(\d+)-м", lambda n: ordinal(int(n), "pre")),
    "ordinal_ins": reader(r"(\d+)-м", lambda n: ordinal(int(n), "ins")),
    "ordinal_f_gen": reader(r"(\d+)-й", lambda n: ordinal(int(n), "gen", "f")),
    "roman": reader(r"([IVXL]+)", lambda n: ordinal(roman(n))),
    "roman_gen": reader(r"([IVXL]+)", lambda n: ordinal(roman(n), "gen")),
    "roman_pre": reader(r"([IVXL]+)", lambda n: ordinal(roman(n), "pre")),
    "roman_f": reader(r"([IVXL]+)", lambda n: ordinal(roman(n), "nom", "f")),
    "roman_cardinal": reader(r"([IVXL]+)", lambda n: cardinal(roman(n))),
    "measure": reader(UNIT, lambda n, unit: counted(int(n), unit)),
    "measure_gen": reader(UNIT, lambda n, unit: counted(int(n), unit, "gen")),
    "measure_dat": reader(UNIT, lambda n, unit: counted(int(n), unit, "dat")),
    "measure_ins": reader(UNIT, lambda n, unit: counted(int(n), unit, "ins")),
    "rubles": reader(r"(\d+) руб\.", lambda n: counted(int(n), "руб.")),
    "rubles_gen": reader(r"(\d+) руб\.", lambda n: counted(int(n), "руб.", "gen")),
    "rubles_dat": reader(r"(\d+) руб\.", lambda n: counted(int(n), "руб.", "dat")),
    "dollars": reader(r"\$(\d+)", lambda n: counted(int(n), "$")),
    "dollars_gen": reader(r"\$(\d+)", lambda n: counted(int(n), "$", "gen")),
    "dollars_usa": reader(r"\$(\d+)", lambda n: counted(int(n), "$") + " сэ шэ а"),
    "dollars_usa_gen": reader(r"\$(\d+)", lambda n: counted(int(n), "$", "gen") + " сэ шэ а"),
    "percent": reader(r"(\d+)%", lambda n: counted(int(n), "%")),
    "percent_gen": reader(r"(\d+)%", lambda n: counted(int(n), "%", "gen")),
    "percent_dat": reader(r"(\d+)%", lambda n: counted(int(n), "%", "dat")),
    "decimal": reader(r"(\d+,\d+)", lambda text: decimal(text, "")),
    "decimal_and": reader(r"(\d+,\d+)", decimal),
    "decimal_unit": reader(r"(\d+,\d+) (\S+)", lambda text, noun: decimal(text, "", noun)),
    "decimal_unit_and": reader(r"(\d+,\d+) (\S+)", lambda text, noun: decimal(text, " и", noun)),
    "date": reader(DAY, lambda day, month, year: date(day, month, year, "nom")),
    "date_gen": reader(DAY, lambda day, month, year: date(day, month, year, "gen")),
    "date_dat": reader(DAY, lambda day, month, year: date(day, month, year, "dat")),
    "slash_date": reader(SLASH, lambda day, month, year: date(day, month, year, "nom")),
    "slash_date_gen": reader(SLASH, lambda day, month, year: date(day, month, year, "gen")),
    "clock": reader(r"(\d+):(\d\d)", lambda hour, minute: clock(hour, minute, True)),
    "clock_plain": reader(r"(\d+):(\d\d)", lambda hour, minute: clock(hour, minute, False)),
    "score": reader(r"(\d+):(\d+)", lambda one, two: f"{cardinal(int(one))} {cardinal(int(two))}"),
    "ratio": reader(r"(\d+):(\d+)", lambda one, two: f"{cardinal(int(one))} к {cardinal(int(two), 'dat')}"),
    "fraction": reader(r"(\d+)/(\d+)", fraction),
    "range": reader(r"(\d+)-(\d+)", lambda one, two: f"{cardinal(int(one))} {cardinal(int(two))}"),
    "range_to": reader(
        r"(\d+)-(\d+)", lambda one, two: f"от {cardinal(int(one), 'gen')} до {cardinal(int(two), 'gen')}"
    ),
    "phone": reader(r"(\d+-[\d-]+)", lambda n: by_parts(n, pairs=True, gap=" sil ")),
    "phone_digits": reader(r"(\d+-[\d-]+)", lambda n: by_parts(n, gap=" sil ")),
    "phone_plain": reader(r"(\d+-[\d-]+)", lambda n: by_parts(n, pairs=True)),
    "letters": reader(r"([А-Я]{1,6})", lambda text: spell(text, {})),
    "letters_named": reader(r"([А-Я]{1,6})", lambda text: spell(text, LETTERS)),
    "web": reader(r"([\w.-]+\.[a-z]{2,4})", lambda text: spell(text, {".": "точка", "-": "дефис"})),
    "web_words": reader(r"([\w.-]+\.[a-z]{2,4})", lambda text: text.replace(".", " точка ").replace("-", " дефис ")),
}
