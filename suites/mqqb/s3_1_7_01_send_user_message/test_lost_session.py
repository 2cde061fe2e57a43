"""MS-MQQB 3.1.7.1.6: the sender closes the session of a lost connection, and sends its messages on the next session."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.provoking import SecondQueueManager
from suites.mqqb.steps.sender import Sender


@covers("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-04", "MQQB-3.1.7.1.6-06")
def test_sender_of_lost_connection_sends_its_messages_on_new_session(peer, sut, judge):
    """The peer drops the connection of a session with two unacknowledged messages and an unacknowledged acknowledgment
    of the SUT, and the SUT has a fourth message. The SUT sends the four messages once on a new session, and leaves its
    session with another queue manager open.
    """
    bystander = peer.open_raw({"ClientGuid": OTHER_GUID})
    sender = Sender(peer, sut, peer.direct_name("mqc-dropped"))
    sender.send(1, 2)
    session, sent = sender.await_first_messages(2)
    SecondQueueManager(peer, sender.to).send(3)
    sender.collect_messages(session, 3)
    session.close()
    sender.send(4)
    again = sender.poll_session()
    came = [] if again is None else sender.collect_messages_until_silence(again, 4)
    judge(
        "MQQB-3.1.7.1.6-03",
        "MQQB-3.1.7.1.6-04",
        "MQQB-3.1.7.1.6-06",
        expected=[1, 2, 3, 4],
        observed=sorted(Sender.list_tags(came)),
        case="numbers of the messages on the next session",
        evidence=[*sent, *came],
    )
    judge(
        "MQQB-3.1.7.1.6-06",
        expected=holds("the SUT keeps other sessions open", otherwise="the SUT closed the session of another sender"),
        observed=not bystander.closed_by_sut,
        evidence=[bystander.last],
    )
    if again is not None:
        again.acknowledge_all()


@needs("queue_control")
@covers("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-06")
def test_empty_queue_of_lost_connection_is_not_connected(peer, sut, judge):
    """The peer acknowledges the only message of a session and drops the connection: State of the outgoing queue, which
    is empty, is not Connected.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-emptied"))
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    if not peer.eventually(lambda: sut.outgoing(sender.to)["count"] == 0):
        raise ConformanceFailure("the SUT keeps a message that was acknowledged")
    session.close()
    judge(
        "MQQB-3.1.7.1.6-03",
        "MQQB-3.1.7.1.6-06",
        expected=holds("not Connected", otherwise="Connected"),
        observed=peer.eventually(lambda: sut.outgoing(sender.to)["state"] != "Connected"),
        case="State of the outgoing queue",
        evidence=sent,
    )
