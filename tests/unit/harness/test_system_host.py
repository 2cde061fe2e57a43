"""A virtual system whose core fails or hangs: the check reports a crash or a hang, as for a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness_made import MUST, judge, lines, sut_file

from harness.capture.recorder import Recorder
from harness.errors import EndlessComputation, SutUnavailable
from harness.faults.parts import replace_part
from harness.faults.registry import Fault, load_faults
from harness.judging.robustness import FINDING_BY_CONDITION, SystemCondition
from harness.peer.peer import Peer
from harness.run.survival import diagnose_system, require_sut_alive_after
from harness.sut.virtual_driver import VirtualDriver
from harness.wire import establish_connection
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.sessions.session_opening import SessionOpening

CoreDriver = Callable[..., VirtualDriver]


class Raising(SessionOpening):
    """Raises an exception when it receives an EstablishConnection request."""

    def receive_establish_request(self, *arguments: Any) -> Any:
        raise KeyError("no\nsuch thing")


class Busy(SessionOpening):
    """Computes for too long when it receives an EstablishConnection request."""

    def receive_establish_request(self, *arguments: Any) -> Any:
        raise EndlessComputation("20 s of computing")


class Refusing(HigherLayerCommands):
    """Raises an exception when it receives the command ``identity``."""

    def identity(self, *arguments: Any) -> Any:
        raise ZeroDivisionError


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> CoreDriver:
    def make(cls: Any, **options: bool) -> VirtualDriver:
        monkeypatch.setitem(load_faults(), "made", Fault("made", (), "made", replace_part(cls)))
        return VirtualDriver(sut_file(reference={"faults": ["made"]}), **options)

    return make


def peer_of(driver: VirtualDriver) -> Peer:
    sut = driver.open("fails")
    return Peer(sut.environment, sut, Recorder(sut.environment, None), seed="fails")


def ask_for_a_session(peer: Peer) -> Any:
    connection = peer.connect()
    connection.send(establish_connection(ClientGuid=peer.identifier))
    return connection


def test_exception_of_core_counts_as_crash_with_its_place(driver: CoreDriver, tmp_path: Path) -> None:
    one = driver(Raising)
    peer = peer_of(one)
    assert ask_for_a_session(peer).wait_closed()
    how = one.describe_end()
    assert how is not None
    assert how.startswith("KeyError: 'no\\nsuch thing' (")
    assert f"{Path(__file__).name}:" in how
    assert how.endswith(", receive_establish_request)")
    diagnosis = diagnose_system(peer)
    assert diagnosis.condition is SystemCondition.CRASHED
    assert "the process of the system ended with KeyError" in diagnosis.says


def test_check_that_passed_detects_crash_of_system(driver: CoreDriver, tmp_path: Path) -> None:
    peer, made = peer_of(driver(Raising)), judge(tmp_path, MUST)
    ask_for_a_session(peer).wait_closed()
    item: Any = SimpleNamespace(funcargs={"peer": peer}, get_closest_marker=lambda name: None)
    require_sut_alive_after(item, made)
    told = [(line["rule"], line["verdict"]) for line in lines(tmp_path)]
    assert told == [(FINDING_BY_CONDITION[SystemCondition.CRASHED][0], "fail"), (MUST, "inconclusive")]


def test_core_that_computes_endlessly_counts_as_hanging_system(driver: CoreDriver) -> None:
    peer = peer_of(driver(Busy))
    connection = ask_for_a_session(peer)
    assert connection.poll("EstablishConnection") is None
    assert not connection.closed_by_sut
    assert peer.sut.hangs()
    assert diagnose_system(peer).condition is SystemCondition.HANGS


def test_exception_of_the_core_is_raised_when_requested(driver: CoreDriver) -> None:
    with pytest.raises(KeyError):
        ask_for_a_session(peer_of(driver(Raising, raises=True))).wait_closed()


def test_crashed_virtual_system_answers_no_command_and_is_replaced_for_next_check(driver: CoreDriver) -> None:
    one = driver(Refusing)
    with pytest.raises(SutUnavailable, match="identity: the system ended with ZeroDivisionError"):
        one.open("first")
    assert one.describe_end() is not None
