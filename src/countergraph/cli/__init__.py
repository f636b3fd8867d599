"""The command line. It parses, calls and prints; it contains no logic."""

from __future__ import annotations

import sys

from countergraph.errors import CountergraphError


def main() -> None:
    """Run ``countergraph``; exit codes: 0 success, 1 no counterfactual found, 2 bad input, 130 interrupted."""
    from countergraph.cli.app import app

    try:
        app()
    except SystemExit as error:
        if isinstance(getattr(error.__context__, "__cause__", None), KeyboardInterrupt):
            print("interrupted", file=sys.stderr)  # typer turns Ctrl-C into a silent exit
        raise
    except CountergraphError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)
