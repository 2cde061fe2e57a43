"""Faults in the SEQUENCE_INFO of a sent transactional message (MS-MQQB 3.1.1.5)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import add
from reference_qm.codec import SequenceInfo, UserMessagePacket
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _change_sequence_info_of_newly_sent_message(change: Any) -> type[TransactionalSending]:
    """Return a part of the queue manager that changes the SEQUENCE_INFO of each message that is sent for the first
    time.
    """

    class ChangedInfo(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            unacked = get_outgoing_sequence(session).UnackedSequence
            before = len(unacked)
            packet = super().update_transaction_header(session, position, now)
            if len(unacked) > before:
                unacked[-1] = change(session, unacked[-1])
            return packet

    return ChangedInfo


add(
    "sender-sequence-info-previous-number-zero-after-acknowledged-message",
    "MQQB-3.1.1.5-01",
    "The sender gives a transactional message whose predecessor is acknowledged a SEQUENCE_INFO with PrevNo 0.",
    replace_part(
        _change_sequence_info_of_newly_sent_message(
            lambda session, info: (
                SequenceInfo(info.SeqID, info.SeqNo, 0)
                if len(get_outgoing_sequence(session).UnackedSequence) == 1
                else info
            )
        )
    ),
    blind=True,
)
add(
    "sender-sequence-info-of-later-sequence-identifier-of-first-sequence",
    "MQQB-3.1.1.5-01",
    "The sender gives a transactional message of a later sequence a SEQUENCE_INFO with the Ordinal of the first one.",
    replace_part(
        _change_sequence_info_of_newly_sent_message(
            lambda session, info: SequenceInfo(
                info.SeqID - (session.OutgoingTxSequenceID.Ordinal - 1), info.SeqNo, info.PrevNo
            )
        )
    ),
    blind=True,
)
