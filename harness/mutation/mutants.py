"""List the mutants by name, and compile their code.

The name of a mutant consists of file, function, operator and ordinal, such as
``core/sessions/ping_handling.py:PingHandling.respond:off-by-one-2``. The name stays the same as long as the function
does not change.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import reference_qm
from harness.errors import UnknownFault
from harness.mutation.fields import read_field_types
from harness.mutation.operators import Context, list_mutations
from harness.mutation.sites import SyntaxTreeEdit, get_first_line, list_own_lines

REFERENCE_FOLDER = Path(reference_qm.__file__).parent
MUTATED_FOLDER_OUTSIDE_CORE = "directory"
"""The folder of the code that also runs between calls of the core. Checks execute this code only in the SUT,
because no peer has a directory.
"""
MUTATED_FOLDERS = (
    *("core", "core/store", "core/names", "core/queueing", "core/sessions", "core/transfer", "core/enterprise"),
    *("core/remote", "core/commands", "security", "model", "routing", MUTATED_FOLDER_OUTSIDE_CORE),
    *("codec", "rpc", "rpc/ndr", "rpc/interfaces"),
)
"""The folders of the reference whose functions are mutated, because they implement the steps of the specifications."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutant, which is one change in one function of the reference."""

    name: str
    file: str
    """The path of the file, below reference_qm."""
    function: str
    operator: str
    lines: range
    """The lines that contain the change. The mutant has no effect on a check that executes none of these lines."""
    before: str
    changed_line: str
    says: str
    """The docstring of the function."""
    source: str
    """A digest of the function's source. Results for a mutant remain valid as long as the digest is unchanged."""

    @property
    def line(self) -> int:
        """The first line of the changed statement."""
        return self.lines.start

    @property
    def runs_outside_core_calls(self) -> bool:
        """Return whether the changed code also runs between the calls of the core."""
        return self.file.startswith(f"{MUTATED_FOLDER_OUTSIDE_CORE}/")


def list_all_mutants() -> list[Mutant]:
    """Return every mutant of every folder in ``MUTATED_FOLDERS``, in the order of the files."""
    return [mutant for file in _list_mutated_files() for mutant, _ in _list_file_mutants(file)]


def select_evenly(mutants: Iterable[Mutant], number: int, seed: str = "1") -> list[Mutant]:
    """Return mutants that are spread evenly over the functions: first one mutant of each function, then a second
    mutant of each function, and so on.
    """
    functions: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        functions[mutant.file, mutant.function].append(mutant)
    drawn = [
        (turn, _hash_mutant_name(seed, mutant.name), mutant)
        for group in functions.values()
        for turn, mutant in enumerate(sorted(group, key=lambda one: _hash_mutant_name(seed, one.name)))
    ]
    drawn.sort(key=lambda one: one[:2])
    different = (mutant for _, _, mutant in drawn if is_code_changed(mutant))
    return list(islice(different, number))


def find_mutant(name: str) -> Mutant:
    """Return the mutant with the given name; raise UnknownFault if no mutant has this name."""
    file = name.partition(":")[0]
    if file in _list_mutated_files():
        for mutant, _ in _list_file_mutants(file):
            if mutant.name == name:
                return mutant
    raise UnknownFault(f"{name}: no such mutant; `mqconform mutants --list` lists all mutants")


def compile_mutant(mutant: Mutant) -> tuple[FunctionType, CodeType]:
    """Return the function that a mutant changes, and the changed code of this function."""
    tree = _parse_file(mutant.file)
    edit = next(edit for one, edit in _list_file_mutants(mutant.file) if one.name == mutant.name)
    undo = edit.swap_nodes()
    try:
        code = compile(ast.fix_missing_locations(tree), str(REFERENCE_FOLDER / mutant.file), "exec", dont_inherit=True)
    finally:
        undo.swap_nodes()
    return _list_functions_by_name(mutant.file)[mutant.function], _get_code_of_function(code, mutant.function)


def is_code_changed(mutant: Mutant) -> bool:
    """Return whether the code of a mutant differs from the original code of the function, and can replace the
    original code.
    """
    function, code = compile_mutant(mutant)
    return code.co_freevars == function.__code__.co_freevars and code != function.__code__


def _hash_mutant_name(seed: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


@cache
def _list_mutated_files() -> tuple[str, ...]:
    found = [path for room in MUTATED_FOLDERS for path in sorted((REFERENCE_FOLDER / room).glob("*.py"))]
    return tuple(path.relative_to(REFERENCE_FOLDER).as_posix() for path in found)


@cache
def _parse_file(file: str) -> ast.Module:
    return ast.parse((REFERENCE_FOLDER / file).read_text(encoding="utf-8"))


@cache
def _list_file_mutants(file: str) -> list[tuple[Mutant, SyntaxTreeEdit]]:
    names = vars(_import_module(file))
    found: list[tuple[Mutant, SyntaxTreeEdit]] = []
    functions = _list_functions_by_name(file)
    for qualified, node in _list_definitions(_parse_file(file)):
        if qualified not in functions:
            continue  # a decorated function is not called itself, or its results are cached
        ordinals: dict[str, int] = defaultdict(int)
        digest = hashlib.sha256(ast.dump(node).encode()).hexdigest()[:16]
        for operator, site, edit in list_mutations(Context(node, names, read_field_types())):
            ordinals[operator] += 1
            before, after = _describe_edit(node, site.statement, operator, edit)
            name = f"{file}:{qualified}:{operator}-{ordinals[operator]}"
            says = ast.get_docstring(node) or ""
            mutant = Mutant(
                name, file, qualified, operator, list_own_lines(site.statement), before, after, says, digest
            )
            found.append((mutant, edit))
    return found


def _describe_edit(
    function: ast.FunctionDef, statement: ast.stmt, operator: str, edit: SyntaxTreeEdit
) -> tuple[str, str]:
    if operator == "early-return":
        answer = edit.new_value[0]
        return f"def {function.name}: ...", f"def {function.name}: {ast.unparse(answer)}"
    if edit.new_value.__class__ is ast.Pass:
        return get_first_line(statement), "pass"
    before = get_first_line(statement)
    undo = edit.swap_nodes()
    try:
        after = get_first_line(statement)
    finally:
        undo.swap_nodes()
    return before, after


def _import_module(file: str) -> Any:
    return importlib.import_module("reference_qm." + file.removesuffix(".py").replace("/", "."))


def _list_definitions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions and methods of a module by qualified name. Functions that are nested in functions are
    omitted.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef) and not _is_setter(one))
            yield from ((f"{node.name}.{one.name}", one) for one in methods)


def _is_setter(method: ast.FunctionDef) -> bool:
    """Return whether the function is the setter of a property. The getter of the property has the same name."""
    return any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in method.decorator_list)


@cache
def _list_functions_by_name(file: str) -> dict[str, FunctionType]:
    """Return the functions of a module whose code can be replaced, by qualified name."""
    module = _import_module(file)
    owners = [module, *(one for _, one in inspect.getmembers(module, inspect.isclass))]
    found: dict[str, FunctionType] = {}
    for owner in owners:
        for value in vars(owner).values():
            function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            function = function.fget if isinstance(function, property) else function
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                found[function.__qualname__] = function
    return found


def _get_code_of_function(module: CodeType, qualified: str) -> CodeType:
    code = module
    for name in qualified.split("."):
        code = next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
    return code
