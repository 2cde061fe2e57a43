"""MS-MQQB 2.2.5 FinalAck Packet: a transactional message that is purged while a remote reader has it."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import acknowledgment_of_class
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Ack
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position


@needs("qm2qm")
@covers("MQQB-2.2.5-21")
def test_final_ack_of_message_purged_during_remote_read_is_negative(peer, remote, sut, judge):
    """A remote reader begins to receive the first of two transactional messages with JN and JP. The queue is purged,
    and then the reader ends its read with RR_NACK. The FinalAcks of both messages have the class NACK_Q_PURGED.
    """
    queue = remote.open("transactional")
    receiver = Receiver(peer, sut)
    sent = [receiver.send({"JN": 1, "JP": 1}), receiver.send({"JN": 1, "JP": 1})]
    receiver.await_last_acknowledgment(len(sent))
    read = queue.start_receive()
    if read.outcome != "MQ_OK":
        raise ConformanceFailure(f"the SUT answered the read of the first message with {read.outcome}")
    queue.purge().expect_success()
    queue.end(read, Ack.RR_NACK).expect_success()
    while receiver.poll_acknowledgment(final=True) is not None:
        pass
    finals = {
        read_acknowledged_sequence_position(frame).TxSequenceNumber: frame
        for frame in receiver.list_acknowledgments(final=True)
    }
    for number, place in ((1, "with the remote reader"), (2, "in its queue")):
        judge(
            "MQQB-2.2.5-21",
            expected=acknowledgment_of_class(AckClass.Q_PURGED),
            observed=finals.get(number),
            case=f"class of the FinalAck of the message {place}",
            evidence=[*sent, *finals.values()],
        )
