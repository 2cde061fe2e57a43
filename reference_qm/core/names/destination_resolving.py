from __future__ import annotations

from uuid import UUID, uuid5

from reference_qm.codec import (
    NULL_GUID,
    FormatError,
    FormatName,
    PrivateName,
    PrivateQueuePath,
    PublicName,
    PublicQueuePath,
    TxSequenceID,
    parse_format_name,
)
from reference_qm.codec.format_names import MulticastName
from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import format_queue_name_of_entry
from reference_qm.model.adm import OutgoingQueue, Queue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface.clock import Now

PLACEHOLDER_TIME = Now(0, 0)
"""A placeholder for the current time. It is used in elements that are restored from the store before the first input
has supplied the time.
"""
OUTGOING_QUEUES_LIMIT = 65_536
"""The maximum number of outgoing queues. When it is reached, no further outgoing queue is created for routed messages
or acknowledgments.
"""
QueuePath = PrivateQueuePath | PublicQueuePath
_SENDABLE_FORMAT_NAME_EXAMPLES = (
    r"DIRECT=TCP:address\private$\queue, DIRECT=OS:host\private$\queue, PRIVATE=guid\id or PUBLIC=guid"
)


def parse_format_name_of_command(text: str) -> FormatName:
    """Parse the format name in a command."""
    try:
        return parse_format_name(text)
    except FormatError as error:
        raise CommandError(f"{error}: use {_SENDABLE_FORMAT_NAME_EXAMPLES}") from error


