from __future__ import annotations

from reference_qm.codec import (
    NULL_GUID,
    DirectQueueFormatName,
    UserMessagePacket,
)
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import build_message_id_history_entry
from reference_qm.core.store.messages import deserialize_message
from reference_qm.core.transfer.message_arrival import UnsavedArrival
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL, is_final_ack, is_order_ack
from reference_qm.model.adm import (
    RecoverableReceipt,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

UNSAVED_MESSAGES_LIMIT = 0x7FFF
"""The maximum number of recoverable messages of a session that are waiting for the disk, which is half of the
65,536 sequence numbers.
"""


class MessageReceiving(QueueManagerPart):
    """Receives messages. Spec: MS-MQQB 3.1.5.8."""

    __slots__ = ()

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        """Handle a UserMessage Packet. Spec: MS-MQQB 3.1.5.8.

        Every packet is counted first, as MS-MQMQ 2.2.20.4 defines. If duplicates and refused messages were not counted,
        the message counts of sender and receiver would differ from then on. The SessionHeader and the message are
        independent: the SessionHeader is processed even if the message is refused, and vice versa (field text of note
        <14>).
        """
        if len(session.unacknowledged_receipts) >= UNSAVED_MESSAGES_LIMIT:
            reason = (
                f"{UNSAVED_MESSAGES_LIMIT} messages of the session are waiting for the disk: "
                "with more messages, their sequence numbers would repeat (MS-MQQB 3.1.5.8.7)"
            )
            self.qm.session_closing.close(session, reason, now)
            return
        receipt = RecoverableReceipt()
        recoverable = bool(packet.UserHeader.DM)
        if recoverable:
            session.unacknowledged_receipts.append(receipt)
        self.count_message_received_on_session(session, packet)
        self.note_session_activity(session, packet, now)
        if packet.SessionHeader is not None:
            self.qm.session_acks.process_session_header(session, packet.SessionHeader, now)
        self.put_received_message_into_queue(session, packet, receipt, now)
        if recoverable and receipt.is_on_disk:
            self.acknowledge_after_following_changes(session, receipt, now)
        self.qm.session_acks.acknowledge_full_window(session, now)

    def acknowledge_after_following_changes(self, session: Session, receipt: RecoverableReceipt, now: Now) -> None:
        """Acknowledge a message that is not written to the disk itself. Before the acknowledgment, wait until the
        changes that the message caused are on disk.

        Spec: MS-MQQB 3.1.5.8.7. Such a message was refused and put into a dead-letter queue, or is a FinalAck that
        moved another message. If the message was acknowledged and a crash then lost the changes, the sender would
        not repeat the message.
        """
        receipt.is_on_disk = False

        def flag_message(at: Now) -> None:
            receipt.is_on_disk = True
            self.qm.session_acks.flag_recoverable_messages(session, at)

        def close_unsaved(error: str, at: Now) -> None:
            self._close_session_of_unsaved(session, receipt, error, at)

        self.qm.disk.call_when_changes_saved(flag_message, close_unsaved, now)

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        """Count a received message on its session: in the count of all messages and, if it is recoverable, in the count
        of recoverable messages. Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.7, MS-MQMQ 2.2.20.4.
        """
        session.MessageReceivedCount = session.MessageReceivedCount + 1 & 0xFFFF
        session.UnackedReceivedMsgCount = session.UnackedReceivedMsgCount + 1 & 0xFFFF
        if packet.UserHeader.DM:
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount + 1 & 0xFFFF

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        """Record that the session is active. Start the Session Ack Send Timer if it is not running. Spec: MS-MQQB
        3.1.5.8.2.
        """
        if isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName):
            session.DirectFormatSession = True
        if not self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number)):
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)
        session.SessionActive = True

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        """Put a message into its queue, unless the message is a duplicate or is refused. Spec: MS-MQQB 3.1.5.8.

        A discarded message is also acknowledged; otherwise the sender would send it forever. OrderAcks and
        FinalAcks are identified as in 3.1.5.1.1, and are counted like other messages, as in figure 14.
        """
        if not self.is_for_this_queue_manager(packet):
            self.qm.message_routing.route_message(session, packet, receipt, now)
            return
        if self.is_misdirected(packet):
            receipt.is_on_disk = True
            return
        if (
            packet.MessagePropertiesHeader.Label == ORDER_ACK_LABEL
        ):  # both order acknowledgments have it, other messages rarely
            for is_one, take in (
                (is_order_ack, self.qm.order_acks.receive),
                (is_final_ack, self.qm.final_acks.receive),
            ):
                if is_one(packet):
                    receipt.is_on_disk = True
                    take(session, packet, now)
                    return
        if packet.TransactionHeader is not None:
            self.qm.transactional_receiving.receive_transactional_message(session, packet, receipt, now)
            return
        entry = self.qm.message_history.find_duplicate(packet)
        if entry is not None:
            self.qm.message_history.disregard_duplicate(session, entry, receipt, now)
            return
        entry = self.qm.message_history.remember_message(packet, now)
        queue = self.qm.message_arrival.find_destination(packet)
        admitted = self.qm.message_admission.admit(session, packet, queue, now)
        if queue is None or admitted is None:
            receipt.is_on_disk = True
            self.qm.disk.save(build_message_id_history_entry(entry))
            return
        message = deserialize_message(admitted, self.qm.adm.Identifier, now.utc_s)
        if not self.qm.message_admission.has_queue_room_for_message(session, admitted, queue, message, now):
            receipt.is_on_disk = session.SessionState is SessionState.OPEN
            if receipt.is_on_disk:
                self.qm.disk.save(build_message_id_history_entry(entry))
            else:
                self.qm.adm.MessageIDHistoryTable.remove(entry)
            return
        position = self.qm.message_positions.insert_message(queue, message)
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            self.qm.message_arrival.save_message(UnsavedArrival(position, entry, [(session, receipt)]), admitted)
        else:
            self.qm.disk.save(build_message_id_history_entry(entry))
            self.qm.message_arrival.message_arrived(position, now)

    def is_for_this_queue_manager(self, packet: UserMessagePacket) -> bool:
        """Return whether a message is for this queue manager. Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.5.

        A QueueManagerAddress of zero, which every message with a direct name has, stands for this queue manager.
        Otherwise these messages would be routed forever.
        """
        return packet.UserHeader.QueueManagerAddress in (NULL_GUID, self.qm.adm.Identifier)

    def is_misdirected(self, packet: UserMessagePacket) -> bool:
        """Return whether a message must be dropped because its direct name contains a different host (E220).

        A dropped message is not acknowledged and does not advance a sequence.
        """
        return self.qm.config.validate_host_names and not self.is_for_own_host(packet)

    def is_for_own_host(self, packet: UserMessagePacket) -> bool:
        """Return whether the destination of a message is on this host, or contains no host."""
        queue = packet.UserHeader.DestinationQueue
        if not isinstance(queue, DirectQueueFormatName):
            return True
        protocol, _, rest = queue.DirectFormatName.partition(":")
        return self.qm.queue_names.is_own_host(protocol, rest.partition("\\")[0])

    def on_persisted(self, saving: UnsavedArrival, now: Now) -> None:
        """Make a message that is now on disk available, and acknowledge it. Spec: MS-MQQB 3.1.5.8.7, 3.1.5.8.8."""
        for session, receipt in saving.receipts_of_sessions:
            receipt.is_on_disk = True
            self.qm.session_acks.flag_recoverable_messages(session, now)
        if saving.accepted_message is not None:
            self.qm.transactional_receiving.confirm_message_saved(
                saving.accepted_message, [session for session, _ in saving.receipts_of_sessions], now
            )
        elif saving.routed_packet is not None:
            self.qm.message_routing.forward_message(saving.position, saving.routed_packet, now)
        elif saving.position.State is MessagePositionState.LOCKED:
            self.qm.message_arrival.message_arrived(saving.position, now)

    def on_persist_failed(self, saving: UnsavedArrival, error: str, now: Now) -> None:
        """Remove a message that could not be saved, and close the session, so that the sender sends the message
        again.

        Spec: MS-MQQB 3.1.5.8.7.
        """
        saving.position.State = MessagePositionState.DELETED
        if saving.routed_packet is None:
            saving.position.QueueReference.MessagePositionList.remove(saving.position)
        self.qm.adm.MessageIDHistoryTable.remove(saving.entry)
        if (
            saving.accepted_message is not None
            and saving.accepted_message in saving.accepted_message.transfer.unsaved_messages
        ):
            self.qm.transactional_receiving.withdraw_unsaved_message(saving.accepted_message.transfer)
        for session, receipt in saving.receipts_of_sessions:
            self._close_session_of_unsaved(session, receipt, error, now)

    def _close_session_of_unsaved(self, session: Session, receipt: RecoverableReceipt, error: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and receipt in session.unacknowledged_receipts:
            self.qm.session_closing.close(session, f"a message could not be saved: {error} (MS-MQQB 3.1.5.8.7)", now)
