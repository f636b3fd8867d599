"""The public names: type checkers and Python see the same names, from the same modules."""

from __future__ import annotations

import ast
from pathlib import Path

import countergraph as cg


def test_type_checkers_see_the_names_that_python_imports() -> None:
    tree = ast.parse(Path(cg.__file__).read_text(encoding="utf-8"))
    [imports] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module.removeprefix("countergraph.")
        for node in imports.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    assert seen == cg._MODULE_OF


def test_every_public_name_can_be_imported() -> None:
    assert len(cg.__all__) <= 40
    for name in cg.__all__:
        assert getattr(cg, name) is not None
