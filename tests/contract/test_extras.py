"""A package that the base install lacks is asked for by the name of its extra, where it is first needed."""

import sys
from pathlib import Path

import pytest

import sandmill
from sandmill.cli.report import report
from sandmill.cli.verify import _check_packages
from sandmill.errors import InputError
from sandmill.export.mlebench import _read_by_pandas
from sandmill.export.sft import _chats
from sandmill.publish.signature import sign, signature_fault
from sandmill.store.files import Store


def a_picture_task():
    release = sandmill.load("samples", sandbox=object())
    return release.task(release.select(structure="image/binary/random")[0])


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("s3fs", "s3", lambda: Store("s3://bucket/releases").folders()),
        ("botocore.exceptions", "s3", lambda: Store("s3://bucket/releases").read("x")),
        ("pandas", "rerun", lambda: _read_by_pandas(["x"])),
        ("pandas", "rerun", lambda: list(_chats(None))),
        ("pandas", "rerun", _check_packages),
        ("PIL", "rerun", _check_packages),
        ("pandas", "rerun", lambda: sandmill.MLEnv(a_picture_task(), reward="ladder-facts")),
        ("PIL", "rerun", lambda: a_picture_task().fresh(1).public),
        ("duckdb", "report", lambda: report("samples", "none")),
        ("jinja2", "report", lambda: report("samples", "none")),
        ("PIL.Image", "report", lambda: report("samples", "none")),
        ("cryptography.hazmat.primitives.asymmetric.ed25519", "sign", lambda: sign(Path("none"), b"")),
        ("cryptography.exceptions", "sign", lambda: signature_fault(Path("none"), b"", b"")),
    ],
)
def test_the_error_of_a_missing_package_names_the_extra_to_install(monkeypatch, package, extra, use):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"pip install 'sandmill\[{extra}\]'") as caught:
        use()
    assert caught.value.exit_code == 2
    assert package in str(caught.value)
