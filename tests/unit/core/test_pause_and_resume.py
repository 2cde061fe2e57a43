"""MS-MQQB 3.1.7.13, 3.1.7.14, MS-MQDMPR 3.1.4.14, 3.1.4.15, 3.1.7.2.3, 3.1.7.2.4: pausing and resuming a queue."""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct
from core_raw import Raw, user_message

from reference_qm.surface.commands import PauseQueue

NINE = direct(9)


@pytest.fixture
def host() -> Host:
    return Network().host(1)


def state(host: Host) -> str:
    (queue,) = host.adm()["OutgoingQueues"]
    return str(queue["State"])


def test_a_pause_acknowledges_what_came_and_narrows_the_window(host):
    raw = Raw.accepted(host)
    raw.feed(user_message(1), user_message(2, recoverable=True))
    host.ask(PauseQueue(NINE))
    (ack,) = raw.acks
    assert (ack.AckSequenceNumber, ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) == (2, 1, 1)
    assert (ack.UserMsgSequenceNumber, ack.RecoverableMsgSeqNumber, ack.WindowSize) == (0, 0, 1)
    session = raw.session
    assert (session["RecoverableMsgAckFlags"], session["UnackedReceivedMsgCount"]) == (0, 0)
    assert session["LastAckedRecoverableMsgSeqNumber"] == 1
    assert session["timers"]["SessionAckSend"] is None
    assert session["SessionActive"] is False
    assert state(host) == "OnHold"


def test_a_queue_that_is_not_there_is_one_line(host):
    assert (
        host.refusal(PauseQueue(NINE))
        == rf"{NINE!a} has no outgoing queue: send a message to it first, or list the queues"
    )
