"""Faults that break the rules MQDMPR-3.1.1-01 to MQDMPR-3.1.1.10-02."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid5

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import add
from reference_qm.codec import parse_format_name
from reference_qm.codec.format_names import PublicName
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.surviving_queues import SurvivingQueues
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadCheck, RemoteReadStarting
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.store.entries import build_message_entry, build_message_relocation
from reference_qm.core.store.messages import serialize_message
from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState, OutgoingQueueState
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

PERSISTENCE_RULES = ("MQDMPR-3.1.1-01", "MQDMPR-3.1.1-02", "MQDMPR-3.1.1-03", "MQDMPR-3.1.1.2-01")


@fault("queue-label-lost-at-restart", breaks=PERSISTENCE_RULES)
class QueueLabelLostAtRestart(SurvivingQueues):
    """After a restart, a queue has lost its label and its journaling."""

    def restore(self, place: str, values: Mapping[str, Any]) -> None:
        super().restore(place, {**values, "Label": "", "Journaling": False})


@fault("queue-base-priority-lost-at-restart", breaks=PERSISTENCE_RULES)
class QueueBasePriorityLostAtRestart(SurvivingQueues):
    """A queue has base priority 0 after a restart."""

    def restore(self, place: str, values: Mapping[str, Any]) -> None:
        super().restore(place, {**values, "BasePriority": 0})


@fault("restart-loses-messages-of-second-outgoing-queue", breaks="MQDMPR-3.1.1-01")
class RestartLosesMessagesOfSecondOutgoingQueue(StateRestoring):
    """After a restart, the queue manager restores only the messages of the first outgoing queue."""

    def _restore_message(self, rest: str, value: Any) -> None:
        place = value["in"]
        if place.startswith("outgoing:"):
            first = getattr(self, "first", place)
            self.first = first
            if place != first:
                return
        super()._restore_message(rest, value)


@fault("queue-manager-changed-attribute-of-queue-lost-at-restart", breaks="MQDMPR-3.1.1-02")
class QueueManagerChangedAttributeOfQueueLostAtRestart(QueueCommands):
    """At a restart, the queue manager loses a change to an attribute of an existing queue."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Result | None:
        entry = self.qm.durable_records.build_queue_entry(queue)
        answer = super()._change_attributes(queue, changes, token)
        self.qm.disk.save(entry)
        return answer


