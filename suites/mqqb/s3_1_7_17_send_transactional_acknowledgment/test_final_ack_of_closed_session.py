"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment: a FinalAck whose session is closed."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledgment_of_class
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.ordering import Receiver


@needs("receive")
@covers("MQQB-3.1.7.2.2-01", "MQQB-3.1.7.17-07", "MQQB-3.1.7.17-11")
@pytest.mark.parametrize(
    ("acknowledged", "end", "wanted"),
    [(True, "receive", AckClass.RECEIVE), (False, "receive", AckClass.RECEIVE), (True, "purge", AckClass.Q_PURGED)],
    ids=["acknowledged", "not acknowledged", "purged"],
)
@varied("time to be received", "application tag")
def test_final_ack_is_sent_after_session_of_its_message_ended(peer, sut, judge, acknowledged, end, wanted):
    """The peer sends a transactional message with JP and closes the session; then an application receives or purges the
    message. The SUT connects and sends the FinalAck.
    """
    receiver = Receiver(peer, sut)
    sent = receiver.send({"JP": 1})
    if acknowledged:
        receiver.await_acknowledgment()
    if not peer.eventually(lambda: bool(sut.messages("transactional"))):
        raise ConformanceFailure("the message did not arrive in its queue")
    receiver.session.close()
    peer.settle()
    sut.control.call(end, queue=sut.queue("transactional"), **({"timeout_ms": 0} if end == "receive" else {}))
    frame = receiver.poll_acknowledgment(final=True)
    judge(
        "MQQB-3.1.7.2.2-01",
        "MQQB-3.1.7.17-11",
        expected=acknowledgment_of_class(wanted),
        observed=frame,
        case="class of the FinalAck",
        evidence=[sent, frame],
    )
    if frame is None:
        raise ConformanceFailure("no FinalAck with a known destination queue arrived")
    queue = str(getattr(frame["UserHeader"].DestinationQueue, "DirectFormatName", "no direct name")).lower()
    expected = rf"tcp:{peer.address}\private$\order_queue$"
    judge(
        "MQQB-3.1.7.17-07",
        expected=expected,
        observed=queue,
        case="destination of the FinalAck",
        evidence=[sent, frame],
    )
