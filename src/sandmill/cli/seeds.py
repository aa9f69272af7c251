"""sandmill seeds: show seeds before anything is built from them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandmill.cli.screen import JsonOption, open_console, show_progress, write_json
from sandmill.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from sandmill.models.seed import SeedIntake, SeedTask

_BAD_INPUT = 2
_FEW = 3
"""Seeds of which each kept trait is printed; of more, only bent and dropped ones."""
_HEADER = ("id", "modality", "target", "metric", "split", "columns", "rows", "faults")


def seeds(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SEEDS",
            help="Cards, folders with a table and seed.yaml, competition folders, folders of these, or tables. None: "
            "the bundled cards.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Target of the tables that are given as files. Builds take such a table as table.csv:COLUMN.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was understood of seeds: their structure, what designs keep of it, and what sets a seed aside.

    Each trait of a seed is kept, bent by what micro-scale tasks can have, or dropped. Nothing is built.

    The exit code is 0 if a build can use at least one seed, and 2 if it can use none or a source is malformed.
    """
    from sandmill.seeds import survey

    given = tuple(f"{source}:{target}" if target and _is_table(source) else source for source in sources or ())
    if target and not any(map(_is_table, sources or ())):
        problem = Problem("--target", "no CSV or Parquet file among the seeds", "a table beside it")
        raise InputError("sandmill seeds", [problem], "No seed was read.")
    with show_progress("reading seeds") as on_progress:
        intake = survey(given, on_progress)
    write_json(_describe(intake)) if as_json else _print(intake)
    if not intake.supported:
        raise typer.Exit(_BAD_INPUT)


def _is_table(source: str) -> bool:
    return source.endswith((".csv", ".parquet"))


def _describe(intake: "SeedIntake") -> dict[str, Any]:
    from sandmill.design.kept import NEVER_KEPT, forecast

    return {
        "used": [
            {
                "id": seed.id,
                "title": seed.title,
                "origin": seed.origin,
                "structure": seed.structure.model_dump(mode="json"),
                "traits": [one.model_dump(mode="json", exclude_none=True) for one in forecast(seed.structure)],
                "warnings": [note.text for note in intake.notes if note.seed_id == seed.id],
            }
            for seed in intake.supported
        ],
        "set_aside": [seed.model_dump(mode="json") for seed in intake.unsupported],
        "skipped": [source.model_dump(mode="json") for source in intake.skipped],
        "never_kept": list(NEVER_KEPT),
    }


def _print(intake: "SeedIntake") -> None:
    from sandmill.design.kept import NEVER_KEPT

    console = open_console()
    if intake.supported:
        console.print_rows(_HEADER, map(_row, intake.supported))
    _section(console, "Warnings", [f"{note.seed_id}: {note.text}" for note in intake.notes])
    shows_all = len(intake.supported) <= _FEW
    _section(console, "Traits", [line for seed in intake.supported for line in _fates(seed, shows_all)])
    if intake.supported:
        _section(console, "Never kept of a seed", list(NEVER_KEPT))
    aside = [f"{seed.id}: needs {'; '.join(seed.needs)}. {seed.hint}".rstrip() for seed in intake.unsupported]
    _section(console, "Set aside", aside)
    _section(console, "Skipped, no seeds", [f"{source.source}: {source.reason}" for source in intake.skipped])
    used, waiting, skipped = len(intake.supported), len(intake.unsupported), len(intake.skipped)
    console.print(f"\n{used} can be used, {waiting} set aside, {skipped} skipped. See docs/seeds.md.")


def _fates(seed: "SeedTask", shows_all: bool) -> "Iterator[str]":
    """Yield lines on a seed: how many traits are kept, bent and dropped, and which."""
    from sandmill.design.kept import forecast
    from sandmill.models.fidelity import TRAIT_BY_NAME

    found = forecast(seed.structure)
    counts = {fate: [one for one in found if one.fate == fate] for fate in ("kept", "bent", "dropped")}
    yield f"{seed.id}: {', '.join(f'{len(some)} {fate}' for fate, some in counts.items())}"
    if shows_all:
        yield from (f"  kept: {TRAIT_BY_NAME[one.trait].words}: {_shown(one.value)}" for one in counts["kept"])
    for fate in ("bent", "dropped"):
        for one in counts[fate]:
            becomes = "" if one.becomes is None else f", becomes {_shown(one.becomes)}"
            yield f"  {fate}: {TRAIT_BY_NAME[one.trait].words}: {_shown(one.value)}{becomes} ({one.why})"


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _section(console: "Console", title: str, lines: list[str]) -> None:
    if lines:
        console.print(f"\n{title}:", style="bold")
        for line in lines:
            console.print(f"  {line}")


def _row(seed: "SeedTask") -> tuple[str, ...]:
    from sandmill.design.conditions import possible_splits

    structure = seed.structure
    classes = structure.n_classes if structure.n_classes and structure.n_classes > 2 else 0
    counts = structure.n_targets if structure.n_targets > 1 else classes
    mix = {kind: count for kind, count in structure.columns.model_dump().items() if count}
    return (
        seed.id,
        str(structure.modality),
        f"{structure.target}, {counts}" if counts else str(structure.target),
        str(structure.metric),
        " or ".join(possible_splits(structure, structure.pathologies)),
        ", ".join(f"{count} {kind}" for kind, count in mix.items()) or "not known",
        str(structure.rows_train or "not known"),
        ", ".join(structure.pathologies) or "none",
    )
