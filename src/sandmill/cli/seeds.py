"""sandmill seeds: show seeds before anything is built from them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandmill.cli.screen import JsonOption, open_console, write_json

if TYPE_CHECKING:
    from rich.console import Console

    from sandmill.models.seed import SeedIntake, SeedTask

SEEDS_EXAMPLES = (
    "Examples: `sandmill seeds` · `sandmill seeds my-seeds/ competitions/` · `sandmill seeds my-seeds/ --json`"
)

_BAD_INPUT = 2
_HEADER = ("id", "modality", "target", "metric", "split", "columns", "rows", "faults")


def seeds(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SEEDS",
            help="Cards, folders with a table and seed.yaml, competition folders, or folders of these. None: the "
            "bundled cards.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was understood of seeds: their structure, what designs keep of it, and what sets a seed aside.

    The exit code is 0 if a build can use at least one seed, and 2 if it can use none or a source is malformed.
    """
    from sandmill.seeds import survey

    intake = survey(tuple(sources or ()))
    write_json(_describe(intake)) if as_json else _print(intake)
    if not intake.supported:
        raise typer.Exit(_BAD_INPUT)


def _describe(intake: "SeedIntake") -> dict[str, Any]:
    from sandmill.design.kept import NEVER_KEPT, kept_of, lost_of

    return {
        "used": [
            {
                "id": seed.id,
                "title": seed.title,
                "origin": seed.origin,
                "structure": seed.structure.model_dump(mode="json"),
                "kept": list(kept_of(seed.structure)),
                "not_kept": list(lost_of(seed.structure)),
                "warnings": [note.text for note in intake.notes if note.seed_id == seed.id],
            }
            for seed in intake.supported
        ],
        "set_aside": [seed.model_dump(mode="json") for seed in intake.unsupported],
        "skipped": [source.model_dump(mode="json") for source in intake.skipped],
        "never_kept": list(NEVER_KEPT),
    }


def _print(intake: "SeedIntake") -> None:
    from sandmill.design.kept import NEVER_KEPT, lost_of
    from sandmill.report.text_tables import TextTable

    console = open_console()
    if intake.supported:
        console.print_table(TextTable("", _HEADER, tuple(_row(seed) for seed in intake.supported)))
    _section(console, "Warnings", [f"{note.seed_id}: {note.text}" for note in intake.notes])
    kept = ((seed.id, "; ".join(lost_of(seed.structure))) for seed in intake.supported)
    _section(console, "Changed or left out in designs", [f"{name}: {lost}" for name, lost in kept if lost])
    if intake.supported:
        _section(console, "Never kept of a seed", list(NEVER_KEPT))
    aside = [f"{seed.id}: needs {'; '.join(seed.needs)}. {seed.hint}".rstrip() for seed in intake.unsupported]
    _section(console, "Set aside", aside)
    _section(console, "Skipped, no seeds", [f"{source.source}: {source.reason}" for source in intake.skipped])
    used, waiting, skipped = len(intake.supported), len(intake.unsupported), len(intake.skipped)
    console.print(f"\n{used} can be used, {waiting} set aside, {skipped} skipped. See docs/seeds.md.")


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
