from __future__ import annotations

import base64
from dataclasses import fields
from typing import Any

from reference_qm.codec import FormatError, PrivateName, PublicName
from reference_qm.core.arguments import convert_argument_word, require_number_in_range
from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing import queue_lifecycle
from reference_qm.core.queueing.queue_opening import OPEN_DESCRIPTORS_LIMIT
from reference_qm.core.store.entries import build_message_relocation
from reference_qm.core.store.messages import describe_message
from reference_qm.core.store.security_text import find_account
from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction, QueueAccessType, QueueShareMode
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.security import ANONYMOUS_SID, SecurityDescriptor
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CommandCompleted, CommandRejected

LONGEST_WAIT_MS = 0x7FFFFFFF

ACCESS_BY_WORD = {"receive": QueueAccessType.RECEIVE, "peek": QueueAccessType.PEEK}
PRIVACY_BY_WORD = {"none": PrivacyLevel.NONE, "optional": PrivacyLevel.OPTIONAL, "body": PrivacyLevel.BODY}
SEEK_ACTION_BY_WORD = {one.name.lower(): one for one in MessageSeekAction}
ATTRIBUTE_BY_PROPERTY = {
    "label": "Label",
    "journaling": "Journaling",
    "quota_kb": "Quota",
    "journal_quota_kb": "JournalQuota",
    "authenticated": "Authentication",
    "privacy": "PrivacyLevel",
    "base_priority": "BasePriority",
    "type": "Type",
}
"""The attributes of a queue that commands can change, by the names that the commands use."""
PROPERTY_LIMITS = {"quota_kb": (0, 0xFFFFFFFF), "journal_quota_kb": (0, 0xFFFFFFFF), "base_priority": (-0x8000, 0x7FFF)}
MAX_QUEUE_LABEL_CHARACTERS = 124
"""The maximum length of Queue.Label in characters. Spec: MS-MQMQ 2.3.1.8 (PROPID_Q_LABEL)."""


