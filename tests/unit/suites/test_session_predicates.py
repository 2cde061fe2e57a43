"""Predicates that compare the packets of a system with its earlier packets in both directions: counts, and
acknowledgments with their messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import (
    FROM_SUT_DIRECTION,
    MALFORMED_PACKET_KIND,
    TO_SUT_DIRECTION,
    Connection,
    Frame,
    set_frame_kind,
)
from harness.judging.passive import PassiveJudge, load_predicates
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from reference_qm.codec import (
    BaseHeader,
    DirectQueueFormatName,
    FinalAckBody,
    MessageClass,
    MessageIdentifier,
    MessagePropertiesHeader,
    OrderAckBody,
    TransactionHeader,
    TxSequenceID,
    UserHeader,
    UserMessagePacket,
)

SUT, PEER = UUID(int=0x5), UUID(int=0x9)
SEQUENCE = TxSequenceID(3, 7)
QUEUE, ACKS = "TCP:10.0.0.2\\private$\\q", "TCP:10.0.0.1\\private$\\acks"
Fields = Mapping[str, Any]
NONE: Fields = MappingProxyType({})

load_predicates()


class Session:
    """A session that the peer opened; a test adds packets one by one."""

    def __init__(self, *, opened: bool = True) -> None:
        self.judge = PassiveJudge()
        self.connection = Connection(1, "acceptor")
        self._numbers = 0
        if opened:
            self.says(establish_connection(ClientGuid=PEER, ServerGuid=SUT))

    def hears(self, packet: object) -> None:
        self._show(packet, TO_SUT_DIRECTION)

    def says(self, packet: object) -> None:
        self._show(packet, FROM_SUT_DIRECTION)

    def _show(self, packet: object, direction: str) -> None:
        data = packet.build() if isinstance(packet, UserMessagePacket) else bytes(packet)  # type: ignore[call-overload]
        assert self.shows(data, direction) != MALFORMED_PACKET_KIND

    def shows(self, data: bytes, direction: str = FROM_SUT_DIRECTION) -> str:
        """Give bytes to the judge, which may not be a packet; return the kind of packet that was recognized."""
        self._numbers += 1
        frame = Frame(self._numbers, 0, direction, "tcp", data, MALFORMED_PACKET_KIND, self.connection)
        set_frame_kind(frame)
        self.judge.on_frame(frame)
        return frame.kind

    def broken(self, prefix: str) -> set[str]:
        return {rule for rule, tally in self.judge.tallies.items() if tally.failed and rule.startswith(prefix)}

    def kept(self, prefix: str) -> set[str]:
        tallies = self.judge.tallies.items()
        return {
            rule
            for rule, tally in tallies
            if tally.judged_packet_count and not tally.failed and rule.startswith(prefix)
        }


# -- session headers --------------------------------------------------------------------------------------------------

BY_FIELD = {
    "AckSequenceNumber": {"MQMQ-2.2.20.4-05"},
    "UserMsgSequenceNumber": {"MQMQ-2.2.20.4-09", "MQQB-3.1.6.4-06"},
    "RecoverableMsgSeqNumber": {"MQMQ-2.2.20.4-10", "MQQB-3.1.6.4-07"},
}


def exchange() -> Session:
    """Return a session with two messages in each direction, the second of which is recoverable."""
    session = Session()
    for way in (session.hears, session.says):
        for number, delivery in ((1, 0), (2, 1)):
            way(user_message(user={"MessageID": number, "DM": delivery, "SourceQueueManager": PEER}))
    return session


SOUND = {
    "AckSequenceNumber": 2,
    "RecoverableMsgAckSeqNumber": 1,
    "RecoverableMsgAckFlags": 1,
    "UserMsgSequenceNumber": 2,
    "RecoverableMsgSeqNumber": 1,
    "WindowSize": 64,
}


def test_correct_session_ack_keeps_the_rules_about_message_counts() -> None:
    session = exchange()
    session.says(session_ack(**SOUND))
    assert session.broken("MQMQ-2.2.20.4") | session.broken("MQQB-3.1.6.4") == set()
    assert session.kept("MQ") >= set().union(*BY_FIELD.values())
    assert session.kept("MQQB-3.1.3.2") >= {f"MQQB-3.1.3.2-0{number}" for number in (2, 3, 4, 6, 7)}


@pytest.mark.parametrize("field", BY_FIELD)
def test_wrong_message_count_in_session_header_breaks_the_rules_of_its_field(field: str) -> None:
    session = exchange()
    session.says(session_ack(**SOUND | {field: 9}))
    assert session.broken("MQMQ-2.2.20.4") | session.broken("MQQB-3.1.6.4") == BY_FIELD[field]


def test_message_count_in_session_header_includes_its_own_message() -> None:
    for number, broken in ((1, set()), (2, {"MQQB-3.1.7.1.3-11", "MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-18"})):
        session = Session()
        counts = {"UserMsgSequenceNumber": number, "WindowSize": 64}
        session.says(user_message(session=counts, user={"DM": 0}))
        assert session.broken("MQQB-3.1.7.1.3") == broken


def test_session_ack_number_may_lag_but_not_run_ahead_or_decrease() -> None:
    session = exchange()
    for number, broken in ((1, set()), (2, set()), (1, {"MQMQ-2.2.20.4-05"})):
        session.says(session_ack(AckSequenceNumber=number, UserMsgSequenceNumber=2, RecoverableMsgSeqNumber=1))
        assert session.broken("MQMQ-2.2.20.4-05") == broken


def test_recoverable_message_is_acknowledged_once_and_only_after_it_arrived() -> None:
    session = exchange()
    flags = {"UserMsgSequenceNumber": 2, "RecoverableMsgSeqNumber": 1, "AckSequenceNumber": 2}
    session.says(session_ack(**flags, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=3))
    assert "MQMQ-2.2.20.4-D02" in session.broken("MQMQ")
    assert "MQQB-3.1.6.4-10" not in session.broken("MQQB")
    session.says(session_ack(**flags, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=1))
    assert {"MQMQ-2.2.20.4-06"} <= session.broken("MQMQ")
    assert {"MQQB-3.1.6.4-10"} <= session.broken("MQQB")


def test_recoverable_ack_fields_are_zero_before_any_recoverable_message() -> None:
    for flags, broken in ((0, set()), (1, {"MQQB-3.1.1.6.1-04"})):
        session = Session()
        session.says(session_ack(RecoverableMsgAckFlags=flags))
        assert session.broken("MQQB-3.1.1.6.1") == broken


# -- administration acknowledgments -----------------------------------------------------------------------------------


def named(name: str) -> DirectQueueFormatName:
    return DirectQueueFormatName(name)


def message(queue: str = QUEUE, *, user: Fields = NONE, properties: Fields = NONE, **headers: Any) -> UserMessagePacket:
    """Return a recoverable message of the peer that requests all acknowledgments."""
    bits = {"DQ": 7, "AQ": 7, "MP": 1, "DM": 1, "TH": int("TransactionHeader" in headers)}
    fields = {"SourceQueueManager": PEER, "MessageID": 4, "DestinationQueue": named(queue), "AdminQueue": named(ACKS)}
    return UserMessagePacket(
        BaseHeader=BaseHeader(),
        UserHeader=UserHeader(**{**fields, "Flags": UserHeader.flags(**bits), **user}),
        MessagePropertiesHeader=MessagePropertiesHeader(**{"Flags": 0xF, "MessageBody": b"body", **properties}),
        **headers,
    )


def acknowledgment(
    of: MessageClass, *, bits: Fields = NONE, user: Fields = NONE, base: Fields = NONE, properties: Fields = NONE
) -> UserMessagePacket:
    """Return an acknowledgment of that message, as a correct SUT makes it."""
    flags = UserHeader.flags(**{"DQ": 7, "RQ": 7, "MP": 1, "DM": 1, **bits})
    fields = {"SourceQueueManager": SUT, "MessageID": 1, "DestinationQueue": named(ACKS), "ResponseQueue": named(QUEUE)}
    body = b"" if of < MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q else b"body"
    answered = MessageIdentifier(PEER, 4).build()
    return UserMessagePacket(
        BaseHeader=BaseHeader(**base),
        UserHeader=UserHeader(**{**fields, "Flags": flags, **user}),
        MessagePropertiesHeader=MessagePropertiesHeader(
            **{"MessageClass": of, "CorrelationID": answered, "MessageBody": body, **properties}
        ),
    )


REACHED, RECEIVED = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, MessageClass.MQMSG_CLASS_ACK_RECEIVE
REFUSED, PURGED = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q, MessageClass.MQMSG_CLASS_NACK_Q_PURGED
ACK = "MQQB-3.1.7."


@pytest.mark.parametrize("kind", [REACHED, RECEIVED, REFUSED, PURGED], ids=lambda kind: kind.name)
def test_correct_administration_acknowledgment_keeps_every_rule(kind: MessageClass) -> None:
    session = Session()
    session.hears(message())
    session.says(acknowledgment(kind))
    assert session.broken(ACK) == set()
    assert session.kept(ACK) >= {f"MQQB-3.1.7.15-D0{number}" for number in range(1, 8)}
    of_queue = kind in (RECEIVED, PURGED)
    matched = {"24", "28", "09"} if of_queue else {"25", "29", "10", "15", "20", "23"}
    assert session.kept(ACK) >= {f"MQQB-3.1.7.15-{number}" for number in matched}
    assert ({"MQQB-3.1.7.2.1-01", "MQQB-3.1.7.2.1-03"} <= session.kept(ACK)) == of_queue


ATTRIBUTE = "MQQB-3.1.7.15-26"
WRONG: dict[str, tuple[MessageClass, dict[str, Any], set[str]]] = {
    "asks": (REACHED, {"properties": {"Flags": 4}}, {"MQQB-3.1.7.15-D01", ATTRIBUTE}),
    "expires": (REACHED, {"base": {"TimeToReachQueue": 9}}, {"MQQB-3.1.7.15-D02", ATTRIBUTE}),
    "vanishes": (REACHED, {"user": {"TimeToBeReceived": 9}}, {"MQQB-3.1.7.15-D03", ATTRIBUTE}),
    "is journaled": (REACHED, {"bits": {"JP": 1}}, {"MQQB-3.1.7.15-D04", ATTRIBUTE}),
    "is a dead letter": (REACHED, {"bits": {"JN": 1}}, {"MQQB-3.1.7.15-D05", ATTRIBUTE}),
    "is private": (REACHED, {"properties": {"PrivacyLevel": 1}}, {"MQQB-3.1.7.15-D06", ATTRIBUTE}),
    "is express": (REACHED, {"bits": {"DM": 0}}, {"MQQB-3.1.7.15-25"}),
    "is express, of a queue": (RECEIVED, {"bits": {"DM": 0}}, {"MQQB-3.1.7.15-24", "MQQB-3.1.7.2.1-01"}),
    "has a body": (REACHED, {"properties": {"MessageBody": b"body"}}, {"MQQB-3.1.7.15-29"}),
    "has no body": (REFUSED, {"properties": {"MessageBody": b""}}, {"MQQB-3.1.7.15-29"}),
    "has another body": (PURGED, {"properties": {"MessageBody": b"other"}}, {"MQQB-3.1.7.15-28"}),
    "goes elsewhere": (
        REACHED,
        {"user": {"DestinationQueue": DirectQueueFormatName("TCP:10.0.0.1\\private$\\other")}},
        {"MQQB-3.1.7.15-10", "MQQB-3.1.7.15-15"},
    ),
    "answers elsewhere": (
        REACHED,
        {"user": {"ResponseQueue": DirectQueueFormatName("TCP:10.0.0.1\\private$\\other")}},
        {"MQQB-3.1.7.15-20", "MQQB-3.1.7.15-23"},
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_administration_acknowledgment_breaks_its_rules(name: str) -> None:
    kind, change, rules = WRONG[name]
    session = Session()
    session.hears(message())
    session.says(acknowledgment(kind, **change))
    assert session.broken(ACK) == rules


def test_unrequested_administration_acknowledgment_breaks_its_rule() -> None:
    session = Session()
    session.hears(message(properties={"Flags": 0b0101}))  # PA and NA
    session.says(acknowledgment(PURGED))
    assert session.broken(ACK) == {"MQQB-3.1.7.2.1-03"}


def test_acknowledgment_of_an_unseen_message_is_judged_without_that_message() -> None:
    session = Session()
    session.says(acknowledgment(REACHED, bits={"DM": 0}, properties={"MessageBody": b"x"}))
    assert session.broken(ACK) == set()
    assert "MQQB-3.1.7.15-D01" in session.kept(ACK)


# -- transactional acknowledgments ------------------------------------------------------------------------------------


def ordering(message_class: int, body: bytes, **bits: int) -> UserMessagePacket:
    """Return an OrderAck or a FinalAck."""
    queue = DirectQueueFormatName("TCP:10.0.0.1\\PRIVATE$\\order_queue$")
    flags = UserHeader.flags(**{"DQ": 7, "MP": 1, "DM": 1, **bits})
    return UserMessagePacket(
        BaseHeader=BaseHeader(),
        UserHeader=UserHeader(SourceQueueManager=SUT, MessageID=2, DestinationQueue=queue, Flags=flags),
        MessagePropertiesHeader=MessagePropertiesHeader(
            MessageClass=message_class, Label="QM Ordering Ack", MessageBody=body
        ),
    )


def order(sequence: TxSequenceID = SEQUENCE, number: int = 8) -> UserMessagePacket:
    return ordering(MessageClass.MQMSG_CLASS_ORDER_ACK, OrderAckBody(sequence, number, number - 1).build())


def final(sequence: TxSequenceID = SEQUENCE, number: int = 8, previous: int = 7, **bits: int) -> UserMessagePacket:
    return ordering(RECEIVED, FinalAckBody(sequence, number, previous, PEER, 4).build(), **bits)


def transactional(number: int) -> UserMessagePacket:
    flags = TransactionHeader.flags(FM=1, LM=1)
    identifier = 4 if number == 8 else number
    return message(
        user={"MessageID": identifier}, TransactionHeader=TransactionHeader(flags, SEQUENCE, number, number - 1)
    )


OF_SEQUENCE = {"MQQB-2.2.4-12", "MQQB-2.2.4.1-01", "MQQB-3.1.7.17-D03"}
OF_NUMBER = {"MQQB-2.2.4.1-02"}


@pytest.mark.parametrize(
    ("acknowledgment", "broken"),
    [
        (order(), set()),
        (order(number=9), OF_NUMBER),
        (order(TxSequenceID(3, 8)), OF_SEQUENCE),
        (order(TxSequenceID(1, 1)), set()),  # received before the capture began
        (final(), set()),
        (final(TxSequenceID(3, 8)), {"MQQB-2.2.5-24", "MQQB-2.2.5.1-01"}),
        (final(number=9), {"MQQB-2.2.5.1-02"}),
        (final(previous=6), {"MQQB-2.2.5.1-03", "MQQB-3.1.7.17-D08"}),
        (final(DM=0), {"MQQB-3.1.7.17-D01", "MQQB-2.2.5-03"}),
        (final(JP=1), {"MQQB-3.1.7.17-05", "MQQB-2.2.5-04"}),
    ],
)
def test_order_ack_must_have_the_values_of_the_acknowledged_messages(
    acknowledgment: UserMessagePacket, broken: set[str]
) -> None:
    session = Session()
    for number in (1, 8):
        session.hears(transactional(number))
    session.says(acknowledgment)
    assert session.broken("MQQB-2.2.") | session.broken("MQQB-3.1.7.17") == broken


@pytest.mark.parametrize("acknowledgment", [order(number=7), order(TxSequenceID(3, 8))])
def test_order_ack_of_sequence_that_began_before_capture_breaks_no_rule(
    acknowledgment: UserMessagePacket,
) -> None:
    session = Session()
    session.hears(transactional(8))
    session.says(acknowledgment)
    assert session.broken("MQQB") == set()


def test_order_ack_in_capture_with_missing_packets_breaks_no_rule() -> None:
    session = Session()
    session.hears(transactional(1))
    session.connection.missing_frames_reason = "bytes are missing"
    session.hears(transactional(2))
    session.says(order(number=9))
    assert session.broken("MQQB-2.2.4.1") == set()


def test_order_ack_of_unseen_messages_breaks_no_rule() -> None:
    session = Session()
    session.says(order())
    assert session.broken("MQQB") == set()


# -- several connections ----------------------------------------------------------------------------------------------


def test_acknowledgment_on_second_connection_is_matched_to_its_message() -> None:
    session = Session()
    session.hears(message())
    session.connection = Connection(2, "initiator")
    session.says(establish_connection(ClientGuid=SUT))
    session.says(acknowledgment(REACHED, bits={"DM": 0}))
    assert session.broken(ACK) == {"MQQB-3.1.7.15-25"}


# -- transactions -----------------------------------------------------------------------------------------------------


def of_transaction(number: int, identifier: int, *, first: int, last: int) -> UserMessagePacket:
    """Return a message that belongs to a transaction of the SUT."""
    flags = TransactionHeader.flags(FM=first, LM=last, ID=identifier)
    header = TransactionHeader(flags, SEQUENCE, number, number - 1)
    return message(
        user={"SourceQueueManager": SUT, "MessageID": number, "AdminQueue": None, "Flags": OF_A_TRANSACTION},
        properties={"Flags": 0},
        TransactionHeader=header,
    )


OF_A_TRANSACTION = UserHeader.flags(DQ=7, MP=1, DM=1, TH=1)


@pytest.mark.parametrize(
    ("identifier", "first", "last_before", "broken"),
    [
        (5, 1, 1, set()),
        (4, 0, 0, set()),
        (5, 0, 1, {"MQMQ-2.2.20.5-04"}),
        (5, 1, 0, {"MQMQ-2.2.20.5-05"}),
        (5, 0, 0, {"MQMQ-2.2.20.5-04", "MQMQ-2.2.20.5-05", "MQMQ-2.2.20.5-06"}),
        (4, 1, 1, {"MQMQ-2.2.20.5-04", "MQMQ-2.2.20.5-05", "MQMQ-2.2.20.5-07"}),
    ],
)
def test_first_and_last_transaction_bits_must_fit_the_transaction_identifiers(
    identifier: int, first: int, last_before: int, broken: set[str]
) -> None:
    session = Session()
    session.says(of_transaction(1, 4, first=1, last=last_before))
    session.says(of_transaction(2, identifier, first=first, last=1))
    session.says(of_transaction(2, identifier, first=first, last=1))  # sent again
    assert session.broken("MQMQ-2.2.20.5-0") == broken


# -- internal packets -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packet", "at", "value", "rules"),
    [
        (establish_connection, 2, 0, {"MQQB-2.2.3-01", "MQQB-3.1.5.3.1-03"}),
        (establish_connection, 18, 3, {"MQQB-2.2.3-02", "MQQB-3.1.5.3.1-04"}),
        (connection_parameters, 2, 0, {"MQQB-2.2.2-01", "MQQB-3.1.5.4.1-06"}),
        (connection_parameters, 18, 2, {"MQQB-2.2.2-02", "MQQB-3.1.5.4.1-07"}),
        (session_ack, 2, 8, {"MQQB-2.2.6-01", "MQQB-3.1.6.4-02"}),
        (session_ack, 18, 3, {"MQQB-2.2.6-02", "MQQB-3.1.6.4-03"}),
    ],
)
def test_wrong_bit_in_internal_packet_breaks_the_rules_of_its_kind(
    packet: Any, at: int, value: int, rules: set[str]
) -> None:
    for wrong in (False, True):
        session = Session(opened=packet is not establish_connection)
        session.hears(establish_connection(ClientGuid=PEER))
        session.hears(connection_parameters())
        data = bytearray(bytes(packet()))
        if wrong:
            data[at] = value
        session.shows(bytes(data))
        assert bool(rules <= session.broken("MQQB")) == wrong
        assert bool(rules <= session.kept("MQQB")) != wrong
