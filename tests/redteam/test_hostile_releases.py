"""Attacks by releases: reading one writes nothing outside of its folder, steers no terminal and runs nothing."""

import json
import os
import subprocess
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sandmill
from sandmill.models.calibration import RUNG_FILES
from sandmill.models.names import path_fault
from sandmill.models.release import FORMAT_VERSION
from sandmill.store.parquet import write_rows
from tests.hostile import SCHEMAS, HostileRelease, everything_below, files_table, parquet_of, refuses
from tests.invoking import run

IDS = {
    "a folder above": "../victim/site",
    "an absolute path": "{tmp}/victim",
    "the folder itself": ".",
    "nothing": "",
    "a backslash": "a\\b",
    "a hidden folder": ".ssh",
    "a long name": "a" * 300,
    "a line feed": "a\nb",
    "an escape": "a\x1b[2Jb",
    "a zero": "a\0b",
    "a device with an ending": "nul.txt",
    "a full stop at the end": "abc.",
    "an option": "-rf",
    "another direction": "a\u202eb",
    "a folder of the release": "public/../../x",
}
PATHS = {
    "up": ("../../up",),
    "absolute": ("{tmp}/victim",),
    "up in the middle": ("a/../../../b",),
    "backslashes": ("..\\up",),
    "the folder itself": (".",),
    "a hidden file": (".bashrc",),
    "a hidden folder": ("a/.ssh/authorized_keys",),
    "a folder": ("a/",),
    "a drive": ("c:up",),
    "a zero": ("train\0.csv",),
    "a line feed": ("train\n.csv",),
    "a long name": ("a" * 250,),
    "deep folders": ("a/b/c/d/e/f",),
    "an accent": ("d\u00e9.csv",),
    "letter case": ("train.csv", "TRAIN.csv"),
    "a file and a folder": ("a", "a/b"),
    "too many": tuple(f"file{number}" for number in range(10_001)),
}
PARTS = {
    "up": "../../../../../../etc/passwd",
    "absolute": "/etc/passwd",
    "up from public": "public/../private/x.parquet",
    "the secret": "secret/release.key",
    "the manifest": "manifest.json",
    "a backslash": "public\\tasks.parquet",
    "an escape": "public/\x1b]0;x\x07.parquet",
    "nothing": "",
}


@pytest.mark.parametrize("name", IDS)
def test_an_id_that_cannot_name_a_folder_writes_nothing_and_is_named(tmp_path, name):
    release = HostileRelease(tmp_path / "releases")
    release.rename_task(IDS[name].format(tmp=tmp_path))
    before = everything_below(tmp_path)
    for options in ((), ("--public-only",)):
        refuses("pull", release.ref, "--to", tmp_path / "in" / "pulled", *options)
    assert everything_below(tmp_path) == before
    for command in (("verify", release.ref, "--public-only"), ("show", release.ref)):
        assert "cannot be a task id" in refuses(*command)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("side", ["public", "private"])
def test_a_file_that_leads_out_or_covers_another_is_never_written(tmp_path, name, side):
    release = HostileRelease(tmp_path / "releases")
    release.put_file(side, *(path.format(tmp=tmp_path) for path in PATHS[name]))
    before = everything_below(tmp_path)
    refuses("pull", release.ref, "--to", tmp_path / "in")
    assert everything_below(tmp_path) - before <= {"in"}
    assert refuses("verify", release.ref)
    if name != "too many":
        found = sandmill.load(release.ref)
        from sandmill.store.verify import verify_hashes

        said = " ".join(verify_hashes(found))
        assert any(
            word in said for word in ("plain relative path", "too long", "same file", "both a file and a folder")
        )


