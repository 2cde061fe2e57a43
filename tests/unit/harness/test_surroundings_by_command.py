"""Commands of a SUT file that take away parts of the system's environment."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from patience import until

from harness.errors import SutUnavailable, UsageError
from harness.sut.surroundings import EnvironmentTable, build_environment_changed_by_commands
from harness.sut.sut_file import parse_sut_file

WELL, BADLY = (sys.executable, "-c", ""), (sys.executable, "-c", "raise SystemExit('no such disk')")
EXTERNAL = {"sut": {"name": "x"}, "driver": {"kind": "external"}}


def test_commands_make_environment_part_unavailable_and_available():
    around = build_environment_changed_by_commands(EnvironmentTable(take_storage=WELL, give_storage=WELL))
    assert around.current_value_by_part == {"storage": True}
    around.change_parts({"storage": False, "service": False})
    assert around.current_value_by_part == {"storage": False}
    around.change_parts({"storage": True})
    assert around.current_value_by_part == {"storage": True}


def test_failed_environment_command_gives_one_line_error_and_unknown_state():
    around = build_environment_changed_by_commands(EnvironmentTable(take_storage=BADLY, give_storage=WELL))
    with pytest.raises(SutUnavailable, match=r"exit code 1: no such disk$"):
        around.change_parts({"storage": False})
    assert around.current_value_by_part == {"storage": None}
    around.change_parts({"storage": True})
    assert around.current_value_by_part == {"storage": True}
    nowhere = build_environment_changed_by_commands(EnvironmentTable(take_service=("/none/such",), give_service=WELL))
    with pytest.raises(SutUnavailable, match=r"/none/such: No such file or directory$"):
        nowhere.change_parts({"service": False})


def test_hanging_environment_command_is_killed_with_its_children(tmp_path):
    pids = tmp_path / "pids"
    hangs = ("sh", "-c", f"echo $$ > {pids}; sleep 3600 & echo $! >> {pids}; wait")
    around = build_environment_changed_by_commands(EnvironmentTable(take_storage=hangs, give_storage=WELL, timeout_s=5))
    with pytest.raises(SutUnavailable, match=r"^environment: sh -c .* did not exit within 5 s$"):
        around.change_parts({"storage": False})
    for pid in pids.read_text().split():
        with contextlib.suppress(FileNotFoundError):  # it has ended; one that was killed takes a moment to
            path = Path(f"/proc/{pid}/stat")
            until(lambda path=path: ") Z " in path.read_text(), f"the end of {pid}")
    assert around.current_value_by_part == {"storage": None}


def test_process_left_running_by_environment_command_may_continue():
    started = ("sh", "-c", "sleep 60 & echo well")
    around = build_environment_changed_by_commands(
        EnvironmentTable(take_storage=started, give_storage=WELL, timeout_s=30)
    )
    around.change_parts({"storage": False})
    assert around.current_value_by_part == {"storage": False}


def test_half_done_environment_command_is_undone_by_its_counterpart(tmp_path):
    ballast = tmp_path / "ballast"
    half = ("sh", "-c", f"echo 1 > {ballast}; echo half full >&2; exit 1")
    around = build_environment_changed_by_commands(
        EnvironmentTable(take_storage=half, give_storage=("rm", str(ballast)))
    )
    with pytest.raises(SutUnavailable, match=r"exit code 1: half full$"):
        around.change_parts({"storage": False})
    around.change_parts({"storage": True})
    assert not ballast.exists()
    assert around.current_value_by_part == {"storage": True}


def test_clock_command_gets_offset_in_seconds(tmp_path):
    told = tmp_path / "told"
    around = build_environment_changed_by_commands(
        EnvironmentTable(set_clock=("sh", "-c", f"echo {{seconds}} >> {told}"))
    )
    assert around.current_value_by_part == {"clock": 0}
    for seconds in (7200, 7200, -5, 0):
        around.change_parts({"clock": seconds})
    assert told.read_text().split() == ["7200", "-5", "0"]
    assert around.current_value_by_part == {"clock": 0}
    with pytest.raises(UsageError, match=r"set_clock needs the placeholder for the seconds: add \{seconds\}"):
        parse_sut_file(EXTERNAL | {"environment": {"set_clock": ["date"]}})


def test_environment_commands_require_pairs_and_a_real_system():
    command = {"take_storage": list(WELL)}
    with pytest.raises(UsageError, match=r"take_storage and environment\.give_storage must be given together"):
        parse_sut_file(EXTERNAL | {"environment": command})
    both = command | {"give_storage": list(WELL)}
    assert parse_sut_file(EXTERNAL | {"environment": both}).environment.parts == ("storage",)
    virtual = {"sut": {"name": "x"}, "driver": {"kind": "virtual"}, "environment": both}
    with pytest.raises(UsageError, match=r"cannot be used with driver.kind"):
        parse_sut_file(virtual)
