"""Faults that break rules of MS-MQQB 3.1.7.12 for one kind of message, one destination or one state of the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage
from suites.mqqb.s3_1_7_12_message_position_available.fault_steps import redirect_sent_messages

_LARGE_PACKET_BYTES = 10_000


def _is_multicast_message(request: SendMessage) -> bool:
    return request.to.startswith("MULTICAST=")


def _is_recoverable_multicast(faulty: FaultyCore, request: SendMessage) -> bool:
    return _is_multicast_message(request) and request.recoverable


def _is_multicast_beside_session(faulty: FaultyCore, request: SendMessage) -> bool:
    sessions = faulty.core.sessions.values()
    return _is_multicast_message(request) and any(one.SessionState is SessionState.OPEN for one in sessions)


def _redirect_later_multicast_messages() -> Install:
    """Return an installer of a fault that sends each multicast message except the first to a queue manager."""
    seen: list[SendMessage] = []

    def is_later_multicast(faulty: FaultyCore, request: SendMessage) -> bool:
        if _is_multicast_message(request):
            seen.append(request)
        return _is_multicast_message(request) and len(seen) > 1

    return redirect_sent_messages(is_later_multicast)


def _is_addressed_to_own_private_name(faulty: FaultyCore, request: SendMessage) -> bool:
    return request.to.lower().startswith(f"private={faulty.core.adm.Identifier}")


def _is_transactional_message_to_own_queue(faulty: FaultyCore, request: SendMessage) -> bool:
    return request.transactional and faulty.core.destination_resolving.find_local_queue(request.to) is not None


OutgoingEntryAddition = Callable[[Session, OutgoingMessagePosition, Now], None]


def _omit_third_waiting_outgoing_entry(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    if session.SessionState is SessionState.OPEN or len(session.OutgoingMessageTable) != 2:
        original(session, position, now)


def _omit_entry_of_next_to_last_message_of_transaction(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    header = position.UserMessage.TransactionHeader
    if header is None or header.LM:
        original(session, position, now)


def _omit_entry_of_urgent_message(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    if not any(one.priority < position.priority for one in session.OutgoingMessageTable):
        original(session, position, now)


def _refer_entry_to_waiting_message_of_equal_label(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    label = position.MessagePosition.MessageReference.Label
    for one in session.OutgoingMessageTable:
        if one.MessagePosition.MessageReference.Label == label:
            position.MessagePosition = one.MessagePosition
    original(session, position, now)


def _refer_entry_to_message_of_other_queue(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    for queue in self.qm.adm.OutgoingQueues.values():
        if queue.session is not session:
            for one in queue.session.OutgoingMessageTable:
                position.MessagePosition = one.MessagePosition
    original(session, position, now)


def _set_sequence_number_to_table_size(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    position.SequenceNumber = len(session.OutgoingMessageTable)
    original(session, position, now)


def _set_sequence_number_of_recoverable_messages(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    position.SequenceNumber = int(position.recoverable)
    original(session, position, now)


def _set_sequence_number_to_sent_count(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    position.SequenceNumber = session.MessageSentCount
    original(session, position, now)


def _set_tx_sequence_number_of_recoverable_messages(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    if position.recoverable and not position.TxSequenceNumber:
        position.TxSequenceNumber = 1
    original(session, position, now)


def _set_tx_sequence_number_to_table_size(
    self: Any, original: OutgoingEntryAddition, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    if not position.TxSequenceNumber:
        position.TxSequenceNumber = len(session.OutgoingMessageTable)
    original(session, position, now)


def _transmit_packets_twice(meant: Callable[[Any, Session, OutgoingMessagePosition, bytes], bool]) -> Install:
    """Return an installer of a fault that transmits the packets of selected messages twice."""

    def transmit(self: Any, original: Any, session: Session, position: OutgoingMessagePosition, packet: Any) -> None:
        original(session, position, packet)
        if meant(self.qm, session, position, packet.build()):
            original(session, position, packet)

    return change_step(MessageSending.transmit, transmit)


for _name, _rule, _says, _install in (
    (
        "sender-recoverable-multicast-message-opens-session",
        "MQQB-3.1.7.12-03",
        "The sender opens a session to one queue manager for a recoverable multicast message.",
        redirect_sent_messages(_is_recoverable_multicast),
    ),
    (
        "sender-multicast-message-beside-open-session-sent-to-queue-manager",
        "MQQB-3.1.7.12-03",
        "The sender sends a multicast message to one queue manager while a session is open.",
        redirect_sent_messages(_is_multicast_beside_session),
    ),
    (
        "sender-later-multicast-message-opens-session",
        "MQQB-3.1.7.12-03",
        "The sender opens a session to one queue manager for each multicast message except the first.",
        _redirect_later_multicast_messages(),
    ),
    (
        "sender-message-for-own-private-name-also-sent",
        "MQQB-3.1.7.12-02",
        "The sender also sends a message for a private format name of its own to another queue manager.",
        redirect_sent_messages(_is_addressed_to_own_private_name, as_well=True),
    ),
    (
        "sender-transactional-message-for-own-queue-also-sent",
        "MQQB-3.1.7.12-02",
        "The sender also sends a transactional message for its own queue to another queue manager.",
        redirect_sent_messages(_is_transactional_message_to_own_queue, as_well=True),
    ),
    (
        "sender-third-waiting-message-without-entry",
        "MQQB-3.1.7.12-07",
        "The sender creates no entry for the third message that waits for a session.",
        change_step(MessageSending.add_message_to_session_table, _omit_third_waiting_outgoing_entry),
    ),
    (
        "sender-message-before-last-of-transaction-without-entry",
        "MQQB-3.1.7.12-07",
        "The sender creates an entry only for the last message of a transaction.",
        change_step(MessageSending.add_message_to_session_table, _omit_entry_of_next_to_last_message_of_transaction),
    ),
    (
        "sender-urgent-message-without-entry",
        "MQQB-3.1.7.12-07",
        "The sender creates no entry for a message whose priority is higher than the priority of a waiting message.",
        change_step(MessageSending.add_message_to_session_table, _omit_entry_of_urgent_message),
    ),
    (
        "sender-entry-refers-to-waiting-message-of-equal-label",
        "MQQB-3.1.7.12-08",
        "A new entry of OutgoingMessageTable refers to a waiting message with the same label, if there is one.",
        change_step(MessageSending.add_message_to_session_table, _refer_entry_to_waiting_message_of_equal_label),
    ),
    (
        "sender-entry-refers-to-message-of-other-queue",
        "MQQB-3.1.7.12-08",
        "A new entry of OutgoingMessageTable refers to a message that waits in another outgoing queue.",
        change_step(MessageSending.add_message_to_session_table, _refer_entry_to_message_of_other_queue),
    ),
    (
        "sender-later-entry-with-sequence-number-of-table",
        "MQQB-3.1.7.12-11",
        "The sender sets SequenceNumber of a new entry to the number of earlier entries in the table.",
        change_step(MessageSending.add_message_to_session_table, _set_sequence_number_to_table_size),
    ),
    (
        "sender-entry-of-recoverable-message-with-sequence-number-1",
        "MQQB-3.1.7.12-11",
        "The sender sets SequenceNumber of a new entry to 1 if the message is recoverable.",
        change_step(MessageSending.add_message_to_session_table, _set_sequence_number_of_recoverable_messages),
    ),
    (
        "sender-entry-with-sequence-number-of-last-sent-message",
        "MQQB-3.1.7.12-11",
        "The sender sets SequenceNumber of a new entry to MessageSentCount.",
        change_step(MessageSending.add_message_to_session_table, _set_sequence_number_to_sent_count),
    ),
    (
        "sender-entry-of-recoverable-message-with-tx-sequence-number-1",
        "MQQB-3.1.7.12-13",
        "The sender sets TxSequenceNumber of the entry of a recoverable message to 1.",
        change_step(MessageSending.add_message_to_session_table, _set_tx_sequence_number_of_recoverable_messages),
    ),
    (
        "sender-later-entry-with-tx-sequence-number-of-table",
        "MQQB-3.1.7.12-13",
        "The sender sets TxSequenceNumber of the entry of a plain message to the number of earlier entries.",
        change_step(MessageSending.add_message_to_session_table, _set_tx_sequence_number_to_table_size),
    ),
    (
        "sender-large-message-sent-twice",
        "MQQB-3.1.7.12-15",
        "The sender sends a message of more than 10,000 bytes twice.",
        _transmit_packets_twice(lambda qm, session, position, packet: len(packet) > _LARGE_PACKET_BYTES),
    ),
    (
        "sender-message-beside-other-session-sent-twice",
        "MQQB-3.1.7.12-15",
        "The sender sends a message twice while a second outgoing queue exists.",
        _transmit_packets_twice(lambda qm, session, position, packet: len(qm.adm.OutgoingQueues) > 1),
    ),
    (
        "sender-message-on-later-connection-sent-twice",
        "MQQB-3.1.7.12-15",
        "The sender sends the first message on each connection of a session except the first connection twice.",
        _transmit_packets_twice(
            lambda qm, session, position, packet: (
                session.MessageSentCount == 1
                and session.OutgoingQueueReference is not None
                and len(session.OutgoingQueueReference.ConnectionHistory) > 4
            )
        ),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
