"""Defines the requests of a higher layer, for the ``Command`` input, and the result values of ``CommandCompleted``."""

from __future__ import annotations

from dataclasses import field
from typing import Any
from uuid import UUID

from reference_qm.surface.remote_commands import RemoteRequest
from reference_qm.value_object import value_object

CORRELATION_ID_SIZE = 20
"""The size of MessagePropertiesHeader.CorrelationID in bytes. Spec: MS-MQMQ 2.2.19.3."""


@value_object
class Identity:
    """Return the identity of the queue manager.

    Result: protocol, guid, name, vendor, version, facilities, public keys in base64.
    """


@value_object
class CreateQueue:
    r"""Create a private queue ``private$\name`` or a subqueue ``private$\name;subqueue``.

    Quotas are in KB; 0xFFFFFFFF means unlimited. ``privacy`` is none, optional or body. ``owner``: the account of the
    creator, or None for a user outside a domain. ``security``: a self-relative SECURITY_DESCRIPTOR for the queue.
    Result: format_names {private, direct}; a subqueue has only direct.
    """

    name: str
    transactional: bool = False
    label: str = ""
    journaling: bool = False
    quota_kb: int = 0xFFFFFFFF
    journal_quota_kb: int = 0xFFFFFFFF
    authenticated: bool = False
    privacy: str = "optional"
    base_priority: int = 0
    owner: str | None = None
    type: UUID | None = None
    security: bytes | None = None


@value_object
class GetQueue:
    """Return the properties of a queue. Result: name, count, bytes, and the properties that CreateQueue sets."""

    name: str


@value_object
class SetQueue:
    """Change properties of a queue. A property whose value is None stays unchanged. Result: the same as for
    GetQueue.
    """

    name: str
    label: str | None = None
    journaling: bool | None = None
    quota_kb: int | None = None
    journal_quota_kb: int | None = None
    authenticated: bool | None = None
    privacy: str | None = None
    base_priority: int | None = None
    type: UUID | None = None


@value_object
class OpenQueue:
    """Open a queue to receive or to peek (``access``). ``deny_receive``: deny other users the right to receive.
    Result: handle.
    """

    queue: str
    access: str = "receive"
    deny_receive: bool = False


@value_object
class OpenToSend:
    """Open the queues of a format name for sending. The command sends no message. Result: handle.

    ``deny_receive``: deny other users the right to receive, which is impossible for several queues.
    """

    to: str
    deny_receive: bool = False


@value_object
class GetQueuePath:
    """Return the result of Get Queue Path for a format name (MS-MQDMPR 3.1.7.1.26). Result: status, path, machine."""

    format_name: str


@value_object
class CloseQueue:
    """Close a handle of OpenQueue or OpenToSend, close its cursors, and cancel the reads that wait with it."""

    handle: int


@value_object
class OpenCursor:
    """Create a cursor before the first message of an open queue. Result: cursor."""

    handle: int


@value_object
class CloseCursor:
    """Close a cursor, and cancel the read that waits at the cursor."""

    cursor: int


@value_object
class DeleteQueue:
    """Delete a queue by its path name."""

    name: str


@value_object
class GetOutgoingQueue:
    """Return the attributes of an outgoing queue, as a management interface does (MS-MQMR 2.2.3). ``to``: the format
    name of the queue.

    Result: outgoing, a list of at most one queue; the attributes of the queue have the names of MS-MQDMPR 3.1.1.3.
    """

    to: str


@value_object
class GetTransfers:
    """Return the incoming sequences of a queue, as a management interface does (MS-MQMR 2.2.3). Result: transfers, a
    list with one object for each sequence. The object contains the attributes of MS-MQDMPR 3.1.1.5.
    """

    queue: str


@value_object
class ListQueues:
    """List queues, outgoing queues and transactions.

    Result: queues [{name, transactional, count}], outgoing [{format_name, state, count}], transactions [{transaction,
    state, operations}].
    """


