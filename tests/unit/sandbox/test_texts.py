"""Texts that stand in the prompt are in no run: neither their files nor their words can be found below its root."""

import json

import pytest

from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.reports import Outcome
from sandmill.models.texts import DESCRIPTION, prompt_text
from sandmill.sandbox.public_folder import read_folder, texts_of
from tests.unit.sandbox.conftest import ISOLATED

CANARY = "an oak is three and a half times as dear"
LISTING = """
import json, os
print(json.dumps(sorted(os.path.relpath(os.path.join(at, name), "public") for at, _, names in os.walk("public")
    for name in names)))
"""
HUNT = f"""
import os
found = []
for top, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if top != "/proc" or name == "self"]
    for name in names + folders:
        path = os.path.join(top, name)
        if name in ({DESCRIPTION!r}, {DATA_DICTIONARY!r}):
            found.append(path)
        is_small = os.path.isfile(path) and not top.startswith(("/usr", "/lib", "/dev")) and name != "solution.py"
        if not is_small or ".so" in name or name.endswith((".py", ".pyc")) or (top != "/proc/self" and "/proc" in top):
            continue
        try:
            text = open(path, "rb").read(1 << 20)
        except OSError:
            continue
        if {CANARY[:12]!r}.encode() + {CANARY[12:]!r}.encode() in text or b"data_dictionary.m" + b"d" in text:
            found.append(path)
for line in open("/proc/self/mountinfo"):
    if "description.m" + "d" in line or "dictionary.m" + "d" in line:
        found.append(line)
print(found)
"""


@pytest.fixture
def public(tmp_path):
    folder = tmp_path / "task" / "public"
    (folder / "images").mkdir(parents=True)
    files = {
        DESCRIPTION: f"# Trees\n\n{CANARY}.\n",
        DATA_DICTIONARY: f"# Codes\n\n{CANARY}.\n",
        "train.csv": "id,x\n1,2\n",
        "images/1.txt": "a picture",
    }
    for path, text in files.items():
        (folder / path).write_text(text)
    return folder


@pytest.mark.parametrize("name", ["subprocess", *ISOLATED])
def test_a_run_sees_the_files_and_no_text_and_a_person_may_ask_for_both(name, open_box, public):
    box = open_box(name)
    with_text = {"with_text": True}
    seen = [box.run(LISTING, public=public, **more) for more in ({}, with_text)]
    assert [json.loads(run.stdout) for run in seen] == [
        ["images/1.txt", "train.csv"],
        sorted(["images/1.txt", "train.csv", DESCRIPTION, DATA_DICTIONARY]),
    ], seen
    assert sorted(path.name for path in public.iterdir()) == sorted(
        ["images", "train.csv", DESCRIPTION, DATA_DICTIONARY]
    )


@pytest.mark.parametrize("name", ISOLATED)
def test_a_script_that_searches_everything_below_its_root_finds_neither_texts_nor_their_words(name, open_box, public):
    run = open_box(name).run(HUNT, public=public)
    assert (run.stdout, run.outcome) == ("[]\n", Outcome.NO_SUBMISSION), run.stderr
    assert open_box(name).run(HUNT, public=public, with_text=True).stdout.count(DESCRIPTION) >= 1


@pytest.mark.parametrize("name", ISOLATED)
def test_files_beside_hidden_texts_are_as_read_only_as_a_whole_folder_and_not_kept(name, open_box, public, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = """
import os
acts = (
    lambda: open("public/train.csv", "a"), lambda: open("public/new", "w"), lambda: os.remove("public/train.csv"),
    lambda: os.rename("public", "other"), lambda: open("public/images/1.txt", "w"),
    lambda: os.chmod("public/train.csv", 0o777), lambda: os.mkdir("public/images/more"),
)
for act in acts:
    try:
        act()
    except OSError:
        continue
    print("BREACH")
open("kept", "w").write("1")
print(open("public/train.csv").read() + open("public/images/1.txt").read())
"""
    run = open_box(name).run(code, public=public, scratch=scratch)
    assert run.stdout == "id,x\n1,2\na picture\n", run
    assert [path.name for path in scratch.iterdir()] == ["kept"]


def test_a_task_whose_description_lists_the_dictionary_keeps_both_files_for_scripts(public, warm):
    (public / DESCRIPTION).write_text(f"# Trees\n\n- `public/{DATA_DICTIONARY}`: codes\n")
    assert texts_of(public) == frozenset()
    assert DATA_DICTIONARY in json.loads(warm.run(LISTING, public=public).stdout)
    assert read_folder(public).keys() == {DESCRIPTION, DATA_DICTIONARY, "train.csv", "images/1.txt"}
    texts = {name: (public / name).read_bytes() for name in (DESCRIPTION, DATA_DICTIONARY)}
    assert prompt_text(texts) == texts[DESCRIPTION].decode()


def test_a_server_is_sent_the_files_of_runs_alone(public):
    assert read_folder(public) == {"images/1.txt": b"a picture", "train.csv": b"id,x\n1,2\n"}
