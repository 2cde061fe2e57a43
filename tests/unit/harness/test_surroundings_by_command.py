"""Commands of a SUT file that take away what a system depends on."""

from __future__ import annotations

import sys

import pytest

from harness.errors import SutUnavailable, UsageError
from harness.sut.surroundings import EnvironmentTable, SurroundingsByCommand
from harness.sut.sut_file import parse_sut_file

WELL, BADLY = (sys.executable, "-c", ""), (sys.executable, "-c", "raise SystemExit('no such disk')")
EXTERNAL = {"sut": {"name": "x"}, "driver": {"kind": "external"}}


def test_a_part_is_taken_and_given_back_by_its_commands():
    around = SurroundingsByCommand(EnvironmentTable(take_storage=WELL, give_storage=WELL))
    assert around.there == {"storage": True}
    around.change({"storage": False, "service": False})
    assert around.there == {"storage": False}
    around.change({"storage": True})
    assert around.there == {"storage": True}


def test_a_command_that_fails_is_one_line_and_its_part_is_not_there():
    around = SurroundingsByCommand(EnvironmentTable(take_storage=BADLY, give_storage=WELL))
    with pytest.raises(SutUnavailable, match=r"exit code 1: no such disk$"):
        around.change({"storage": False})
    assert around.there == {"storage": False}
    around.change({"storage": True})
    assert around.there == {"storage": True}
    nowhere = SurroundingsByCommand(EnvironmentTable(take_service=("/none/such",), give_service=WELL))
    with pytest.raises(SutUnavailable, match=r"/none/such: No such file or directory$"):
        nowhere.change({"service": False})


def test_commands_go_in_pairs_and_not_with_the_virtual_system():
    command = {"take_storage": list(WELL)}
    with pytest.raises(UsageError, match=r"take_storage and environment\.give_storage go together"):
        parse_sut_file(EXTERNAL | {"environment": command})
    both = command | {"give_storage": list(WELL)}
    assert parse_sut_file(EXTERNAL | {"environment": both}).environment.parts == ("storage",)
    virtual = {"sut": {"name": "x"}, "driver": {"kind": "virtual"}, "environment": both}
    with pytest.raises(UsageError, match=r"not for kind"):
        parse_sut_file(virtual)