@value_object
class SendMessage:
    r"""Send a message to the queue or queues that a format name identifies (MS-MQMQ 2.1). Result: message_id
    ``{guid}\ordinal`` of the Message.

    ``acks``: any of positive_arrival, positive_receive, negative_arrival, negative_receive. ``journal``: any of
    positive, negative. ``dead_letter_queue``: the path name of a local queue, for negative journaling. ``trace_queue``:
    the GUID of a public queue for reports about the route of the message. Times are in seconds; None means no limit. A
    transactional message is recoverable and has priority 0. A message with ``transaction`` is transactional and part of
    that transaction; without ``transaction``, each transactional message is a separate transaction.

    ``authentication_level``: none, sig10, sig20 or sig30. ``hash_algorithm``: md2 to sha512, or None for the default of
    the configuration. ``privacy_level``: none, base, enhanced or advanced. ``sender``: an account by name or SID,
    queue_manager, or none. ``certificate``: the account whose certificate signs the message, by default the sender.
    ``extension``: the ExtensionData. ``correlation_id``: the 20 bytes of CorrelationID (MS-MQMQ 2.2.19.3).
    """

    to: str
    body: bytes = b""
    body_type: int = 0
    label: str = ""
    priority: int = 3
    recoverable: bool = False
    transactional: bool = False
    acks: frozenset[str] = frozenset()
    admin_queue: str | None = None
    response_queue: str | None = None
    time_to_reach_queue_s: int | None = None
    time_to_be_received_s: int | None = None
    journal: frozenset[str] = frozenset()
    application_tag: int = 0
    transaction: UUID | None = None
    authentication_level: str = "none"
    hash_algorithm: str | None = None
    privacy_level: str = "none"
    sender: str | None = None
    certificate: str | None = None
    dead_letter_queue: str | None = None
    trace_queue: UUID | None = None
    extension: bytes = b""
    correlation_id: bytes = bytes(CORRELATION_ID_SIZE)


@value_object
class OpenSession:
    """Establish a protocol session (MS-MQQB 3.1.5.2) without sending a message.

    The command completes when the session is OPEN.
    """

    to: str


@value_object
class ReceiveMessage:
    """Receive the first message of a queue, or the message at a cursor. If there is no message, wait at most
    ``timeout_ms``, or without limit if ``timeout_ms`` is None.

    Result: message, or None.

    Exactly one of ``queue`` (a path name), ``handle`` (of OpenQueue) and ``cursor`` (of OpenCursor) identifies the
    queue, or the position in it. Within a ``transaction`` the message is locked, and leaves the queue when the
    transaction commits.
    """

    queue: str | None = None
    timeout_ms: int | None = 0
    transaction: UUID | None = None
    handle: int | None = None
    cursor: int | None = None


@value_object
class PeekMessage:
    """Peek at the first message of a queue, or at the message at a cursor. ``next``: peek at the message after the
    cursor instead.
    """

    queue: str | None = None
    timeout_ms: int | None = 0
    handle: int | None = None
    cursor: int | None = None
    next: bool = False


@value_object
class ReadByLookupIdentifier:
    """Receive or peek at the message with a lookup_id, or at the message that ``seek`` selects. Result: message.

    ``seek`` is first, previous, current, next or last. Exactly one of ``queue`` and ``handle`` names the queue.
    ``transaction``: as in ReceiveMessage.
    """

    lookup_id: int = 0
    seek: str = "current"
    peek: bool = False
    queue: str | None = None
    handle: int | None = None
    transaction: UUID | None = None


@value_object
class MoveMessage:
    """Move a message between a queue and its subqueues. Result: lookup_id, which does not change.

    Within a ``transaction`` the message is locked until the transaction commits.
    """

    queue: str
    lookup_id: int
    to: str
    transaction: UUID | None = None


@value_object
class RejectMessage:
    """Mark a message that was received within a transaction to be rejected when the transaction commits. Result:
    empty.
    """

    queue: str
    lookup_id: int
    transaction: UUID


@value_object
class CancelWaiting:
    """Cancel the command with the given token if it is waiting for a message. The core then answers the cancelled
    command with Rejected. Result: cancelled.
    """

    token: int


@value_object
class PeekMessages:
    """Peek at all messages of a queue in order. Result: messages."""

    queue: str
    limit: int = 100


@value_object
class PurgeQueue:
    """Delete every message of a queue. Result: purged."""

    queue: str


@value_object
class PauseQueue:
    """Stop sending from the outgoing queue for a format name (MS-MQDMPR 3.1.4.14)."""

    to: str


@value_object
class ResumeQueue:
    """Resume sending from the outgoing queue for a format name (MS-MQDMPR 3.1.4.15)."""

    to: str


@value_object
class TakeOffline:
    """Take the queue manager off the network (MS-MQDMPR 3.1.4.12). It has no sessions until BringOnline."""


@value_object
class BringOnline:
    """Bring the queue manager back to the network (MS-MQDMPR 3.1.4.13)."""


