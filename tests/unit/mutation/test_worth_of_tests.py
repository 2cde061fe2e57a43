"""The tests that kill a mutant, and a small choice of tests that kills all mutants (benchmarks/worth_of_tests.py)."""

from __future__ import annotations

import faulthandler
from pathlib import Path

from benchmarks.worth_of_tests import MutantKills, UnitTests, choose_tests, run_with_unit_tests, try_tests
from harness.mutation.mutants import list_all_mutants

TESTS = """
from reference_qm.core.transfer.session_acks import _is_number_acknowledged

def test_a_number_covers_itself():
    assert _is_number_acknowledged(7, 7)

def test_a_truth_is_true():
    assert _is_number_acknowledged(7, 7) in (True, False)

def test_nothing():
    assert True
"""


def killed(mutant: str, *tests: str) -> MutantKills:
    return MutantKills(mutant, "", tuple(f"test_file.py::{test}" for test in tests), len(tests))


def test_test_selection_prefers_most_kills_without_redundancy() -> None:
    kills = [
        killed("one", "test_a[1]", "test_b"),
        killed("two", "test_a[2]"),
        killed("three", "test_c"),
        killed("four"),
    ]
    assert choose_tests(kills) == {"test_file.py::test_a": ["one", "two"], "test_file.py::test_c": ["three"]}


def test_mutant_is_tried_once_on_tests_that_execute_it(tmp_path: Path) -> None:
    file = tmp_path / "test_file.py"
    file.write_text(TESTS, encoding="utf-8")
    functions = [one for one in list_all_mutants() if one.file == "core/transfer/session_acks.py"]
    unmasked = next(one for one in functions if one.name.endswith(":_is_number_acknowledged:arithmetic-1"))
    elsewhere = next(one for one in functions if one.function == "_is_recoverable_flag_set")

    faulthandler.cancel_dump_traceback_later()  # a fork has not its thread, and would wait for it for ever

    def work(tests: UnitTests) -> dict[str, MutantKills]:
        return try_tests(tests, [unmasked, elsewhere], tmp_path)

    kills = run_with_unit_tests([str(file)], 1, work)
    assert [name.rpartition("::")[2] for name in kills[unmasked.name].tests] == ["test_a_number_covers_itself"]
    assert (kills[unmasked.name].tried, kills[elsewhere.name].tried) == (2, 0)
    file.write_text("def test_nothing(): pass", encoding="utf-8")
    assert run_with_unit_tests([str(file)], 1, work) == kills, "what was tried is read"
