"""Faults that break the rules MQMQ-2.2.19.1-01 to MQMQ-2.2.19.1-02."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import (
    add_to_field,
    clear_bits,
    register_refusal_faults,
    send_wrong_size,
    set_bits,
    set_field_value,
)
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_every_packet, change_packets_of_kind, replace_byte
from harness.faults.received_messages import change_received_message
from harness.faults.registry import Install, add
from harness.faults.sent_messages import (
    add_to_packet_size,
    correct_packet_size,
    has_header,
)
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    Packet,
    SessionAckPacket,
    SessionHeader,
    UserMessagePacket,
)
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_1_base_header.fault_steps import (
    CONNECTION_PARAMETERS_TYPE,
    SECONDS_PER_HOUR,
    SESSION_ACK_TYPE,
    USER_MESSAGE_TYPE,
)
from suites.mqmq.steps.kinds_of_messages import has_destination_lists, is_admin_ack, is_order_ack, is_report

SESSION_HEADER_SIZE = len(SessionHeader().build())


def _remove_session_header(packet: SessionAckPacket) -> bytes:
    return correct_packet_size(packet.build()[:-SESSION_HEADER_SIZE])


for _name, _broken_rules, _says, _install in (
    (
        "receiver-session-ack-version-number-0x11",
        ("MQMQ-2.2.19.1-01",),
        "The receiver's SessionAck carries VersionNumber 0x11.",
        set_field_value(SESSION_ACK_TYPE, "BaseHeader.VersionNumber", 0x11),
    ),
    (
        "sender-transactional-message-priority-3",
        ("MQMQ-2.2.19.1-04",),
        "The sender's transactional UserMessage carries priority 3.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.PR", 3, has_header("TransactionHeader")),
    ),
    (
        "receiver-order-ack-in-bit-set",
        ("MQMQ-2.2.19.1-06",),
        "The receiver sets IN in its OrderAck.",
        set_bits(USER_MESSAGE_TYPE, "BaseHeader.IN", is_order_ack),
    ),
    (
        "receiver-final-ack-in-bit-set",
        ("MQMQ-2.2.19.1-06",),
        "The receiver sets IN in its FinalAck.",
        set_bits(USER_MESSAGE_TYPE, "BaseHeader.IN", is_final_ack),
    ),
    (
        "receiver-session-ack-without-session-header",
        ("MQMQ-2.2.19.1-07",),
        "The receiver's SessionAck has SH set, but contains no SessionHeader.",
        change_packets_of_kind(SESSION_ACK_TYPE, _remove_session_header),
    ),
    (
        "receiver-session-ack-dh-set",
        ("MQMQ-2.2.19.1-08",),
        "The receiver sets DH in its SessionAck.",
        set_bits(SESSION_ACK_TYPE, "BaseHeader.DH"),
    ),
    (
        "sender-user-message-dh-without-debug-header",
        ("MQMQ-2.2.19.1-09", "MQMQ-2.2.20-06"),
        "The sender's UserMessage has DH set, but contains no DebugHeader.",
        set_bits(USER_MESSAGE_TYPE, "BaseHeader.DH"),
    ),
    (
        "sender-traced-message-tr-clear",
        ("MQMQ-2.2.19.1-12",),
        "The sender leaves TR clear in a UserMessage that is to be traced.",
        clear_bits(USER_MESSAGE_TYPE, "BaseHeader.TR"),
    ),
    (
        "sender-user-message-tr-without-dh",
        ("MQMQ-2.2.19.1-13",),
        "The sender's UserMessage has TR set, but DH clear.",
        set_bits(USER_MESSAGE_TYPE, "BaseHeader.TR"),
    ),
    (
        "receiver-session-ack-signature-first-byte-wrong",
        ("MQMQ-2.2.19.1-21",),
        "The receiver's SessionAck carries a Signature whose first letter is wrong.",
        set_field_value(SESSION_ACK_TYPE, "BaseHeader.Signature", b"MIOR"),
    ),
    (
        "connection-parameters-packet-size-4-bytes-short",
        ("MQMQ-2.2.19.1-22",),
        "The ConnectionParameters packet carries a PacketSize that is 4 bytes too small.",
        send_wrong_size(CONNECTION_PARAMETERS_TYPE, "BaseHeader.PacketSize", -4),
    ),
    (
        "every-packet-version-number-0x11",
        ("MQMQ-2.2.19.1-01",),
        "Every packet of the queue manager carries VersionNumber 0x11.",
        change_every_packet(replace_byte(0, lambda old: 0x11)),
    ),
    (
        "sender-user-message-version-number-zero",
        ("MQMQ-2.2.19.1-01",),
        "The sender's UserMessage carries VersionNumber 0x00.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.VersionNumber", 0),
    ),
    (
        "every-packet-signature-big-endian",
        ("MQMQ-2.2.19.1-21",),
        "Every packet of the queue manager carries a big-endian Signature.",
        change_every_packet(lambda data: data[:4] + data[4:8][::-1] + data[8:]),
    ),
    (
        "sender-user-message-signature-last-byte-wrong",
        ("MQMQ-2.2.19.1-21",),
        "The sender's UserMessage carries a Signature whose last letter is wrong.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.Signature", b"LIOS"),
    ),
    (
        "every-packet-packet-size-16-bytes-large",
        ("MQMQ-2.2.19.1-22",),
        "Every packet of the queue manager carries a PacketSize that counts the BaseHeader twice.",
        change_every_packet(add_to_packet_size(+16)),
    ),
    (
        "every-packet-packet-size-16-bytes-short",
        ("MQMQ-2.2.19.1-22",),
        "Every packet of the queue manager carries a PacketSize without the BaseHeader.",
        change_every_packet(add_to_packet_size(-16)),
    ),
    (
        "sender-user-message-packet-size-4-bytes-short",
        (
            "MQMQ-2.2.19.1-22",
            "MQDMPR-3.1.7.1.32-04",
        ),
        "The sender's UserMessage carries a PacketSize that is 4 bytes too small.",
        send_wrong_size(USER_MESSAGE_TYPE, "BaseHeader.PacketSize", -4),
    ),
    (
        "establish-connection-packet-size-above-4-mib",
        ("MQMQ-2.2.19.1-22",),
        "The EstablishConnection packet carries a PacketSize above 4 MiB.",
        set_field_value(EstablishConnectionPacket, "BaseHeader.PacketSize", 0x0040_0001),
    ),
    (
        "receiver-session-ack-time-to-reach-queue-1-hour",
        ("MQMQ-2.2.19.1-25", "MQMQ-2.2.19.1-D01"),
        "The receiver's SessionAck carries a TimeToReachQueue of one hour.",
        set_field_value(SESSION_ACK_TYPE, "BaseHeader.TimeToReachQueue", SECONDS_PER_HOUR),
    ),
):
    add(_name, _broken_rules, _says, _install)


ESTABLISH_CONNECTION_TYPE = EstablishConnectionPacket


def refuse_packets_of_kind(kind: type[Packet], bad: Any) -> Install:
    """Treat packets of one kind as malformed if they meet a condition."""

    class MalformedPacketRefuser(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            if isinstance(packet, kind) and bad(packet):
                raise FormatError("BaseHeader", 0, "a fault", "the packet is refused")
            super().check_field_values(packet)

    return replace_part(MalformedPacketRefuser)


def is_traced_recoverable_message(packet: Any) -> bool:
    """Return whether a message is recoverable, not transactional, and traced."""
    traced = packet.DebugHeader is not None and packet.TransactionHeader is None
    return bool(traced and packet.UserHeader.DM)


for _name, _rule, _says, _install in (
    (
        "report-version-number-0x11",
        "MQMQ-2.2.19.1-01",
        "A queue manager sends a report with VersionNumber 0x11.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.VersionNumber", 0x11, is_report),
    ),
    (
        "admin-ack-version-number-0x20",
        "MQMQ-2.2.19.1-01",
        "A queue manager sends an administration acknowledgment with VersionNumber 0x20.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.VersionNumber", 0x20, is_admin_ack),
    ),
    (
        "queue-manager-session-ack-reserved-refused",
        "MQMQ-2.2.19.1-02",
        "A queue manager closes the session on a SessionAck whose BaseHeader.Reserved is not 0.",
        refuse_packets_of_kind(SESSION_ACK_TYPE, lambda p: p.BaseHeader.Reserved),
    ),
    (
        "acceptor-establish-connection-reserved-refused",
        "MQMQ-2.2.19.1-02",
        "The acceptor refuses an EstablishConnection request whose BaseHeader.Reserved is not 0.",
        refuse_packets_of_kind(ESTABLISH_CONNECTION_TYPE, lambda p: p.BaseHeader.Reserved),
    ),
    (
        "receiver-priority-4-treated-as-3",
        "MQMQ-2.2.19.1-03",
        "The receiver treats messages of priority 4 as messages of priority 3 in a queue.",
        change_received_message({"BaseHeader.Flags": lambda old: old & ~7 | 3}, lambda p: p.BaseHeader.PR == 4),
    ),
    (
        "sender-transactional-message-to-several-queues-priority-3",
        "MQMQ-2.2.19.1-04",
        "The sender sets priority 3 in a transactional message to several queues.",
        set_field_value(
            USER_MESSAGE_TYPE,
            "BaseHeader.PR",
            3,
            lambda p: p.TransactionHeader is not None and has_destination_lists(p),
        ),
    ),
    (
        "connection-parameters-dh-set",
        "MQMQ-2.2.19.1-08",
        "A queue manager sends a ConnectionParameters packet with DH set.",
        set_bits(CONNECTION_PARAMETERS_TYPE, "BaseHeader.DH"),
    ),
    (
        "establish-connection-dh-set",
        "MQMQ-2.2.19.1-08",
        "A queue manager sends an EstablishConnection packet with DH set.",
        set_bits(ESTABLISH_CONNECTION_TYPE, "BaseHeader.DH"),
    ),
    (
        "order-ack-base-header-x9-set",
        "MQMQ-2.2.19.1-10",
        "A queue manager sends an OrderAck with bit X9 of BaseHeader.Flags set.",
        set_bits(USER_MESSAGE_TYPE, "BaseHeader.X9", is_order_ack),
    ),
    (
        "report-base-header-x8-set",
        "MQMQ-2.2.19.1-11",
        "A queue manager sends a report with bit X8 of BaseHeader.Flags set.",
        set_bits(USER_MESSAGE_TYPE, "BaseHeader.X8", is_report),
    ),
    (
        "establish-connection-base-header-x6-set",
        "MQMQ-2.2.19.1-14",
        "A queue manager sends an EstablishConnection packet with bit X6 of BaseHeader.Flags set.",
        set_bits(ESTABLISH_CONNECTION_TYPE, "BaseHeader.X6"),
    ),
    (
        "queue-manager-session-ack-x5-refused",
        "MQMQ-2.2.19.1-15",
        "A queue manager closes the session on a SessionAck with bit X5 of BaseHeader.Flags set.",
        refuse_packets_of_kind(SESSION_ACK_TYPE, lambda p: p.BaseHeader.X5),
    ),
    (
        "acceptor-establish-connection-x3-refused",
        "MQMQ-2.2.19.1-17",
        "The acceptor refuses an EstablishConnection request with bit X3 of BaseHeader.Flags set.",
        refuse_packets_of_kind(ESTABLISH_CONNECTION_TYPE, lambda p: p.BaseHeader.X3),
    ),
    (
        "acceptor-connection-parameters-x1-refused",
        "MQMQ-2.2.19.1-19",
        "The acceptor refuses a ConnectionParameters request with bit X1 of BaseHeader.Flags set.",
        refuse_packets_of_kind(CONNECTION_PARAMETERS_TYPE, lambda p: p.BaseHeader.X1),
    ),
    (
        "receiver-signed-message-x0-refused",
        "MQMQ-2.2.19.1-20",
        "The receiver refuses a transactional message with bit X0 of BaseHeader.Flags set.",
        refuse_packets_of_kind(USER_MESSAGE_TYPE, lambda p: p.BaseHeader.X0 and p.TransactionHeader is not None),
    ),
    (
        "establish-connection-signature-wrong",
        "MQMQ-2.2.19.1-21",
        "A queue manager sends an EstablishConnection packet whose Signature is 0x524F494D.",
        set_field_value(ESTABLISH_CONNECTION_TYPE, "BaseHeader.Signature", b"LIOS"),
    ),
    (
        "order-ack-signature-wrong",
        "MQMQ-2.2.19.1-21",
        "A queue manager sends an OrderAck whose Signature is 0x524F494D.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.Signature", b"LIOS", is_order_ack),
    ),
    (
        "sender-message-to-several-queues-packet-size-4-bytes-short",
        "MQMQ-2.2.19.1-22",
        "A queue manager sends to several queues a message whose PacketSize is 4 bytes too small.",
        add_to_field(USER_MESSAGE_TYPE, "BaseHeader.PacketSize", -4, has_destination_lists),
    ),
    (
        "admin-ack-packet-size-4-bytes-large",
        "MQMQ-2.2.19.1-22",
        "A queue manager sends an administration acknowledgment whose PacketSize is 4 bytes too large.",
        add_to_field(USER_MESSAGE_TYPE, "BaseHeader.PacketSize", 4, is_admin_ack),
    ),
    (
        "establish-connection-time-to-reach-queue-0",
        "MQMQ-2.2.19.1-25",
        "A queue manager sends an EstablishConnection packet whose TimeToReachQueue is 0.",
        set_field_value(ESTABLISH_CONNECTION_TYPE, "BaseHeader.TimeToReachQueue", 0),
    ),
    (
        "connection-parameters-time-to-reach-queue-0x7fffffff",
        "MQMQ-2.2.19.1-25",
        "A queue manager sends a ConnectionParameters packet whose TimeToReachQueue is 0x7FFFFFFF.",
        set_field_value(CONNECTION_PARAMETERS_TYPE, "BaseHeader.TimeToReachQueue", 0x7FFFFFFF),
    ),
    (
        "sender-priority-7-sent-as-6",
        "MQMQ-2.2.19.1-D02",
        "The sender sends a message of priority 7 with priority 6.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.PR", 6, lambda p: p.BaseHeader.PR == 7),
    ),
    (
        "sender-traced-recoverable-message-tr-clear",
        "MQMQ-2.2.19.1-12",
        "A queue manager sends a traced recoverable message with TR clear.",
        clear_bits(UserMessagePacket, "BaseHeader.TR", is_traced_recoverable_message),
    ),
):
    add(f"narrow-{_name}", _rule, _says, _install, blind=True)


register_refusal_faults(
    USER_MESSAGE_TYPE,
    ("receiver-base-header-reserved-refused", "MQMQ-2.2.19.1-02", "BaseHeader.Reserved"),
    ("receiver-base-header-x9-refused", "MQMQ-2.2.19.1-10", "BaseHeader.X9"),
    ("receiver-base-header-x8-refused", "MQMQ-2.2.19.1-11", "BaseHeader.X8"),
    ("receiver-base-header-x6-refused", "MQMQ-2.2.19.1-14", "BaseHeader.X6"),
    ("receiver-base-header-x5-refused", "MQMQ-2.2.19.1-15", "BaseHeader.X5"),
    ("receiver-base-header-x4-refused", "MQMQ-2.2.19.1-16", "BaseHeader.X4"),
    ("receiver-base-header-x3-refused", "MQMQ-2.2.19.1-17", "BaseHeader.X3"),
    ("receiver-base-header-x2-refused", "MQMQ-2.2.19.1-18", "BaseHeader.X2"),
    ("receiver-base-header-x1-refused", "MQMQ-2.2.19.1-19", "BaseHeader.X1"),
    ("receiver-base-header-x0-refused", "MQMQ-2.2.19.1-20", "BaseHeader.X0"),
)


@fault("initiator-refuses-parameters-response-with-nonzero-reserved", breaks="MQMQ-2.2.19.1-02", blind=True)
class InitiatorRefusesParametersResponseWithNonzeroReserved(SessionOpening):
    """The initiator closes the session on a ConnectionParameters response whose BaseHeader.Reserved is not zero."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.BaseHeader.Reserved:
            self.qm.session_closing.close(session, "a fault", now)
        else:
            super().receive_parameters_response(session, packet, now)


