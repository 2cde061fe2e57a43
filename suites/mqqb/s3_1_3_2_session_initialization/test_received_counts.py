"""MS-MQQB 3.1.3.2 Session Initialization: a receiver that counts messages from 0 first acknowledges a full window."""

from __future__ import annotations

from itertools import pairwise

import pytest

from harness.capture.recorder import Frame
from harness.peer.conversation import RawConversation
from harness.peer.peer import Peer
from harness.run.marks import covers
from harness.sut.sut import Sut
from suites.mqqb.steps.outgoing_session import OutgoingSession

WINDOW_SIZE = 16
MESSAGES_PER_ACKNOWLEDGMENT_WAIT = 64
"""The number of messages that the peer sends before it waits: the usual WindowSize of the SUT (note <50>)."""
ACKNOWLEDGMENT_WAIT_COUNT = 3
LOST_SESSION_MESSAGE_COUNT = 5
LONG_ACK_TIMEOUT_MS = 120_000
"""An AckTimeout in ms that is so long that only full windows are acknowledged."""
GREATEST_TIMER_SPEED_UP = 2
"""The greatest speed-up of timers at which LONG_ACK_TIMEOUT_MS is still long enough for the check."""


@covers("MQQB-3.1.3.2-08")
@pytest.mark.parametrize("opened_by", ["peer", "SUT", "SUT again"])
def test_first_window_of_session_has_as_many_messages_as_later_windows(peer, sut, judge, opened_by):
    """The peer sends express messages until the SUT has acknowledged several windows. The number of messages before the
    first SessionAck is the same as the number between later SessionAcks. In the case "SUT again", a session on which
    the SUT left five messages unacknowledged was lost, and the SUT opens the next session.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    session = _open_session(peer, sut, opened_by)
    sent: list[Frame] = []
    for _ in range(ACKNOWLEDGMENT_WAIT_COUNT):
        sent += [session.send(peer.message()) for _ in range(MESSAGES_PER_ACKNOWLEDGMENT_WAIT)]
        _await_ack_of_message_count(session, len(sent))
    acks = [frame for frame in session.received if frame.kind == "SessionAck"]
    counts = [0, *(frame["SessionHeader"].AckSequenceNumber for frame in acks)]
    first, *others = [after - before for before, after in pairwise(counts)] or [0]
    if len(others) < 2 or len(set(others)) > 1:
        reason = f"the SUT sends no acknowledgments at equal numbers of messages: they acknowledge {counts[1:]}"
        judge.mark_not_exercised("MQQB-3.1.3.2-08", reason=reason)
        return
    judge(
        "MQQB-3.1.3.2-08",
        expected=others[0],
        observed=first,
        case="number of messages before the first SessionAck",
        evidence=[sent[0], acks[0], acks[1]],
    )


def _await_ack_of_message_count(session: RawConversation, count: int) -> None:
    """Wait briefly for the acknowledgment of the peer's messages. The SUT sends it within this time only if the
    messages end with a full window.
    """
    session.poll("SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == count)


def _open_session(peer: Peer, sut: Sut, opened_by: str) -> RawConversation:
    if opened_by == "peer":
        return peer.open_raw(WindowSize=WINDOW_SIZE, AckTimeout=LONG_ACK_TIMEOUT_MS)
    session = OutgoingSession(peer, sut)
    if opened_by == "SUT again":
        session.open()
        for _ in range(LOST_SESSION_MESSAGE_COUNT):
            session.connection.send(peer.message())
        peer.settle()
        session.connection.close()
    session.await_request()
    session.respond()
    session.answer_connection_parameters(WindowSize=WINDOW_SIZE)
    return session.connection
