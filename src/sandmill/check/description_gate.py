"""Gates on the description: it says all that a solver needs, nothing of how the data were made, and in sound prose."""

import csv
import re
from collections.abc import Iterator

from sandmill.check.giveaways import GIVEAWAYS, secret_numbers
from sandmill.check.package_tables import PackageTables
from sandmill.errors import name_some
from sandmill.kinds.files.base import Layout
from sandmill.models.english import shown_faults, text_faults, unfit_parts
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.layout import HEADINGS, SUBMISSION, public_path, section_of
from sandmill.models.structure import SplitKind, TargetKind
from sandmill.models.texts import DESCRIPTION, TEXTS
from sandmill.scoring import get_metric
from sandmill.scoring.catalogue import METRICS

NEEDED = ("overview", "files", "columns", "evaluation", "submission")
"""Sections that every description has."""
EXAMPLE_LINES = 3

_BY = {SplitKind.GROUPED: "unit", SplitKind.TEMPORAL: "time"}
_APART = {
    SplitKind.GROUPED: (re.compile(r"\b(no|none|never|different)\b"), re.compile(r"\b(occurs?|appears?|shared?)\b")),
    SplitKind.TEMPORAL: (re.compile(r"\b(later|after|earlier|before)\b"),),
}
"""Words that one sentence with train.csv and test.csv must contain, so that a reader knows how to validate: `No ward of
train.csv occurs in test.csv.` or `All rows of test.csv are later than those of train.csv.`"""

