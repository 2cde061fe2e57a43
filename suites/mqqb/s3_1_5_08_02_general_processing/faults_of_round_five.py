"""Blind violations of round five: MS-MQQB 3.1.5.8.2 General Processing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import combine_installers, replace_method_during
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.store.messages import PUBLIC_QUEUE_TYPE
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


def _use_remote_queue_manager_as_source(original: Callable[..., Any], qm: QM, session: Session, *_: Any) -> Any:
    """Return a step of the history that takes the remote queue manager of the session for the source of a message."""

    def run(qm: QM, packet: UserMessagePacket, *arguments: Any) -> Any:
        header = replace(packet.UserHeader, SourceQueueManager=session.RemoteQMGuid)
        return original(qm, replace(packet, UserHeader=header), *arguments)

    return run


add(
    "receiver-history-entry-contains-remote-queue-manager-of-session",
    "MQQB-3.1.5.8.2-06",
    "The history entry of a message contains the queue manager from whose session the message arrived, instead of "
    "SourceQueueManager.",
    combine_installers(
        replace_method_during(
            MessageReceiving.put_received_message_into_queue,
            MessageHistory.find_duplicate,
            _use_remote_queue_manager_as_source,
        ),
        replace_method_during(
            MessageReceiving.put_received_message_into_queue,
            MessageHistory.remember_message,
            _use_remote_queue_manager_as_source,
        ),
    ),
    blind=True,
)


@fault("receiver-final-ack-of-exceeded-hop-count-bad-dst-q-for-public-queue", breaks="MQQB-3.1.5.8.2-44", blind=True)
class ReceiverFinalAckOfExceededHopCountBadDstQForPublicQueue(FinalAcks):
    """The receiver sends a FinalAck of class BAD_DST_Q for a transactional message with too many hops if its
    destination is a public queue.
    """

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        too_many = message_class is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED
        if too_many and packet.UserHeader.DQ == PUBLIC_QUEUE_TYPE:
            message_class = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
        super().send_negative_final_ack(session, packet, message_class, now)