class DestinationResolving(QueueManagerPart):
    """Finds the local queue, or the outgoing queue with its session, that belongs to a format name.

    Spec: MS-MQDMPR 3.1.7.1.5, MS-MQMQ 2.1.
    """

    __slots__ = ()

    def find_local_queue(self, text: str) -> Queue | None:
        """Return the local queue that a format name identifies, or None if the queue belongs to another queue
        manager.
        """
        name = parse_format_name_of_command(text)
        if isinstance(name, PublicName):
            queue = self.qm.queue_names.find_queue_by_format_name(name)
            if queue is None and not self.qm.queue_names.is_queue_on_this_computer(name):
                return None  # an unknown queue waits, as MS-MQQB 3.1.5.2.1 specifies
        elif isinstance(name, PrivateName):
            if name.ComputerGuid != self.qm.adm.Identifier:
                return None
            queue = self.qm.adm.QueueCollection.find_private_queue(name.QueueIdentifier)
        elif isinstance(name, QueuePath) and name.Protocol in ("TCP", "OS") and not (name.Subqueue or name.Journal):
            if not self.qm.queue_names.is_direct_name_of_own_host(name):
                return None
            queue = self.qm.queue_names.find_queue_by_format_name(name)
        else:
            raise CommandError(f"{text!a} cannot be a destination: use {_SENDABLE_FORMAT_NAME_EXAMPLES}")
        if queue is None:
            raise CommandError(f"{text!a} is not a queue of this queue manager: create it first")
        return queue

    def find_known_outgoing_queue(self, text: str) -> OutgoingQueue:
        """Find the outgoing queue for a format name."""
        queue = self.qm.adm.OutgoingQueues.get(text.lower())
        if queue is None:
            raise CommandError(f"{text!a} has no outgoing queue here: send a message to it first, or list the queues")
        return queue

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        """Find or create the outgoing queue for a format name of another queue manager. Spec: MS-MQDMPR 3.1.7.1.5."""
        known = self.qm.adm.OutgoingQueues.get(text.lower())
        if known is not None:
            return known
        queue = OutgoingQueue(
            Pathname=text,
            Identifier=uuid5(self.qm.adm.Identifier, text.lower()),
            Label=text,
            DestinationFormatName=text,
            Multicast=isinstance(parse_format_name_of_command(text), MulticastName),
            State=self.get_initial_outgoing_queue_state(text),
        )
        queue.session = Session(
            self.qm.assign_session_number(),
            initiator=True,
            OutgoingQueueReference=queue,
            OutgoingTxSequenceID=self._create_sequence_id(now),
        )
        self.qm.adm.OutgoingQueues[text.lower()] = queue
        self.qm.disk.save(self.qm.durable_records.build_sequence_entry(queue))
        if self.qm.begun:
            self.begin(queue, now)
        return queue

    def begin(self, queue: OutgoingQueue, now: Now) -> None:
        """Set the base priority of an outgoing queue, and start its idle timer.

        A restored queue is not begun until the time and the directory are known.
        """
        queue.BasePriority = self._get_base_priority(queue.DestinationFormatName)
        self.start_outgoing_queue_idle_timer(queue, now)

    def start_outgoing_queue_idle_timer(self, queue: OutgoingQueue, now: Now) -> None:
        """Start the timer after which an unused outgoing queue is destroyed. Spec: MS-MQSO 5.1.1.2."""
        duration_ms = self.qm.settings.outgoing_queue_idle_ms // self.qm.settings.scale
        key = TimerKey(TimerName.OUTGOING_QUEUE_IDLE, queue.session.number)
        self.qm.timers.start(key, now.monotonic_ms, duration_ms)

    def on_outgoing_queue_idle_timer(self, session_number: int, now: Now) -> None:
        """Destroy an outgoing queue if it is idle; otherwise restart its timer. Spec: MS-MQSO 5.1.1.2."""
        queues = self.qm.adm.OutgoingQueues.values()
        queue = next((one for one in queues if one.session.number == session_number), None)
        if queue is None:
            return
        if self.is_outgoing_queue_idle(queue):
            self.destroy_outgoing_queue(queue)
        else:
            self.start_outgoing_queue_idle_timer(queue, now)

    def is_outgoing_queue_idle(self, queue: OutgoingQueue) -> bool:
        """Return whether an outgoing queue is empty and unused, and has no sequence that must be continued."""
        session, units = queue.session, self.qm.adm.TransactionCollection.values()
        used = (
            *(_find_changed_queue(one) for unit in units for one in unit.TransactionalOperationCollection),
            *(saving.position.QueueReference for saving in self.qm.savings.values()),
        )
        return not (
            queue.Active
            or queue.State in (OutgoingQueueState.ON_HOLD, OutgoingQueueState.LOCKED)
            or session.SessionState is not SessionState.CLOSED
            or session.AwaitingFinalACKTable
            or any(one is queue for one in used)
            or any(session in commit.sessions for commit in self.qm.disk.pending.values())
        )

    def destroy_outgoing_queue(self, queue: OutgoingQueue) -> None:
        """Destroy an outgoing queue. If another message is sent to the same destination, a new queue is created.

        Spec: MS-MQSO 5.1.1.2.
        """
        self.qm.adm.OutgoingQueues.pop(queue.DestinationFormatName.lower(), None)
        self.qm.disk.save(dict.fromkeys(self.qm.durable_records.build_sequence_entry(queue)))

    def get_initial_outgoing_queue_state(self, text: str) -> OutgoingQueueState:
        """Return the state that an outgoing queue has after its creation or after a restart.

        Spec: MS-MQDMPR 3.1.7.1.5, 3.1.3, 3.1.1.3 (Locked).
        """
        by_http = getattr(parse_format_name_of_command(text), "Protocol", "") in ("HTTP", "HTTPS")
        return (
            OutgoingQueueState.LOCKED if self.qm.adm.HardenedSecurity and not by_http else OutgoingQueueState.INACTIVE
        )

    def _get_base_priority(self, text: str) -> int:
        name = parse_format_name_of_command(text)
        published = self.qm.enterprise.find_queue(name.QueueGuid) if isinstance(name, PublicName) else None
        return 0 if published is None else published.BasePriority

    def _create_sequence_id(self, now: Now) -> TxSequenceID:
        """Return an OutgoingTxSequenceID that is greater than every earlier OutgoingTxSequenceID. Spec: MS-MQQB
        3.1.1.3.1.

        Sequences to different destinations also get different identifiers, even if they begin in the same second,
        because an OrderAck identifies its sequence only by the OutgoingTxSequenceID.
        """
        self.qm.adm.last_sequence_time = max(self.qm.adm.last_sequence_time + 1, now.utc_s)
        return TxSequenceID(Ordinal=1, TimeStamp=self.qm.adm.last_sequence_time & 0xFFFFFFFF)

    def find_queue_of_saved_message(self, name: str) -> Queue | None:
        """Return the queue of a saved message. ``name`` is the name of the queue in the entry of the message.

        Return None if the queue was deleted.
        """
        kind, _, rest = name.partition(":")
        if kind == "queue":
            return next(
                (
                    queue
                    for queue in self.qm.queue_names.list_every_queue()
                    if format_queue_name_of_entry(queue) == name
                ),
                None,
            )
        if kind == "outgoing":
            return self.open_outgoing_queue(rest, PLACEHOLDER_TIME)
        queue = self.qm.queue_names.find_queue_by_path(name)
        if queue is None:
            raise LookupError(f"queue {name} does not exist")
        return queue


def get_destination_guid(text: str) -> UUID:
    """Return the value of UserHeader.QueueManagerAddress for a format name. The value is zero except for a private
    format name. Spec: MS-MQMQ 2.2.19.2.
    """
    name = parse_format_name_of_command(text)
    return name.ComputerGuid if isinstance(name, PrivateName) else NULL_GUID


def _find_changed_queue(operation: TransactionalOperation) -> Queue | None:
    """Return the queue that an operation changes when its transaction commits."""
    return operation.TargetQueueReference or operation.MessagePositionReference.QueueReference
