"""The operators of mutation: the changes that each operator makes, and that every mutant differs from the original
program.
"""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass

import pytest

from harness.mutation.fields import FieldTypes
from harness.mutation.operators import Context, list_mutations


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Pair:
    Sent: int
    Received: int
    Label: str


LIMIT = 5


def changes(text: str, operator: str) -> list[str]:
    """Return the changes that an operator makes in a function, without the line with its name."""
    tree = ast.parse(text)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    context = Context(function, globals(), FieldTypes([Pair]))
    found = []
    for name, _, edit in list_mutations(context):
        if name == operator:
            undo = edit.swap_nodes()
            found.append(
                "; ".join(line.strip() for line in ast.unparse(ast.fix_missing_locations(tree)).splitlines()[1:])
            )
            undo.swap_nodes()
    assert ast.unparse(tree) == ast.unparse(ast.parse(text)), "an edit was not undone"
    return found


@pytest.mark.parametrize(
    ("operator", "body", "expected"),
    [
        ("condition-negated", "if a(): b()", ["if not a():; b()"]),
        ("condition-negated", "if not a(): b()", ["if a():; b()"]),
        ("condition-negated", "if a == b: c()", []),
        ("condition-negated", "return [x for x in y if z(x)]", ["return [x for x in y if not z(x)]"]),
        ("condition-dropped", "return a and b", ["return b", "return a"]),
        ("and-or", "return a and b", ["return a or b"]),
        ("comparison-boundary", "return a < b", ["return a <= b"]),
        ("comparison-opposite", "return a in b", ["return a not in b"]),
        ("arithmetic", "return a & 1", ["return a | 1"]),
        ("arithmetic", "return a + 'text'", []),
        ("least-greatest", "return min(a, b)", ["return max(a, b)"]),
        ("off-by-one", "return a[2]", ["return a[3]", "return a[1]"]),
        ("off-by-one", "return a < LIMIT", ["return a < LIMIT + 1"]),
        ("off-by-one", "return f(last=True)", ["return f(last=False)"]),
        ("off-by-one", "raise ValueError(1)", []),
        ("other-member", "return Colour.BLUE", ["return Colour.RED"]),
        ("other-field", "return pair.Sent", ["return pair.Received"]),
        ("other-field", "return pair.Label", []),
        ("fields-swapped", "return Pair(Sent=a, Received=b, Label=c)", ["return Pair(Sent=b, Received=a, Label=c)"]),
        ("statement-dropped", "a(); return b", ["pass; return b"]),
        ("statement-dropped", "self.a = 1; return b", ["pass; return b"]),
        ("statement-dropped", "a = 1; return a", []),
    ],
)
def test_each_mutation_changes_one_place(operator: str, body: str, expected: list[str]) -> None:
    assert changes(f"def f(self, a, b, c, pair):\n    {body}", operator) == expected


def test_early_return_mutates_procedures_and_predicates_but_not_generators() -> None:
    assert changes("def f(a) -> None:\n    if a: b()", "early-return") == ["return"]
    assert changes("def f(a) -> bool:\n    return a.b", "early-return") == ["return True", "return False"]
    assert changes("def f(a) -> Iterator[int]:\n    yield a", "early-return") == []


def test_mutation_leaves_docstrings_annotations_and_error_texts_unchanged() -> None:
    text = 'def f(a: int = 1) -> str:\n    """Say 1."""\n    b: Literal[1] = a\n    raise Wrong(f"{a + 1}")'
    assert changes(text, "off-by-one") == []