class QueueCommands(QueueManagerPart):
    """Handles the commands about queues that a higher layer, such as an application, gives to the queue manager.

    Each handler returns a Result, or None if a later step answers the command.
    """

    __slots__ = ()

    def create_queue(self, request: commands.CreateQueue, token: int, now: Now) -> None:
        """Create a private queue or a subqueue. If a directory is configured, a public queue can also be created."""
        described = queue_lifecycle.make_queue_with_defaults(request.name)
        described.Transactional = request.transactional
        owner = ANONYMOUS_SID
        if request.owner is not None:
            accounts = self.qm.config.security.accounts
            owner = find_account("owner", request.owner, accounts).SecurityIdentifier
        described.Security = self.qm.queue_lifecycle.build_security_of_new_queue(
            _parse_security(request.security), owner
        )
        _set_attributes(described, _parse_properties(request))

        def answer_creation(status: Status, queue: Queue | None) -> None:
            self.qm.command_answering.answer(token, lambda: self._save_new_queue(request.name, token, status, queue))

        self.qm.queue_lifecycle.create(described, now.utc_s, answer_creation)

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        """Save a new queue. When it is on disk, answer the command with the queue's format names."""
        if queue is None:
            raise CommandError(
                _REFUSAL_BY_STATUS.get(status, "queue {0!a} cannot be created: {1}").format(name, status.name)
            )
        direct = [f"DIRECT=TCP:{address}\\{name}" for address in self.qm.config.addresses]
        names = {"direct": direct[0] if direct else None}
        if queue.PrivateQueueNumber is not None:
            names["private"] = str(PrivateName(self.qm.adm.Identifier, queue.PrivateQueueNumber))
        if _is_queue_published(queue):
            names["public"] = str(PublicName(queue.Identifier))
        result = Result({"format_names": names})

        def undo_creation() -> None:
            if _is_queue_published(queue):
                self.qm.public_queue_publishing.delete_published_queue(queue, lambda status: None)
            self.qm.queue_lifecycle.forget(queue)

        return self.qm.disk.commit(
            self.qm.durable_records.build_queue_entry(queue), token, lambda: result, undo_creation
        )

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        """Delete a queue or a subqueue. A public queue is first deleted from the directory."""
        queue = self.qm.queue_names.find_queue(request.name)
        if queue.QueueType is QueueType.SYSTEM:
            raise CommandError(f"{queue.Pathname} is a system queue: it cannot be deleted, only purged")
        if not _is_queue_published(queue):
            return self.qm.queue_lifecycle.delete(queue, token, Result)

        def delete_after_directory(status: Status) -> Result | None:
            _check_directory_result(status, f"{queue.Pathname} cannot be deleted from the directory")
            return self.qm.queue_lifecycle.delete(self.qm.queue_names.find_queue(request.name), token, Result)

        self.qm.public_queue_publishing.delete_published_queue(
            queue, lambda status: self.qm.command_answering.answer(token, lambda: delete_after_directory(status))
        )
        return None

    def purge_queue(self, request: commands.PurgeQueue, token: int, now: Now) -> Result | None:
        """Delete every message of a queue."""
        return self.qm.queue_lifecycle.purge(
            self.qm.queue_names.find_queue(request.queue), token, lambda purged: Result({"purged": purged})
        )

    def get_queue(self, request: commands.GetQueue, token: int, now: Now) -> Result:
        """Return the properties of a queue."""
        return _describe_queue(self.qm.queue_names.find_queue(request.name))

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        """Change properties of a queue."""
        queue = self.qm.queue_names.find_queue(request.name)
        if queue.QueueType is QueueType.SYSTEM or queue.parent is not None:
            raise CommandError(
                f"{queue.Pathname} has no properties of its own: only private and public queues have them"
            )
        changes = _parse_properties(request) | {"ModifyTime": now.utc_s}
        if not _is_queue_published(queue):
            return self._change_attributes(queue, changes, token)

        def change_after_directory(status: Status) -> Result | None:
            _check_directory_result(status, f"{queue.Pathname} cannot be changed in the directory")
            return self._change_attributes(self.qm.queue_names.find_queue(request.name), changes, token)

        self.qm.public_queue_publishing.write(
            queue,
            changes,
            lambda status: self.qm.command_answering.answer(token, lambda: change_after_directory(status)),
        )
        return None

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Result | None:
        """Set attributes of a queue, and save them."""
        before = {name: getattr(queue, name) for name in changes}

        def undo_attribute_change() -> None:
            _set_attributes(queue, before)
            if _is_queue_published(queue):
                self.qm.public_queue_publishing.write(queue, before, lambda status: None)

        _set_attributes(queue, changes)
        result = _describe_queue(queue)
        return self.qm.disk.commit(
            self.qm.durable_records.build_queue_entry(queue), token, lambda: result, undo_attribute_change
        )

    def open_queue(self, request: commands.OpenQueue, token: int, now: Now) -> Result:
        """Open a queue."""
        access = convert_argument_word("access", request.access, ACCESS_BY_WORD)
        self._check_open_descriptors_limit()
        return Result(
            {
                "handle": self._open_descriptor(
                    request.queue, access, _convert_to_share_mode(request.deny_receive)
                ).Handle
            }
        )

    def get_queue_path(self, request: commands.GetQueuePath, token: int, now: Now) -> Result:
        """Return the path name and the computer of the queue that a format name identifies. Spec: MS-MQDMPR
        3.1.7.1.26.
        """
        status, path, machine = self.qm.queue_paths.get_queue_path(request.format_name)
        return Result({"status": status.name, "path": path, "machine": machine})

    def open_to_send(self, request: commands.OpenToSend, token: int, now: Now) -> Result:
        """Open the queues that a format name identifies for sending. Spec: MS-MQDMPR 3.1.7.1.5."""
        self._check_open_descriptors_limit()
        share = _convert_to_share_mode(request.deny_receive)
        status, descriptor = self.qm.queue_opening.open_queue(request.to, QueueAccessType.SEND, share, now)
        if descriptor is None:
            raise CommandError(f"{request.to!a} cannot be opened for sending: {_explain_status(status)}")
        return Result({"handle": descriptor.Handle})

    def close_queue(self, request: commands.CloseQueue, token: int, now: Now) -> Result:
        """Close a queue."""
        self.qm.queue_opening.close_queue(self._find_descriptor(request.handle))
        return Result()

    def open_cursor(self, request: commands.OpenCursor, token: int, now: Now) -> Result:
        """Create a cursor."""
        descriptor = self._find_descriptor(request.handle)
        if len(descriptor.CursorCollection) >= OPEN_DESCRIPTORS_LIMIT:
            raise CommandError(f"{OPEN_DESCRIPTORS_LIMIT} cursors are already open: close some of them")
        cursor = self.qm.queue_cursors.open(descriptor)
        if cursor is None:
            raise CommandError(_explain_status(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE))
        return Result({"cursor": cursor.Handle})

    def close_cursor(self, request: commands.CloseCursor, token: int, now: Now) -> Result:
        """Close a cursor."""
        self.qm.queue_opening.close_cursor(self._find_cursor(request.cursor))
        return Result()

    def receive_message(self, request: commands.ReceiveMessage, token: int, now: Now) -> None:
        """Receive a message from a queue. If there is no message, wait for a message."""
        _check_timeout(request.timeout_ms)
        transaction = self.qm.transaction_commands.find_transaction_of_request(request.transaction)
        descriptor, cursor, answered = self._find_reading_descriptor(request, QueueAccessType.RECEIVE, token)
        self.qm.message_reading.dequeue_message(
            descriptor, answered, now, request.timeout_ms, cursor, token, transaction=transaction
        )

    def peek_message(self, request: commands.PeekMessage, token: int, now: Now) -> None:
        """Peek at a message in a queue. If there is no message, wait for a message."""
        _check_timeout(request.timeout_ms)
        if request.next and request.cursor is None:
            raise CommandError("the argument next needs a cursor, because only a cursor has a next message")
        descriptor, cursor, answered = self._find_reading_descriptor(request, QueueAccessType.PEEK, token)
        if request.next and cursor is not None:
            self.qm.message_reading.peek_next_message(descriptor, answered, now, cursor, request.timeout_ms, token)
        else:
            self.qm.message_reading.peek_message(descriptor, answered, now, request.timeout_ms, cursor, token)

    def read_by_lookup_identifier(self, request: commands.ReadByLookupIdentifier, token: int, now: Now) -> None:
        """Receive or peek at the message with the given LookupIdentifier, or the message before or after it."""
        seek = convert_argument_word("seek", request.seek, SEEK_ACTION_BY_WORD)
        access = QueueAccessType.PEEK if request.peek else QueueAccessType.RECEIVE
        transaction = self.qm.transaction_commands.find_transaction_of_request(request.transaction)
        if transaction is not None and request.peek:
            raise CommandError(
                "a peek cannot be part of a transaction, because it locks "
                "no message (MQ_ERROR_TRANSACTION_USAGE): omit transaction"
            )
        descriptor, _, answered = self._find_reading_descriptor(request, access, token)
        self.qm.message_reading.read_by_lookup_identifier(
            descriptor, request.lookup_id, seek, answered, request.peek, transaction=transaction
        )

    def move_message(self, request: commands.MoveMessage, token: int, now: Now) -> Result | None:
        """Move a message between a queue and its subqueues. Spec: MS-MQDMPR 3.1.7.1.16, MS-MQRR 3.1.4.10."""
        transaction = self.qm.transaction_commands.find_transaction_of_request(request.transaction)
        source, target = self.qm.queue_names.find_queue(request.queue), self.qm.queue_names.find_queue(request.to)
        if transaction is not None:
            _check_transactional_receive(source)
        related = (source.parent or source) is (target.parent or target) and source is not target
        if not related or QueueType.SYSTEM in (source.QueueType, target.QueueType):
            raise CommandError(
                f"{request.to!a} and {request.queue!a} are not parts of the same "
                "queue: a message can be moved only between a queue and its subqueues"
            )
        position = source.MessagePositionList.find(request.lookup_id)
        if position is None or position.State is not MessagePositionState.AVAILABLE:
            raise CommandError(_explain_status(Status.MQ_ERROR_MESSAGE_NOT_FOUND))
        if transaction is not None:
            self.qm.transaction_operations.move_in_transaction(transaction, position, target)
            return Result({"lookup_id": request.lookup_id})
        there = self.qm.message_positions.move_message(position, target)
        if (
            there is None or there.State is not MessagePositionState.AVAILABLE
        ):  # a read that waited at the target took the message
            return Result({"lookup_id": request.lookup_id})
        change = build_message_relocation(there)
        result = Result({"lookup_id": request.lookup_id})
        return self.qm.disk.commit(change, token, lambda: result, lambda: None)

    def cancel_waiting(self, request: commands.CancelWaiting, token: int, now: Now) -> Result:
        """Cancel a command that waits for a message. Spec: MS-MQDMPR 3.1.7.1.17."""
        queue = next(
            (reader.descriptor.QueueReference for reader in self.qm.readers.values() if reader.Tag == request.token),
            None,
        )
        if queue is None:
            return Result({"cancelled": False})
        status = self.qm.waiting_reads.cancel_waiting_read(queue, request.token, Status.MQ_ERROR_OPERATION_CANCELLED)
        return Result({"cancelled": status is Status.MQ_OK})

    def peek_messages(self, request: commands.PeekMessages, token: int, now: Now) -> Result:
        """Return those messages of a queue that an application can receive now, in order."""
        require_number_in_range("limit", request.limit, 1, LONGEST_WAIT_MS)
        described: list[dict[str, Any]] = []
        for position in self.qm.queue_names.find_queue(request.queue).MessagePositionList:
            if len(described) == request.limit:
                break
            if position.State is MessagePositionState.AVAILABLE:
                described.append(describe_message_position(position))
        return Result({"messages": described})

    def _find_reading_descriptor(
        self, request: Any, access: QueueAccessType, token: int
    ) -> tuple[OpenQueueDescriptor, Cursor | None, OnReadAnswered]:
        """Return the descriptor and the cursor with which a command reads, and the function that answers the
        command.
        """
        cursor_handle = getattr(request, "cursor", None)
        in_transaction = getattr(request, "transaction", None) is not None
        given = [one for one in (request.queue, request.handle, cursor_handle) if one is not None]
        if len(given) != 1:
            raise CommandError(
                "the request must identify one queue to read from: give exactly one of queue, handle and cursor"
            )
        if request.queue is not None:
            if in_transaction:
                _check_transactional_receive(self.qm.queue_names.find_queue(request.queue))
            descriptor = self._open_descriptor(request.queue, access, QueueShareMode.DENY_NONE)
            return descriptor, None, self._make_answer(token, descriptor)
        cursor = None if cursor_handle is None else self._find_cursor(cursor_handle)
        descriptor = self._find_descriptor(request.handle) if cursor is None else cursor.OpenQueueDescriptorReference
        if access is QueueAccessType.RECEIVE and descriptor.AccessType is not access:
            raise CommandError(
                f"handle {descriptor.Handle} was opened only to peek (MS-MQMP 3.1.4.2): open the queue again to receive"
            )
        if in_transaction and descriptor.QueueReference is not None:
            _check_transactional_receive(descriptor.QueueReference)
        return descriptor, cursor, self._make_answer(token, None)

    def _make_answer(self, token: int, opened: OpenQueueDescriptor | None) -> OnReadAnswered:
        """Return the function that answers a reading command. The function closes the descriptor if the descriptor
        was opened only for this command.
        """

        def answer_command(status: Status, position: MessagePosition | None) -> None:
            if opened is not None:
                self.qm.queue_opening.close_queue(opened)
            if position is not None:
                self.qm.emit_effect(CommandCompleted(token, Result({"message": describe_message_position(position)})))
            elif status is Status.MQ_ERROR_IO_TIMEOUT:
                self.qm.emit_effect(CommandCompleted(token, Result({"message": None})))
            elif status is Status.MQ_ERROR_MESSAGE_STORAGE_FAILED:
                self.qm.emit_effect(
                    CommandRejected(
                        token, f"the message could not be saved: {self.qm.disk.error}; try again when the store works"
                    )
                )
            else:
                self.qm.emit_effect(CommandRejected(token, _explain_status(status)))

        return answer_command

    def _check_open_descriptors_limit(self) -> None:
        if len(self.qm.descriptors) >= OPEN_DESCRIPTORS_LIMIT:
            raise CommandError(f"{OPEN_DESCRIPTORS_LIMIT} queues are already open: close some of them")

    def _open_descriptor(self, name: str, access: QueueAccessType, share: QueueShareMode) -> OpenQueueDescriptor:
        queue = self.qm.queue_names.find_queue(name)
        status, descriptor = self.qm.queue_opening.open_found_queue(queue, queue.Pathname, access, share)
        if descriptor is None:
            raise CommandError(f"{name!a}: {_explain_status(status)}")
        return descriptor

    def _find_descriptor(self, handle: int) -> OpenQueueDescriptor:
        descriptor = self.qm.descriptors.get(handle)
        if descriptor is None:
            raise CommandError(
                f"no open queue has handle {handle}: open the queue again, because a restart closes handles"
            )
        return descriptor

    def _find_cursor(self, handle: int) -> Cursor:
        for descriptor in self.qm.descriptors.values():
            if handle in descriptor.CursorCollection:
                return descriptor.CursorCollection[handle]
        raise CommandError(
            f"cursor {handle} is not open: open a new cursor, because a cursor ends with its handle or at a restart"
        )


