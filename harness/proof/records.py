"""List the checks, faults and predicates of the suites by rule. The results for a file are cached until the file
changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from harness.compiled.kept import load_cached_records
from harness.errors import HarnessError
from harness.paths import SUITES
from harness.proof.check import CheckDescription
from harness.rules.places import list_suite_files_containing

CHECK_FILE_PATTERN = "*/*/test_*.py"
PREDICATE_FILE_PATTERN = "*/*/predicates.py"
FAULT_FILE_PATTERN = "*/*/faults*.py"


class FaultRecord(NamedTuple):
    """A registered fault (``harness.faults.registry.Fault``) without its code."""

    name: str
    breaks: list[str]
    says: str
    file: str
    blind: bool


def load_checks_of_suites(rule: str | None = None) -> list[CheckDescription]:
    """Return the checks of all suites in pytest's order. If a rule is given, read only the files whose text names
    the rule.
    """
    return [
        CheckDescription(*row) for row in _collect_record_rows("checks", (CHECK_FILE_PATTERN,), rule, _collect_checks)
    ]


def load_faults_of_suites(rule: str | None = None) -> list[FaultRecord]:
    """Return the faults of all suites in the order of the files. If a rule is given, read only the files whose text
    names the rule.
    """
    return [FaultRecord(*row) for row in _collect_record_rows("faults", (FAULT_FILE_PATTERN,), rule, _import_faults)]


def load_predicates_of_suites() -> dict[str, str]:
    """Return the passive rules, each with its predicate as ``predicates.py::function`` of the section."""
    return dict(_collect_record_rows("predicates", (PREDICATE_FILE_PATTERN,), None, _import_predicates))


MakeRecordsFromFiles = Callable[[list[str]], Mapping[str, list[Any]]]


def _collect_record_rows(
    kind: str, patterns: Iterable[str], rule: str | None, make: MakeRecordsFromFiles
) -> Iterator[Any]:
    paths = [
        path.relative_to(SUITES.parent).as_posix() for path in list_suite_files_containing(patterns, rule and [rule])
    ]
    for rows in load_cached_records().get_records_of_files(kind, paths, make):
        yield from rows


def _collect_checks(paths: list[str]) -> Mapping[str, list[CheckDescription]]:
    from harness.proof.collecting import collect_checks

    return collect_checks(paths)


def _import_faults(paths: list[str]) -> Mapping[str, list[FaultRecord]]:
    from harness.faults.registry import import_faults

    found: dict[str, list[FaultRecord]] = {path: [] for path in paths}
    for fault in import_faults(SUITES.parent / path for path in paths):
        if fault.file in found:
            record = FaultRecord(fault.name, list(fault.breaks), fault.says, fault.file, fault.blind)
            found[fault.file].append(record)
    return found


def _import_predicates(paths: list[str]) -> Mapping[str, list[tuple[str, str]]]:
    from harness.judging.passive import load_predicates
    from harness.rules.catalogue import load_catalogue

    catalogue, found = load_catalogue(), defaultdict[str, list[tuple[str, str]]](list, {path: [] for path in paths})
    for name, rule in load_predicates().items():
        if name not in catalogue:
            raise HarnessError(f"a predicate names {name}, which has no row in the catalogue")
        function = rule.predicate.__qualname__.partition(".")[0]
        found[f"{catalogue[name].folder}/predicates.py"].append((name, f"predicates.py::{function}"))
    return found
