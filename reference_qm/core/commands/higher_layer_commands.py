from __future__ import annotations

import base64
from dataclasses import fields, replace

from reference_qm.codec import NULL_GUID, FormatName, MessageIdentifier, MessagePropertiesHeader
from reference_qm.codec.format_names import DistributionListName, MultipleElementName
from reference_qm.control import CONTROL_PROTOCOL_VERSION, VERBS_BY_FACILITY
from reference_qm.core.arguments import require_number_in_range
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import get_destination_guid, parse_format_name_of_command
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.sessions.session_opening import ACK_TIMEOUT_RANGE_MS
from reference_qm.core.store.messages import (
    ACK_BITS_BY_NAME,
    check_message_fits_packet,
    check_queue_names_fit_packet,
    format_message_id,
    may_exceed_packet_size,
)
from reference_qm.core.store.security_text import parse_requested_security
from reference_qm.model.adm import INFINITE_TIMEOUT, Message, Queue
from reference_qm.model.states import DeliveryGuarantee, SessionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.security import MessageSecurity
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

MAX_MESSAGE_LABEL_CHARACTERS = 249
"""The maximum length of a label in WCHARs, without its terminating null. Spec: MS-MQMQ 2.2.19.3."""
LONGEST_TIMER_MS = 0x7FFFFFFF