def _convert_path_names_to_lower_case(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Pathname = queue.Pathname.lower()


add(
    "queue-manager-path-name-in-lower-case-after-restart",
    "MQDMPR-3.1.1-02",
    "At a restart, the queue manager changes the path name of a queue to lower case.",
    change_core_at_restart(_convert_path_names_to_lower_case),
    blind=True,
)


def _change_queue_manager_identifier(qm: QueueManager) -> None:
    qm.adm.Identifier = uuid5(qm.adm.Identifier, "another")


add(
    "queue-manager-identifier-changes-at-restart",
    ("MQDMPR-3.1.1-03", "MQDMPR-3.1.1-05"),
    "The queue manager has a new Identifier after each restart.",
    change_core_at_restart(_change_queue_manager_identifier),
)


def _clear_security_of_public_queues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if queue.QueueType is QueueType.PUBLIC:
            queue.Authentication, queue.PrivacyLevel = False, PrivacyLevel.OPTIONAL


add(
    "queue-manager-demands-of-public-queue-lost-at-restart",
    "MQDMPR-3.1.1-03",
    "At a restart, the queue manager loses the Authentication and the PrivacyLevel of a public queue.",
    change_core_at_restart(_clear_security_of_public_queues),
    blind=True,
)


@fault("express-message-survives-restart", breaks="MQDMPR-3.1.1-04")
class ExpressMessageSurvivesRestart(MessagePositions):
    """An express message is still in its queue after a restart."""

    def on_message_available(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS and not position.key:
            position.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(position))
        super().on_message_available(position)


def _is_express(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


@fault("express-message-in-subqueue-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageInSubqueueSurvivesRestart(MessagePositions):
    """After a restart, the queue manager restores an express message that was moved to a subqueue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.parent is not None and _is_express(target.MessageReference):
            target.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(target))
        return target


@fault("express-message-in-journal-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageInJournalSurvivesRestart(MessageJournaling):
    """After a restart, the queue manager restores the copy of an express message in the journal of a queue."""

    @faulty_only_if(lambda part, queue, message: queue.parent is not None and _is_express(message))
    def put_into_system_queue(self, queue: Queue, message: Message) -> None:
        super().put_into_system_queue(queue, message)
        position = list(queue.MessagePositionList)[-1]
        position.key = self.qm.assign_persist_token()
        self.qm.disk.save(build_message_relocation(position))


@fault("express-message-in-dead-letter-queue-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageInDeadLetterQueueSurvivesRestart(MessagePositions):
    """After a restart, the queue manager restores an express message in a system queue, such as the
    dead-letter queue.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.QueueType is QueueType.SYSTEM and _is_express(target.MessageReference):
            target.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(target))
        return target


@fault("outgoing-express-message-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class OutgoingExpressMessageSurvivesRestart(DurableRecords):
    """After a restart, the queue manager sends an express message that was waiting to be sent."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        outgoing = isinstance(position.QueueReference, OutgoingQueue)
        if outgoing and self.qm.disk.used and _is_express(position.MessageReference):
            position.key = self.qm.assign_persist_token()
            change = change | build_message_entry(position, serialize_message(position.MessageReference).build())
        return change


@fault("express-message-of-own-application-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageOfOwnApplicationSurvivesRestart(DurableRecords):
    """After a restart, the queue manager restores an express message of a local application in a local queue."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        local = not isinstance(position.QueueReference, OutgoingQueue)
        if local and self.qm.disk.used and _is_express(position.MessageReference):
            position.key = self.qm.assign_persist_token()
            change = change | build_message_entry(position, serialize_message(position.MessageReference).build())
        return change


@fault("queue-manager-identifier-attribute-differs-from-sent-identifier", breaks="MQDMPR-3.1.1-06")
class QueueManagerIdentifierAttributeDiffersFromSentIdentifier(DataModelInspection):
    """The Identifier of LocalQueueManager differs from the identifier in packets."""

    def inspect(self, now: Now) -> dict[str, Any]:
        shown = super().inspect(now)
        shown["QueueManager"]["Identifier"] = str(uuid5(self.qm.adm.Identifier, "another"))
        return shown


class InactiveStateSetterOfPublicOutgoingQueues(DestinationResolving):
    """In hardened security mode, the State of a new outgoing queue to a public queue is Inactive."""

    def get_initial_outgoing_queue_state(self, text: str) -> OutgoingQueueState:
        if isinstance(parse_format_name(text), PublicName):
            return OutgoingQueueState.INACTIVE
        return super().get_initial_outgoing_queue_state(text)


class PublicOutgoingQueueLockOmitter(SessionEstablishing):
    """In hardened security mode, the sender sets the State of an outgoing queue to a public queue to Inactive instead
    of Locked when it does not connect.
    """

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        super().establish(session, now, again=again)
        queue = session.OutgoingQueueReference
        if (
            queue is not None
            and queue.State is OutgoingQueueState.LOCKED
            and isinstance(parse_format_name(queue.DestinationFormatName), PublicName)
        ):
            queue.State = OutgoingQueueState.INACTIVE


add(
    "sender-hardened-public-queue-not-locked",
    "MQDMPR-3.1.1.3-07",
    "In hardened security mode, the sender leaves the outgoing queues to public queues Inactive.",
    combine_installers(
        replace_part(InactiveStateSetterOfPublicOutgoingQueues), replace_part(PublicOutgoingQueueLockOmitter)
    ),
    blind=True,
)


def _keep_messages_of_first_destination(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        for outgoing in list(queue.session.OutgoingMessageTable):
            queue.session.OutgoingMessageTable.remove(outgoing)


add(
    "sender-messages-of-second-destination-lost-at-restart",
    "MQDMPR-3.1.1.3-D01",
    "After a restart, the queue manager sends waiting messages only to the destination that was used first.",
    change_core_at_restart(_keep_messages_of_first_destination),
    blind=True,
)


add(
    "pending-read-without-cursor-reference",
    "MQDMPR-3.1.1.10-02",
    "A pending read by a cursor has no CursorReference.",
    change_step_arguments(WaitingReads.wait_for_new_message, cursor=lambda given: None),
)


@fault("queue-manager-express-journal-copy-survives-restart", breaks="MQDMPR-3.1.1-04", blind=True)
class QueueManagerExpressJournalCopySurvivesRestart(MessageJournaling):
    """The queue manager saves to disk the copy of an express message in the journal of its queue."""

    def put_into_system_queue(self, queue: Queue, message: Message) -> None:
        super().put_into_system_queue(queue, message)
        position = queue.MessagePositionList.Tail
        if queue.parent is not None and isinstance(position, MessagePosition) and not position.key:
            position.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(position))


@fault("server-remote-reader-misses-local-transactional-messages", breaks="MQDMPR-3.1.1-07", blind=True)
class ServerRemoteReaderMissesLocalTransactionalMessages(RemoteReadStarting):
    """The server does not show a remote reader the transactional messages that its own applications sent."""

    def _start_read(self, call: Call, desc: ReadDescription, checks: tuple[RemoteReadCheck, ...], now: Now) -> None:
        hidden = [] if desc is None else self._list_local_transactional_messages(desc["hRemoteQueue"])
        for position in hidden:
            position.State = MessagePositionState.LOCKED
        super()._start_read(call, desc, checks, now)
        for position in hidden:
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)

    def _list_local_transactional_messages(self, handle: int) -> list[MessagePosition]:
        descriptor = self.find_remote_descriptor(handle)
        if descriptor is None or descriptor.QueueReference is None:
            return []
        return [
            position
            for position in descriptor.QueueReference.MessagePositionList
            if position.State is MessagePositionState.AVAILABLE
            and position.MessageReference.TransactionIdentifier is not None
            and position.MessageReference.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        ]