_FENCE = re.compile(r"^```csv[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"`(?:[\w/.]*<\w+>)+[\w/.]*\.\w+`")
"""How files of items are named, such as `<id>.png`."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")
_TITLES = sorted((metric.title.partition(" (")[0] for metric in METRICS.values() if metric.has_article), key=len)[::-1]
_ANY = f"(?:{'|'.join(map(re.escape, _TITLES))})"
_BARE_METRIC = re.compile(
    rf"(?<!the )(?<![\w-] )(?<![\w-]){_ANY}\b|\b(?:by|is|take|use|compute|on|are) {_ANY}\b", re.IGNORECASE
)
"""A metric that has an article and stands without it: at a beginning, or behind a verb or a preposition."""


def check_description(tables: PackageTables) -> Iterator[str]:
    """Check that files, columns, metric and the form of a submission are described, and the rule is not."""
    text, spec, facts, layout = tables.description, tables.spec, tables.facts, tables.layout
    if not text:
        return
    sections, prose = split_sections(text), _FENCE.sub("", text)
    if DATA_DICTIONARY in text:
        yield f"{DESCRIPTION}: names {DATA_DICTIONARY}, a file that scripts do not see"
    if lacking := [section for section in NEEDED if section not in sections]:
        yield f"{DESCRIPTION}: no heading {name_some((f'## {HEADINGS[section][0]}' for section in lacking), shown=5)}"
    paths = [public_path(name) for name in sorted((layout.files_of(spec) | layout.folders) - TEXTS)]
    events = [] if tables.events is None else tables.events.columns
    columns = dict.fromkeys([*tables.train.columns, *facts.target_columns, *events])
    labels = facts.classes if facts.target is TargetKind.MULTILABEL else ()
    submission = _FENCE.sub("", sections.get("submission", ""))
    # The example of a submission counts only for its own columns.
    for what, names, where in (
        ("its files section does not name the paths", paths, sections.get("files", "")),
        ("its submission section does not name the file", [SUBMISSION], submission),
        ("does not name the columns", columns, prose),
        ("does not name the submission's columns", facts.submission_columns, text),
        ("does not list the labels", labels, prose),
    ):
        if unnamed := [name for name in names if not mentions(where, name)]:
            yield f"{DESCRIPTION}: {what} {name_some(unnamed)}"
    if not says_split(prose, spec.split, layout):
        yield f"{DESCRIPTION}: does not say that train and test are apart by {_BY[spec.split]}"
    title = get_metric(facts.metric).title.partition(" (")[0]
    if title.lower() not in sections.get("evaluation", "").lower():
        yield f"{DESCRIPTION}: its evaluation section does not name the metric {facts.metric}"
    yield from _check_example(tables, sections.get("submission", ""))
    lowered = " ".join(text.lower().split())
    if said := [phrase for phrase in GIVEAWAYS if phrase in lowered]:
        yield f"{DESCRIPTION}: speaks of the mechanism ({name_some(said)})"
    if any(name and name[:12] in lowered for name in (spec.fingerprint, spec.parent)) or (
        "-" in spec.seed_id and mentions(text, spec.seed_id)
    ):
        yield f"{DESCRIPTION}: names the design or the seed it came from"
    secret = secret_numbers(spec)
    if hits := sum(number in secret for number in set(_NUMBER.findall(prose))):
        yield f"{DESCRIPTION}: states {hits} numbers of the mechanism"
    if unfit := unfit_parts(_FILE_NAME.sub("", text)):
        yield f"{DESCRIPTION}: is not plain text ({name_some(unfit)})"


def says_split(prose: str, split: SplitKind, layout: Layout) -> bool:
    """Whether one sentence says how train and test were split. A random split needs none."""
    if split not in _APART:
        return True
    sentences = re.split(r"(?<=[.;:!?|])\s|\n\s*\n", prose.lower().replace("`", ""))
    return any(
        mentions(sentence, layout.train)
        and mentions(sentence, layout.test)
        and all(word.search(sentence) for word in _APART[split])
        for sentence in sentences
    )


def split_sections(text: str) -> dict[str, str]:
    """Split Markdown at its second-level headings: text by section, or by heading where that begins none."""
    pieces = [piece.strip(" ") for piece in re.split(r"^## +(.+)$", text, flags=re.MULTILINE)]
    return {section_of(heading) or heading: body for heading, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def mentions(text: str, name: str) -> bool:
    """Whether a text has a name as a word of its own."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) is not None


def _check_example(tables: PackageTables, section: str) -> Iterator[str]:
    found = _FENCE.search(section)
    if found is None:
        yield f"{DESCRIPTION}: its submission section shows no csv block"
        return
    # The cells are compared, since some samples have them in quotes.
    shown = list(csv.reader(found[1].splitlines()))
    name = tables.layout.sample
    sample = list(csv.reader(tables.layout.sample_csv(tables.package.public).decode(errors="replace").splitlines()))
    if shown[:1] != sample[:1]:
        yield f"{DESCRIPTION}: the header of its submission example is not that of {name}"
    examples = [cells for cells in shown[1:] if "".join(cells).strip(" .")]
    if len(examples) < min(EXAMPLE_LINES, len(sample) - 1) or examples != sample[1 : 1 + len(examples)]:
        yield f"{DESCRIPTION}: the lines of its submission example are not the first lines of {name}"


def prose_faults(text: str) -> list[str]:
    """List the faults of a description or of a part of it, each with the words around it.

    A title may name only columns that the text names too.
    """
    named = re.search(r"^# .*: predict (\w+(?:, \w+)*(?: and \w+)??)(?: and \d+ other labels)?$", text, re.MULTILINE)
    names = re.split(r", | and ", named[1]) if named else ()
    return [
        *(f"the title names a column that the text does not: {name}" for name in names if f"`{name}`" not in text),
        *shown_faults("a metric without its article", _BARE_METRIC, text),
        *text_faults(text),
    ]


def check_prose(tables: PackageTables) -> Iterator[str]:
    """Check the prose of the description and of the data dictionary."""
    dictionary = tables.package.public.get(DATA_DICTIONARY, b"").decode(errors="replace")
    for name, text in ((DESCRIPTION, tables.description), (DATA_DICTIONARY, dictionary)):
        yield from (f"{name}: {fault}" for fault in prose_faults(text))
