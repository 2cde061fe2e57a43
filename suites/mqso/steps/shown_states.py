"""Read the state that a queue manager shows, and find out whether it serves remote readers."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import SutUnavailable
from harness.peer.peer import Peer
from harness.peer.remote import RemoteReaderOfSut
from harness.sut.control import ControlRefused
from harness.sut.sut import Sut
from harness.wire.rpc import QMCOMM

STOPPED_STATE = "Stopped"
RUNNING_STATES = ("Ready", "Running")
"""The names of the state in which a queue manager serves requests (MS-MQDMPR 3.1.1.1, MS-MQSO 5.1.1.1)."""


def read_shown_state(sut: Sut) -> str | None:
    """Return the QueueManagerState that the SUT shows, or None if the SUT shows no state."""
    if not sut.has("inspect"):
        return None
    try:
        return sut.inspect_queue_manager().get("QueueManagerState")
    except ControlRefused:
        return None


class BindAttempt:
    """An attempt of a client of remote reading to bind to the SUT, with its outcome."""

    def __init__(self, peer: Peer, sut: Sut) -> None:
        self.is_method_supported = False
        self.evidence: list[Frame] = []
        try:
            association = RemoteReaderOfSut(peer, sut).connect()
        except SutUnavailable:
            return
        refused, said = association.bind_and_list_rejected_interfaces(QMCOMM)
        self.is_method_supported = said == "bind_ack" and not refused
        self.evidence = list(association.record.frames)
        association.close()