def _convert_to_share_mode(deny_receive: bool) -> QueueShareMode:
    return QueueShareMode.DENY_RECEIVE if deny_receive else QueueShareMode.DENY_NONE


def describe_message_position(position: MessagePosition) -> dict[str, Any]:
    """Return a JSON-ready description of a message and its position in a queue."""
    described = describe_message(position.MessageReference)
    described["lookup_id"] = position.LookupIdentifier
    return described


def _check_transactional_receive(queue: Queue) -> None:
    """Raise CommandError if a command that names a transaction receives or moves a message of a nontransactional queue.

    Spec: MS-MQRR 3.1.4.13.
    """
    if not queue.Transactional:
        raise CommandError(
            f"{queue.Pathname!a} is a nontransactional queue (MQ_ERROR_TRANSACTION_USAGE): use a transactional queue"
        )


def _parse_properties(request: Any) -> dict[str, Any]:
    """Return the attributes that a request sets. Attributes with the value None are omitted. Raises CommandError
    for an invalid value.
    """
    values: dict[str, Any] = {}
    for one in fields(request):
        value = getattr(request, one.name)
        if one.name not in ATTRIBUTE_BY_PROPERTY or value is None:
            continue
        if one.name in PROPERTY_LIMITS:
            require_number_in_range(one.name, value, *PROPERTY_LIMITS[one.name])
        if one.name == "label" and len(value) > MAX_QUEUE_LABEL_CHARACTERS:
            raise CommandError(f"the label is longer than {MAX_QUEUE_LABEL_CHARACTERS} characters")
        values[ATTRIBUTE_BY_PROPERTY[one.name]] = (
            convert_argument_word("privacy", value, PRIVACY_BY_WORD) if one.name == "privacy" else value
        )
    return values


