"""The prerequisites on which the verdicts of a check depend, determined at the end of the check."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.capture.recorder import RPC_TRANSPORT_NAME, Recorder
from harness.environment import VirtualEnvironment
from harness.run.check_prerequisites import CheckPrerequisites, get_prerequisites
from reference_qm.surface.inputs import Endpoint

PEER, SUT = Endpoint("127.0.0.2", 1801), Endpoint("127.0.0.1", 49_152)


def rests(*connections: tuple[bool, bool], listens: bool = True) -> CheckPrerequisites:
    """Return the prerequisites of a check. ``connections``: for each connection, whether the peer opened it, and
    whether it carries DCE/RPC.
    """
    recorder = Recorder(VirtualEnvironment(), None)
    for by_peer, rpc in connections:
        recorder.record_opening(PEER, SUT, by_peer=by_peer, rpc=rpc)
    sut = SimpleNamespace(has_named_queue=False, provisioned=set(), knows_peer=False)
    peer = SimpleNamespace(recorder=recorder, listens=listens)
    item: Any = SimpleNamespace(funcargs={"sut": sut, "peer": peer}, iter_markers=lambda name: ())
    return get_prerequisites(item)


@pytest.mark.parametrize(
    ("connections", "connected"),
    [
        ([], False),
        ([(True, False)], False),
        ([(False, False)], True),
        ([(False, True)], False),
        ([(False, True), (False, False)], True),
    ],
    ids=["none", "of the peer", "of the system", "to RPC alone", "to both"],
)
def test_system_counts_as_connected_when_it_opens_a_session_to_the_peer(
    connections: list[tuple[bool, bool]], connected: bool
) -> None:
    found = rests(*connections)
    assert (found.has_system_connected, found.was_connection_awaited_in_vain) == (connected, not connected)


def test_peer_without_listener_expects_no_sessions() -> None:
    assert not rests(listens=False).was_connection_awaited_in_vain


def test_rpc_connection_is_recorded_as_rpc() -> None:
    recorder = Recorder(VirtualEnvironment(), None)
    assert recorder.record_opening(PEER, SUT, by_peer=False, rpc=True).transport == RPC_TRANSPORT_NAME
