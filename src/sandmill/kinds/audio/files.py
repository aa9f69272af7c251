"""Read the recordings of a task, here and in scripts."""

import struct
import wave
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd

from sandmill.kinds.source import functions_source
from sandmill.models.package import TaskFacts

_ARCHIVES = """\
public = sys.argv[1] if len(sys.argv) > 1 else "public"
train, rate = read_archive(f"{public}/train2.zip", ["day", ID, "part", TARGET])
test, rate = read_archive(f"{public}/test2.zip", ["day", ID, "part"])
train[TARGET] = train[TARGET].astype(int)
"""
_FOLDER = """\
public = sys.argv[1] if len(sys.argv) > 1 else "public"
train, test, rate = read_folder(f"{public}/essential_data", ID, TARGET)
"""


def read_recordings(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Read the recordings of both parts, with ids and targets, and the sampling rate."""
    if facts.kind == "audio_pairs":
        return read_folder(f"{folder}/essential_data", facts.id_column, facts.target_column)
    parts = ["day", facts.id_column, "part", facts.target_column]
    train, rate = read_archive(f"{folder}/train2.zip", parts)
    test, _ = read_archive(f"{folder}/test2.zip", parts[:3])
    return train, test, rate


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    is_folder = facts.kind == "audio_pairs"
    return [
        *functions_source(read_folder if is_folder else read_archive),
        "",
        "",
        *(_FOLDER if is_folder else _ARCHIVES).splitlines(),
    ]


def read_archive(path: str, parts: list[str]) -> tuple[pd.DataFrame, int]:
    """Make a table of an archive: parts of the file names, and the sounds; with their rate."""
    with ZipFile(path) as archive:
        names = archive.namelist()
        sounds = [samples_of_aiff(archive.read(name)) for name in names]
    rows = [name.removesuffix(".aif").split("_") for name in names]
    table = pd.DataFrame(rows, columns=parts).drop(columns=["day", "part"])
    table["sound"] = pd.Series([sound for sound, _ in sounds])
    return table, sounds[0][1]


def read_folder(folder: str, id_name: str, target: str) -> tuple:
    """Make a table of each part: ids, sounds and names of labels; with the rate of the sounds."""
    files = pd.read_csv(f"{folder}/rec_id2filename.txt", dtype=str)
    species = pd.read_csv(f"{folder}/species_list.txt", dtype=str).set_index("class_id")["species"]
    lines = Path(f"{folder}/rec_labels_test_hidden.txt").read_text().splitlines()[1:]
    labels = dict(line.partition(",")[::2] for line in lines)
    sounds = [samples_of_wav(f"{folder}/src_wavs/{name}.wav") for name in files["filename"]]
    table = pd.DataFrame({id_name: files["rec_id"], "sound": [sound for sound, _ in sounds]})
    given = files["rec_id"].map(labels)
    is_test = given == "?"
    numbers = [[number for number in text.split(",") if number] for text in given[~is_test]]
    named = [" ".join(species[some]) for some in numbers]
    train = table[~is_test].reset_index(drop=True).assign(**{target: named})
    return train, table[is_test].reset_index(drop=True), sounds[0][1]


def samples_of_aiff(content: bytes) -> tuple[np.ndarray, int]:
    """Return the samples, between -1 and 1, and the rate of a plain 16-bit AIFF file."""
    exponent, mantissa = struct.unpack_from(">HQ", content, content.index(b"COMM") + 16)
    samples = np.frombuffer(content[content.index(b"SSND") + 16 :], ">i2")
    return samples / 32768, round(mantissa * 2.0 ** (exponent - 16446))


def samples_of_wav(path: str) -> tuple[np.ndarray, int]:
    """Return the samples, between -1 and 1, and the rate of a plain 16-bit WAV file."""
    with wave.open(path) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples / 32768, file.getframerate()
