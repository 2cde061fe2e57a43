"""MS-MQQB 3.1.7.13, 3.1.7.14, MS-MQDMPR 3.1.4.14, 3.1.4.15, 3.1.7.2.3, 3.1.7.2.4: pausing and resuming an outgoing
queue.
"""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct
from core_raw import Raw, user_message

from reference_qm.surface.commands import OpenSession, PauseQueue, ResumeQueue

NINE = direct(9)


@pytest.fixture
def host() -> Host:
    return Network().host(1)


def state(host: Host) -> str:
    (queue,) = host.adm()["OutgoingQueues"]
    return str(queue["State"])


def test_pause_acknowledges_received_messages_and_narrows_window(host):
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


def test_a_paused_queue_without_a_session_opens_none(host):
    Raw.accepted(host).lose()
    host.ask(PauseQueue(NINE))
    host.send(NINE)
    host.network.advance(60_000)
    assert (len(host.connects), state(host)) == (1, "OnHold")
    host.ask(ResumeQueue(NINE))
    assert len(host.connects) == 2
    Raw.next_acceptor(host)
    assert state(host) == "Waiting"


def test_resume_establishes_the_session_that_closed_during_the_pause(host):
    raw = Raw.accepted(host)
    host.ask(PauseQueue(NINE))
    host.send(NINE, b"kept", recoverable=True)
    raw.lose()
    assert state(host) == "OnHold"
    host.network.advance(60_000)
    assert len(host.connects) == 1
    host.ask(ResumeQueue(NINE))
    again = Raw.next_acceptor(host).accept()
    assert [message.MessagePropertiesHeader.MessageBody for message in again.messages] == [b"kept"]


def test_a_resume_without_messages_opens_no_session(host):
    Raw.accepted(host).lose()
    host.ask(PauseQueue(NINE))
    host.ask(ResumeQueue(NINE))
    assert (state(host), len(host.connects)) == ("Inactive", 1)


def test_resume_of_a_queue_that_is_not_paused_has_no_effect(host):
    Raw.accepted(host)
    host.ask(ResumeQueue(NINE))
    assert state(host) == "Connected"


def test_pause_affects_only_the_named_queue():
    network = Network()
    one, two, three = (network.host(number) for number in (1, 2, 3))
    one.ask(OpenSession(direct(2)))
    one.ask(PauseQueue(direct(2)))
    for number in (2, 3):
        one.send(direct(number), b"hello")
    assert (two.bodies(), three.bodies()) == ([], ["hello"])


def test_pause_of_a_missing_outgoing_queue_gives_one_line_error(host):
    assert (
        host.refusal(PauseQueue(NINE))
        == rf"{NINE!a} has no outgoing queue here: send a message to it first, or list the queues"
    )