class HigherLayerCommands(QueueManagerPart):
    """Handles the commands that a higher layer, such as an application, gives to the queue manager.

    Each handler returns a Result, or None if a later step answers the command.
    """

    __slots__ = ()

    def identity(self, request: commands.Identity, token: int, now: Now) -> Result:
        """Return the identity of this queue manager."""
        machine = self.qm.enterprise.state.LocalQueueManager
        return Result(
            {
                "protocol": CONTROL_PROTOCOL_VERSION,
                "guid": str(self.qm.adm.Identifier),
                "name": self.qm.config.host_name,
                "vendor": self.qm.config.vendor,
                "version": self.qm.config.version,
                "facilities": [
                    one for one in VERBS_BY_FACILITY if one != "reset" or not self.qm.config.directory_integrated
                ],
                "public_encryption_keys_base64": base64.b64encode(machine.PublicEncryptionKeyList).decode(),
                "public_signing_keys_base64": base64.b64encode(machine.PublicSigningKeyList).decode(),
            }
        )

    def list_queues(self, request: commands.ListQueues, token: int, now: Now) -> Result:
        """List the local queues, the outgoing queues and the transactions."""
        return Result(
            {
                "queues": [
                    {
                        "name": queue.Pathname,
                        "transactional": queue.Transactional,
                        "count": len(queue.MessagePositionList),
                    }
                    for queue in self.qm.adm.QueueCollection.values()
                ],
                "outgoing": [
                    {
                        "format_name": queue.DestinationFormatName,
                        "state": queue.State.value,
                        "count": len(queue.session.OutgoingMessageTable),
                    }
                    for queue in self.qm.adm.OutgoingQueues.values()
                ],
                "transactions": [
                    {
                        "transaction": str(transaction.Identifier),
                        "state": transaction.state.value,
                        "operations": len(transaction.TransactionalOperationCollection),
                    }
                    for transaction in self.qm.adm.TransactionCollection.values()
                ],
            }
        )

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        """Put a message into a local queue, or into the outgoing queue of each of its destinations.

        A message that is sent in a transaction waits in its queue until the transaction commits.
        """
        transaction = self.qm.transaction_commands.find_transaction_of_request(request.transaction)
        if transaction is not None:
            request = replace(request, transactional=True)
        _check_message_properties(request)
        self._check_dead_letter_queue(request)
        name = self._expand_distribution_list(request.to)
        if isinstance(name, MultipleElementName):
            return self._send_copy_to_each_queue(request, name, transaction, now)
        if name is not None:
            request = replace(request, to=str(name))
        local = self._find_accepting_queue(request)
        security = self._find_requested_security(request)
        if local is not None:
            security = self._check_message_for_local_queue(
                local, self._build_message(request, security, now), now
            ).security
        elif security is not None or may_exceed_packet_size(request.body + request.extension):
            check_message_fits_packet(self._build_message(request, security, now))
        else:
            check_queue_names_fit_packet(
                self.qm.adm.Identifier, request.to, request.admin_queue, request.response_queue
            )
        queue = local if local is not None else self.qm.destination_resolving.open_outgoing_queue(request.to, now)
        number = (
            self.qm.message_numbering.assign_transaction_identifier()
            if request.transactional and transaction is None
            else 0
        )
        message = self._build_message(
            request, security, now, self.qm.message_numbering.assign_message_ordinal(), number, local is not None
        )
        if transaction is not None:
            self.qm.transaction_operations.enqueue_in_transaction(transaction, queue, message)
            return Result({"message_id": format_message_id(message.Identifier)})
        return self.qm.message_enqueueing.put_message(
            queue, message, token, Result({"message_id": format_message_id(message.Identifier)}), now
        )

    def _expand_distribution_list(self, to: str) -> FormatName | None:
        """Return the names of all queues that a format name identifies, or None if the format name identifies only one
        queue.

        Spec: MS-MQDMPR 3.1.7.3.8.
        """
        if not isinstance(parse_format_name_of_command(to), MultipleElementName | DistributionListName):
            return None
        expanded = self.qm.queue_names.expand_format_name(to)
        if expanded is None:
            raise CommandError(
                f"{to!a} cannot be expanded: the directory returns no queues for a distribution list in it"
            )
        return expanded

    def _find_accepting_queue(self, request: commands.SendMessage) -> Queue | None:
        """Return the local queue to which a message is sent, or None if the queue belongs to another queue manager.

        Raise CommandError if the local queue or the outgoing queue cannot accept the message.
        """
        local = self.qm.destination_resolving.find_local_queue(request.to)
        if local is not None and local.Transactional != request.transactional:
            kind, other = ("transactional", "nontransactional")[:: 1 if local.Transactional else -1]
            raise CommandError(f"{request.to!a} is a {kind} queue: send a {kind} message, or use a {other} queue")
        if local is None and self.qm.adm.Throttled:
            raise CommandError(_REASON_BY_ENQUEUE_STATUS[EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED])
        if (
            local is None
            and self.qm.message_enqueueing.count_outgoing_messages() >= self.qm.config.max_outgoing_messages
        ):
            raise CommandError(
                f"{self.qm.config.max_outgoing_messages} messages are already waiting to be sent: try again later"
            )
        return local

    def _send_copy_to_each_queue(
        self,
        request: commands.SendMessage,
        several: MultipleElementName,
        transaction: Transaction | None,
        now: Now,
    ) -> Result:
        """Send a copy of a message to each of several queues. If one of the queues refuses the message, no queue
        gets a copy.
        """
        security = self._find_requested_security(request)
        ones = [replace(request, to=str(element)) for element in several.Elements]
        for one in ones:
            if self._find_accepting_queue(one) is not None and security is not None:
                raise CommandError(
                    f"{one.to!a} does not accept a signed or encrypted message that also has other destinations: "
                    "send the message to this queue alone"
                )
        for one in ones:
            check_message_fits_packet(
                replace(self._build_message(one, security, now), DestinationMultiQueueFormatName=str(several))
            )
        number = (
            self.qm.message_numbering.assign_transaction_identifier()
            if request.transactional and transaction is None
            else 0
        )
        message = self._build_message(ones[0], security, now, 0, number)
        return self.qm.message_enqueueing.send_to_several_queues(request.to, message, transaction, now)

    def open_session(self, request: commands.OpenSession, token: int, now: Now) -> Result | None:
        """Establish a session without sending a message. Answer the command when the session is open or has been
        closed.
        """
        if self.qm.destination_resolving.find_local_queue(request.to) is not None:
            raise CommandError(f"{request.to!a} is a queue of this queue manager: a local queue needs no session")
        session = self.qm.destination_resolving.open_outgoing_queue(request.to, now).session
        if session.SessionState is SessionState.OPEN:
            return Result()
        session.awaiting_command_tokens.append(token)
        if session.SessionState in (SessionState.CLOSED, SessionState.WAITING_RECONNECT):
            self.qm.session_establishing.establish(session, now)
        return None

    def set_timers(self, request: commands.SetTimers, token: int, now: Now) -> Result:
        """Change the durations of timers. Running timers and open sessions keep their values."""
        changes = {one.name: value for one in fields(request) if (value := getattr(request, one.name)) is not None}
        for name, value in changes.items():
            lowest, highest = ACK_TIMEOUT_RANGE_MS if name == "ack_wait_timeout_ms" else (1, LONGEST_TIMER_MS)
            require_number_in_range(name, value, lowest, highest)
        self.qm.settings = replace(self.qm.settings, **changes)
        return Result({one.name: getattr(self.qm.settings, one.name) for one in fields(request)})

    def inspect_adm(self, request: commands.Inspect, token: int, now: Now) -> Result:
        """Return the abstract data model as a JSON-ready tree."""
        return Result({"adm": self.qm.data_model_inspection.inspect(now)})

    def _find_requested_security(self, request: commands.SendMessage) -> MessageSecurity | None:
        config = self.qm.config
        return parse_requested_security(
            request, config.security.accounts, self.qm.adm.Identifier, config.default_hash_algorithm
        )

    def _check_message_for_local_queue(self, local: Queue, message: Message, now: Now) -> Message:
        """Return the message as a local queue stores it. Raise CommandError if the queue refuses the message."""
        if status := self.qm.message_enqueueing.admit_message(local, message, now):
            reason = _REASON_BY_ENQUEUE_STATUS[status]
            raise CommandError(f"{message.DestinationQueueFormatName!a} does not accept the message: {reason}")
        check_message_fits_packet(message)
        return self.qm.message_securing.secure_local_message(local, message, now)

    def _build_message(
        self,
        request: commands.SendMessage,
        security: MessageSecurity | None,
        now: Now,
        ordinal: int = 0,
        transaction: int = 0,
        arrived: bool = False,
    ) -> Message:
        """Build the message that a request describes. After all checks, assign its ordinal and its transaction."""
        acks = MessagePropertiesHeader.flags(**{ACK_BITS_BY_NAME[name]: 1 for name in request.acks})
        reach, received = request.time_to_reach_queue_s, request.time_to_be_received_s
        return Message(
            Identifier=MessageIdentifier(self.qm.adm.Identifier, ordinal),
            DestinationQueueFormatName=request.to,
            DestinationQueueManagerIdentifier=get_destination_guid(request.to),
            Priority=0 if request.transactional else request.priority,  # MS-MQMQ 2.2.19.1
            DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE
            if request.recoverable or request.transactional
            else DeliveryGuarantee.EXPRESS,
            Label=request.label,
            Body=request.body,
            BodyType=request.body_type,
            AppSpecific=request.application_tag,
            Extension=request.extension,
            CorrelationIdentifier=request.correlation_id,
            SentTime=now.utc_s,
            ArrivalTime=now.utc_s if arrived else 0,
            TimeToReachQueue=self.qm.config.long_live_time_s if reach is None else reach,
            TimeToBeReceived=INFINITE_TIMEOUT if received is None else received,
            AcknowledgementsRequested=acks,
            PositiveJournalingRequested="positive" in request.journal,
            NegativeJournalingRequested="negative" in request.journal,
            AdministrationQueueFormatName=request.admin_queue,
            ResponseQueueFormatName=request.response_queue,
            ApplicationDeadletterQueue=request.dead_letter_queue or "",
            TracingRequested=request.trace_queue is not None,
            TracingQueueIdentifier=request.trace_queue or NULL_GUID,
            TransactionIdentifier=transaction if request.transactional else None,
            FirstInTransaction=request.transactional,
            LastInTransaction=request.transactional,
            security=security,
        )

    def _check_dead_letter_queue(self, request: commands.SendMessage) -> None:
        if request.dead_letter_queue is None:
            return
        queue = self.qm.message_journaling.find_application_queue(request.dead_letter_queue)
        if queue is None or queue.Transactional is not request.transactional:
            kind = "transactional" if request.transactional else "nontransactional"
            raise CommandError(
                f"dead_letter_queue {request.dead_letter_queue!a} is not "
                f"a {kind} queue of this queue manager: create it first"
            )


