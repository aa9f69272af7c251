"""The list of commands, and how errors end them. The module of a command is imported when it runs."""

from importlib import import_module
from importlib.resources import files
from typing import Annotated, Any

import typer
import typer.core
import typer.main
import yaml

from sandmill.errors import SandmillError

COMMANDS: dict[str, dict[str, str]] = yaml.safe_load(files("sandmill.cli").joinpath("commands.yaml").read_text("utf-8"))
"""Module and examples of each command, in the order of the help. The module has a function of the command's name, or a
`Typer` of several commands."""

INTERRUPTED = "Interrupted. What was finished stays; run the same command again to go on."
INTERRUPTED_CODE = 130
"""Exit code after Ctrl-C, as in shells."""


class LazyCommands(typer.core.TyperGroup):
    """Imports one command at a time, and prints SandmillErrors without a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in reading order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command."""
        return _load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command. The names are filled in for suggestions after a typing mistake."""
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and print errors that are not bugs."""
        try:
            return super().invoke(ctx)
        except SandmillError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            typer.echo(INTERRUPTED, err=True)
            raise typer.Exit(INTERRUPTED_CODE) from error


SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
app = typer.Typer(cls=LazyCommands, no_args_is_help=True, **SETTINGS)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from sandmill import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback(epilog="Example: `sandmill show releases/micro`")
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Releases of micro-scale machine-learning tasks: look, pull, run, grade, verify.

    RELEASE is a folder or S3 prefix, with a version if it is not the latest: `releases/micro`,
    `s3://bucket/releases/micro@3`; a commit of a hub: `hf://datasets/ORG/NAME@COMMIT`; or `samples`, a few tasks that
    come with the package.
    """


def _load_command(name: str) -> Any:
    module, epilog = import_module(f"sandmill.cli.{COMMANDS[name]['module']}"), COMMANDS[name]["examples"]
    found = getattr(module, name.replace("-", "_"))
    if isinstance(found, typer.Typer):
        group = typer.main.get_command(found)
        group.name, group.epilog = name, epilog
        return group
    single = typer.Typer(**SETTINGS)
    single.command(name, epilog=epilog)(found)
    return typer.main.get_command(single)
