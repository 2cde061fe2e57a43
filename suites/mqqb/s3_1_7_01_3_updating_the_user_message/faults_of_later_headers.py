"""Faults that break rules of MS-MQQB 3.1.7.1.3 after a later SessionHeader or for one kind of message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from suites.mqqb.s3_1_7_11_construction_of_a_user_message_packet.faults_of_later_headers import (
    change_session_after_session_header,
    has_new_recoverable_ack,
    keep_unacked_received_count,
)


@fault("sender-acknowledgments-after-second-begin-with-last-acked-number", breaks="MQQB-3.1.7.1.3-25", blind=True)
class SenderAcknowledgmentsAfterSecondBeginWithLastAckedNumber(SessionAcks):
    """From its third acknowledgment on a session, the sender sets RecoverableMsgAckSeqNumber to the last number that it
    has already acknowledged, instead of the next number.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        counts = self.__dict__.setdefault("acknowledgments", {})
        counts[session.number] = counts.get(session.number, 0) + 1
        if counts[session.number] < 3 or not header.RecoverableMsgAckFlags:
            return header
        flags = (header.RecoverableMsgAckFlags << 1 | 1) & 0xFFFFFFFF
        first = header.RecoverableMsgAckSeqNumber - 1 & 0xFFFF
        return replace(header, RecoverableMsgAckSeqNumber=first, RecoverableMsgAckFlags=flags)


def _acknowledges_recoverable_message(session: Session, count: int, before: tuple[int, int, int]) -> bool:
    return has_new_recoverable_ack(session, before)


def _acknowledges_only_express_messages(session: Session, count: int, before: tuple[int, int, int]) -> bool:
    return not has_new_recoverable_ack(session, before)


for _name, _rule, _says, _install in (
    (
        "sender-session-ack-after-second-session-header",
        "MQQB-3.1.7.1.3-23",
        "After its second SessionHeader in a message, the sender also sends a SessionAck.",
        change_session_after_session_header(keep_unacked_received_count(lambda session, count, before: count > 1)),
    ),
    (
        "sender-session-ack-after-session-header-for-recoverable-messages",
        "MQQB-3.1.7.1.3-23",
        "After a SessionHeader for recoverable messages, the sender also sends a SessionAck.",
        change_session_after_session_header(keep_unacked_received_count(_acknowledges_recoverable_message)),
    ),
    (
        "sender-session-ack-after-session-header-for-express-messages",
        "MQQB-3.1.7.1.3-23",
        "After a SessionHeader for express messages only, the sender also sends a SessionAck.",
        change_session_after_session_header(keep_unacked_received_count(_acknowledges_only_express_messages)),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
