"""Requests of a higher layer to a queue manager: those of the ``Command`` input, results of ``Completed``."""

from __future__ import annotations

from dataclasses import field
from typing import Any
from uuid import UUID

from reference_qm.surface.remote_commands import RemoteRequest
from reference_qm.value_object import value_object


@value_object
class Identity:
    """Who is this? Result: protocol, guid, name, vendor, version, facilities, public keys in base64."""


@value_object
class CreateQueue:
    """Create a private queue ``private$\\name`` or a subqueue ``private$\\name;subqueue``.

    Quotas are in KB, 0xFFFFFFFF is none; ``privacy`` is one of none, optional, body; ``owner``: the account that
    creates it, nobody of a domain if None; ``security``: a self-relative SECURITY_DESCRIPTOR that it gives the queue.
    Result: format_names {private, direct}; of a subqueue only direct.
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
    """Read the properties of a queue. Result: name, count, bytes, and what CreateQueue sets, under the same names."""

    name: str


@value_object
class SetQueue:
    """Change properties of a queue; None leaves one as it is. Result: as of GetQueue."""

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
    """Open a queue for ``access`` receive or peek, and keep others from receiving if asked to. Result: handle."""

    queue: str
    access: str = "receive"
    deny_receive: bool = False


@value_object
class OpenToSend:
    """Open the queues of a format name to send to them, whosever they are; nothing is sent. Result: handle.

    ``deny_receive``: keep others from receiving, which who opens several queues cannot.
    """

    to: str
    deny_receive: bool = False


@value_object
class GetQueuePath:
    """Read what Get Queue Path returns for a format name (MS-MQDMPR 3.1.7.1.26). Result: status, path, machine."""

    format_name: str


@value_object
class CloseQueue:
    """Close what OpenQueue or OpenToSend opened: its cursors go, what waits through it is cancelled."""

    handle: int


@value_object
class OpenCursor:
    """Make a cursor before the first message of an open queue. Result: cursor."""

    handle: int


@value_object
class CloseCursor:
    """Forget a cursor; what waits through it is cancelled."""

    cursor: int


@value_object
class DeleteQueue:
    """Delete a queue by its path name."""

    name: str


@value_object
class GetOutgoingQueue:
    """Read what a management interface tells of an outgoing queue (MS-MQMR 2.2.3). ``to``: its format name.

    Result: outgoing, its attributes under the names of MS-MQDMPR 3.1.1.3; an empty list when there is none.
    """

    to: str


@value_object
class GetTransfers:
    """Read what a management interface tells of the sequences that a queue receives (MS-MQMR 2.2.3).

    Result: transfers, their attributes under the names of MS-MQDMPR 3.1.1.5.
    """

    queue: str


@value_object
class ListQueues:
    """List what there is.

    Result: queues [{name, transactional, count}], outgoing [{format_name, state, count}], transactions [{transaction,
    state, operations}].
    """


@value_object
class SendMessage:
    """Send a message to a format name (MS-MQMQ 2.1). Result: message_id ``{guid}\\ordinal`` of the Message.

    ``acks``: of positive_arrival, positive_receive, negative_arrival, negative_receive. ``journal``: of positive,
    negative. ``dead_letter_queue``: path name of a queue here, for negative journaling. ``trace_queue``: the GUID of a
    public queue that gets reports of where the message is. Times are in seconds; None is infinite. A transactional
    message is recoverable and has priority 0. It is a transaction of its own, or part of ``transaction``, which makes
    it transactional.

    ``authentication_level``: none, sig10, sig20 or sig30; ``hash_algorithm``: md2 to sha512, None for the
    preset one; ``privacy_level``: none, base, enhanced or advanced; ``sender``: an account by name or SID,
    queue_manager or none; ``certificate``: the account whose certificate signs, the sender if not said.
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


@value_object
class OpenSession:
    """Establish a protocol session (MS-MQQB 3.1.5.2) without a message. Completes when OPEN, is rejected when not."""

    to: str


@value_object
class ReceiveMessage:
    """Take the first message of a queue, or the one at a cursor, waiting up to ``timeout_ms``, with None for ever.

    Result: message or None.

    One of ``queue`` (a path name), ``handle`` (of OpenQueue) and ``cursor`` (of OpenCursor) says where. Within a
    ``transaction`` nobody else gets it, and it leaves the queue when the transaction commits.
    """

    queue: str | None = None
    timeout_ms: int | None = 0
    transaction: UUID | None = None
    handle: int | None = None
    cursor: int | None = None


