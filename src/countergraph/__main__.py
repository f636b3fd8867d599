"""``python -m countergraph``."""

from countergraph.cli import main

main()
