"""`python -m retrograd` and the command `retrograd`."""

from __future__ import annotations

import sys


def main() -> None:
    from .cli.command_line import main as command_line

    sys.exit(command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