@value_object
class PeekMessage:
    """Read a message as ReceiveMessage does, leaving it there; with ``next``, the one after that at the cursor."""

    queue: str | None = None
    timeout_ms: int | None = 0
    handle: int | None = None
    cursor: int | None = None
    next: bool = False


@value_object
class ReadByLookupIdentifier:
    """Take, or only peek, the message with a lookup_id, or the one ``seek`` says. Result: message.

    ``seek``: first, previous, current, next, last. One of ``queue`` and ``handle`` says where. ``transaction``: as in
    ReceiveMessage.
    """

    lookup_id: int = 0
    seek: str = "current"
    peek: bool = False
    queue: str | None = None
    handle: int | None = None
    transaction: UUID | None = None


@value_object
class MoveMessage:
    """Move a message between a queue and its subqueues. Result: lookup_id, which it keeps.

    Within a ``transaction`` nobody gets it before the transaction commits.
    """

    queue: str
    lookup_id: int
    to: str
    transaction: UUID | None = None


@value_object
class RejectMessage:
    """Reject a message that was received within a transaction: so it counts when that commits. Result: nothing."""

    queue: str
    lookup_id: int
    transaction: UUID


@value_object
class CancelWaiting:
    """Cancel the command with a token if it waits for a message; it is rejected then. Result: cancelled."""

    token: int


@value_object
class PeekMessages:
    """Read the messages of a queue in order, leaving them there. Result: messages."""

    queue: str
    limit: int = 100


@value_object
class PurgeQueue:
    """Delete every message of a queue. Result: purged."""

    queue: str


@value_object
class PauseQueue:
    """Send nothing more of the outgoing queue for a format name (MS-MQDMPR 3.1.4.14)."""

    to: str


@value_object
class ResumeQueue:
    """Send what waits in the outgoing queue for a format name (MS-MQDMPR 3.1.4.15)."""

    to: str


@value_object
class TakeOffline:
    """Leave the network (MS-MQDMPR 3.1.4.12): no sessions until it is brought online."""


@value_object
class BringOnline:
    """Come back to the network (MS-MQDMPR 3.1.4.13)."""


@value_object
class BeginTransaction:
    """Begin a transaction (MS-MQDMPR 3.1.7.1.8). Result: transaction, a GUID, made when none is given.

    ``external``: a coordinator decides its outcome, in two phases; in doubt meanwhile, it survives a crash.
    """

    transaction: UUID | None = None
    external: bool = False


@value_object
class PrepareTransaction:
    """Vote on a transaction (MS-MQDMPR 3.1.4.6). Result: outcome, ``prepared``, or committed if ``single_phase``.

    The answer comes when the vote is on disk; Rejected is a vote against it.
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
    """The coordinator does not say in time what became of transactions in doubt (MS-MQDMPR 3.1.4.11).

    Result: in_doubt, their identifiers. Until it is restarted the queue manager only answers questions about itself.
    """


@value_object
class SetTimers:
    """Change timer durations (the verb set_timers). None leaves a value as it is. Result: the values in force.

    ``scale`` N lets every protocol timer of MS-MQQB 3.1.2 run N times faster than its specified duration, so that
    the relations between timers and negotiated values stay what the specification says.
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
    """Change settings of the queue manager (MS-MQQB 3.1.1.3). None leaves one as it is. Result: those in force.

    ``quota_kb`` is QueueManagerQuota, ``journal_quota_kb`` JournalQuota of the queue manager (MS-MQDMPR 3.1.1.1),
    ``max_sessions`` how many sessions are accepted (MS-MQQB 3.1.5.3.1); lifetimes are int ms, sizes int entries;
    algorithms are rc2, rc4, aes128, aes192 or aes256. ``hardened_security`` (MS-MQDMPR 3.1.1.1) has effect after a
    restart.
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
    """Read the abstract data model. Result: adm, a JSON-ready tree under the specification's names."""


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
    """The result of a Command: JSON-ready values under the names that each request documents."""

    values: dict[str, Any] = field(default_factory=dict)
