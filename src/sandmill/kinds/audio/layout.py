"""Files of recordings: archives with the label in the name, and a folder of sounds beside ragged lists of labels."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from sandmill.errors import name_some
from sandmill.fingerprint import digest
from sandmill.kinds.files.base import Files, Items, Layout, Names
from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.kinds.files.media import MediaFiles, folder_excess
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes
from sandmill.models.texts import DESCRIPTION

CLIP_ARCHIVE = MediaFiles(
    train_items="train2.zip",
    test_items="test2.zip",
    name="{shown}_{id}_Test.aif",
    train_name="{shown}_{id}_TRAIN_{label}.aif",
    train_table=None,
    item="clip",
    cell="AIFF sound",
    sample="sampleSubmission.csv",
    shown="day",
)

_NAME_LENGTH = 12
Lines = Mapping[str, str]
"""Lines of a list: the text before the first comma, and all text after it."""


class RecordingFolder(Layout):
    """Sounds of both parts in one folder. Lists say which sound is which recording, and which labels it has."""

    item, cell, sample = "recording", "WAV sound", "sample_submission.csv"
    sorts_ids = True
    train = labels = "essential_data/rec_labels_test_hidden.txt"
    """`rec_id,[labels]`: numbers of labels, none to all of them; `?` for a test recording."""
    names = "essential_data/rec_id2filename.txt"
    """`rec_id,filename`."""
    species = "essential_data/species_list.txt"
    """`class_id,species`: what the numbers of labels mean."""
    test = sounds = "essential_data/src_wavs/"

    files = frozenset({DESCRIPTION, sample, labels, names, species})
    folders = frozenset({sounds})

    def is_item_file(self, path: str) -> bool:
        """Whether a path is that of a sound."""
        name = path.removeprefix(self.sounds)
        return path.startswith(self.sounds) and name.endswith(".wav") and name.removesuffix(".wav").isalnum()

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write the lists in the order of ids, and one sound for each recording."""
        _, column = test.columns
        number = {name: str(place) for place, name in enumerate(facts.classes)}
        given = dict.fromkeys(test[facts.id_column], "?")
        for name, cell in train.select(facts.id_column, facts.target_column).rows():
            given[name] = ",".join(number[label] for label in (cell or "").split())
        ids = sorted(given)
        contents = {
            name: bytes(sound) for part in (train, test) for name, sound in part[facts.id_column, column].rows()
        }
        return {
            self.labels: _listing("rec_id,[labels]", (f"{name},{given[name]}".rstrip(",") for name in ids)),
            self.names: _listing("rec_id,filename", (f"{name},{_file_name(name)}" for name in ids)),
            self.species: _listing("class_id,species", (f"{place},{name}" for name, place in number.items())),
            **{f"{self.sounds}{_file_name(name)}.wav": contents[name] for name in ids},
        }

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read the lists and the sounds, and match them by id."""
        faults: list[str] = []
        (column,) = features
        given = self._lines(public, self.labels, "rec_id,[labels]", faults)
        names = self._lines(public, self.names, "rec_id,filename", faults)
        numbers = self._lines(public, self.species, "class_id,species", faults)
        if list(names) != list(given):
            faults.append(f"{self.names}: its recordings are not those of {self.labels} in the same order")
        if tuple(numbers.values()) != facts.classes or list(numbers) != [str(one) for one in range(len(numbers))]:
            faults.append(f"{self.species}: saw {', '.join(numbers.values())}; expected {', '.join(facts.classes)}")
        paths = {name: f"{self.sounds}{file}.wav" for name, file in names.items()}
        there = {path for path in public if path.startswith(self.sounds)}
        if odd := sorted(there ^ set(paths.values())):
            faults.append(f"{self.sounds}: sounds without a recording, or recordings without one ({name_some(odd)})")
        named = {name: _names_of(cell, numbers) for name, cell in given.items() if cell != "?"}
        if unknown := [name for name, labels in named.items() if labels is None]:
            faults.append(f"{self.labels}: labels of other numbers than those listed ({name_some(unknown)})")
        train, test = list(named), [name for name in given if name not in named]
        schema = {facts.id_column: pl.String, column: pl.Binary}
        frames = [
            pl.DataFrame([(name, public.get(paths.get(name, ""), b"")) for name in ids], schema=schema, orient="row")
            for ids in (train, test)
        ]
        cells = pl.Series(facts.target_column, [" ".join(named[name] or ()) or None for name in train], dtype=pl.String)
        return Items(frames[0].with_columns(cells), frames[1], tuple(faults))

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count lines, files, bytes and samples."""
        items = sizes.train + sizes.feedback + sizes.final
        for path in (self.labels, self.names):
            if len(public[path]) > MAX_FILE_BYTES:
                yield f"{path} has {len(public[path])} bytes; the most is {MAX_FILE_BYTES}"
            elif (lines := public[path].count(b"\n") - 1) != items:
                yield f"{path} has {lines} recordings; its design has {items}"
        yield from folder_excess(public, self.sounds, items)

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a recording that is to be answered and has no `?`."""
        given = self._lines(public, self.labels, "rec_id,[labels]", [])
        ends = tuple(f"_{name}" for name in facts.classes)
        asked = (line.split(b",", 1)[0].decode() for line in public[self.sample].splitlines()[1:])
        ids = {name.removesuffix(next((end for end in ends if name.endswith(end)), "")) for name in asked}
        return any(given.get(name) != "?" for name in ids)

    def contents(self, facts: TaskFacts, sizes: Sizes) -> list[tuple[str, str]]:
        """Say what each list and the folder hold."""
        told = self.naming(facts)
        tested = sizes.feedback + sizes.final
        return [
            (self.labels, f"{sizes.train} recordings with the target `{facts.target_column}`, {told[self.labels]}"),
            (self.sounds, f"{tested} recordings to predict, {told[self.sounds]}"),
            (self.names, "the name of the sound file of each recording, without its ending"),
            (self.species, f"what the numbers of `{facts.target_column}` stand for"),
        ]

    def naming(self, facts: TaskFacts) -> Mapping[str, str]:
        """Say how lines are to be read, and what is in the folder."""
        return {
            self.labels: "a line each: the recording, then the numbers of its labels, as many as it has, separated by "
            "commas; recordings to predict are listed as well, with `?` in place of labels",
            self.sounds: f"in one folder with those for training; `{self.names}` gives the file of each recording",
        }

    def _lines(self, public: Files, path: str, header: str, faults: list[str]) -> Lines:
        try:
            first, *lines = public[path].decode().removesuffix("\n").split("\n")
        except (KeyError, UnicodeDecodeError):
            faults.append(f"{path}: the file is not there, or no text")
            return {}
        if first != header:
            faults.append(f"{path}: begins with {first[:80]!r}; expected {header!r}")
        found = dict(line.partition(",")[::2] for line in lines)
        if len(found) < len(lines):
            faults.append(f"{path}: several lines of one name")
        return found


def _listing(header: str, lines: Iterator[str]) -> bytes:
    return "\n".join([header, *lines, ""]).encode()


def _names_of(cell: str, numbers: Lines) -> Sequence[str] | None:
    """Return the labels of a line, or None if it holds anything else than known numbers."""
    parts = cell.split(",") if cell else []
    return [numbers[part] for part in parts] if all(part in numbers for part in parts) else None


def _file_name(name: str) -> str:
    """Return the file of a recording. It follows from the id alone."""
    return "R" + digest(f"recording {name}".encode())[:_NAME_LENGTH]


RECORDING_FOLDER = RecordingFolder()
