"""Scripts whose models read a few found features measure no more columns than these need."""

from dataclasses import fields
from typing import Any

from sandmill.calibrate.scripts.findings import ColumnSet, Feature, PanelFindings
from sandmill.calibrate.scripts.members import ScriptModel
from sandmill.calibrate.scripts.write import narrowed
from sandmill.models.channel import Cue

COLUMNS = ("light", "size", "glow", "warmth")
DECODE = [
    "def decode(df):",
    '    """Turn codes into names."""',
    "    df = df.copy()",
    '    df["shape"] = df["shape"].map(dict(enumerate(["disc", "ring"])))',
    "    return df",
    "",
    "",
    "train, test = decode(train), decode(test)",
]
STATED = [
    "def add_stated(df):",
    '    """Add the quantities that the description defines."""',
    "    df = df.copy()",
    '    quotient = df["light"] / df["size"]',
    '    df["ratio"] = np.log(quotient)',
    '    quotient = df["glow"] / df["warmth"]',
    '    df["other"] = np.log(quotient)',
    "    return df",
    "",
    "",
    "train, test = add_stated(train), add_stated(test)",
]


def found_with(*features: Feature, cues: tuple[str, ...] = (*COLUMNS, "shape")) -> PanelFindings:
    given: dict[str, Any] = {
        "numbers": (*COLUMNS, "ratio", "other"),
        "categories": ("shape",),
        "cues": tuple(Cue(column=name, measure="scene.light", text=f"What {name} is.") for name in cues),
        "reading": (*DECODE, *STATED),
        "columns": {"sparse": ColumnSet("FEW", features, 1.0, len(features)), "base": ColumnSet("", (), 1.0, 5)},
    }
    return PanelFindings(**{field.name: None for field in fields(PanelFindings)} | given)


def model(columns: str) -> ScriptModel:
    return ScriptModel("linear", "a model", columns, (), lambda table: table)


RATIO = Feature("number", ("ratio",), ())
FLAG = Feature("level", ("shape_ring",), ('df["shape_ring"] = 1.0 * (df["shape"] == "ring")',))


def test_measures_that_no_feature_needs_are_left_out_with_the_quantities_made_of_them():
    few = narrowed(found_with(RATIO), [model("sparse")])
    assert [cue.column for cue in few.cues] == ["light", "size"]
    assert (few.numbers, few.categories) == (("light", "size", "ratio"), ())
    text = "\n".join(few.reading)
    assert not any(name in text for name in ("decode", "other", "glow"))
    names = {"train": {"light": 6.0, "size": 2.0}, "test": {"light": 1.0, "size": 4.0}, "np": _Numbers}
    exec(text, names)
    assert (names["train"]["ratio"], names["test"]["ratio"]) == (3.0, 0.25)  # type: ignore[index]


def test_a_script_with_a_model_of_all_columns_stays_whole():
    found = found_with(RATIO)
    assert narrowed(found, [model("sparse"), model("base")]) is found


def test_a_category_keeps_the_lines_that_name_its_codes():
    few = narrowed(found_with(FLAG), [model("sparse")])
    assert [cue.column for cue in few.cues] == ["shape"]
    assert few.reading[: len(DECODE)] == tuple(DECODE)
    assert "add_stated" not in "\n".join(few.reading)


class _Numbers:
    @staticmethod
    def log(value: float) -> float:
        return value
