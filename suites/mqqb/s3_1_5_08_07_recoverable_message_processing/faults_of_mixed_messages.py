"""Faults of MS-MQQB 3.1.5.8.7 in the SessionAck after 32 recoverable messages, beside other messages of the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import replace_method_during, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


def change_field_of_ack_of_32_messages(field: str, value: Callable[[Session, SessionHeader], int]) -> Install:
    """Return an installer of a fault that changes one field of the SessionAck after 32 recoverable messages."""

    def make_changed_header(original: Any, *_: Any) -> Any:
        def build_changed_header(qm: QM, session: Session) -> SessionHeader:
            header = original(qm, session)
            changed: SessionHeader = set_fields(header, {field: value(session, header) & 0xFFFF})
            return changed

        return build_changed_header

    return replace_method_during(
        SessionAcks.set_acknowledgment_flag, SessionAcks.build_session_header, make_changed_header
    )


add(
    "receiver-full-ack-recoverable-number-counts-express-messages",
    "MQQB-3.1.5.8.7-06",
    "RecoverableMsgAckSeqNumber in the SessionAck after 32 recoverable messages also counts the express messages.",
    change_field_of_ack_of_32_messages(
        "RecoverableMsgAckSeqNumber",
        lambda session, header: (
            header.RecoverableMsgAckSeqNumber + session.MessageReceivedCount - session.RecoverableMessageReceivedCount
        ),
    ),
    blind=True,
)
add(
    "receiver-later-full-ack-recoverable-number-of-first",
    "MQQB-3.1.5.8.7-06",
    "RecoverableMsgAckSeqNumber in each SessionAck after 32 recoverable messages is 1.",
    change_field_of_ack_of_32_messages("RecoverableMsgAckSeqNumber", lambda session, header: 1),
    blind=True,
)
add(
    "receiver-full-ack-message-number-counts-recoverable-messages",
    "MQQB-3.1.5.8.7-07",
    "UserMsgSequenceNumber in the SessionAck after 32 recoverable messages is the number of recoverable messages sent.",
    change_field_of_ack_of_32_messages(
        "UserMsgSequenceNumber", lambda session, header: session.RecoverableMessageSentCount
    ),
    blind=True,
)
add(
    "receiver-full-ack-message-number-counts-unacknowledged-messages",
    "MQQB-3.1.5.8.7-07",
    "UserMsgSequenceNumber in the SessionAck after 32 recoverable messages is the number of unacknowledged messages.",
    change_field_of_ack_of_32_messages("UserMsgSequenceNumber", lambda session, header: session.UnAckedMessageCount),
    blind=True,
)
add(
    "receiver-full-ack-recoverable-count-of-received-messages",
    "MQQB-3.1.5.8.7-08",
    "RecoverableMsgSeqNumber in the SessionAck after 32 recoverable messages counts the received messages.",
    change_field_of_ack_of_32_messages(
        "RecoverableMsgSeqNumber", lambda session, header: session.RecoverableMessageReceivedCount
    ),
    blind=True,
)
add(
    "receiver-full-ack-recoverable-count-of-all-sent-messages",
    "MQQB-3.1.5.8.7-08",
    "RecoverableMsgSeqNumber in the SessionAck after 32 recoverable messages counts all messages that were sent.",
    change_field_of_ack_of_32_messages("RecoverableMsgSeqNumber", lambda session, header: session.MessageSentCount),
    blind=True,
)
add(
    "receiver-full-ack-window-without-unacknowledged-messages",
    "MQQB-3.1.5.8.7-10",
    "In the SessionAck after 32 recoverable messages, WindowSize is reduced by the number of unacknowledged messages.",
    change_field_of_ack_of_32_messages(
        "WindowSize", lambda session, header: session.WindowSize - session.UnAckedMessageCount
    ),
    blind=True,
)
add(
    "receiver-full-ack-window-without-received-messages",
    "MQQB-3.1.5.8.7-10",
    "WindowSize in the SessionAck after 32 recoverable messages is reduced by the messages that wait for the disk.",
    change_field_of_ack_of_32_messages(
        "WindowSize", lambda session, header: session.WindowSize - len(session.unacknowledged_receipts)
    ),
    blind=True,
)