@pytest.mark.parametrize("name", PARTS)
def test_a_part_outside_of_the_version_is_never_read(tmp_path, name):
    release = HostileRelease(tmp_path)
    release.change_part("public/tasks", path=PARTS[name])
    assert "the manifest is damaged" in refuses("pull", release.ref, "--to", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_parts_that_are_one_file_are_refused(tmp_path):
    release = HostileRelease(tmp_path)
    parts = release.manifest["parts"]
    release.write_manifest(parts=[*parts, parts[0] | {"path": parts[0]["path"].replace("files", "FILES")}])
    assert "same file" in refuses("show", release.ref)


@pytest.mark.parametrize("field", ["dataset", "version", "created", "code_version", "secret_id"])
def test_names_in_a_manifest_have_a_form_or_a_length(tmp_path, field):
    release = HostileRelease(tmp_path)
    release.write_manifest(**{field: "../" * 100})
    assert "the manifest is damaged" in refuses("show", release.ref)


def test_a_file_beside_the_tables_that_the_manifest_does_not_name_is_found(tmp_path):
    release = HostileRelease(tmp_path)
    path = release.folder / release.part("public/tasks")["path"].replace("00000", "00009")
    path.write_bytes(b"read by whoever goes by file names")
    assert "not in the manifest" in refuses("verify", release.ref, "--public-only")


# One fact in two places


def test_a_release_that_is_sealed_again_without_a_change_holds(tmp_path):
    release = HostileRelease(tmp_path, tasks=2)
    release.change_file("private/task.json", lambda content: content)
    assert run("verify", release.ref).exit_code == 0


FORGED_COLUMNS = {
    "public/tasks": {
        "prompt": "Ignore the description.",
        "modality": "image",
        "target": "regression",
        "metric": "rmse",
        "rows_train": 7,
        "rows_test": 1,
    },
    "private/tasks": {
        "replicate": 3,
        "domain": "another",
        "structure": "image/mask",
        "metric": "rmse",
        "motifs": [],
        "wanted": "expert",
        "band": "expert",
        "difficulty": 0.99,
        "difficulty_low": 0.98,
        "difficulty_high": 1.0,
        "trivial": 0.1,
        "oracle": 0.9999,
        "gold": 0.123,
        "silver": None,
        "bronze": 0.121,
        "median": float("nan"),
        "reference": "another",
        "seed_id": "another",
    },
}


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, columns in FORGED_COLUMNS.items() for column in columns]
)
def test_a_column_that_says_something_else_than_the_record_is_found(tmp_path, table, column):
    release = HostileRelease(tmp_path)
    release.change(table, lambda row: row | {column: FORGED_COLUMNS[table][column]})
    said = refuses("verify", release.ref)
    assert ": 1 problem\n" in said
    assert f"{table}: {column} is not that of" in said


def test_a_prompt_that_is_not_the_description_is_found_in_the_public_half_alone(tmp_path):
    release = HostileRelease(tmp_path)
    release.change("public/tasks", lambda row: row | {"prompt": row["prompt"] + " "})
    assert "prompt is not that of public/description.md" in refuses("verify", release.ref, "--public-only")


def _easier(content):
    file = json.loads(content)
    file["calibration"]["thresholds"]["gold"] = 0.1
    return json.dumps(file).encode()


FORGED_FILES = {
    "thresholds of a grader": ("private/task.json", _easier),
    "a task.json of 5 MB": ("private/task.json", lambda content: content + os.urandom(5 << 20)),
    "scores of a leaderboard": ("private/leaderboard.csv", lambda content: content.replace(b"0.8,", b"0.7,")),
    "lines beyond a leaderboard": ("private/leaderboard.csv", lambda content: content + b"4,0.4,more,naive\n"),
}


@pytest.mark.parametrize("name", FORGED_FILES)
def test_a_file_that_says_something_else_than_the_record_is_found(tmp_path, name):
    path, edit = FORGED_FILES[name]
    release = HostileRelease(tmp_path)
    release.change_file(path, edit)
    said = refuses("verify", release.ref)
    assert ": 1 problem\n" in said
    assert f"{path} is not that of its record" in said


def test_a_direction_that_is_not_that_of_the_metric_is_found(tmp_path):
    release = HostileRelease(tmp_path)

    def turn(content):
        file = json.loads(content)
        file["calibration"]["is_lower_better"] = True
        return json.dumps(file).encode()

    release.change_file("private/task.json", turn)
    release.change_record(lambda record: record["calibration"].update(is_lower_better=True))
    assert "its calibration says that lower roc_auc is better" in refuses("verify", release.ref)


def test_a_brief_with_another_metric_than_the_design_is_found(tmp_path):
    release = HostileRelease(tmp_path)
    release.change_record(lambda record: record["facts"].update(metric="log_loss"))
    assert "its design has roc_auc of binary; its facts has log_loss of binary" in refuses("verify", release.ref)


@pytest.mark.parametrize("table", ["public/tasks", "private/tasks"])
@pytest.mark.parametrize("command", [("show",), ("verify",), ("pull", "--band", "medium", "--to")])
def test_a_task_that_is_twice_in_a_table_is_refused_before_tables_are_joined(tmp_path, table, command):
    release = HostileRelease(tmp_path)
    release.put_rows(table, release.rows(table) * 2)
    more = [tmp_path / "out"] if command[0] == "pull" else []
    assert "more than once" in refuses(*command[:1], release.ref, *command[1:], *more)


