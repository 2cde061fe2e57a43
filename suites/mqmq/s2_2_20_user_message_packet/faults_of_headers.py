"""Faults in the headers of messages of one kind, which break the rules of MS-MQMQ 2.2.20."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import clear_bits, set_bits
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import add
from reference_qm.codec import DebugHeader, SoapHeader, UserMessagePacket
from suites.mqmq.s2_2_20_user_message_packet.fault_steps import (
    join_headers,
    make_destination_list_length_condition,
    move_sent_header,
    omit_sent_header,
    split_headers,
)
from suites.mqmq.steps.faulty_messages import refuse_packets
from suites.mqmq.steps.kinds_of_messages import (
    has_destination_lists,
    has_large_body,
    is_admin_ack,
    is_express,
    is_final_ack,
    is_order_ack,
    is_report,
    is_transactional,
)

_HEADER_ORDER_RULES = ("MQMQ-2.2.20-01", "MQMQ-2.2.20-05")


def _has_empty_body(packet: Any) -> bool:
    return not packet.MessagePropertiesHeader.MessageBody


def _is_encrypted(packet: Any) -> bool:
    return bool(packet.SecurityHeader is not None and packet.SecurityHeader.EB)


def _has_list_signature(packet: Any) -> bool:
    return has_destination_lists(packet) and bool(packet.MultiQueueFormatHeader.Signature.Signature)


def _is_last_in_transaction(packet: Any) -> bool:
    return bool(packet.TransactionHeader is not None and packet.TransactionHeader.LM)


def _is_signed(packet: Any) -> bool:
    return bool(packet.SecurityHeader is not None and packet.SecurityHeader.SecurityData.Signature)


def _append_unflagged_header(name: str, header: Any, when: Any) -> Any:
    """Let the sender add a header to a message, although the flag of the header is clear."""
    return change_packets_of_kind(
        UserMessagePacket,
        lambda packet: join_headers(split_headers(packet) | {name: header.build()}),
        lambda packet: getattr(packet, name) is None and bool(when(packet)),
    )


_SECURITY_HEADER_FLAG_PATH = "UserHeader.SH"
_DEBUG_HEADER_FLAG_PATH = "BaseHeader.DH"
for _name, _broken_rules, _says, _install in (
    (
        "report-without-message-properties-header",
        _HEADER_ORDER_RULES,
        "A report of the sender has no MessagePropertiesHeader.",
        omit_sent_header("MessagePropertiesHeader", is_report),
    ),
    (
        "admin-ack-without-user-header",
        "MQMQ-2.2.20-01",
        "An administration acknowledgment of the sender has no UserHeader.",
        omit_sent_header("UserHeader", is_admin_ack),
    ),
    (
        "empty-message-without-message-properties-header",
        _HEADER_ORDER_RULES,
        "A message of the sender with an empty body has no MessagePropertiesHeader.",
        omit_sent_header("MessagePropertiesHeader", _has_empty_body),
    ),
    (
        "encrypted-message-without-message-properties-header",
        _HEADER_ORDER_RULES,
        "An encrypted message of the sender has no MessagePropertiesHeader.",
        omit_sent_header("MessagePropertiesHeader", _is_encrypted),
    ),
    (
        "final-ack-without-message-properties-header",
        _HEADER_ORDER_RULES,
        "A FinalAck of the receiver has no MessagePropertiesHeader.",
        omit_sent_header("MessagePropertiesHeader", is_final_ack),
    ),
    (
        "encrypted-message-sh-clear",
        "MQMQ-2.2.20-04",
        "The sender clears UserHeader.Flags.SH in an encrypted message, which has a SecurityHeader.",
        clear_bits(UserMessagePacket, _SECURITY_HEADER_FLAG_PATH, _is_encrypted),
    ),
    (
        "order-ack-sh-set-without-security-header",
        "MQMQ-2.2.20-04",
        "The receiver sets UserHeader.Flags.SH in an OrderAck, which has no SecurityHeader.",
        set_bits(UserMessagePacket, _SECURITY_HEADER_FLAG_PATH, is_order_ack),
    ),
    (
        "message-with-lists-sh-set-without-security-header",
        "MQMQ-2.2.20-04",
        "The sender sets UserHeader.Flags.SH in a message that has a MultiQueueFormatHeader and no SecurityHeader.",
        set_bits(
            UserMessagePacket,
            _SECURITY_HEADER_FLAG_PATH,
            lambda packet: has_destination_lists(packet) and packet.SecurityHeader is None,
        ),
    ),
    (
        "message-with-signature-in-lists-without-security-header",
        "MQMQ-2.2.20-04",
        "The sender sets UserHeader.Flags.SH in a message that has an MQFSignatureHeader with a signature, but sends "
        "no SecurityHeader.",
        omit_sent_header("SecurityHeader", _has_list_signature),
    ),
    (
        "transactional-traced-message-dh-clear",
        "MQMQ-2.2.20-06",
        "The sender clears BaseHeader.Flags.DH in a transactional message that has a DebugHeader.",
        clear_bits(
            UserMessagePacket,
            _DEBUG_HEADER_FLAG_PATH,
            lambda packet: packet.DebugHeader is not None and is_transactional(packet),
        ),
    ),
    (
        "message-with-lists-dh-set-without-debug-header",
        "MQMQ-2.2.20-06",
        "The sender sets BaseHeader.Flags.DH in a message that has a MultiQueueFormatHeader and no DebugHeader.",
        set_bits(
            UserMessagePacket,
            _DEBUG_HEADER_FLAG_PATH,
            lambda packet: has_destination_lists(packet) and packet.DebugHeader is None,
        ),
    ),
    (
        "report-with-debug-header-dh-clear",
        "MQMQ-2.2.20-06",
        "The sender adds a DebugHeader to a report, in which BaseHeader.Flags.DH is clear.",
        _append_unflagged_header("DebugHeader", DebugHeader(), is_report),
    ),
    (
        "express-traced-message-dh-set-without-debug-header",
        "MQMQ-2.2.20-06",
        "The sender sets BaseHeader.Flags.DH in a traced express message, but sends no DebugHeader.",
        omit_sent_header("DebugHeader", is_express),
    ),
    (
        "admin-ack-hh-set-without-soap-header",
        "MQMQ-2.2.20-07",
        "The sender sets UserHeader.Flags.HH in an administration acknowledgment, which has no SoapHeader.",
        set_bits(UserMessagePacket, "UserHeader.HH", is_admin_ack),
    ),
    (
        "report-with-soap-header-hh-clear",
        "MQMQ-2.2.20-07",
        "The sender adds a SoapHeader to a report, in which UserHeader.Flags.HH is clear.",
        _append_unflagged_header("SoapHeader", SoapHeader(), is_report),
    ),
    (
        "transactional-message-hh-set-without-soap-header",
        "MQMQ-2.2.20-07",
        "The sender sets UserHeader.Flags.HH in a transactional message, which has no SoapHeader.",
        set_bits(UserMessagePacket, "UserHeader.HH", is_transactional),
    ),
    (
        "message-with-signature-in-lists-mq-clear",
        "MQMQ-2.2.20-08",
        "The sender clears UserHeader.Flags.MQ in a message that has an MQFSignatureHeader with a signature.",
        clear_bits(UserMessagePacket, "UserHeader.MQ", _has_list_signature),
    ),
    (
        "report-mq-set-without-lists",
        "MQMQ-2.2.20-08",
        "The sender sets UserHeader.Flags.MQ in a report, which has no MultiQueueFormatHeader.",
        set_bits(UserMessagePacket, "UserHeader.MQ", is_report),
    ),
    (
        "signed-message-mq-set-without-lists",
        "MQMQ-2.2.20-08",
        "The sender sets UserHeader.Flags.MQ in a signed message without a MultiQueueFormatHeader.",
        set_bits(
            UserMessagePacket, "UserHeader.MQ", lambda packet: _is_signed(packet) and not has_destination_lists(packet)
        ),
    ),
    (
        "message-to-3-queues-mq-set-without-lists",
        "MQMQ-2.2.20-08",
        "The sender sets UserHeader.Flags.MQ in a message to three queues, but sends no MultiQueueFormatHeader.",
        omit_sent_header("MultiQueueFormatHeader", make_destination_list_length_condition(3)),
    ),
    (
        "last-message-of-transaction-th-clear",
        "MQMQ-2.2.20-03",
        "The sender clears UserHeader.Flags.TH in the last message of a transaction, which has a TransactionHeader.",
        clear_bits(UserMessagePacket, "UserHeader.TH", _is_last_in_transaction),
    ),
    (
        "final-ack-th-set-without-transaction-header",
        "MQMQ-2.2.20-03",
        "The receiver sets UserHeader.Flags.TH in a FinalAck, which has no TransactionHeader.",
        set_bits(UserMessagePacket, "UserHeader.TH", is_final_ack),
    ),
    (
        "large-transactional-message-without-transaction-header",
        "MQMQ-2.2.20-03",
        "The sender sets UserHeader.Flags.TH in a large transactional message, but sends no TransactionHeader.",
        omit_sent_header("TransactionHeader", has_large_body),
    ),
    (
        "debug-header-after-lists",
        "MQMQ-2.2.20-D02",
        "The sender writes the DebugHeader of a message after the MultiQueueFormatHeader.",
        move_sent_header("MultiQueueFormatHeader", "DebugHeader"),
    ),
    (
        "security-header-before-transaction-header",
        "MQMQ-2.2.20-D02",
        "The sender writes the SecurityHeader of a message before the TransactionHeader.",
        move_sent_header("SecurityHeader", "TransactionHeader"),
    ),
    (
        "properties-header-before-security-header",
        "MQMQ-2.2.20-D02",
        "The sender writes the MessagePropertiesHeader of a message before the SecurityHeader.",
        move_sent_header("MessagePropertiesHeader", "SecurityHeader"),
    ),
    (
        "receiver-debug-header-with-lists-refused",
        "MQMQ-2.2.20-D02",
        "The receiver refuses a message that has a DebugHeader before a MultiQueueFormatHeader.",
        refuse_packets(
            UserMessagePacket, lambda packet: has_destination_lists(packet) and packet.DebugHeader is not None
        ),
    ),
    (
        "receiver-soap-header-with-lists-refused",
        "MQMQ-2.2.20-D02",
        "The receiver refuses a message that has a SoapHeader before a MultiQueueFormatHeader.",
        refuse_packets(
            UserMessagePacket, lambda packet: has_destination_lists(packet) and packet.SoapHeader is not None
        ),
    ),
):
    add(_name, _broken_rules, _says, _install)
