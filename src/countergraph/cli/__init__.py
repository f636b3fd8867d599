"""The command line: parse, call, render. No logic of its own."""

from __future__ import annotations

import re
import sys

from countergraph.errors import CountergraphError

OPTIONS = (
    "k|runs|seed|max_calls|time_limit|certify|diverse|target|scores|only|cost|most|keep_edges|keep_connected|"
    "subjects|local_runs|dimensions"
)
SPOKEN = re.compile(rf"(?<![-\w])({OPTIONS})(?:=True|='(\w+)'|(?= (?:must|needs|pairs)\b))")


def main() -> None:
    """Run ``countergraph``: 0 fine, 1 nothing found, 2 bad input, 130 interrupted."""
    from countergraph.cli.app import app

    try:
        app()
    except SystemExit as error:
        if isinstance(getattr(error.__context__, "__cause__", None), KeyboardInterrupt):
            print("interrupted", file=sys.stderr)  # typer turns Ctrl-C into a silent exit
        raise
    except CountergraphError as error:
        print(f"error: {in_options(str(error))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)


def in_options(message: str) -> str:
    """Say ``--max-calls`` where a message says ``max_calls``, and ``--cost length`` for ``cost='length'``."""
    return SPOKEN.sub(lambda found: f"--{found[1].replace('_', '-')}" + (f" {found[2]}" if found[2] else ""), message)
