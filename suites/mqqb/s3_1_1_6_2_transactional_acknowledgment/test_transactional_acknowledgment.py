"""MS-MQQB 3.1.1.6.2 and 3.1.1.5: a queue manager between source and destination only forwards messages."""

from __future__ import annotations

from harness.expectations import none
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, malforms, needs, varied
from harness.sut.releases import find_release
from harness.wire import PrivateQueueFormatNameId
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.ordering import ORDER_ACK, ORDERING_ACK_LABEL, read_acknowledged_sequence_position
from suites.mqqb.steps.sender import Sender

TX_SEQUENCE_NUMBERS_OUT_OF_ORDER = (3, 7, 5, 7)
PREVIOUS_SEQUENCE_NUMBERS = (2, 3, 0, 6)
"""Pairs of TxSequenceNumber and PreviousTxSequenceNumber, in an order in which a destination would accept no message.
PreviousTxSequenceNumber is TxSequenceNumber minus one, a lower number, or 0.
"""


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("private_names")
@covers("MQQB-3.1.1.5-06", "MQQB-3.1.1.5-07", "MQQB-3.1.1.6.2-01", "MQQB-3.1.1.6.2-02", "MQDMPR-3.1.7.1.31-D04")
@varied("queue quota", "queue privacy")
def test_router_forwards_transactional_messages_and_sends_no_order_ack(peer, sut, judge):
    """The peer sends transactional messages from a different source, and messages of its own, which are out of order
    and addressed to the peer. The SUT forwards these messages with unchanged TransactionHeaders. It acknowledges them
    only by SessionAcks: it sends no OrderAck, no FinalAck, and no requested acknowledgment of arrival.
    """
    sender = Sender(peer, sut)
    session = peer.open_raw()
    sequences = {OTHER_GUID: Sequence(peer, ordinal=9), peer.identifier: Sequence(peer, ordinal=10)}
    sent = []
    for source, sequence in sequences.items():
        for number, previous in zip(TX_SEQUENCE_NUMBERS_OUT_OF_ORDER, PREVIOUS_SEQUENCE_NUMBERS, strict=True):
            sequence.number = number - 1
            packet = sequence.message(
                {
                    "SourceQueueManager": source,
                    "QueueManagerAddress": peer.identifier,
                    "RC": 1,
                    "AdminQueue": rf"TCP:{peer.address}\private$\mqc-peer",
                },
                transaction={"PreviousTxSequenceNumber": previous, "ConnectorQMGuid": OTHER_GUID if previous else None},
                destination=PrivateQueueFormatNameId(PrivateQueueIdentifier=1),
                properties={"PA": 1},
            )
            sent.append(session.send(packet))
    forwarding_session = sender.await_session()
    came = sender.collect_messages(forwarding_session, len(sent))
    peer.pass_time(sut.duration_ms(ACK_TIMEOUT_MS))
    identifiers = [(one.identifier.Ordinal, one.identifier.TimeStamp) for one in sequences.values()]
    acks = [
        frame
        for frame in peer.inbox.copies
        if _is_transactional_acknowledgment(frame) and read_acknowledged_sequence_position(frame)[:2] in identifiers
    ]
    arrivals = [
        frame for frame in peer.inbox.copies if frame["MessagePropertiesHeader"].MessageClass == AckClass.REACH_QUEUE
    ]
    bits = ("CG", "FA", "FM", "LM", "ID") if find_release(sut).sets_first_and_last_message_flags else ("CG", "FA", "ID")
    expected = [_read_transaction_header(frame, bits) for frame in sent]
    observed = [_read_transaction_header(frame, bits) for frame in came]
    evidence = [*sent, *came, *acks]
    judge(
        "MQQB-3.1.1.5-07",
        "MQQB-3.1.1.6.2-02",
        expected=expected,
        observed=observed,
        case="forwarded TransactionHeaders",
        evidence=evidence,
    )
    numbers = [frame["TransactionHeader"].TxSequenceNumber for frame in came]
    judge(
        "MQQB-3.1.1.6.2-02",
        "MQDMPR-3.1.7.1.31-D04",
        expected=[*TX_SEQUENCE_NUMBERS_OUT_OF_ORDER, *TX_SEQUENCE_NUMBERS_OUT_OF_ORDER],
        observed=numbers,
        case="TxSequenceNumbers of the forwarded messages",
        evidence=evidence,
    )
    not_acknowledged = ("MQQB-3.1.1.5-06", "MQQB-3.1.1.6.2-01")
    if len(came) == len(sent):
        acknowledged = [read_acknowledged_sequence_position(frame).TxSequenceNumber for frame in acks]
        no_ack = none("OrderAck or FinalAck of a forwarded message")
        judge(*not_acknowledged, expected=no_ack, observed=acknowledged, evidence=evidence)
        judge(
            "MQQB-3.1.1.5-06",
            expected=0,
            observed=len(arrivals),
            case="number of acknowledgments that a forwarded message has arrived",
            evidence=[*evidence, *arrivals],
        )
    else:
        judge.mark_not_exercised(*not_acknowledged, reason="the SUT did not forward all messages", evidence=evidence)
    forwarding_session.acknowledge_all()


def _is_transactional_acknowledgment(frame):
    properties = frame["MessagePropertiesHeader"]
    return str(properties.Label).rstrip("\0") == ORDERING_ACK_LABEL and int(properties.MessageClass) >= ORDER_ACK


def _read_transaction_header(frame, bits):
    """Return the given flag bits, and every other field, of the TransactionHeader of a message."""
    header = frame["TransactionHeader"]
    values = {name: getattr(header, name) for name in bits}
    identifier = header.TxSequenceID
    place = identifier.Ordinal, identifier.TimeStamp, header.TxSequenceNumber, header.PreviousTxSequenceNumber
    return values, place, str(header.ConnectorQMGuid)