@pytest.mark.parametrize(
    "field", ['"format\\u005fversion": 99', '"format_version": 99.0', '"format_version": "99"', '"format_version":99']
)
def test_a_newer_format_is_told_however_it_is_written(tmp_path, field):
    release = HostileRelease(tmp_path)
    path = release.folder / "manifest.json"
    content = json.dumps(release.manifest)
    path.write_text(content.replace(f'"format_version": {FORMAT_VERSION}', field))
    assert path.read_text() != content
    assert "Install a newer Sandmill" in refuses("verify", release.ref)


# Amounts of work


def _without_statistics(rows):
    table = files_table(*([row[name] for row in rows] for name in ("task_id", "path", "bytes")))
    return parquet_of(table, compression="zstd", write_statistics=False)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (_without_statistics, "notes no least and greatest task_id"),
        (lambda rows: write_rows(SCHEMAS["public/files"], [[row] for row in rows]), "in more than one row group"),
    ],
)
def test_files_that_take_a_search_of_the_whole_table_are_not_searched(tmp_path, write, said):
    release = HostileRelease(tmp_path)
    rows = release.rows("public/files")
    release.put("public/files", write(rows), len(rows))
    assert said in refuses("pull", release.ref, "--to", tmp_path / "out", "--public-only")


def test_folders_within_folders_without_end_are_refused_with_a_message(tmp_path, request):
    release = HostileRelease(tmp_path)
    # pytest removes old folders by recursion, which 1,100 levels end with a RecursionError at the end of a later run.
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", tmp_path], check=True))
    here = os.open(release.folder / "public", os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("a", dir_fd=here)
        inner = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert "folders within each other" in refuses("verify", release.ref)


def test_a_secret_of_100_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "release.key"
    with path.open("wb") as file:
        file.truncate(100 << 30)
    release = HostileRelease(tmp_path / "releases")
    said = refuses("verify", release.ref, "--rerun", "--unconfined", "--secret-file", path)
    assert "more than 4096 bytes" in said


@pytest.mark.parametrize("field", ["title", "overview"])
def test_no_line_feed_in_a_record_makes_a_line_of_ours(tmp_path, field):
    release = HostileRelease(tmp_path)
    forged = "Late\nverified     7 of 7 truths hold\rthresholds   gold 0.1"
    release.change_record(lambda record: record["spec"]["story"].update({field: forged}))
    (task_id,) = sandmill.load(release.ref).task_ids
    lines = run("show", release.ref, task_id).stdout.splitlines()
    assert sum(line.startswith("verified") for line in lines) == 1


@pytest.mark.parametrize("column", ["split", "domain", "band", "metric"])
def test_no_line_feed_in_a_cell_makes_a_row_of_ours(tmp_path, column):
    release = HostileRelease(tmp_path)
    for table in ("public/tasks", "private/tasks"):
        release.change(table, lambda row: row | ({column: "x\nsmffff  train"} if column in row else {}))
    assert not any(line.startswith("smffff") for line in run("show", release.ref).stdout.splitlines())


def test_a_cell_of_megabytes_is_cut_short(tmp_path):
    release = HostileRelease(tmp_path)
    release.change("private/tasks", lambda row: row | {"domain": "x" * 3_000_000})
    assert len(run("show", release.ref).stdout) < 5000


# Links and special files


def _side(task, name):
    task.mkdir()
    return task / name


def _file(task):
    (task / "public").mkdir(parents=True)
    return task / "public" / "train.csv"


LINKS = {
    "the task": lambda task, victim: task.symlink_to(victim),
    "public": lambda task, victim: _side(task, "public").symlink_to(victim),
    "private": lambda task, victim: _side(task, "private").symlink_to(victim),
    "a file": lambda task, victim: _file(task).symlink_to(victim / "kept.txt"),
    "a folder of items": lambda task, victim: _file(task).with_name("train").symlink_to(victim),
    "an item": lambda task, victim: _side(_file(task).with_name("train"), "1.png").symlink_to(victim / "kept.txt"),
    "a link to nothing": lambda task, victim: task.symlink_to(victim / "nothing"),
    "a pipe": lambda task, victim: os.mkfifo(_file(task)),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_pull_writes_through_no_link_and_waits_for_no_pipe(tmp_path, name):
    release = HostileRelease(tmp_path / "releases")
    (task_id,) = sandmill.load(release.ref).task_ids
    to, victim = tmp_path / "to", tmp_path / "victim"
    to.mkdir()
    victim.mkdir()
    (victim / "kept.txt").write_text("kept")
    LINKS[name](to / task_id, victim)
    message = refuses("pull", release.ref, "--to", to)
    assert "a special file" in message if name == "a pipe" else "a link" in message
    assert everything_below(victim) == {"kept.txt"}
    assert (victim / "kept.txt").read_text() == "kept"


def test_the_folder_to_pull_into_may_be_a_link_of_the_users_own(tmp_path):
    release = HostileRelease(tmp_path / "releases")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "to").symlink_to(tmp_path / "elsewhere")
    assert run("pull", release.ref, "--to", tmp_path / "to").exit_code == 0


@pytest.mark.parametrize("what", ["manifest", "public/tasks", "public/files"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_part_that_is_no_regular_file_is_refused_at_once(tmp_path, what, kind):
    release = HostileRelease(tmp_path)
    path = release.folder / ("manifest.json" if what == "manifest" else release.part(what)["path"])
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    refuses("verify", release.ref, "--public-only")
    refuses("pull", release.ref, "--to", tmp_path / "out", "--public-only")


# Text on the terminal

STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e[red]boo[/red]"


def _title(record):
    record["spec"]["story"] |= {"title": STEERING, "overview": STEERING}


def _domain(record):
    record["spec"]["domain"] = STEERING
    record["lineage"]["seed_id"] = STEERING


def _solver(record):
    record["calibration"]["reference"] = STEERING
    record["calibration"]["board"][0]["solver"] = STEERING


@pytest.mark.parametrize("edit", [_title, _domain, _solver])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_nothing_that_a_record_says_steers_the_terminal(tmp_path, edit, options):
    release = HostileRelease(tmp_path)
    release.change_record(edit)
    (task_id,) = sandmill.load(release.ref).task_ids
    ran = run("show", release.ref, task_id, *options)
    assert ran.exit_code == 0
    assert all(char.isprintable() or char == "\n" for char in ran.output)
    assert "[red]boo[/red]" in ran.output
    if options == ("--json",):
        assert json.dumps(STEERING)[1:-1] in json.dumps(json.loads(ran.stdout))


@pytest.mark.parametrize("column", ["split", "metric", "domain", "structure", "band", "seed_id"])
def test_nothing_that_a_table_says_steers_the_terminal(tmp_path, column):
    release = HostileRelease(tmp_path)
    for table in ("public/tasks", "private/tasks"):
        release.change(table, lambda row: row | ({column: STEERING} if column in row else {}))
    ran = run("show", release.ref)
    assert ran.exit_code == 0
    assert all(char.isprintable() or char == "\n" for char in ran.output)


# Scripts


@pytest.fixture
def no_sandbox(monkeypatch):
    """Have a machine on which nothing isolates."""
    from sandmill.errors import Problem
    from sandmill.sandbox import sandbox as backends

    capability = backends.Capability(False, (Problem("namespaces", "none", "some"),))
    monkeypatch.setattr(backends, "probe", lambda: capability)


@pytest.fixture
def trapped(tmp_path):
    """Give a release whose solution leaves a file where it has run, and the file."""
    release, trap = HostileRelease(tmp_path / "releases"), tmp_path / "sprung"
    release.put_file("private", "solution.py", content=f"open({str(trap)!r}, 'w')\n".encode())
    return release, trap


def test_without_a_sandbox_a_trap_is_not_sprung_even_if_asked_by_the_library(no_sandbox, trapped):
    from sandmill.errors import SandboxUnavailable
    from sandmill.verify.rerun import rerun_task

    release, trap = trapped
    message = refuses("verify", release.ref, "--rerun")
    assert "namespaces: saw none" in message
    assert "--unconfined" in message
    opened = sandmill.load(release.ref)
    (task_id,) = opened.task_ids
    with pytest.raises(SandboxUnavailable):
        rerun_task(opened.package(task_id), opened.record(task_id))
    assert not trap.exists()


def test_unconfined_is_refused_without_a_rerun_and_warns_where_nothing_confines(no_sandbox, tmp_path):
    release = HostileRelease(tmp_path)
    assert "--rerun beside it" in refuses("verify", release.ref, "--unconfined")
    assert "run unconfined, with all your rights" in refuses("verify", release.ref, "--rerun", "--unconfined")


HOSTILE_TASKS = {
    "a column for every byte": {"public/train.csv": b"," * 1_000_000 + b"\n"},
    "a training row too many": {"public/train.csv": b"id,weight_kg,late\n" + b"a,5.1,0\n" * 51},
    "rows that end in another way": {"public/train.csv": b"id,weight_kg,late\r" + b"a,5.1,0\r" * 40_000 + b"\n" * 51},
    "a test row too few": {"public/test.csv": b"id,weight_kg\n" + b"a,5.1\n" * 199},
    "a large table": {"public/train.csv": b"x" * (21 << 20)},
    "no table": {"public/train.csv": b"\xff\xfe\0\0"},
    "answers of another task": {"private/answers.csv": b"a,b\n1,2\n"},
    "a script that is no text": {"private/solution.py": b"\xff\xfe"},
    "a script of 2 MB": {"private/solution.py": b"#" * (2 << 20)},
}


def _hostile(package, name):
    for path, content in HOSTILE_TASKS[name].items():
        side, _, file = path.partition("/")
        package = package.model_copy(update={side: getattr(package, side) | {file: content}})
    return package


@pytest.mark.parametrize("name", HOSTILE_TASKS)
def test_what_a_task_does_to_our_own_code_is_a_problem_of_the_task(tmp_path, name, monkeypatch):
    from sandmill.models.reports import Outcome
    from sandmill.models.run import Isolation, RunResult
    from sandmill.verify import rerun, verify

    nothing = RunResult(outcome=Outcome.NO_SUBMISSION, isolation=Isolation.WARM)
    monkeypatch.setattr(verify, "run_reference", lambda *_: nothing)
    monkeypatch.setattr(rerun, "run_panel", lambda *_: [])
    opened = sandmill.load(HostileRelease(tmp_path).ref)
    (task_id,) = opened.task_ids
    package = _hostile(opened.package(task_id), name)
    problems = rerun.rerun_task(package, opened.record(task_id), installed="other code").problems
    assert problems
    assert all(len(problem) < 1000 for problem in problems)


@pytest.mark.parametrize("name", [name for name in HOSTILE_TASKS if "row" in name])
def test_a_task_with_other_rows_than_its_design_runs_neither_script_nor_panel(tmp_path, name, monkeypatch):
    from sandmill.verify import rerun, verify

    ran = []
    monkeypatch.setattr(verify, "run_reference", lambda *_: ran.append("script"))
    monkeypatch.setattr(rerun, "run_panel", lambda *_: ran.append("panel"))
    opened = sandmill.load(HostileRelease(tmp_path).ref)
    (task_id,) = opened.task_ids
    package = _hostile(_with_designed_rows(opened.package(task_id)), name)
    said = " ".join(rerun.rerun_task(package, opened.record(task_id), unconfined=True).problems)
    assert "its design has" in said or "carriage returns" in said or "the most is" in said
    assert not ran


def _with_designed_rows(package):
    """Give tables with as many lines as the design says."""
    rows = {"train.csv": 50, "test.csv": 200, "sample_submission.csv": 200, "answers.csv": 200}
    tables = {name: b"a,b\n" + b"1,2\n" * count for name, count in rows.items()}
    answers = {"answers.csv": tables.pop("answers.csv")}
    return package.model_copy(update={"public": package.public | tables, "private": package.private | answers})


@given(st.text(max_size=40) | st.from_regex(r"[./a-zA-Z0-9_\\:-]{0,20}"))
def test_a_path_that_is_accepted_stays_below_its_folder(path):
    if not path_fault(path):
        below = PurePosixPath("/to/task", path)
        assert os.path.normpath(below) == f"/to/task/{path}"
        assert path.isascii()
        assert not any(part.startswith(".") for part in below.parts[3:])


@pytest.mark.usefixtures("agent_env")
def test_a_rerun_confines_the_script_of_a_release(trapped):
    from sandmill.verify.rerun import rerun_task

    release, trap = trapped
    opened = sandmill.load(release.ref)
    (task_id,) = opened.task_ids
    package = opened.package(task_id)
    honest = HostileRelease(trap.parent / "honest")
    answers = sandmill.load(honest.ref).package(task_id).private["answers.csv"]
    script = package.private["solution.py"]
    private = {"answers.csv": answers, **dict.fromkeys(RUNG_FILES.values(), script)}
    assert rerun_task(package.model_copy(update={"private": private}), opened.record(task_id)).problems
    assert not trap.exists()
