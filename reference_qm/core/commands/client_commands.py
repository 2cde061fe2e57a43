from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_qm.core.arguments import convert_argument_word, require_number_in_range
from reference_qm.core.commands.queue_commands import ACCESS_BY_WORD
from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing.queue_opening import OPEN_DESCRIPTORS_LIMIT
from reference_qm.core.remote.client_message_reading import RemoteMessage
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction, ShareMode
from reference_qm.core.remote.server_names import build_queue_format
from reference_qm.core.sessions.session_address_resolving import is_ip_address_text
from reference_qm.core.store.messages import describe_message
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.surface import commands, remote_commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CommandCompleted, CommandRejected
from reference_qm.surface.inputs import Endpoint

LOOKUP_ID_AFTER_LAST = 0xFFFFFFFFFFFFFFFF
"""The LookupId for the place after the last message. The LookupId 0 stands for the place before the first message.

Spec: MS-MQQP 3.1.4.11.
"""
READ_ACTIONS_BY_SEEK_WORD: dict[str, tuple[ReadAction, ReadAction, int | None]] = {
    "first": (ReadAction.MQ_LOOKUP_PEEK_NEXT, ReadAction.MQ_LOOKUP_RECEIVE_NEXT, 0),
    "previous": (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV, None),
    "current": (ReadAction.MQ_LOOKUP_PEEK_CURRENT, ReadAction.MQ_LOOKUP_RECEIVE_CURRENT, None),
    "next": (ReadAction.MQ_LOOKUP_PEEK_NEXT, ReadAction.MQ_LOOKUP_RECEIVE_NEXT, None),
    "last": (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV, LOOKUP_ID_AFTER_LAST),
}
"""For each value of ``seek``: the action for a peek, the action for a receive, and the LookupId that replaces the
LookupId of the command (None: no replacement).
"""


