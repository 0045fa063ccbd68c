"""`python -m retrograd` and the command `retrograd`."""

from __future__ import annotations

import sys


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"] and arguments[1:] and not arguments[1].startswith("-"):
        from ._run import CannotRun, run_script  # straight to the script: typer would double the time to start

        try:
            sys.exit(run_script(arguments[1], arguments[2:], restore=False))
        except CannotRun as error:
            sys.exit(usage_error(error))
    from .cli import app

    app(prog_name="retrograd")


def usage_error(error: Exception) -> int:
    """Say in one line what the user can mend -> the exit status for it."""
    print(f"retrograd: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
