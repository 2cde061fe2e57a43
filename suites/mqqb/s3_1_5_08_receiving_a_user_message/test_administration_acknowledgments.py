"""MS-MQQB 3.1.5.11 Receiving Administration Acknowledgments: the peer sends acknowledgments of each
class, twice each.

The folder of 3.1.5.11 contains only the example of CONTRIBUTING.md.
"""

from __future__ import annotations

from harness.expectations import any_order, packet
from harness.expectations.protocol import get_class_name
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass

ACKNOWLEDGMENT_CLASSES = (
    AckClass.REACH_QUEUE,
    AckClass.RECEIVE,
    AckClass.BAD_DST_Q,
    AckClass.Q_EXCEED_QUOTA,
    AckClass.ACCESS_DENIED,
    AckClass.Q_DELETED,
    AckClass.Q_PURGED,
    AckClass.RECEIVE_TIMEOUT,
)


@needs("receive")
@covers("MQQB-3.1.5.8-03", "MQQB-3.1.5.8-04")
def test_acknowledgment_of_each_class_is_stored_once(peer, sut, judge):
    """The peer sends express and recoverable acknowledgments of eight classes, each of them twice. The SUT acknowledges
    all packets, and puts each acknowledgment once into its queue.
    """
    session = peer.open_raw()
    sent = []
    for number, value in enumerate(ACKNOWLEDGMENT_CLASSES):
        packet_sent = peer.message(
            {"DM": number % 2}, queue="admin", label=f"class {int(value):#06x}", properties={"MessageClass": value}
        )
        sent += [session.send(packet_sent), session.send(packet_sent)]
    ack = session.await_session_ack(len(sent))
    judge.all(
        expected=packet("SessionAck", {"SessionHeader.AckSequenceNumber": len(sent)}),
        observed=ack or session,
        evidence=[*sent, ack],
    )

    def list_stored_acks() -> list[str]:
        return [f"{one['label']}, {one['class']}" for one in sut.messages("admin")]

    expected = [f"class {int(value):#06x}, MQMSG_CLASS_{get_class_name(value)}" for value in ACKNOWLEDGMENT_CLASSES]
    peer.eventually(lambda: len(list_stored_acks()) >= len(expected))
    judge.all(
        expected=any_order(*expected),
        observed=list_stored_acks(),
        case="labels and classes of the acknowledgments in the queue",
        evidence=sent,
    )
