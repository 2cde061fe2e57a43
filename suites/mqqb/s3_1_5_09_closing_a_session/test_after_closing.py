"""MS-MQQB 3.1.5.9 Closing a Session: the initiator establishes a closed session again for its next message."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, malforms
from harness.wire import session_ack
from suites.mqqb.steps.sender import Sender


@malforms("MQQB-3.1.6.4-06")
@covers("MQQB-3.1.5.9-02")
def test_message_after_closed_session_is_sent_on_new_session(peer, sut, judge):
    """The SUT closes its session because of wrong counts while no message waits. The SUT sends its next message on a
    new session: this shows that the old session is CLOSED.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-closed"))
    sender.send(1)
    session, sent = sender.await_first(1)
    session.acknowledge_all()
    session.stays_quiet()
    wrong = session.send(session_ack(AckSequenceNumber=1, UserMsgSequenceNumber=0x7FFF))
    if not session.wait_closed():
        raise ConformanceFailure("the SUT did not close the session when it received wrong message counts")
    sender.send(2)
    again = sender.poll_session()
    came = [] if again is None else sender.collect(again, 1)
    judge(
        "MQQB-3.1.5.9-02",
        expected=[2],
        observed=Sender.tags(came),
        case="numbers of the messages on the next session",
        evidence=[*sent, wrong, *came],
    )
    if again is not None:
        again.acknowledge_all()
