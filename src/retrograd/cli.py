"""The command line: `retrograd run`, `retrograd doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    help="PyTorch's autograd over NumPy, and a microscope for gradients.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def show_version(wanted: bool) -> None:
    if wanted:
        from . import __version__

        typer.echo(f"retrograd {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command(
    context_settings={
        "allow_extra_args": True,
        "allow_interspersed_args": False,
        "ignore_unknown_options": True,
    }
)
def run(
    script: Annotated[str, typer.Argument(help="A Python file written for PyTorch or for retrograd.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ARGS]...", help="Arguments of the script.")] = None,
) -> None:
    """Run SCRIPT as python would, with `import torch` meaning retrograd."""
    from .__main__ import usage_error
    from ._run import CannotRun, run_script

    try:
        status = run_script(script, arguments or [])
    except CannotRun as error:
        status = usage_error(error)
    raise typer.Exit(status)


@app.command()
def doctor() -> None:
    """Say which build this is, and on what it runs: what a bug report needs."""
    from ._doctor import report

    report()
