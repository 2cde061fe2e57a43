"""The part of the table of procedures that decides what becomes of a message: see ``procedures``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.protocol import admin_acks, expiring, journaling, own_messages, refusing, tracing
from reference_qm.core.protocol.refusing import Outcome
from reference_qm.core.remote_client.procedures import RemoteClientProcedures
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.surface.clock import Now

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
Check = Callable[[QM, Session, UserMessagePacket, Queue, Now], Outcome]


@dataclass(slots=True)
class FateProcedures(RemoteClientProcedures):
    """Refusal, acknowledgment, report, journal and expiry of messages."""

    # 3.1.5.8 steps 2, 3 and 5 Whether a message is put into its queue
    admit: Callable[[QM, Session, UserMessagePacket, Queue | None, Now], UserMessagePacket | None] = refusing.admit
    check_destination: Callable[[QM, Session, UserMessagePacket, Queue | None, Now], Outcome] = (
        refusing.check_destination
    )
    check_transactional_queue: Check = refusing.check_transactional_queue
    check_nontransactional_queue: Check = refusing.check_nontransactional_queue
    check_expiration: Check = refusing.check_expiration
    refuse_message: Callable[[QM, Session, UserMessagePacket, MessageClass, Now], None] = refusing.refuse_message
    has_room: Callable[[QM, Session, UserMessagePacket, Queue, Message, Now], bool] = refusing.has_room
    log_refused: Callable[[QM, Message], None] = refusing.log_refused

    # 3.1.5.5.4, 3.1.5.7, MS-MQDMPR 3.1.1.12 Journal and dead letters
    journal_delivered: Callable[[QM, MessagePosition], None] = journaling.journal_delivered
    journal_failed: Callable[[QM, MessagePosition], None] = journaling.journal_failed
    journal_received: Callable[[QM, MessagePosition, MessageClass], None] = journaling.journal_received
    keep_message: Callable[[QM, Queue, Message], None] = journaling.keep_message
    dead_letter_queue: Callable[[QM, Message], Queue] = journaling.dead_letter_queue

    # 3.1.5.8.10, 3.1.7.2.1, 3.1.7.15 Administration acknowledgments
    acknowledge_arrival: Callable[[QM, MessagePosition, Now], None] = admin_acks.acknowledge_arrival
    acknowledge_failure: Callable[[QM, Message, MessageClass, Now], None] = admin_acks.acknowledge_failure
    acknowledge_receive: Callable[[QM, Message, MessageClass, Now], None] = admin_acks.acknowledge_receive
    send_admin_ack: Callable[[QM, Message, MessageClass, Now], None] = admin_acks.send_admin_ack
    may_send_nack: Callable[[QM, MessageClass], bool] = admin_acks.may_send_nack
    build_admin_ack: Callable[[QM, Message, MessageClass, Now], Message] = admin_acks.build_admin_ack
    send_own_message: Callable[[QM, Message, Now], None] = own_messages.send_own_message

    # 3.1.5.8.9, 3.1.7.1.7 Reports of traced messages
    trace_received: Callable[[QM, Message, Now], None] = tracing.trace_received
    trace_sent: Callable[[QM, Session, Message, Now], None] = tracing.trace_sent
    send_report: Callable[[QM, Message, str | None, Now], None] = tracing.send_report
    build_report_label: Callable[[QM, Message, Now], str] = tracing.build_report_label
    build_report_body: Callable[[QM, Message, str | None], str] = tracing.build_report_body

    # 3.1.7.1.2, MS-MQDMPR 3.1.2.4, 3.1.7.2.7 Expiration
    watch_received: Callable[[QM, MessagePosition], None] = expiring.watch_received
    watch_sent: Callable[[QM, Session, OutgoingMessagePosition], None] = expiring.watch_sent
    recover_deadlines: Callable[[QM], None] = expiring.recover_deadlines
    start_expiration_timer: Callable[[QM, Now], None] = expiring.start_expiration_timer
    on_expiration_timer: Callable[[QM, Now], None] = expiring.on_expiration_timer
    delete_not_received: Callable[[QM, list[MessagePosition], Now], None] = expiring.delete_not_received
