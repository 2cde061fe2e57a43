"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: sequences and counts of sessions with two queue managers."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import is_recoverable
from suites.mqqb.steps.two_destinations import TwoDestinations

MESSAGE_COUNT_BY_DESTINATION = 4, 2
"""The number of messages to each of the two destinations."""
RECOVERABLE_COUNT_BY_DESTINATION = 1, 2
"""The number of recoverable messages to each of the two destinations."""
RECEIVED_COUNT_BY_DESTINATION = 1, 3
"""The number of recoverable messages from each of the two queue managers to the SUT."""


@needs("send")
@covers(
    "MQQB-3.1.7.1.3-01",
    "MQQB-3.1.7.1.3-02",
    "MQQB-3.1.7.1.3-03",
    "MQQB-3.1.7.1.3-04",
    "MQQB-3.1.7.1.3-08",
    "MQQB-3.1.1.5-D01",
    "MQQB-3.1.1.5-D02",
    "MQQB-3.1.1.5-D03",
    "MQQB-3.1.1.3.1-02",
)
def test_each_destination_has_its_own_sequence(peer, second_host, sut, judge):
    """The SUT sends transactional messages alternately to the peer and to a second queue manager. The messages to each
    queue manager are numbered 1, 2, 3 and so on in a sequence of their own.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately(MESSAGE_COUNT_BY_DESTINATION, delivery="transactional")
    sequences = []
    for destination in two.both_destinations:
        sent = destination.await_messages()
        headers = [frame["TransactionHeader"] for frame in sent]
        case = f"messages to the {destination.name}"
        judge(
            "MQQB-3.1.7.1.3-01",
            "MQQB-3.1.7.1.3-04",
            "MQQB-3.1.7.1.3-08",
            "MQQB-3.1.1.5-D02",
            expected=list(range(1, len(headers) + 1)),
            observed=[int(header.TxSequenceNumber) for header in headers],
            case=f"TxSequenceNumbers of the {case}",
            evidence=sent,
        )
        judge(
            "MQQB-3.1.7.1.3-03",
            "MQQB-3.1.1.5-D03",
            expected=list(range(len(headers))),
            observed=[int(header.PreviousTxSequenceNumber) for header in headers],
            case=f"PreviousTxSequenceNumbers of the {case}",
            evidence=sent,
        )
        own = {(int(header.TxSequenceID.Ordinal), int(header.TxSequenceID.TimeStamp)) for header in headers}
        judge(
            "MQQB-3.1.7.1.3-02",
            "MQQB-3.1.1.5-D01",
            expected=1,
            observed=len(own),
            case=f"number of TxSequenceIDs of the {case}",
            evidence=sent,
        )
        sequences.append(own)
    judge(
        "MQQB-3.1.1.3.1-02",
        expected=holds("the sequences of the two destinations have different TxSequenceIDs"),
        observed=not sequences[0] & sequences[1] or "messages to both destinations have the same TxSequenceID",
        evidence=[frame for destination in two.both_destinations for frame in destination.session.messages],
    )
    for destination in two.both_destinations:
        destination.acknowledge_transactional_messages()


@needs("send")
@covers(
    "MQQB-3.1.7.1.3-11",
    "MQQB-3.1.7.1.3-13",
    "MQQB-3.1.6.4-04",
    "MQQB-3.1.6.4-06",
    "MQQB-3.1.6.4-07",
    "MQQB-3.1.6.4-08",
    "MQQB-3.1.1.4-01",
)
def test_each_session_counts_its_own_messages(peer, second_host, sut, judge):
    """The SUT sends messages to the peer and to a second queue manager, and receives recoverable messages from both.
    The SessionAcks on each of the two sessions contain the counts of that session.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately(MESSAGE_COUNT_BY_DESTINATION)
    two.send_messages_alternately(RECOVERABLE_COUNT_BY_DESTINATION, delivery="recoverable")
    for destination, count in zip(two.both_destinations, RECEIVED_COUNT_BY_DESTINATION, strict=True):
        for _ in range(count):
            destination.session.send(destination.peer.recoverable_message())
    for destination, count in zip(two.both_destinations, RECEIVED_COUNT_BY_DESTINATION, strict=True):
        session = destination.session
        ack = session.await_session_ack(count)
        if ack is None:
            raise ConformanceFailure(f"the SUT sent no SessionAck to the {destination.name}")
        header, acks = ack["SessionHeader"], [frame for frame in session.received if frame.kind == "SessionAck"]
        flagged = sum(int(frame["SessionHeader"].RecoverableMsgAckFlags).bit_count() for frame in acks)
        recoverable = sum(map(is_recoverable, session.messages))
        for rules, name, expected, observed in (
            (("MQQB-3.1.6.4-04",), "AckSequenceNumber", count, int(header.AckSequenceNumber)),
            (
                ("MQQB-3.1.6.4-06", "MQQB-3.1.7.1.3-11", "MQQB-3.1.1.4-01"),
                "UserMsgSequenceNumber",
                len(session.messages),
                int(header.UserMsgSequenceNumber),
            ),
            (
                ("MQQB-3.1.6.4-07", "MQQB-3.1.7.1.3-13"),
                "RecoverableMsgSeqNumber",
                recoverable,
                int(header.RecoverableMsgSeqNumber),
            ),
            (("MQQB-3.1.6.4-08",), "number of bits set in RecoverableMsgAckFlags of all SessionAcks", count, flagged),
        ):
            judge(
                *rules,
                expected=expected,
                observed=observed,
                case=f"{name} on the session with the {destination.name}",
                evidence=acks,
            )
    for destination in two.both_destinations:
        destination.session.acknowledge_all()
