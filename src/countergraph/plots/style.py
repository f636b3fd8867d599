"""Colours and sizes, in one place. Red and blue mean what they mean in the paper; both are colour-blind safe."""

from __future__ import annotations

REMOVED = "#c1272d"
ADDED = "#0b5fa5"
KEPT = "#8c8c8c"
INK = "#222222"
DPI = 150
