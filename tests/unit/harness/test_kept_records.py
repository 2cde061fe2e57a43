"""Cached records of the suites equal newly parsed records, and expire when a file changes."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from harness.compiled import kept
from harness.compiled.kept import CachedRecords, get_cached_value
from harness.compiled.sources import (
    find_affected_files,
    find_changed_files,
    get_stamps_at_first_call,
    list_imported_files,
)
from harness.faults.registry import load_faults
from harness.judging.passive import load_predicates
from harness.paths import SUITES
from harness.proof.inventory import take_inventory
from harness.proof.records import (
    CHECK_FILE_PATTERN,
    FAULT_FILE_PATTERN,
    load_checks_of_suites,
    load_faults_of_suites,
    load_predicates_of_suites,
)
from harness.rules.catalogue import _read_catalogue, load_catalogue
from harness.rules.places import list_suite_files_containing
from harness.run.selection import list_files_to_collect

OPENING = "suites/mqqb/steps/opening.py"
CHECK = "suites/mqqb/s3_1_5_04_1_request_packet/predicates.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "find_cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_cached_catalogue_equals_parsed_catalogue() -> None:
    known, read = load_catalogue(), _read_catalogue(SUITES)
    assert list(known.items()) == list(read.items())
    assert known.errata == read.errata
    assert known.notes.by_document == read.notes.by_document
    assert known.list_titles() == read.list_titles()
    assert known.checked_in == read.checked_in


def test_cached_faults_equal_registered_faults() -> None:
    registered = [
        (fault.name, list(fault.breaks), fault.says, fault.file, fault.blind) for fault in load_faults().values()
    ]
    assert sorted(map(tuple, load_faults_of_suites())) == sorted(registered)


def test_cached_predicates_equal_registered_predicates() -> None:
    assert load_predicates_of_suites().keys() == load_predicates().keys()


def test_files_naming_a_rule_contain_all_its_checks_and_faults() -> None:
    files_of: dict[str, set[str]] = defaultdict(set)
    for check in load_checks_of_suites():
        for rule in check.covered_rules:
            files_of[rule].add(check.id.partition("::")[0])
    for fault in load_faults().values():
        for rule in fault.breaks:
            files_of[rule].add(str(fault.file))
    assert len(files_of) > 2_000
    for rule in list(files_of)[::40]:
        named = {
            path.relative_to(SUITES.parent).as_posix()
            for path in list_suite_files_containing([CHECK_FILE_PATTERN, FAULT_FILE_PATTERN], [rule])
        }
        assert files_of[rule] <= named, rule


def test_inventory_of_one_rule_equals_its_part_of_whole_inventory() -> None:
    whole = take_inventory()
    for rule in list(whole.catalogue)[::100]:
        one = take_inventory(rule)
        assert one.checks(rule) == whole.checks(rule)
        assert one.faults.get(rule, []) == whole.faults.get(rule, [])


def test_small_selection_collects_only_its_files() -> None:
    rule = "MQQB-3.1.5.5.5-01"
    files = {path for path in list_files_to_collect([rule]) or () if path.suffix}
    assert files == set(list_suite_files_containing([CHECK_FILE_PATTERN], [rule]))
    assert list_files_to_collect(list(load_catalogue())) is None


def test_import_scan_finds_every_form_of_import_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(
        "from suites.mqqb.steps import (\n    opening,\n    sender as s,\n)\nimport harness.paths\n"
        "    from reference_qm.codec import Frame, parse\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("harness.compiled.sources.PROJECT_ROOT", tmp_path)
    found = list_imported_files("a.py")
    assert {OPENING, "suites/mqqb/steps/sender.py", "harness/paths.py", "reference_qm/codec/__init__.py"} <= set(found)


def test_changed_file_affects_its_indirect_importers() -> None:
    imports = {"a": ["b"], "b": ["c"], "c": ["b"], "d": ["e"]}
    assert find_affected_files(["c"], imports) == {"a", "b", "c"}


def test_changed_new_or_missing_file_counts_as_change_for_the_cache() -> None:
    known = dict(get_stamps_at_first_call())
    known[OPENING] = [1, 1]
    del known[CHECK]
    known["suites/gone.py"] = [1, 1]
    assert find_changed_files(known) == {OPENING, CHECK, "suites/gone.py"}


def test_cache_records_of_an_old_format_are_rebuilt(folder: Path) -> None:
    folder.mkdir()
    (folder / "records.json").write_text('{"stamps": 3, "imports": {}, "records": {}}', encoding="utf-8")
    assert kept.load_cached_records.__wrapped__().records_by_file == {}


@pytest.mark.usefixtures("folder")
def test_cache_records_of_files_importing_a_changed_file_are_rebuilt() -> None:
    paths = ["suites/mqqb/steps/sender.py", CHECK]
    known = CachedRecords(
        dict(get_stamps_at_first_call()), {paths[0]: [OPENING], CHECK: []}, {"kind": {path: ["old"] for path in paths}}
    )
    known.remove_records_of_changed_files({OPENING})
    asked: list[str] = []

    def make(missing: list[str]) -> dict[str, list[str]]:
        asked.extend(missing)
        return {path: ["new"] for path in missing}

    assert known.get_records_of_files("kind", paths, make) == [["new"], ["old"]]
    assert asked == paths[:1]


def test_cached_value_is_computed_once_for_unchanged_files(folder: Path) -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [len(made)]

    assert [get_cached_value("v", [OPENING], make) for _ in range(2)] == [[1], [1]]
    (folder / "v.json").write_text("{", encoding="utf-8")
    assert get_cached_value("v", [OPENING], make) == [2]
    assert get_cached_value("v", [OPENING, CHECK], make) == [3]


def test_value_of_file_changed_during_process_is_not_cached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "IMPORT_TIME_NS", 0)
    assert get_cached_value("v", [OPENING], lambda: 1) == 1
    assert not folder.exists()


def test_unwritable_cache_folder_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "cache", None):
        monkeypatch.setattr(kept, "find_cache_folder", lambda place=place: place)
        assert get_cached_value("v", [OPENING], lambda: 7) == 7


def test_cache_drops_records_of_the_oldest_checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(kept._MAX_CACHE_FOLDERS_OF_CHECKOUTS + 3):
        monkeypatch.setattr(kept, "find_cache_folder", lambda number=number: tmp_path / str(number))
        get_cached_value("v", [OPENING], lambda: 1)
    assert len(list(tmp_path.iterdir())) == kept._MAX_CACHE_FOLDERS_OF_CHECKOUTS