@value_object
class BeginTransaction:
    """Begin a transaction (MS-MQDMPR 3.1.7.1.8). Result: transaction, which is the given GUID or a new GUID.

    ``external``: whether a coordinator decides the outcome of the transaction in two phases. After a crash, a
    prepared external transaction is in doubt.
    """

    transaction: UUID | None = None
    external: bool = False


@value_object
class PrepareTransaction:
    """Vote on a transaction (MS-MQDMPR 3.1.4.6). Result: outcome, which is ``prepared``, or ``committed`` if
    ``single_phase`` is set.

    The command completes when the vote is on disk. If the command is rejected, the vote is against the commit.
    """

    transaction: UUID
    single_phase: bool = False


@value_object
class CommitTransaction:
    """Commit a transaction (MS-MQDMPR 3.1.4.4, 3.1.4.7, 3.1.4.9). Result: outcome ``committed``."""

    transaction: UUID


@value_object
class AbortTransaction:
    """Abort a transaction (MS-MQDMPR 3.1.4.5, 3.1.4.8, 3.1.4.10). Result: outcome ``aborted``."""

    transaction: UUID


@value_object
class ReenlistmentTimeout:
    """Report that the coordinator did not decide in time about the transactions that are in doubt (MS-MQDMPR 3.1.4.11).

    Result: in_doubt, the identifiers of these transactions. Until a restart the queue manager answers only commands
    that read its own state.
    """


@value_object
class SetTimers:
    """Change timer durations (the verb set_timers). A duration whose value is None stays unchanged. Result: the
    current durations.

    ``scale`` N makes every protocol timer of MS-MQQB 3.1.2 run N times faster than specified. The relations between
    timers and negotiated values stay as specified.
    """

    scale: int | None = None
    session_initialization_ms: int | None = None
    session_cleanup_ms: int | None = None
    session_retry_connect_ms: int | None = None
    ack_wait_timeout_ms: int | None = None
    message_id_history_cleanup_ms: int | None = None
    public_key_cache_ms: int | None = None
    outgoing_queue_idle_ms: int | None = None


@value_object
class Configure:
    """Change settings of the queue manager (MS-MQQB 3.1.1.3).

    A setting whose value is None stays unchanged. Result: the current settings. ``quota_kb`` is QueueManagerQuota,
    ``journal_quota_kb`` is JournalQuota of the queue manager (MS-MQDMPR 3.1.1.1), and ``max_sessions`` is the
    maximum number of accepted sessions (MS-MQQB 3.1.5.3.1). Lifetimes are in ms, and sizes are numbers of entries.
    Algorithms are rc2, rc4, aes128, aes192 or aes256. ``hardened_security`` (MS-MQDMPR 3.1.1.1) takes effect after
    a restart.
    """

    send_insecure_nacks: bool | None = None
    quota_kb: int | None = None
    journal_quota_kb: int | None = None
    max_sessions: int | None = None
    user_cert_cache_size: int | None = None
    user_cert_lifetime_ms: int | None = None
    receive_symmetric_key_cache_size: int | None = None
    send_symmetric_key_cache_size: int | None = None
    symmetric_key_short_lifetime_ms: int | None = None
    preferred_base: str | None = None
    preferred_enhanced: str | None = None
    preferred_advanced: str | None = None
    send_enhanced_rc2_using_40_bit_keys: bool | None = None
    reject_enhanced_rc2_using_40_bit_keys: bool | None = None
    hardened_security: bool | None = None


@value_object
class Inspect:
    """Return the abstract data model. Result: adm, a JSON-ready tree that uses the specification's names."""


Request = (
    Identity
    | CreateQueue
    | DeleteQueue
    | GetOutgoingQueue
    | GetTransfers
    | ListQueues
    | SendMessage
    | OpenSession
    | GetQueue
    | SetQueue
    | OpenQueue
    | OpenToSend
    | GetQueuePath
    | CloseQueue
    | OpenCursor
    | CloseCursor
    | ReceiveMessage
    | PeekMessage
    | ReadByLookupIdentifier
    | MoveMessage
    | RejectMessage
    | CancelWaiting
    | PeekMessages
    | PurgeQueue
    | RemoteRequest
    | PauseQueue
    | ResumeQueue
    | TakeOffline
    | BringOnline
    | BeginTransaction
    | PrepareTransaction
    | CommitTransaction
    | AbortTransaction
    | ReenlistmentTimeout
    | SetTimers
    | Configure
    | Inspect
)


@value_object
class Result:
    """The result of a Command, as JSON-ready values. The request of the Command documents the names of the values."""

    values: dict[str, Any] = field(default_factory=dict)
