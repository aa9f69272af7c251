"""Read recordings as tables of general features of sounds, here and in scripts."""

import struct
import wave
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd

from sandmill.kinds.directions import main_directions
from sandmill.kinds.memo import once
from sandmill.kinds.script_text import Reader, functions_source
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


def reading_lines(facts: TaskFacts) -> list[str]:
    """Read the recordings of both parts, with ids and targets, and the sampling rate, as lines of a script."""
    reader, lines = (read_folder, _FOLDER) if facts.kind == "audio_pairs" else (read_archive, _ARCHIVES)
    return [*functions_source(reader), "", "", *lines.splitlines()]


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
    """Return the samples, between -1 and 1, and the rate of a plain AIFF file."""
    bits, exponent, mantissa = struct.unpack_from(">HHQ", content, content.index(b"COMM") + 14)
    samples = np.frombuffer(content[content.index(b"SSND") + 16 :], f">i{bits // 8}")
    return (samples / 2.0 ** (bits - 1)).astype(np.float32), round(mantissa * 2.0 ** (exponent - 16446))


def samples_of_wav(path: str) -> tuple[np.ndarray, int]:
    """Return the samples, between -1 and 1, and the rate of a plain WAV file. Samples of 8 bits are from 0 to 255."""
    with wave.open(path) as file:
        held, is_small = file.readframes(file.getnframes()), file.getsampwidth() == 1
        samples = np.frombuffer(held, "u1") / 128.0 - 1 if is_small else np.frombuffer(held, "<i2") / 32768
        return samples.astype(np.float32), file.getframerate()


def source(facts: TaskFacts) -> list[str]:
    """Read all recordings: ids and targets, and features of the sounds."""
    return [*functions_source(features), *reading_lines(facts), "train, test = features(train, test, rate)"]


def features(train: pd.DataFrame, test: pd.DataFrame, rate: int) -> list[pd.DataFrame]:
    """Put features in place of the sounds: bands, how the spectrum moves, and main directions of sounds in time."""
    tables = (train, test)
    spectra, moves = zip(*(describe_sounds(np.stack(list(table["sound"])), rate) for table in tables), strict=True)
    moves = main_directions(moves, 8)
    made = [
        pd.DataFrame(found).join(pd.DataFrame(part).add_prefix("sounds_"))
        for found, part in zip(spectra, moves, strict=True)
    ]
    return [table.drop(columns="sound").join(part) for table, part in zip(tables, made, strict=True)]


def describe_sounds(sounds: np.ndarray, rate: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Describe the bands and the spectrum of each recording, and when wide bands are loud."""
    power = spectrogram(sounds)
    pitches = np.linspace(0, rate / 2, power.shape[2], dtype=np.float32)
    bands = np.log(power @ mel_bands(pitches, 18).T + 1e-9)
    found = {f"band_{k}": bands[:, :, k].mean(axis=1) for k in range(18)}
    found |= {f"band_{k}_spread": bands[:, :, k].std(axis=1) for k in range(18)}
    loud = power.sum(axis=2) + 1e-9
    centre = power @ pitches / loud
    found |= {"centre": centre.mean(axis=1), "centre_spread": centre.std(axis=1)}
    half = loud.shape[1] // 2
    found["growth"] = np.log(loud[:, half:].sum(axis=1) / loud[:, :half].sum(axis=1))
    return found, times_of(bands.reshape(*bands.shape[:2], 6, -1).max(axis=3))


def times_of(level: np.ndarray) -> np.ndarray:
    """Measure slow and fast changes of each band, and the number, lengths, places and distances of its sounds."""
    moving = np.exp(level - level.max(axis=1, keepdims=True))
    moving -= moving.mean(axis=1, keepdims=True)
    waves = np.abs(np.fft.rfft(moving * np.hanning(moving.shape[1])[:, None], axis=1)) ** 2
    middle = round(waves.shape[1] ** 0.5)
    slow, fast = (np.log(part.mean(axis=1) + 1e-9) for part in (waves[:, 1:middle], waves[:, middle:]))
    smooth = (level[:, :-2] + level[:, 1:-1] + level[:, 2:]) / 3
    quiet, loud = np.quantile(smooth, (0.3, 0.98), axis=1)[:, :, None]
    is_loud = smooth > (quiet + loud) / 2
    starts = is_loud[:, 1:] & ~is_loud[:, :-1]
    count, times = starts.sum(axis=1), np.linspace(0, 1, starts.shape[1])[:, None]
    length = np.log1p(is_loud.sum(axis=1) / np.maximum(count, 1))
    place = np.where(count > 0, (starts * times).sum(axis=1) / np.maximum(count, 1), 0.5)
    reach = (starts * times).max(axis=1) - np.where(starts, times, 1).min(axis=1)
    return np.hstack([slow, fast, np.sqrt(count), length, place, np.maximum(reach, 0) / np.maximum(count - 1, 1)])


def spectrogram(sounds: np.ndarray, width: int = 256) -> np.ndarray:
    """Return powers (recordings, moments, frequencies) of windows that overlap by three quarters."""
    from scipy.fft import rfft

    step, parts = max(width // 4, sounds.shape[1] // 250), []
    window = np.hanning(width).astype(np.float32)
    for first in range(0, len(sounds), 50):
        frames = np.lib.stride_tricks.sliding_window_view(sounds[first : first + 50], width, axis=1)[:, ::step]
        spectra = rfft(frames * window, axis=2, overwrite_x=True)
        parts.append(spectra.real**2 + spectra.imag**2)
    return np.concatenate(parts)


def mel_bands(pitches: np.ndarray, count: int) -> np.ndarray:
    """Return the weights of triangular bands that are evenly spaced on the mel scale."""
    edges = np.linspace(0, np.log(1 + pitches[-1] / 700), count + 2)
    low, middle, high = (700 * np.expm1(edges[k : count + k])[:, None] for k in range(3))
    rising, falling = (pitches - low) / (middle - low), (high - pitches) / (high - middle)
    return np.maximum(np.minimum(rising, falling), 0)


describe_sounds = once(describe_sounds)
read = Reader(source).read
