"""Define the mutation operators. Each operator yields changes, and each change replaces a piece of code with wrong
code.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from harness.mutation.fields import FieldTypes
from harness.mutation.sites import MutationSite, SyntaxTreeEdit, find_sites, is_docstring


@dataclass(frozen=True, slots=True)
class Context:
    """The facts about the surrounding code that operators need."""

    function: ast.FunctionDef
    names: Mapping[str, Any]
    """The names that the module defines, with their values at run time."""
    fields: FieldTypes


MutationOperator = Callable[[MutationSite, Context], Iterator[SyntaxTreeEdit]]

_COMPARISON_WITH_MOVED_BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OPPOSITE_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_EXCHANGED_ARITHMETIC_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_UNMUTATED_STATEMENTS = (ast.Continue, ast.Break)


def negate_condition(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield a change that negates a condition. Comparisons are excluded if ``reverse_comparison`` changes them."""
    node = site.node
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        if not _has_opposite(node.test):
            yield SyntaxTreeEdit(node, "test", _negate_condition_of_node(node.test))
    elif isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            if not _has_opposite(test):
                yield SyntaxTreeEdit(node.ifs, index, _negate_condition_of_node(test))


def drop_condition(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that drop one of several conditions."""
    if isinstance(site.node, ast.BoolOp):
        values = site.node.values
        for index in range(len(values)):
            left = values[:index] + values[index + 1 :]
            yield site.make_edit(left[0] if len(left) == 1 else ast.BoolOp(site.node.op, left))


def exchange_and_or(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that exchange ``and`` and ``or``."""
    if isinstance(site.node, ast.BoolOp):
        yield SyntaxTreeEdit(site.node, "op", ast.Or() if isinstance(site.node.op, ast.And) else ast.And())


def move_comparison_boundary(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that move the boundary of a comparison by one. They exchange ``<`` and ``<=``, or ``>`` and
    ``>=``.
    """
    yield from _exchange_comparisons(site, _COMPARISON_WITH_MOVED_BOUNDARY)


def reverse_comparison(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that reverse a comparison. They exchange ``==`` and ``!=``, ``is`` and ``is not``, or ``in``
    and ``not in``.
    """
    yield from _exchange_comparisons(site, _OPPOSITE_COMPARISON)


def exchange_arithmetic(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that exchange arithmetic operators, such as ``+`` and ``-``, ``*`` and ``//``, ``&`` and ``|``,
    ``<<`` and ``>>``.
    """
    node = site.node
    if (
        isinstance(node, ast.BinOp | ast.AugAssign)
        and type(node.op) in _EXCHANGED_ARITHMETIC_OPERATOR
        and not _uses_sequences(node)
    ):
        yield SyntaxTreeEdit(node, "op", _EXCHANGED_ARITHMETIC_OPERATOR[type(node.op)]())


def exchange_min_max(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that exchange ``min`` and ``max``."""
    if isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Name) and site.node.func.id in ("min", "max"):
        yield SyntaxTreeEdit(site.node.func, "id", "max" if site.node.func.id == "min" else "min")


def shift_number_by_one(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that add one to a number, subtract one from a number, or negate a truth value."""
    value = _read_number(site, context)
    if isinstance(value, bool):
        yield site.make_edit(ast.Constant(not value))
    elif isinstance(site.node, ast.Constant) and value is not None:
        yield site.make_edit(ast.Constant(value + 1))
        if value > 1:
            yield site.make_edit(ast.Constant(value - 1))
    elif isinstance(site.node, ast.expr) and value is not None:
        yield site.make_edit(ast.BinOp(site.node, ast.Add(), ast.Constant(1)))


def replace_enum_member(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that replace a member of an enumeration with the next member, and the last member with the
    first.
    """
    node = site.node
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)):
        return
    owner = context.names.get(node.value.id)
    if isinstance(owner, enum.EnumMeta) and node.attr in owner.__members__:
        members = list(owner.__members__)
        other = members[(members.index(node.attr) + 1) % len(members)]
        if other != node.attr:
            yield SyntaxTreeEdit(node, "attr", other)


def replace_field(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that replace a field, where it is read or set, with another field of the same type in the same
    data class.
    """
    called = isinstance(site.parent, ast.Call) and site.parent.func is site.node
    if isinstance(site.node, ast.Attribute) and not called:
        other = context.fields.find_next_field_of_same_type(site.node.attr)
        if other is not None:
            yield SyntaxTreeEdit(site.node, "attr", other)


def swap_fields(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that swap the values of two fields of the same type in the call that creates an object."""
    if not (isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Name)):
        return
    types = context.fields.of(context.names.get(site.node.func.id))
    named = [keyword for keyword in site.node.keywords if keyword.arg in types]
    for first, second in pairwise(named):
        if types[str(first.arg)] == types[str(second.arg)] and ast.dump(first.value) != ast.dump(second.value):
            keywords = list(site.node.keywords)
            one, two = keywords.index(first), keywords.index(second)
            keywords[one] = ast.keyword(first.arg, second.value)
            keywords[two] = ast.keyword(second.arg, first.value)
            yield SyntaxTreeEdit(site.node, "keywords", keywords)


def drop_statement(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that drop a statement."""
    node = site.node
    if (
        (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or isinstance(node, ast.Delete | ast.AugAssign)
        or (isinstance(node, ast.Assign) and not any(isinstance(one, ast.Name | ast.Tuple) for one in node.targets))
        or (isinstance(node, _UNMUTATED_STATEMENTS))
        or (isinstance(node, ast.Return) and node.value is None)
    ):
        yield site.make_edit(ast.Pass())


def return_wrong_value(site: MutationSite, context: Context) -> Iterator[SyntaxTreeEdit]:
    """Yield changes that return a wrong value: a negated truth value, or None in place of an optional value."""
    if not (isinstance(site.node, ast.Return) and site.node.value is not None):
        return
    value, annotation = site.node.value, _get_return_type(context.function)
    if annotation == "bool" and not isinstance(value, ast.Constant | ast.BoolOp) and not _has_opposite(value):
        yield SyntaxTreeEdit(site.node, "value", _negate_condition_of_node(value))
    elif annotation.endswith("| None") and not isinstance(value, ast.Constant):
        yield SyntaxTreeEdit(site.node, "value", ast.Constant(None))


_OPERATORS: dict[str, MutationOperator] = {
    "condition-negated": negate_condition,
    "condition-dropped": drop_condition,
    "and-or": exchange_and_or,
    "comparison-boundary": move_comparison_boundary,
    "comparison-opposite": reverse_comparison,
    "arithmetic": exchange_arithmetic,
    "least-greatest": exchange_min_max,
    "off-by-one": shift_number_by_one,
    "other-member": replace_enum_member,
    "other-field": replace_field,
    "fields-swapped": swap_fields,
    "statement-dropped": drop_statement,
    "other-answer": return_wrong_value,
}


def list_mutations(context: Context) -> Iterator[tuple[str, MutationSite, SyntaxTreeEdit]]:
    """Yield every change of a function, with the name of its operator. The order of the changes is always the same."""
    yield from _list_returns_at_function_start(context)
    for site in find_sites(context.function):
        for name, operator in _OPERATORS.items():
            for edit in operator(site, context):
                yield name, site, edit


def _list_returns_at_function_start(context: Context) -> Iterator[tuple[str, MutationSite, SyntaxTreeEdit]]:
    """Yield changes that return from the function at its start."""
    function = context.function
    body = [statement for statement in function.body if not is_docstring(statement)]
    answers: dict[str, list[ast.expr | None]] = {"None": [None], "bool": [ast.Constant(True), ast.Constant(False)]}
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return
    if len(body) > 1 or isinstance(body and body[0], ast.If | ast.For | ast.While | ast.Return):
        for answer in answers.get(_get_return_type(function), []):
            site = MutationSite(function, body[0], function, function, "body")
            yield "early-return", site, SyntaxTreeEdit(function, "body", [ast.Return(answer)])


def _exchange_comparisons(
    site: MutationSite, others: Mapping[type[ast.cmpop], type[ast.cmpop]]
) -> Iterator[SyntaxTreeEdit]:
    if isinstance(site.node, ast.Compare):
        for index, operator in enumerate(site.node.ops):
            if type(operator) in others:
                yield SyntaxTreeEdit(site.node.ops, index, others[type(operator)]())


def _has_opposite(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE_COMPARISON


def _negate_condition_of_node(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _read_number(site: MutationSite, context: Context) -> int | None:
    """Return the int or bool value of a literal or of a constant of the module, or None for other nodes."""
    node = site.node
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.isupper():
        value = context.names.get(node.id)
        return value if type(value) in (int, bool) else None
    return None


def _uses_sequences(node: ast.BinOp | ast.AugAssign) -> bool:
    operands = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    return any(
        isinstance(one, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)
        or (isinstance(one, ast.Constant) and isinstance(one.value, str | bytes))
        for one in operands
    )


def _get_return_type(function: ast.FunctionDef) -> str:
    return "" if function.returns is None else ast.unparse(function.returns)
