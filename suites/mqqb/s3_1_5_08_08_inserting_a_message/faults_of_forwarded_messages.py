"""Faults of MS-MQQB 3.1.5.8.8: OutgoingTransferInfo of a queue whose transactional messages are forwarded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import SequenceInfo, UserMessagePacket
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import MessagePosition, OutgoingQueue, OutgoingTransferInfo, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

TransferInfoChange = Callable[
    [Session, UserMessagePacket, OutgoingTransferInfo, OutgoingTransferInfo, Now], dict[str, Any]
]
"""A function that returns the wrong elements, from the session, the forwarded packet, the earlier and the new
OutgoingTransferInfo, and the time.
"""


def change_transfer_info_when_forwarding(compute: TransferInfoChange) -> Install:
    """Return an installer of a fault that changes elements of OutgoingTransferInfo when a message is forwarded."""

    def forward_and_change_transfer_info(
        part: MessageRouting, original: Any, position: MessagePosition, packet: UserMessagePacket, now: Now
    ) -> None:
        queue = position.QueueReference
        assert isinstance(queue, OutgoingQueue)
        before = queue.OutgoingTransferInfoReference
        original(position, packet, now)
        if packet.UserHeader.TH and queue.session.TxOutgoingSequence is not None:
            after = queue.OutgoingTransferInfoReference
            wrong = compute(queue.session, packet, before, after, now)
            queue.OutgoingTransferInfoReference = replace(after, **wrong)

    return change_step(MessageRouting.forward_message, forward_and_change_transfer_info)


def _keep_transfer_info_elements(*elements: str) -> Install:
    """Return an installer of a fault that keeps the earlier values of elements."""
    return change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {one: getattr(before, one) for one in elements}
    )


def _keep_transfer_info_unless_session_open(
    session: Session, packet: UserMessagePacket, before: OutgoingTransferInfo, after: OutgoingTransferInfo, now: Now
) -> dict[str, Any]:
    elements = () if session.SessionState is SessionState.OPEN else tuple(OutgoingTransferInfo.__dataclass_fields__)
    return {one: getattr(before, one) for one in elements}


def _keep_transfer_info_while_messages_unacked(
    session: Session, packet: UserMessagePacket, before: OutgoingTransferInfo, after: OutgoingTransferInfo, now: Now
) -> dict[str, Any]:
    unacked = get_outgoing_sequence(session).UnackedSequence
    elements = tuple(OutgoingTransferInfo.__dataclass_fields__) if unacked else ()
    return {one: getattr(before, one) for one in elements}


def _get_sequence_info_in_sender_sequence(packet: UserMessagePacket) -> SequenceInfo:
    """Return the SEQUENCE_INFO of a forwarded message in the sequence of its sender."""
    header = packet.TransactionHeader
    assert header is not None
    return SequenceInfo(int(header.TxSequenceID), header.TxSequenceNumber, header.PreviousTxSequenceNumber)


add(
    "router-transfer-info-of-closed-session-unchanged",
    "MQQB-3.1.5.8.8-28",
    "The router does not update OutgoingTransferInfo for a transactional message while the session of the queue is not "
    "open.",
    change_transfer_info_when_forwarding(_keep_transfer_info_unless_session_open),
    blind=True,
)
add(
    "router-transfer-info-with-own-unacknowledged-messages-unchanged",
    "MQQB-3.1.5.8.8-28",
    "The router does not update OutgoingTransferInfo for a forwarded message while messages of its own in the same "
    "queue have no OrderAck.",
    change_transfer_info_when_forwarding(_keep_transfer_info_while_messages_unacked),
    blind=True,
)
add(
    "router-eod-last-ack-time-of-forwarding",
    "MQQB-3.1.5.8.8-29",
    "The router sets EodLastAckTime to the time at which it forwards the message.",
    change_transfer_info_when_forwarding(lambda session, packet, before, after, now: {"EodLastAckTime": now.utc_s}),
    blind=True,
)
add(
    "router-eod-last-ack-time-of-first-session-kept",
    "MQQB-3.1.5.8.8-29",
    "The router sets EodLastAckTime only if it is zero.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {"EodLastAckTime": before.EodLastAckTime or after.EodLastAckTime}
    ),
    blind=True,
)
add(
    "router-eod-no-ack-count-includes-forwarded-message",
    "MQQB-3.1.5.8.8-31",
    "The router counts the forwarded message in EodNoAckCount.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {"EodNoAckCount": after.EodNoAckCount + 1}
    ),
    blind=True,
)
add(
    "router-eod-no-ack-count-of-messages-in-table",
    "MQQB-3.1.5.8.8-31",
    "The router sets EodNoAckCount to the number of transactional messages in OutgoingMessageTable.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {
            "EodNoAckCount": sum(bool(one.UserMessage.UserHeader.TH) for one in session.OutgoingMessageTable)
        }
    ),
    blind=True,
)
add(
    "router-eod-resend-interval-in-ms",
    "MQQB-3.1.5.8.8-32",
    "The router sets EodResendInterval to ResendInterval in milliseconds.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {"EodResendInterval": 1000 * after.EodResendInterval}
    ),
    blind=True,
)
add(
    "router-eod-resend-interval-zero-without-unacknowledged-messages",
    "MQQB-3.1.5.8.8-32",
    "The router sets EodResendInterval to zero while no message of its own has no OrderAck.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: (
            {} if get_outgoing_sequence(session).UnackedSequence else {"EodResendInterval": 0}
        )
    ),
    blind=True,
)
add(
    "router-eod-first-non-ack-of-forwarded-message",
    "MQQB-3.1.5.8.8-33",
    "The router sets EodFirstNonAck to the place of the forwarded message in the sequence of its sender.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {"EodFirstNonAck": _get_sequence_info_in_sender_sequence(packet)}
    ),
    blind=True,
)
add(
    "router-eod-first-non-ack-second-element",
    "MQQB-3.1.5.8.8-33",
    "The router sets EodFirstNonAck to the second element of UnackedSequence, if it has several elements.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {
            "EodFirstNonAck": ([after.EodFirstNonAck, *get_outgoing_sequence(session).UnackedSequence[:2]])[-1]
        }
    ),
    blind=True,
)
add(
    "router-eod-last-non-ack-of-forwarded-message",
    "MQQB-3.1.5.8.8-34",
    "The router sets EodLastNonAck to the place of the forwarded message in the sequence of its sender.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {"EodLastNonAck": _get_sequence_info_in_sender_sequence(packet)}
    ),
    blind=True,
)
add(
    "router-eod-last-non-ack-unchanged",
    "MQQB-3.1.5.8.8-34",
    "The router does not set EodLastNonAck when it forwards a message after further messages of its own.",
    _keep_transfer_info_elements("EodLastNonAck"),
    blind=True,
)
add(
    "router-eod-last-ack-of-forwarded-predecessor",
    "MQQB-3.1.5.8.8-35",
    "The router sets EodLastAck to the predecessor of the forwarded message in the sequence of its sender.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {
            "EodLastAck": SequenceInfo(
                _get_sequence_info_in_sender_sequence(packet).SeqID,
                _get_sequence_info_in_sender_sequence(packet).PrevNo,
                0,
            )
        }
    ),
    blind=True,
)
add(
    "router-eod-last-ack-of-present-sequence",
    "MQQB-3.1.5.8.8-35",
    "The router sets EodLastAck to zero if LastAck belongs to an earlier sequence than OutgoingTxSequenceID.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: (
            {} if after.EodLastAck.SeqID == int(session.OutgoingTxSequenceID) else {"EodLastAck": SequenceInfo(0, 0, 0)}
        )
    ),
    blind=True,
)
add(
    "router-eod-next-seq-with-sequence-of-forwarded-message",
    "MQQB-3.1.5.8.8-36",
    "The router sets EodNextSeq to the place after the forwarded message in the sequence of its sender.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {
            "EodNextSeq": SequenceInfo(
                _get_sequence_info_in_sender_sequence(packet).SeqID,
                _get_sequence_info_in_sender_sequence(packet).SeqNo + 1,
                _get_sequence_info_in_sender_sequence(packet).SeqNo,
            )
        }
    ),
    blind=True,
)
add(
    "router-eod-next-seq-unchanged",
    "MQQB-3.1.5.8.8-36",
    "The router does not set EodNextSeq when it forwards a message after further messages of its own.",
    _keep_transfer_info_elements("EodNextSeq"),
    blind=True,
)
add(
    "router-eod-next-seq-previous-number-of-last-ack",
    "MQQB-3.1.5.8.8-39",
    "The router sets PrevNo of EodNextSeq to the number of the last acknowledged message.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {
            "EodNextSeq": replace(after.EodNextSeq, PrevNo=after.EodLastAck.SeqNo)
        }
    ),
    blind=True,
)
add(
    "router-eod-next-seq-previous-number-zero-without-unacknowledged-messages",
    "MQQB-3.1.5.8.8-39",
    "The router sets PrevNo of EodNextSeq to the last number in UnackedSequence, and to zero if it is empty.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {
            "EodNextSeq": replace(after.EodNextSeq, PrevNo=after.EodLastNonAck.SeqNo)
        }
    ),
    blind=True,
)
add(
    "router-eod-resend-count-unchanged",
    "MQQB-3.1.5.8.8-41",
    "The router does not set EodResendCount when it forwards a message after a resend.",
    _keep_transfer_info_elements("EodResendCount"),
    blind=True,
)
add(
    "router-eod-resend-count-at-most-one",
    "MQQB-3.1.5.8.8-41",
    "The router sets EodResendCount to 1 after several resends.",
    change_transfer_info_when_forwarding(
        lambda session, packet, before, after, now: {"EodResendCount": min(after.EodResendCount, 1)}
    ),
    blind=True,
)
