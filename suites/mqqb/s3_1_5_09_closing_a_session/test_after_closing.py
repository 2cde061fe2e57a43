"""MS-MQQB 3.1.5.9 Closing a Session: the initiator establishes a closed session again for its next message."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import none
from harness.run.marks import covers, malforms, needs
from harness.wire import session_ack
from suites.mqqb.steps.sender import Sender


@malforms("MQQB-3.1.6.4-06")
@covers("MQQB-3.1.5.9-02")
def test_message_after_closed_session_is_sent_on_new_session(peer, sut, judge):
    """The SUT closes its session because of wrong counts while no message waits. It sends its next message on a new
    session, which shows that the old session was CLOSED.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-closed"))
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    session.stays_quiet()
    wrong = session.send(session_ack(AckSequenceNumber=1, UserMsgSequenceNumber=0x7FFF))
    if not session.wait_closed():
        raise ConformanceFailure("the SUT did not close the session when it received wrong message counts")
    sender.send(2)
    again = sender.poll_session()
    came = [] if again is None else sender.collect_messages(again, 1)
    judge(
        "MQQB-3.1.5.9-02",
        expected=[2],
        observed=Sender.list_tags(came),
        case="numbers of the messages on the next session",
        evidence=[*sent, wrong, *came],
    )
    if again is not None:
        again.acknowledge_all()


@malforms("MQQB-3.1.6.4-06")
@covers("MQQB-3.1.5.9-02")
@needs("send", "inspect")
@pytest.mark.parametrize("queue", ["connected", pytest.param("paused", marks=needs("pause"))])
@pytest.mark.parametrize("ended", ["by the peer", "with wrong counts"])
def test_session_that_the_sut_opened_has_state_closed(peer, sut, judge, queue, ended):
    """The SUT has sent its only message to a queue that is connected, or that an application has paused. Then the peer
    closes the session, or the SUT closes it because of wrong counts. Afterwards, the SUT shows the session as CLOSED,
    or does not show it.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-closed"))
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    session.stays_quiet()

    def list_session_states() -> list[str]:
        found = [one for one in sut.inspect()["Sessions"] if one["role"] == "initiator"]
        return [one["SessionState"] for one in found if one["OutgoingQueueReference"] == sender.to]

    if queue == "paused":
        sut.pause(sender.to)
    if "OPEN" not in list_session_states():
        raise ConformanceFailure("the SUT shows no session in state OPEN to the queue of its message")
    if ended == "by the peer":
        session.close()
    else:
        session.send(session_ack(AckSequenceNumber=1, UserMsgSequenceNumber=0x7FFF))
        if not session.wait_closed():
            raise ConformanceFailure("the SUT did not close the session when it received wrong message counts")
    peer.eventually(lambda: set(list_session_states()) <= {"CLOSED"})
    judge(
        "MQQB-3.1.5.9-02",
        expected=none("session of the SUT in a state other than CLOSED"),
        observed=sorted(set(list_session_states()) - {"CLOSED"}),
        evidence=[*sent, session.last],
    )
    if queue == "paused":
        sut.resume(sender.to)
