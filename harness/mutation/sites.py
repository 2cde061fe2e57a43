"""Find the sites of a function: the expressions and statements that a mutation may change. Each site has its position
in the syntax tree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_NODES_THAT_ONLY_BUILD_TEXTS = (ast.JoinedStr, ast.Raise, ast.Assert)
"""The syntax nodes that only create the texts of errors and reasons, or only raise errors. They are not mutated."""


@dataclass(frozen=True, slots=True)
class SyntaxTreeEdit:
    """A change of the syntax tree, which sets one field of a node, or one entry of a list of nodes, to a new value."""

    edited_node: Any
    key: Any
    new_value: Any

    def swap_nodes(self) -> SyntaxTreeEdit:
        """Put the new value into the syntax tree; return the edit that restores the old value."""
        if isinstance(self.key, str):
            old = getattr(self.edited_node, self.key)
            setattr(self.edited_node, self.key, self.new_value)
        else:
            old = self.edited_node[self.key]
            self.edited_node[self.key] = self.new_value
        return SyntaxTreeEdit(self.edited_node, self.key, old)


@dataclass(frozen=True, slots=True)
class MutationSite:
    """A node of a function's syntax tree, with its statement and the position where another node can replace it."""

    node: ast.AST
    statement: ast.stmt
    parent: ast.AST
    field_or_list_with_node: Any
    key: Any

    def make_edit(self, new: Any) -> SyntaxTreeEdit:
        """Return the edit that replaces the node."""
        return SyntaxTreeEdit(self.field_or_list_with_node, self.key, new)


def find_sites(function: ast.FunctionDef) -> Iterator[MutationSite]:
    """Yield the sites of a function in the order of its text. Annotations, docstrings and the texts of errors are
    omitted.
    """
    for index, statement in enumerate(function.body):
        if not is_docstring(statement):
            yield from _walk_sites(MutationSite(statement, statement, function, function.body, index))


def is_docstring(statement: ast.stmt) -> bool:
    """Return whether a statement consists of a string only."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _walk_sites(site: MutationSite) -> Iterator[MutationSite]:
    if isinstance(site.node, _NODES_THAT_ONLY_BUILD_TEXTS) or _only_builds_error_message(site.node):
        return
    yield site
    for name, value in ast.iter_fields(site.node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(site.node, ast.Call):
            continue
        entries = enumerate(value) if isinstance(value, list) else [(name, value)]
        holder = value if isinstance(value, list) else site.node
        for key, child in entries:
            if isinstance(child, ast.AST) and not (isinstance(child, ast.stmt) and is_docstring(child)):
                statement = child if isinstance(child, ast.stmt) else site.statement
                yield from _walk_sites(MutationSite(child, statement, site.node, holder, key))


def _only_builds_error_message(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error")


def list_own_lines(statement: ast.stmt) -> range:
    """Return the lines of a statement without the lines of the statements in its body."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
    return range(statement.lineno, max(last, statement.lineno) + 1)


def get_first_line(statement: ast.stmt) -> str:
    """Return a statement as one line of text without the statements in its body."""
    text = ast.unparse(ast.fix_missing_locations(statement))
    first = next(line for line in text.splitlines() if not line.startswith("@"))
    return first if getattr(statement, "body", None) else " ".join(text.split())
