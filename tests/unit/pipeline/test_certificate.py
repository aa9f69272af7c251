import hashlib
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from pydantic import ValidationError

from sandmill.errors import RequestError
from sandmill.models.certificate import Certificate, Rate
from sandmill.models.names import CERTIFICATE, CROISSANT, DURATIONS_FILE, SIGNATURE
from sandmill.models.reports import ScriptSeconds
from sandmill.pipeline.publishing import KeptTasks, _durations
from sandmill.publish.certificate import certificate_problems, certify, shared_prose, sign_certificate
from sandmill.publish.signature import sign
from sandmill.report.digest import ReleaseCounts
from sandmill.store.arrow_tables import read_record
from sandmill.store.files import Store
from sandmill.store.release import StoredRelease, load
from sandmill.store.shards import write_shard
from tests.factories import make_shard_plan, make_slot_report, make_task
from tests.invoking import run
from tests.publishing import publish_shards
from tests.releases import REPOSITORY

SEEDS = json.dumps({"used": [{"id": "parcels"}, {"id": "mine", "guard": "ab"}]}).encode()


def publish(root: Path, numbers: range = range(3), key: Path | None = None, kept: KeptTasks | None = None):
    """Publish what a build publishes, but for the page."""
    store, tasks = Store(f"{root}/micro"), [make_task(number) for number in numbers]
    seconds = [
        ScriptSeconds(task_id=task.record.task_id, cpu_s_p50=number + 0.5, cpu_s_p95=number + 1, cpu_s_p99=number + 2)
        for number, task in zip(numbers, tasks, strict=True)
    ]
    slots = [
        make_slot_report(task).model_copy(update={"script_seconds": (one,)})
        for task, one in zip(tasks, seconds, strict=True)
    ]
    ref = write_shard(store, make_shard_plan(store.root, numbers), tasks, [], slots)
    counts = ReleaseCounts()
    for task in tasks:
        counts.add(task.record)
    pages = (
        lambda manifest: _durations(StoredRelease(store, manifest), kept),
        lambda manifest: certify(StoredRelease(store, manifest), counts),
        lambda manifest: sign_certificate(StoredRelease(store, manifest), key),
    )
    reports = {"build.json": b"{}", "seeds.json": SEEDS, "guessing.json": b'{"verdict": "clean"}'}
    publish_shards(store, [ref], reports=reports, pages=pages)
    return load(store.root)


@pytest.fixture
def keys(tmp_path):
    """Two pairs of keys as files."""
    made = []
    for name in ("one", "two"):
        key, private, public = Ed25519PrivateKey.generate(), tmp_path / f"{name}.pem", tmp_path / f"{name}.pub"
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        made.append((private, public))
    return made


def read(release: StoredRelease, name: str = CERTIFICATE) -> bytes:
    return release.store.read(f"{release.version}/{name}")


