"""Attacks on tasks whose items are no rows of a table: pictures, sounds, texts, tokens, pages, masks, JSON and side files."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from sandmill.models.kind import kind_named
from sandmill.sandbox.agent_env import AgentEnv
from tests.redteam.attacks import ACCESS, INVALID, OK, SCRIPTS, SEMANTICS, TAMPERING, Attack
from tests.redteam.siege import Siege, Target, lay_trap
from tests.releases import QUICKEST
from tests.unit.sandbox.conftest import make_box

pytestmark = pytest.mark.timeout(1800)

BACKENDS = ("warm",)
EITHER = ("ok", "invalid_submission")
SEEDS = (
    "aerial-cactus-identification",
    "spooky-author-identification",
    "the-icml-2013-whale-challenge-right-whale-redux",
    "text-normalization-challenge-english-language",
    "denoising-dirty-documents",
    "hubmap-kidney-segmentation",
    "random-acts-of-pizza",
    "nomad2018-predict-transparent-conductors",
    "predict-volcanic-eruptions-ingv-oe",
    "ogbg-molhiv",
)
"""One seed of each modality that is no table alone."""

SEARCHED = (SCRIPTS / "searched.txt").read_text("utf-8")
"""What attackers of item files start with: facts of all files, and two ways to make them an answer. `ROWS` holds id and
targets of the training items."""

TRACES = ("place", "size", "packed", "checksum", "date", "attributes", "offset", "head", "name")
OUTSIDE = {
    "the order of the test items": "submit_ranked(list(range(len(IDS))))",
    "the order of the ids": "submit_ranked([i[::-1] for i in IDS])",
    "the training items in their order": "submit(lambda n: cells(ROWS[n % len(ROWS)]))",
}
"""Guesses for any files."""
OF_FILES = {
    f"{trace} of the file, {way}": (
        f"keys = [fact(i, {trace!r}) for i in IDS]\nknown = [fact(row[ID], {trace!r}) for row in ROWS]\n{call}"
    )
    for trace in TRACES
    for way, call in (("ranked", "submit_ranked(keys)"), ("nearest", "submit_nearest(known, keys)"))
}
"""Guesses from what the files of items show without being opened."""

FILES = {
    "an item as the submission": Attack(
        """
found = [os.path.join(folder, name) for folder, _, names in os.walk("public") for name in names]
items = [path for path in found if "ample" not in path and not path.endswith(".md")]
shutil.copyfile(max(items, key=os.path.getsize), "submission.csv")
""",
        INVALID,
        (1, 15),
    ),
    "the packed sample": Attack(
        """
with zipfile.ZipFile("submission.csv", "w") as archive: archive.writestr("sample_submission.csv", SAMPLE_BYTES)
""",
        INVALID,
        (15,),
    ),
    "answers in the bytes of public files": Attack(
        """
for folder, _, names in os.walk("public"):
    for path in (os.path.join(folder, name) for name in names):
        data = open(path, "rb").read()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                data += b"".join(archive.read(one) for one in archive.namelist())
        if any(word in data for word in (b",final", b",feedback", b"gold_threshold", b'"oracle"')): print("BREACH", path)
""",
        ("no_submission",),
        (6,),
        timeout=60,
    ),
}


def _fitting(attacks: Mapping[str, Attack]) -> dict[str, Attack]:
    """Return the attacks that fit any files. A bad number of one task may be a good word of another, and a constant may
    lie near the middle of another task's answers."""
    fitting = {name: one for name, one in attacks.items() if one.fits_any_files}
    return {
        name: replace(one, ends=(*EITHER, *_TOO_LONG.get(name, ())), pays="luck") if name.startswith(_OF_CELLS) else one
        for name, one in fitting.items()
    }


_TOO_LONG = {"cells: digits without any end": ("runtime_error",)}
"""The sandbox stops a script that writes them for each pixel."""
_OF_CELLS = ("cells", "constant", "one bad cell", "signs in turns", "objects equal", "formulas")
ATTACKS = {**_fitting(SEMANTICS), **_fitting(TAMPERING), **_fitting(ACCESS), **FILES}


def guesses_on(target: Target) -> dict[str, Attack]:
    """Return the guesses that a task's files allow. Kinds with a panel of their own have no label for each item."""
    facts, kind = target.task.facts, kind_named(target.task.facts.kind)
    if kind.panel:
        return {}
    train, _ = kind.load("reader").read(target.public, facts)
    rows = train[[facts.id_column, *facts.target_columns]].astype(str).to_dict("records")
    start = f"ID, TARGET, ROWS = {facts.id_column!r}, {facts.target_column!r}, {rows!r}\n{SEARCHED}\n"
    of_files = OF_FILES if target.layout.item not in ("row", "object") else {}
    return {
        name: Attack(start + code, OK, (5,), pays="luck", timeout=60) for name, code in {**OUTSIDE, **of_files}.items()
    }


@pytest.fixture(scope="session")
def modalities(build_targets) -> list[Target]:
    """One task of each modality, the same every time."""
    return build_targets("modalities", SEEDS, 3, QUICKEST, shard_size=4, workers=2)


@pytest.fixture(scope="module")
def siege(request, modalities, agent_env: AgentEnv, tmp_path_factory) -> Iterator[Siege]:
    """One sandbox, attacked again and again."""
    with lay_trap(tmp_path_factory.mktemp("trap"), modalities) as trap, make_box(request.param) as box:
        attacked = Siege(box, modalities, trap)
        yield attacked
        attacked.pays_the_reference()


def test_each_modality_has_a_task(modalities):
    found = {kind_named(target.task.facts.kind).modality.value for target in modalities}
    assert found == {"image", "text", "audio", "mixed", "time_series", "graph"}
    assert len({target.task.facts.kind for target in modalities}) == len(SEEDS)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_items_that_are_no_rows_is_paid_nothing(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_what_files_show_without_being_opened_is_worth_luck_alone(siege: Siege):
    seen = set()
    for target in siege.targets:
        for name, attack in guesses_on(target).items():
            siege.survives_on(target, attack)
            seen.add(name)
    assert seen == OUTSIDE.keys() | OF_FILES.keys()
    siege.assert_nothing_is_broken()