def _describe_queue(queue: Queue) -> Result:
    values = {name: getattr(queue, attribute) for name, attribute in ATTRIBUTE_BY_PROPERTY.items()}
    values |= {"privacy": queue.PrivacyLevel.value.lower(), "type": str(queue.Type)}
    values |= {"security_base64": base64.b64encode(queue.Security.build()).decode()}
    counts = {"count": len(queue.MessagePositionList), "bytes": queue.TotalBytes}
    return Result({"name": queue.Pathname, "transactional": queue.Transactional, **values, **counts})


def _check_timeout(timeout_ms: int | None) -> None:
    if timeout_ms is not None:
        require_number_in_range("timeout_ms", timeout_ms, 0, LONGEST_WAIT_MS)


def _parse_security(security: bytes | None) -> SecurityDescriptor | None:
    try:
        return None if security is None else SecurityDescriptor.parse(security)
    except FormatError as error:
        raise CommandError(f"security: {error}: give a self-relative SECURITY_DESCRIPTOR (MS-DTYP 2.4.6)") from error


def _set_attributes(queue: Queue, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(queue, name, value)


def _is_queue_published(queue: Queue) -> bool:
    """Return whether a queue is published in the directory."""
    return queue.QueueType is QueueType.PUBLIC and queue.parent is None


def _check_directory_result(status: Status, failure: str) -> None:
    """Raise CommandError unless the status states that the directory has carried out a change."""
    if status is not Status.MQ_OK:
        raise CommandError(f"{failure} ({status.name}): try again when the directory is available")


_REFUSAL_BY_STATUS = {
    Status.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME: r"{0!a} is not a path name of a private queue: use private$\name",
    Status.MQ_ERROR_UNSUPPORTED_OPERATION: (
        r"{0!a} is not a path name of a private queue, and a public queue needs a directory: use private$\name"
    ),
    Status.MQ_ERROR_ACCESS_DENIED: "queue {0!a} belongs to the queue manager itself: use another name",
    Status.MQ_ERROR_QUEUE_EXISTS: "queue {0!a} already exists: delete it first, or use it",
    Status.MQ_ERROR_QUEUE_NOT_FOUND: "the queue of subqueue {0!a} does not exist: create it first",
    Status.MQ_ERROR_NO_DS: (
        "queue {0!a} cannot be created in the directory ({1}): try again when the directory is available"
    ),
}


_REMEDY_BY_STATUS = {
    Status.MQ_ERROR_QUEUE_NOT_AVAILABLE: "the queue was deleted: open another queue",
    Status.MQ_ERROR_TRANSACTION_SEQUENCE: "the transaction ended while the command waited for a message",
    Status.MQ_ERROR_OPERATION_CANCELLED: "the wait was cancelled, the queue was closed, or the queue manager stopped",
    Status.MQ_ERROR_MESSAGE_NOT_FOUND: "the queue has no such message: peek at the existing ones",
    Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED: "another reader received the message: continue with the next one",
    Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION: "this cursor has read nothing yet: peek first",
    Status.MQ_ERROR_SHARING_VIOLATION: "other readers have the queue open, or one reader "
    "has it open exclusively: wait until they close it",
    Status.MQ_ERROR_TRANSACTION_USAGE: "another reader has locked the message: wait until it has finished",
}


def _explain_status(status: Status) -> str:
    return f"{status.name} (0x{status:08X}): {_REMEDY_BY_STATUS.get(status, 'the queue cannot carry out the command')}"