NO_ACK_REQUEST_FIELDS = {"MessagePropertiesHeader.Flags": 0}


for _name, _rule, _says, _changes, _when in (
    (
        "receiver-base-header-reserved-of-recoverable-message-makes-express",
        "MQMQ-2.2.19.1-02",
        "The receiver treats a recoverable message as express when BaseHeader.Reserved is greater than 0x7F.",
        {"UserHeader.Flags": lambda flags: flags & ~(3 << 5)},
        lambda packet: packet.BaseHeader.Reserved > 0x7F and packet.TransactionHeader is None,
    ),
    (
        "receiver-base-header-x8-suppresses-acknowledgments",
        "MQMQ-2.2.19.1-11",
        "The receiver sends no acknowledgments for a message when bit X8 of BaseHeader.Flags is set.",
        NO_ACK_REQUEST_FIELDS,
        lambda packet: packet.BaseHeader.X8,
    ),
    (
        "receiver-base-header-x6-changes-priority",
        "MQMQ-2.2.19.1-14",
        "The receiver stores a message with priority 7 when bit X6 of BaseHeader.Flags is set.",
        {"BaseHeader.Flags": lambda flags: flags | 7},
        lambda packet: packet.BaseHeader.X6 and packet.TransactionHeader is None,
    ),
    (
        "receiver-base-header-x4-of-transactional-message-suppresses-acknowledgments",
        "MQMQ-2.2.19.1-16",
        "The receiver sends no acknowledgments for a transactional message when bit X4 of BaseHeader.Flags is set.",
        NO_ACK_REQUEST_FIELDS,
        lambda packet: packet.BaseHeader.X4 and packet.TransactionHeader is not None,
    ),
    (
        "receiver-base-header-x0-message-expires",
        "MQMQ-2.2.19.1-20",
        "The receiver removes a message from its queue after one second when bit X0 of BaseHeader.Flags is set.",
        {"UserHeader.TimeToBeReceived": 1},
        lambda packet: packet.BaseHeader.X0,
    ),
):
    add(_name, _rule, _says, change_received_message(_changes, _when))


