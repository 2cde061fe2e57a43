"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security about messages that are refused."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.refusal_acks import omit_final_ack, omit_nack, send_unrequested_nack
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

BAD_SIGNATURE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
BAD_ENCRYPTION_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
ACCESS_DENIED_CLASS = MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED


def _insert_refused_message(refused: MessageClass) -> Install:
    """Make the receiver refuse a message, but insert it into its queue."""

    class RefusedMessageInserted(SecurityOnReceipt):
        def check_security(
            self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
        ) -> UserMessagePacket | MessageClass:
            outcome = super().check_security(session, packet, queue, now)
            if outcome is not refused:
                return outcome
            self.qm.message_admission.refuse_message(session, packet, refused, now)
            return packet

    return replace_part(RefusedMessageInserted)


for _name, _breaks, _says, _install in (
    (
        "receiver-nack-of-invalid-signature-not-sent",
        ("MQQB-3.1.5.8.3-15", "MQDMPR-3.1.1.12-D16", "MQQB-3.1.5.8.3-38"),
        "The receiver sends no administration acknowledgment for a message with NA and an invalid signature.",
        omit_nack(BAD_SIGNATURE_CLASS),
    ),
    (
        "receiver-nack-of-invalid-signature-without-na",
        ("MQQB-3.1.5.8.3-15", "MQDMPR-3.1.1.12-D16", "MQQB-3.1.5.8.3-38"),
        "The receiver sends an administration acknowledgment for a message without NA and with an invalid signature.",
        send_unrequested_nack(BAD_SIGNATURE_CLASS),
    ),
    (
        "receiver-final-ack-of-invalid-signature-not-sent",
        ("MQQB-3.1.5.8.3-18", "MQQB-3.1.5.8.3-41"),
        "The receiver sends no FinalAck for a transactional message with an invalid signature.",
        omit_final_ack(BAD_SIGNATURE_CLASS),
    ),
    (
        "receiver-message-with-invalid-signature-inserted",
        ("MQQB-3.1.5.8.3-21", "MQQB-3.1.5.8.3-44"),
        "The receiver refuses a message with an invalid signature, but inserts it into its queue.",
        _insert_refused_message(BAD_SIGNATURE_CLASS),
    ),
    (
        "receiver-nack-of-invalid-encryption-not-sent",
        ("MQQB-3.1.5.8.3-48", "MQQB-3.1.5.8.3-72", "MQQB-3.1.5.8.3-82", "MQDMPR-3.1.1.12-D17"),
        "The receiver sends no administration acknowledgment for an undecryptable message with NA.",
        omit_nack(BAD_ENCRYPTION_CLASS),
    ),
    (
        "receiver-nack-of-invalid-encryption-without-na",
        ("MQQB-3.1.5.8.3-48", "MQQB-3.1.5.8.3-72", "MQQB-3.1.5.8.3-82", "MQDMPR-3.1.1.12-D17"),
        (
            "The receiver sends an administration acknowledgment for a message without NA that it refuses because "
            "of its encryption."
        ),
        send_unrequested_nack(BAD_ENCRYPTION_CLASS),
    ),
    (
        "receiver-final-ack-of-invalid-encryption-not-sent",
        ("MQQB-3.1.5.8.3-51", "MQQB-3.1.5.8.3-75", "MQQB-3.1.5.8.3-85"),
        "The receiver sends no FinalAck for a transactional message that it refuses because of its encryption.",
        omit_final_ack(BAD_ENCRYPTION_CLASS),
    ),
    (
        "receiver-message-with-invalid-encryption-inserted",
        ("MQQB-3.1.5.8.3-54", "MQQB-3.1.5.8.3-78", "MQQB-3.1.5.8.3-88"),
        "The receiver refuses a message because of its encryption, but inserts it into its queue.",
        _insert_refused_message(BAD_ENCRYPTION_CLASS),
    ),
    (
        "receiver-nack-of-denied-access-not-sent",
        ("MQQB-3.1.5.8.3-121", "MQDMPR-3.1.1.12-D14"),
        "The receiver sends no administration acknowledgment for a message with NA whose sender has no access.",
        omit_nack(ACCESS_DENIED_CLASS),
    ),
    (
        "receiver-nack-of-denied-access-without-na",
        ("MQQB-3.1.5.8.3-121", "MQDMPR-3.1.1.12-D14"),
        "The receiver sends an administration acknowledgment for a message without NA whose sender has no access.",
        send_unrequested_nack(ACCESS_DENIED_CLASS),
    ),
    (
        "receiver-final-ack-of-denied-access-not-sent",
        "MQQB-3.1.5.8.3-124",
        "The receiver sends no FinalAck for a transactional message whose sender has no access.",
        omit_final_ack(ACCESS_DENIED_CLASS),
    ),
    (
        "receiver-message-with-denied-access-inserted",
        "MQQB-3.1.5.8.3-127",
        "The receiver refuses a message whose sender has no access, but inserts it into its queue.",
        _insert_refused_message(ACCESS_DENIED_CLASS),
    ),
):
    add(_name, _breaks, _says, _install)