class ClientCommands(QueueManagerPart):
    """Handles the commands with which a higher layer, such as an application, uses queues of other queue managers.

    A command is answered when the sequence of remote calls that carries it out has ended.
    """

    __slots__ = ()

    def remote_open(self, request: remote_commands.RemoteOpen, token: int, now: Now) -> None:
        """Open a queue of another queue manager."""
        access = convert_argument_word("access", request.access, ACCESS_BY_WORD)
        if len(self.qm.remote_client.queues) >= OPEN_DESCRIPTORS_LIMIT:
            raise CommandError(f"{OPEN_DESCRIPTORS_LIMIT} remote queues are already open: close some of them")
        host = self.qm.server_names.find_server(request.queue)
        queue = RemoteQueue(
            number=self.qm.assign_handle(),
            FormatName=request.queue,
            RemoteServer=Endpoint(host, self.qm.config.remote_rpc_port),
            may_receive=access is QueueAccessType.RECEIVE,
        )
        share = ShareMode.MQ_DENY_RECEIVE_SHARE if request.deny_receive else ShareMode.MQ_DENY_NONE
        unresolved = None if is_ip_address_text(host) else host
        opening = self.qm.client_queue_opening.open_for_application(
            queue, unresolved, build_queue_format(request.queue), share
        )
        self._run_sequence_of_command(opening, token, now, lambda opened: {"remote": opened.number})

    def remote_close(self, request: remote_commands.RemoteClose, token: int, now: Now) -> None:
        """Close a remote queue. This queue manager forgets the queue even if the call to the queue's server fails."""
        queue = self.qm.remote_client.queues.pop(self._find_remote_queue(request.remote).number)
        cursors = self.qm.remote_client.queue_and_handle_by_cursor
        for number in [number for number, (of, _) in cursors.items() if of is queue]:
            del cursors[number]
        self._run_sequence_of_command(self.qm.client_queue_opening.close_queue_at_server(queue), token, now)

    def remote_open_cursor(self, request: remote_commands.RemoteOpenCursor, token: int, now: Now) -> None:
        """Create a cursor at the server of a remote queue."""
        queue = self._find_remote_queue(request.remote)
        if len(self.qm.remote_client.queue_and_handle_by_cursor) >= OPEN_DESCRIPTORS_LIMIT:
            raise CommandError(f"{OPEN_DESCRIPTORS_LIMIT} remote cursors are already open: close some of them")

        def store_cursor(handle: int) -> dict[str, Any]:
            number = self.qm.assign_handle()
            self.qm.remote_client.queue_and_handle_by_cursor[number] = (queue, handle)
            return {"cursor": number}

        self._run_sequence_of_command(
            self.qm.client_read_cancelling.create_remote_cursor(queue), token, now, store_cursor
        )

    def remote_close_cursor(self, request: remote_commands.RemoteCloseCursor, token: int, now: Now) -> None:
        """Close a cursor of a remote queue."""
        queue, cursor = self._find_cursor(request.cursor)
        del self.qm.remote_client.queue_and_handle_by_cursor[request.cursor]
        self._run_sequence_of_command(self.qm.client_read_cancelling.close_remote_cursor(queue, cursor), token, now)

    def remote_receive(self, request: remote_commands.RemoteReceive, token: int, now: Now) -> None:
        """Receive a message from a remote queue."""
        self._read_with_action(request, ReadAction.MQ_ACTION_RECEIVE, token, now)

    def remote_peek(self, request: remote_commands.RemotePeek, token: int, now: Now) -> None:
        """Peek at a message in a remote queue."""
        if request.next and request.cursor is None:
            raise CommandError("the argument next needs a cursor, because only a cursor has a next message")
        action = ReadAction.MQ_ACTION_PEEK_NEXT if request.next else ReadAction.MQ_ACTION_PEEK_CURRENT
        self._read_with_action(request, action, token, now)

    def remote_read_by_lookup_id(self, request: remote_commands.RemoteReadByLookupId, token: int, now: Now) -> None:
        """Receive or peek at the message with the given lookup identifier, or the message before or after it."""
        peeking, receiving, fixed = convert_argument_word("seek", request.seek, READ_ACTIONS_BY_SEEK_WORD)
        require_number_in_range("lookup_id", request.lookup_id, 0, LOOKUP_ID_AFTER_LAST)
        if request.lookup_id == 0 and fixed is None and request.seek != "next":
            raise CommandError(
                f"lookup_id 0 identifies no message, but {request.seek} needs a message (MS-MQQP 3.1.4.11)"
            )
        read = RemoteRead(
            queue=self._find_remote_queue(request.remote),
            Action=peeking if request.peek else receiving,
            TimeOut=0,
            LookupId=request.lookup_id if fixed is None else fixed,
            token=token,
        )
        self._begin_remote_read(read, now)

    def remote_purge(self, request: remote_commands.RemotePurge, token: int, now: Now) -> None:
        """Delete every message of a remote queue."""
        self._run_sequence_of_command(
            self.qm.client_queue_opening.purge_queue_at_server(self._find_remote_queue(request.remote)), token, now
        )

    def cancel_command(self, request: commands.CancelWaiting, token: int, now: Now) -> Result | None:
        """Cancel a command that waits for a message from a local or remote queue."""
        entry = self._find_pending_read(request.token)
        if entry is None:
            return self.qm.queue_commands.cancel_waiting(request, token, now)
        cancelling = self.qm.client_read_cancelling.cancel_pending_read(entry.queue, entry.RequestId)
        self._run_sequence_of_command(cancelling, token, now, lambda nothing: {"cancelled": True})
        return None

    def _read_with_action(self, request: Any, action: ReadAction, token: int, now: Now) -> None:
        if (request.remote is None) == (request.cursor is None):
            raise CommandError(
                "the request must identify one queue to read from: give exactly one of remote and cursor"
            )
        time_out = INFINITE_MS if request.timeout_ms is None else request.timeout_ms
        require_number_in_range("timeout_ms", time_out, 0, INFINITE_MS)
        handle = 0
        if request.cursor is None:
            queue = self._find_remote_queue(request.remote)
        else:
            queue, handle = self._find_cursor(request.cursor)
        read = RemoteRead(queue=queue, Action=action, TimeOut=time_out, CursorHandle=handle, token=token)
        self._begin_remote_read(read, now)

    def _begin_remote_read(self, read: RemoteRead, now: Now) -> None:
        if read.receives and not read.queue.may_receive:
            raise CommandError(
                f"{read.queue.FormatName!a} was opened only to peek (MS-MQMP 3.1.4.2): open it again to receive"
            )

        def answer_read(found: Any) -> None:
            if isinstance(found, RemoteError) and found.status == Status.MQ_ERROR_IO_TIMEOUT:
                self.qm.emit_effect(CommandCompleted(read.token, Result({"message": None})))
            else:
                self._answer_command(read.token, found, _describe_message)

        self.qm.client_tasks.run(self.qm.client_message_reading.read_remote_message(read), now, answer_read)

    def _run_sequence_of_command(
        self,
        sequence: RemoteCallSequence,
        token: int,
        now: Now,
        values: Callable[[Any], dict[str, Any]] = lambda nothing: {},
    ) -> None:
        self.qm.client_tasks.run(sequence, now, lambda outcome: self._answer_command(token, outcome, values))

    def _answer_command(self, token: int, outcome: Any, values: Callable[[Any], dict[str, Any]]) -> None:
        if isinstance(outcome, RemoteError):
            self.qm.emit_effect(CommandRejected(token, str(outcome)))
        else:
            self.qm.emit_effect(CommandCompleted(token, Result(values(outcome))))

    def _find_pending_read(self, token: int) -> PendingRemoteReadEntry | None:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        return next((entry for entry in entries if entry.token == token), None)

    def _find_remote_queue(self, number: int) -> RemoteQueue:
        queue = self.qm.remote_client.queues.get(number)
        if queue is None:
            raise CommandError(
                f"remote queue {number} is not open: open it again, because a restart closes remote queues"
            )
        return queue

    def _find_cursor(self, number: int) -> tuple[RemoteQueue, int]:
        found = self.qm.remote_client.queue_and_handle_by_cursor.get(number)
        if found is None:
            raise CommandError(
                f"remote cursor {number} is not open: open a new cursor, "
                "because closing the queue or a restart closes cursors"
            )
        return found


def _describe_message(found: RemoteMessage) -> dict[str, Any]:
    described = describe_message(found.message)
    described["lookup_id"] = found.LookupIdentifier
    return {"message": described}
