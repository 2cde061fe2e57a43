"""The state machine of a message position: the message is read, locked, purged or deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from harness.peer.association import Call
from harness.peer.remote import RemoteQueue, RemoteReaderOfSut
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.outcomes import get_answer_outcome, get_call_outcome
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.applications import PendingRequest

ACKNOWLEDGMENT_REQUESTS = ("positive_receive", "negative_receive")
MESSAGE_CLASS_NAME_PREFIX = "MQMSG_CLASS_"


class MessagePositionMachine(Machine, path=Path(__file__)):
    """A queue with a journal and the messages ``first`` and ``second``, whose sender requests acknowledgments. A second
    queue contains a message that a separate transaction has received.
    """

    def __init__(self, remote: RemoteReaderOfSut) -> None:
        super().__init__()
        self._peer, self._sut = remote.peer, remote.sut
        self._admin = self._sut.queue("admin")
        self._queue, self._beside = (
            self._sut.new_queue(purpose, transactional=True, journaling=True) for purpose in ("position", "beside")
        )
        self._names = {
            _format_correlation_id(self._send_message(self._queue, label)): label for label in ("first", "second")
        }
        self._send_message(self._beside, "beside")
        self._transactions: list[str] = []
        remote.peer.call_at_end_of_test(self._abort_all_transactions)
        self._call_verb("receive", queue=self._beside, transaction=self._begin_transaction())
        form = queue_format(DIRECT, self._sut.direct_name(self._queue).removeprefix("DIRECT="))
        self._remote: RemoteQueue = remote.open("plain", form=form)
        self._record_read: Call | None = None
        self._subject = ""

    # -- states ---------------------------------------------------------------------------------------------------

    @state("available")
    def leave_message_available(self) -> None:
        """Do nothing: a message that arrived is available."""

    @state("locked")
    def lock_message_by_remote_receive(self) -> None:
        """Let a remote reader begin to receive the message."""
        self._record_read = self._remote.start_receive().expect_success()
        self.evidence.append(self._record_read)

    @state("purge pending")
    def purge_locked_message(self) -> None:
        """Purge the queue while the message is locked."""
        self.lock_message_by_remote_receive()
        self._call_verb("purge", queue=self._queue)

    @state("in a transaction")
    def receive_in_transaction(self) -> None:
        """Receive the message in a transaction."""
        self._subject = self._begin_transaction()
        self._call_verb("receive", queue=self._queue, transaction=self._subject)

    @state("in a transaction, purge pending")
    def purge_message_received_in_transaction(self) -> None:
        """Purge the queue while the message is received in a transaction."""
        self.receive_in_transaction()
        self._call_verb("purge", queue=self._queue)

    # -- events ---------------------------------------------------------------------------------------------------

    @event("receive")
    def receive(self) -> str:
        """Let an application receive the first available message."""
        return self._get_verb_outcome("receive", queue=self._queue, timeout_ms=0)

    @event("peek")
    def peek(self) -> str:
        """Let an application peek at the first available message."""
        return self._get_verb_outcome("peek_message", queue=self._queue, timeout_ms=0)

    @event("begin to receive")
    def begin_receive_of_message(self) -> str:
        """Let a remote reader begin to receive the first available message."""
        call = self._remote.start_receive()
        self.evidence.append(call)
        return call.label or get_call_outcome(call)

    @event("end with RR_ACK")
    def acknowledge(self) -> str:
        """Let the remote reader end its receive with RR_ACK."""
        assert self._record_read is not None
        return self._get_call_outcome(self._remote.acknowledge(self._record_read))

    @event("end with RR_NACK")
    def put_message_back(self) -> str:
        """Let the remote reader end its receive with RR_NACK."""
        assert self._record_read is not None
        return self._get_call_outcome(self._remote.put_message_back(self._record_read))

    @event("lose the reader")
    def close_reader_connection(self) -> str:
        """Close the connection of the remote reader."""
        self._remote.association.close()
        self._peer.settle()
        return "done"

    @event("commit")
    def commit(self) -> str:
        """Commit the transaction in which the message was received."""
        return self._get_verb_outcome("commit", transaction=self._subject)

    @event("abort")
    def abort(self) -> str:
        """Abort the transaction in which the message was received."""
        return self._get_verb_outcome("abort", transaction=self._subject)

    @event("purge")
    def purge(self) -> str:
        """Purge the queue."""
        return self._get_verb_outcome("purge", queue=self._queue)

    @event("delete the queue")
    def delete(self) -> str:
        """Delete the queue."""
        return self._sut.attempt(self._sut.delete_queue, self._queue)

    # -- what is seen ---------------------------------------------------------------------------------------------

    @mark_as_probe("labels in the queue")
    def list_labels_of_queue(self) -> list[str]:
        """Return the labels of the available messages."""
        return self._sut.labels(self._queue)

    @mark_as_probe("labels in the journal")
    def list_labels_of_journal(self) -> list[str]:
        """Return the labels of the messages that were received."""
        return self._sut.labels(f"{self._queue};journal")

    @mark_as_probe("acknowledgments")
    def list_acknowledgments(self) -> list[str]:
        """Return the class of each acknowledgment with the name of its message, in alphabetical order."""
        return sorted(
            f"{one['class'].removeprefix(MESSAGE_CLASS_NAME_PREFIX)} for {self._names[one['correlation_id'].lower()]}"
            for one in self._call_verb("peek", queue=self._admin, limit=100)["messages"]
            if one["correlation_id"].lower() in self._names
        )

    @mark_as_probe("labels in another queue")
    def list_labels_of_other_queue(self) -> list[str]:
        """Return the labels of the messages in the second queue and in its journal."""
        return [*self._sut.labels(self._beside), *self._sut.labels(f"{self._beside};journal")]

    # -- steps ----------------------------------------------------------------------------------------------------

    def _send_message(self, queue: str, label: str) -> str:
        asked = {"acks": list(ACKNOWLEDGMENT_REQUESTS), "admin_queue": self._sut.direct_name(self._admin)}
        return self._sut.send(self._sut.direct_name(queue), label=label, body=label, delivery="transactional", **asked)

    def _begin_transaction(self) -> str:
        begun: str = self._call_verb("begin")["transaction"]
        self._transactions.append(begun)
        return begun

    def _abort_all_transactions(self) -> None:
        for transaction in self._transactions:
            self._sut.attempt("abort", transaction=transaction)

    def _get_call_outcome(self, call: Call) -> str:
        self.evidence.append(call)
        return get_call_outcome(call)

    def _call_verb(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return self._sut.control.call(verb, **arguments)

    def _get_verb_outcome(self, verb: str, **arguments: Any) -> str:
        request = PendingRequest(self._peer, verb, **arguments)
        request.await_outcome()
        return get_answer_outcome(request.answer)


def _format_correlation_id(message_id: str) -> str:
    """Return a message identifier in the form of an acknowledgment's correlation identifier: the GUID as in a packet,
    and the number as u32 LE.
    """
    guid, _, ordinal = message_id.rpartition("\\")
    return (UUID(guid).bytes_le + int(ordinal).to_bytes(4, "little")).hex()