add(
    "receiver-negative-final-ack-with-in",
    "MQMQ-2.2.19.1-06",
    "The receiver sets BaseHeader.Flags.IN in a FinalAck for a refused message.",
    set_bits(
        UserMessagePacket,
        "BaseHeader.IN",
        lambda packet: (
            packet.MessagePropertiesHeader.Label == "QM Ordering Ack"
            and packet.MessagePropertiesHeader.MessageClass >= 0x8000
        ),
    ),
    blind=True,
)


@fault("receiver-session-ack-with-x2-refused", breaks="MQMQ-2.2.19.1-18", blind=True)
class ReceiverSessionAckWithX2Refused(Identifying):
    """The receiver refuses a SessionAck in which bit X2 of BaseHeader.Flags is set."""

    def check_field_values(self, packet: Packet) -> None:
        if isinstance(packet, SessionAckPacket) and packet.BaseHeader.X2:
            raise FormatError("BaseHeader.Flags", 0, "a fault", "X2 is set")
        super().check_field_values(packet)


@fault("initiator-parameters-response-with-x3-refused", breaks="MQMQ-2.2.19.1-17", blind=True)
class InitiatorParametersResponseWithX3Refused(SessionOpening):
    """The initiator closes the session if bit X3 of BaseHeader.Flags is set in the ConnectionParameters response."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.BaseHeader.X3:
            error = FormatError("BaseHeader.Flags", 2, "MS-MQMQ 2.2.19.1", "bit X3 is set")
            self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
        else:
            super().receive_parameters_response(session, packet, now)
