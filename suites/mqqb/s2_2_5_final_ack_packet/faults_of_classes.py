"""Faults that break rules of MS-MQQB 2.2.5 FinalAck Packet: the class of a FinalAck, MP and TxSequenceNumber are wrong
in some states only.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.fields import clear_bits
from harness.faults.ordering_acks import MESSAGE_BODY_FIELD_PATH, PRIVATE_NAME_QUEUE_TYPE
from harness.faults.parts import replace_part
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import Install, add
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

_WRONG_FINAL_ACK_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
_REFUSAL_CLASS_BY_RULE = {
    "MQQB-2.2.5-13": MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    "MQQB-2.2.5-14": MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
    "MQQB-2.2.5-15": MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
    "MQQB-2.2.5-18": MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
    "MQQB-2.2.5-19": MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA,
}
_REMOVAL_CLASS_BY_RULE = {
    "MQQB-2.2.5-20": MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
    "MQQB-2.2.5-22": MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
}
AcknowledgmentBody = OrderAckBody | FinalAckBody


def _send_wrong_final_ack_class(correct: MessageClass, when: Callable[[str, AcknowledgmentBody], bool]) -> Install:
    """Return an installer of a fault that replaces one class of FinalAcks. The condition gets the order queue and the
    body.
    """

    class WrongClassSent(OrderAcks):
        def send_transactional_ack(
            self, name: str, message_class: MessageClass, body: AcknowledgmentBody, now: Now
        ) -> None:
            wrong = message_class is correct and when(name, body)
            super().send_transactional_ack(name, _WRONG_FINAL_ACK_CLASS if wrong else message_class, body, now)

    return replace_part(WrongClassSent)


def _send_wrong_class_except_in_first_final_ack(correct: MessageClass) -> Install:
    """Return an installer of a fault that replaces one class of FinalAcks, except in the first such FinalAck."""

    class LaterClassWrong(OrderAcks):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self.is_later = False

        def send_transactional_ack(
            self, name: str, message_class: MessageClass, body: AcknowledgmentBody, now: Now
        ) -> None:
            if message_class is correct:
                message_class = _WRONG_FINAL_ACK_CLASS if self.is_later else correct
                self.is_later = True
            super().send_transactional_ack(name, message_class, body, now)

    return replace_part(LaterClassWrong)


def _send_wrong_final_ack_class_if_admin_ack_requested(correct: MessageClass) -> Install:
    """Return an installer of a fault that replaces one class of FinalAcks of messages that request administration
    acknowledgments.
    """

    class ClassWrongBesideAdminAck(FinalAcks):
        def send_negative_final_ack(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            requested = packet.MessagePropertiesHeader.Flags & 0xF
            wrong = message_class is correct and requested
            super().send_negative_final_ack(session, packet, _WRONG_FINAL_ACK_CLASS if wrong else message_class, now)

    return replace_part(ClassWrongBesideAdminAck)


def _is_in_middle_of_sequence(name: str, body: AcknowledgmentBody) -> bool:
    return body.TxSequenceNumber > 1


def _is_private_name(name: str, body: AcknowledgmentBody) -> bool:
    return name.startswith("PRIVATE=")


for _rule, _class in (_REFUSAL_CLASS_BY_RULE | _REMOVAL_CLASS_BY_RULE).items():
    _class_name = _class.name.removeprefix("MQMSG_CLASS_")
    _words = _class_name.lower().replace("_", "-")
    add(
        f"receiver-final-ack-{_words}-in-middle-of-sequence-nack-bad-encryption",
        _rule,
        f"The receiver sends the class NACK_BAD_ENCRYPTION instead of {_class_name}, unless TxSequenceNumber is 1.",
        _send_wrong_final_ack_class(_class, _is_in_middle_of_sequence),
        blind=True,
    )
    add(
        f"receiver-final-ack-{_words}-to-private-name-nack-bad-encryption",
        _rule,
        f"The receiver sends the class NACK_BAD_ENCRYPTION instead of {_class_name} to a private order queue.",
        _send_wrong_final_ack_class(_class, _is_private_name),
        blind=True,
    )
    add(
        f"receiver-later-final-ack-{_words}-nack-bad-encryption",
        _rule,
        f"The receiver sends only its first FinalAck of the class {_class_name} with this class. The class of its "
        "later FinalAcks for the same reason is NACK_BAD_ENCRYPTION.",
        _send_wrong_class_except_in_first_final_ack(_class),
        blind=True,
    )

for _rule, _class in _REFUSAL_CLASS_BY_RULE.items():
    _class_name = _class.name.removeprefix("MQMSG_CLASS_")
    add(
        f"receiver-final-ack-{_class_name.lower().replace('_', '-')}-beside-admin-ack-nack-bad-encryption",
        _rule,
        f"The receiver sends the class NACK_BAD_ENCRYPTION instead of {_class_name}, if the message requests "
        "administration acknowledgments.",
        _send_wrong_final_ack_class_if_admin_ack_requested(_class),
        blind=True,
    )


def _is_negative_final_ack(packet: UserMessagePacket) -> bool:
    return is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass >= 0x8000


def _is_final_ack_to_private_name(packet: UserMessagePacket) -> bool:
    return is_final_ack(packet) and packet.UserHeader.DQ == PRIVATE_NAME_QUEUE_TYPE


def _is_later_final_ack(packet: UserMessagePacket) -> bool:
    return is_final_ack(packet) and FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody).TxSequenceNumber > 1


for _words, _condition, _says in (
    ("negative", _is_negative_final_ack, "with a negative class"),
    ("private", _is_final_ack_to_private_name, "to a private format name"),
    ("later", _is_later_final_ack, "with a TxSequenceNumber greater than 1"),
):
    add(
        f"receiver-{_words}-final-ack-mp-clear",
        "MQQB-2.2.5-02",
        f"The receiver clears MP in a FinalAck {_says}.",
        clear_bits(UserMessagePacket, "UserHeader.MP", _condition),
        blind=True,
    )


def _make_tx_sequence_number_change(change: Callable[[int], int]) -> Callable[[bytes], bytes]:
    """Return a function that changes TxSequenceNumber in the body of a FinalAck."""

    def change_body(body: bytes) -> bytes:
        number = change(int.from_bytes(body[8:12], "little"))
        return body[:8] + number.to_bytes(4, "little") + body[12:]

    return change_body


for _name, _says, _change, _condition in (
    (
        "receiver-final-ack-tx-sequence-number-of-16-bits",
        "The receiver sends only the low 16 bits of TxSequenceNumber in a FinalAck.",
        lambda number: number & 0xFFFF,
        is_final_ack,
    ),
    (
        "receiver-final-ack-highest-tx-sequence-number-1",
        "The receiver sends TxSequenceNumber 1 instead of 0xFFFFFFFF in a FinalAck.",
        lambda number: 1 if number == 0xFFFFFFFF else number,
        is_final_ack,
    ),
    (
        "receiver-negative-final-ack-tx-sequence-number-one-less",
        "The receiver counts TxSequenceNumber of a FinalAck with a negative class from 0.",
        lambda number: number - 1,
        _is_negative_final_ack,
    ),
):
    add(
        _name,
        "MQQB-2.2.5.1-D02",
        _says,
        send_wrong_field_values(
            UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: _make_tx_sequence_number_change(_change)}, _condition
        ),
        blind=True,
    )