def rewrite(release: StoredRelease, name: str, content: bytes) -> StoredRelease:
    """Replace a file of a version, and its hash in the manifest, as somebody may who can write it."""
    folder = Path(release.store.root) / release.version
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    (part,) = [part for part in manifest["parts"] if part["path"] == name]
    part.update(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return load(release.store.root)


def problems(release: StoredRelease, public_key: Path | None = None, *, public_only: bool = False) -> list[str]:
    return certificate_problems(release, public_only=public_only, public_key=public_key)


def test_a_certificate_has_figures_by_release_and_kind_and_the_hashes_of_all_data_files(tmp_path):
    release = publish(tmp_path)
    found = Certificate.model_validate_json(read(release))
    assert (found.tasks, found.figures.tasks, sum(one.tasks for one in found.kinds.values())) == (3, 3, 3)
    assert found.figures.script_seconds["cpu_s_p50"].p50 == 1.5
    assert (found.contamination.seeds, found.contamination.compared_seeds) == (2, 1)
    assert found.guessing == {"verdict": "clean"}
    assert found.red_team is None
    assert "red_team" in found.not_measured
    derived = {CERTIFICATE, CROISSANT, "README.md"}
    assert found.files == {part.path: part.sha256 for part in release.manifest.parts if part.path not in derived}
    assert {name.partition("/")[0] for name in found.files} == {"public", "private", "reports", DURATIONS_FILE}
    assert not any(task_id in read(release).decode() for task_id in release.task_ids)
    assert problems(release) == []


def test_a_figure_or_a_hash_that_the_files_do_not_give_is_found(tmp_path):
    release = publish(tmp_path)
    whole = read(release)
    for path, value in ((("figures", "difficulty", "value"), 0.001), (("files", DURATIONS_FILE), "0" * 64)):
        content = json.loads(read(release))
        place = content
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        (line,) = problems(rewrite(release, CERTIFICATE, json.dumps(content).encode()))
        assert ".".join(path) in line
        assert str(value) in line
        rewrite(release, CERTIFICATE, whole)
    assert problems(load(release.store.root)) == []


def test_reports_that_give_no_figures_are_a_problem(tmp_path):
    release = publish(tmp_path)
    for content in (b"[1]", b'{"used": [1]}', b"no json"):
        assert "no figures follow" in problems(rewrite(release, "reports/seeds.json", content))[0]


def test_a_copy_of_the_public_half_is_compared_as_far_as_it_goes(tmp_path):
    release = publish(tmp_path)
    for part in release.manifest.parts:
        if part.path.startswith(("private/", "reports/")):
            (tmp_path / "micro" / release.version / part.path).unlink()
    assert problems(load(release.store.root), public_only=True) == []
    content = json.loads(read(release))
    content["prose"]["sentences"] += 1
    changed = rewrite(release, CERTIFICATE, json.dumps(content).encode())
    assert "prose.sentences" in problems(changed, public_only=True)[0]


def test_a_signature_is_that_of_the_key_and_of_the_bytes(tmp_path, keys):
    (private, public), (_, other) = keys
    release = publish(tmp_path, key=private)
    assert len(read(release, SIGNATURE)) == 64
    assert problems(release, public) == []
    assert "not by the key" in problems(release, other)[0]
    content = json.loads(read(release))
    content["dataset"] = "other"
    assert "not by the key" in problems(rewrite(release, CERTIFICATE, json.dumps(content).encode()), public)[0]
    assert "no signature" in problems(publish(tmp_path / "unsigned"), public)[0]


def test_openssl_makes_the_keys_and_checks_the_signature(tmp_path):
    def openssl(command: str) -> bool:
        return (
            subprocess.run(["openssl", *command.split()], cwd=tmp_path, capture_output=True, check=False).returncode
            == 0
        )

    assert openssl("genpkey -algorithm ed25519 -out sign.pem")
    assert openssl("pkey -in sign.pem -pubout -out sandmill.pub")
    release = publish(tmp_path, key=tmp_path / "sign.pem")
    assert problems(release, tmp_path / "sandmill.pub") == []
    check = f"pkeyutl -verify -pubin -inkey sandmill.pub -rawin -sigfile micro/{release.version}/{SIGNATURE} -in "
    assert openssl(f"{check} micro/{release.version}/{CERTIFICATE}")
    assert not openssl(f"{check} micro/{release.version}/{CROISSANT}")


def test_files_that_are_no_keys_are_refused(tmp_path, keys):
    release = publish(tmp_path, key=keys[0][0])
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no key")
    for use in (lambda: sign(wrong, b""), lambda: sign(keys[0][1], b""), lambda: sign(tmp_path / "none", b"")):
        with pytest.raises(RequestError):
            use()
    with pytest.raises(RequestError, match="public key"):
        problems(release, wrong)


def test_the_command_says_what_a_certificate_proves_and_ends_with_1_on_a_mismatch(tmp_path, keys):
    (private, public), (_, other) = keys
    unsigned, signed = publish(tmp_path / "a").store.root, publish(tmp_path / "b", key=private).store.root
    ran = run("verify", unsigned, "--certificate")
    assert (ran.exit_code, "unsigned: proves consistency, not origin" in ran.stdout) == (0, True), ran.output
    assert "signature not checked" in run("verify", signed, "--certificate").stdout
    assert f"signed by the key {public}" in run("verify", signed, "--certificate", "--public-key", public).stdout
    assert json.loads(run("verify", signed, "--json").stdout)["certificate"] is None
    assert run("verify", signed, "--certificate", "--public-key", other).exit_code == 1
    assert run("verify", signed, "--public-key", public).exit_code == 2


def test_a_release_from_before_certificates_has_none(tmp_path):
    before = REPOSITORY / "tests" / "data" / "releases" / "before"
    assert run("verify", before).exit_code == 0
    ran = run("verify", before, "--certificate")
    assert (ran.exit_code, "has none" in ran.stderr) == (1, True)


def test_equal_content_gives_an_equal_certificate(tmp_path):
    one, other = (publish(tmp_path / name) for name in ("a", "b"))
    assert read(one) == read(other)
    counts = ReleaseCounts()
    for row in reversed(list(one.read_columns("private/tasks", ["task_id", "digest", "record"]))):
        counts.add(read_record(row))
    assert certify(one, counts)[CERTIFICATE] == read(one)


def test_a_null_needs_a_reason_and_a_reason_a_null(tmp_path):
    content = json.loads(read(publish(tmp_path)))
    for changes in ({"not_measured": {}}, {"red_team": {"won": 0}}, {"guessing": None}):
        with pytest.raises(ValidationError, match="reasons are given for"):
            Certificate.model_validate(content | changes)


def test_intervals_of_rates_are_wilsons():
    assert Rate.among(0, 0) is None
    found = Rate.among(8, 10)
    # R: binom.confint(8, 10, .9, methods = "wilson")
    assert (found.low, found.high) == pytest.approx((0.541, 0.931), abs=0.001)


def test_sentences_that_two_prompts_have_are_counted():
    same = "Predict how many parcels\narrive on each day."
    prompts = {
        "a": f"{same} The depot lies behind the old mill. Short.",
        "b": "Predict how many parcels arrive on each day.",
    }
    prompts["c"] = prompts["b"]
    rows = [{"task_id": task_id, "prompt": text.replace("\n", " ")} for task_id, text in prompts.items()]
    found = shared_prose(SimpleNamespace(task_ids=tuple(prompts), read_columns=lambda *_: rows))
    assert found == {"tasks": 3, "sentences": 4, "shared": 3, "equal_prompts": 1}


def test_processor_seconds_are_columns_of_the_tasks_and_a_table_of_the_version(tmp_path):
    release = publish(tmp_path)
    assert release.facts["cpu_s_p95"].sort().to_list() == [1.0, 2.0, 3.0]
    assert [row["task_id"] for row in release.durations()] == list(release.task_ids)
    (tmp_path / "micro" / release.version / DURATIONS_FILE).unlink()
    assert "cpu_s_p95" not in load(release.store.root).facts.columns


def test_tasks_that_are_kept_keep_their_processor_seconds(tmp_path):
    first = publish(tmp_path)
    root = first.store.root
    store = Store(root)
    tasks = [make_task(number) for number in range(3)]
    reports = [make_slot_report(task) for task in tasks]
    ref = write_shard(store, make_shard_plan(root, range(3, 6)), [make_task(number) for number in range(3, 6)], [], [])
    kept = KeptTasks(version=first.version, shards=(), tasks=3)
    shards = [write_shard(store, make_shard_plan(root, range(3)), tasks, [], reports), ref]
    publish_shards(store, shards, pages=(lambda manifest: _durations(StoredRelease(store, manifest), kept),))
    rows = {row["task_id"]: row["cpu_s_p50"] for row in load(root).durations()}
    assert sorted(filter(None, rows.values())) == [0.5, 1.5, 2.5]
    assert len(rows) == 6
