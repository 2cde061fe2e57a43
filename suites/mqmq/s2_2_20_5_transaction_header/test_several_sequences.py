"""MS-MQMQ 2.2.20.5 TransactionHeader: the first messages of several sequences of the SUT."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs

LARGE_BODY = "large body " * 500
DESTINATION_QUEUE_COUNT = 3


@needs("send")
@covers("MQMQ-2.2.20.5-17", "MQMQ-2.2.20.5-19")
def test_first_message_of_every_sequence_has_number_1(peer, sut, judge):
    """The SUT sends transactional messages to three new queues of the peer, in one or in several sequences: the first
    message of each sequence has TxSequenceNumber 1 and PreviousTxSequenceNumber 0.
    """
    peer.listen(ignore_incoming=True)
    for number in range(DESTINATION_QUEUE_COUNT):
        queue = f"mqc-{sut.own}-{number}"  # a queue of an earlier run has a sequence that the SUT continues
        for label in ("first", "second"):
            body = LARGE_BODY if number == DESTINATION_QUEUE_COUNT - 1 else label
            sut.send(peer.direct_name(queue), label=label, body=body, delivery="transactional")
    count = 2 * DESTINATION_QUEUE_COUNT

    def list_sent_frames():
        return [
            frame
            for frame in peer.inbox.packets_with_possibly_malformed_messages
            if frame.kind == "UserMessage" and frame["UserHeader"].TH
        ]

    peer.environment.run_until(
        lambda: len(list_sent_frames()) >= count, sut.connect_timeout_ms + sut.response_timeout_ms
    )
    peer.inbox.acknowledge()
    if len(list_sent_frames()) < count:
        raise ConformanceFailure("the SUT did not send all transactional messages")
    first: dict[tuple[int, int], Frame] = {}
    for frame in list_sent_frames():
        sequence = frame["TransactionHeader"].TxSequenceID
        first.setdefault((sequence.Ordinal, sequence.TimeStamp), frame)
    headers = [frame["TransactionHeader"] for frame in first.values()]
    for rule, name, expected in (
        ("MQMQ-2.2.20.5-17", "TxSequenceNumber", 1),
        ("MQMQ-2.2.20.5-19", "PreviousTxSequenceNumber", 0),
    ):
        judge(
            rule,
            expected=[expected] * len(headers),
            observed=[header.getfieldval(name) for header in headers],
            case=f"{name} of the first message of each sequence",
            evidence=list(first.values()),
        )
