"""REGRESSIONS 268812: a transactional message that arrives out of order, and again in order."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import in_queue
from harness.run.marks import covers, malforms, varied
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("REGRESSIONS-268812-01")
@varied("extension", "correlation", "label", priority=("3", "7"))
def test_message_refused_as_early_is_stored_when_in_order(peer, sut, judge):
    """The third message of a sequence arrives before the second message, and the SUT refuses it. When the third message
    arrives twice after the second message, the SUT stores it once and acknowledges it. Before these repetitions, a
    SessionAck has acknowledged the refused message, because the bug affects messages with a known identifier.
    """
    receiver = Receiver(peer, sut)
    connection = receiver.session
    wanted = [f"{number} of {peer.next_message_id()}" for number in (1, 2, 3)]
    first, second, third = (receiver.sequence.message(label=label) for label in wanted)
    packets = [connection.send(first)]
    first_ack = receiver.await_last_acknowledgment(1)
    if first_ack is None or read_acknowledged_sequence_position(first_ack).TxSequenceNumber != 1:
        raise ConformanceFailure("the SUT did not acknowledge the first message of the sequence")
    packets.append(connection.send(third))
    liveness = connection.require_session_ack_for_message()
    early_acks = receiver.list_acknowledgments()
    if any(read_acknowledged_sequence_position(ack).TxSequenceNumber == 3 for ack in early_acks):
        judge.mark_not_exercised(
            "REGRESSIONS-268812-01", reason="the SUT stored the third message before the second message"
        )
        return
    packets += [connection.send(packet) for packet in (second, third, third)]
    last = receiver.await_last_acknowledgment(3)
    expected: dict[str, Any] = {"TxSequenceNumber": 3}
    observed: dict[str, Any] = {
        "TxSequenceNumber": None if last is None else read_acknowledged_sequence_position(last).TxSequenceNumber
    }
    if sut.has("receive"):
        queue = sut.queue("transactional")
        peer.eventually(lambda: wanted[-1] in sut.labels(queue))
        expected["stored"] = in_queue(*wanted)
        observed["stored"] = [label for label in sut.labels(queue) if label in wanted]
    judge("REGRESSIONS-268812-01", expected=expected, observed=observed, evidence=[*packets, first_ack, liveness, last])
