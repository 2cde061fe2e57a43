"""MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages: messages that the SUT sends after a restart."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs, varied
from harness.wire import session_ack
from suites.mqqb.steps.sender import Sender


@needs("restart")
@covers("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02")
@varied("response queue", "time to be received", acknowledgments=("none", "of arrival"))
def test_acknowledged_recoverable_messages_do_not_come_after_restart(peer, sut, judge):
    """The peer acknowledges the first and the third of four recoverable messages, and the SUT restarts. The SUT sends
    only the second and the fourth message.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-acknowledged"))
    sender.send(1, 2, 3, 4, delivery="recoverable")
    session, sent = sender.await_first_messages(4)
    ack = session.send(session_ack(AckSequenceNumber=4, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=0b101))
    peer.settle()
    sut.restart()
    later_session = sender.await_session()
    came = sender.collect_messages_until_silence(later_session, 2)
    numbers = [Sender.list_tags(sent).index(tag) + 1 for tag in Sender.list_tags(came)]
    evidence = [ack, *came]
    absent = holds("message 1 is not sent again", otherwise="message 1 is sent again")
    judge("MQQB-3.1.5.5.3-01", expected=absent, observed=1 not in numbers, case="after a restart", evidence=evidence)
    above = [number for number in numbers if number > 1]
    judge(
        "MQQB-3.1.5.5.3-02",
        expected=[2, 4],
        observed=above,
        case="numbers of the messages sent after a restart",
        evidence=evidence,
    )
    later_session.acknowledge_all()