_REASON_BY_ENQUEUE_STATUS = {
    EnqueueStatus.QUEUE_QUOTA_EXCEEDED: "the quota of the queue would be exceeded: receive or purge messages first",
    EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED: "the quota of the queue manager would be exceeded: "
    "receive or purge messages first",
    EnqueueStatus.TIMED_OUT: "the TimeToReachQueue of the message has expired",
}


COMMANDS_ANSWERED_WHILE_HALTED = frozenset({commands.Identity, commands.ListQueues, commands.Inspect})
"""The commands that return information and change nothing. These commands are answered even while the queue manager
refuses all other work.
"""


def _check_message_properties(request: commands.SendMessage) -> None:
    """Raise CommandError for a message whose properties do not fit into a packet. Spec: MS-MQMQ 2.2.19.1, 2.2.19.2,
    2.2.19.3.
    """
    if unknown := request.acks - ACK_BITS_BY_NAME.keys():
        raise CommandError(f"acks: {min(unknown)!a} is not one of {', '.join(ACK_BITS_BY_NAME)}")
    if unknown := request.journal - {"positive", "negative"}:
        raise CommandError(f"journal: {min(unknown)!a} is not one of positive, negative")
    if bool(request.acks) != (request.admin_queue is not None):
        raise CommandError("acks and admin_queue must be used together (MS-MQMQ 2.2.19.2): give both or neither")
    if request.label and (
        "\0" in request.label
        or len(request.label.encode("utf-16-le", "surrogatepass")) > 2 * MAX_MESSAGE_LABEL_CHARACTERS
    ):
        raise CommandError(f"the label is longer than {MAX_MESSAGE_LABEL_CHARACTERS} characters or contains a null")
    require_number_in_range("priority", request.priority, 0, 7)
    for name in ("body_type", "application_tag", "time_to_reach_queue_s", "time_to_be_received_s"):
        require_number_in_range(name, getattr(request, name) or 0, 0, 0xFFFFFFFF)
