"""The import arrows (docs/architecture.md): suites -> harness -> reference_qm; reports reads result files only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ALLOWED = {
    "reference_qm": {"reference_qm"},
    "harness": {"harness", "reference_qm", "scapy"},
    "suites": {"suites", "harness", "reference_qm"},
    "reports": {"reports", "pyspark"},
    "captures": set(),
}
"""For each package, the packages of the project that it may import, and those of two libraries that only one place may
import.
"""

GUARDED = {"reference_qm", "harness", "suites", "reports", "captures", "tests", "scapy", "pyspark"}


ROOMS = {
    "reference_qm": (
        *("value_object", "directory", "surface", "codec", "security", "routing", "rpc", "model", "config", "control"),
        *("core", "releases", "shell", "__main__"),
    ),
    "harness": (
        *(
            "errors",
            "exit_codes",
            "interrupts",
            "lengths_of_time",
            "printable",
            "paths",
            "run_folder",
            "type_names",
            "compiled",
            "wire",
            "dissector",
            "environment",
            "capture",
            "expectations",
            "rules",
            "varying",
            "vectors",
            "mutation",
            "model",
            "faults",
            "sut",
            "topology",
            "peer",
            "judging",
            "foreign",
            "prerequisites",
            "run",
        ),
        *("states", "explore", "learn", "pair", "results", "proof", "attach", "preflight", "cli"),
    ),
}
"""The subpackages (folders and modules) of a package, the lowest first: each imports only subpackages that
precede it.
"""


def imports(path: Path) -> set[str]:
    """Return the top-level names that a module imports, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", ALLOWED)
def test_package_imports_follow_the_documented_arrows(package: str) -> None:
    wrong = {
        str(path.relative_to(ROOT)): sorted(bad)
        for path in modules(package)
        if (bad := imports(path) & GUARDED - ALLOWED[package])
    }
    assert wrong == {}


def room(path: Path) -> str:
    """Return the subpackage of a module: the folder or the file directly below its package."""
    return path.relative_to(ROOT).parts[1].removesuffix(".py")


def imported_rooms(path: Path, package: str) -> set[str]:
    """Return the subpackages of its own package that a module imports: at its top, within functions, or for
    types only.
    """
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {parts[1] for name in names if (parts := name.split("."))[0] == package and len(parts) > 1}
    return rooms - {"__version__", room(path)}


@pytest.mark.parametrize("package", ROOMS)
def test_subpackages_import_only_lower_subpackages(package: str) -> None:
    rank = {name: height for height, name in enumerate(ROOMS[package])}
    wrong = {
        str(path.relative_to(ROOT)): sorted(upward)
        for path in modules(package)
        if room(path) != "__init__"
        and (upward := {name for name in imported_rooms(path, package) if rank[name] >= rank[room(path)]})
    }
    assert wrong == {}


@pytest.mark.parametrize("package", ROOMS)
def test_every_subpackage_is_listed_in_the_architecture(package: str) -> None:
    found = {room(path) for path in modules(package)} - {"__init__"}
    assert found == set(ROOMS[package])


def test_only_the_wire_layers_import_scapy() -> None:
    outside = [path for path in modules("harness") if "scapy" in imports(path) and "wire" not in path.parts]
    assert outside == []


def test_scapy_import_reads_no_network_routes() -> None:
    """The import of scapy reads no network routes; otherwise every process of a run would wait for the kernel's
    answers.
    """
    code = "import sys, harness.wire.rpc; from scapy.config import conf; sys.exit(bool(conf.route.routes))"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


@pytest.mark.parametrize("module", ["harness.cli.main", "harness.run.plugin", "reports.cli"])
def test_spark_is_loaded_only_by_the_commands_that_need_it(module: str) -> None:
    code = f"import sys, {module}; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_relative_imports_are_not_used() -> None:
    """Imports are absolute, so that the tests of the arrows can read the name of the imported module."""
    for package in ALLOWED:
        for path in modules(package):
            tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            assert not [n for n in tree if isinstance(n, ast.ImportFrom) and n.level], path
