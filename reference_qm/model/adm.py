"""Defines the abstract data model under the specification's names. Spec: MS-MQQB 3.1.1.3, MS-MQDMPR 3.1.1.

Each element is declared with the width in bits that the specification states. ``core.store.durable_records`` writes the
elements that must survive process and node failures.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from reference_qm import codec
from reference_qm.codec import NULL_GUID, SequenceInfo, StreamFramer, TxSequenceID, UserMessagePacket
from reference_qm.directory.enums import QueueType
from reference_qm.model import collection, position_list, states, tables
from reference_qm.model.attributes import QueueAttributes, QueueManagerAttributes
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.message import INFINITE_TIMEOUT as INFINITE_TIMEOUT
from reference_qm.model.message import NO_INCOMING_SEQUENCE as NO_INCOMING_SEQUENCE
from reference_qm.model.message import Message as Message
from reference_qm.model.position_list import Boundary, QueueStorageUse
from reference_qm.value_object import value_object

if TYPE_CHECKING:
    from reference_qm.model.transactions import Transaction

CONNECTION_HISTORY_SIZE = 64
"""The maximum number of entries in a ConnectionHistory. Each attempt to connect adds three entries."""

U16 = {"width": 16}
U32 = {"width": 32}

FIRST_OUTGOING_SEQUENCE = TxSequenceID(Ordinal=1)
NO_SEQUENCE_INFO = SequenceInfo()


@dataclass(slots=True, eq=False)
class MessagePosition:
    """The position of a message in a queue. Spec: MS-MQDMPR 3.1.1.11. The document lists LookupIdentifier as an
    attribute of the Message. Here the position has it, because the number is assigned when the message enters a
    queue. Next and Previous are None while the position is in no list. ``order_queue`` is the queue that gets the
    final acknowledgment when the message is removed, or None if no final acknowledgment is required. ``size`` is
    the number of bytes of a quota that the message uses. MessagePositionList sets ``position_list_that_counts_size``
    and ``reader_hold_count``.
    """

    MessageReference: Message
    QueueReference: Queue
    State: states.MessagePositionState = states.MessagePositionState.LOCKED
    order: int = 0
    order_queue: str | None = None
    key: int = 0
    """The key of the message on disk, or 0 if the message is not on disk."""
    is_disk_write_pending: bool = False
    """Whether the message is being written to the disk. Until it is on disk, neither this message nor a later message
    of the queue may be sent or received.
    """
    LookupIdentifier: int = field(default=0, metadata={"width": 64})
    Next: MessagePosition | Boundary | None = field(default=None, repr=False)
    Previous: MessagePosition | Boundary | None = field(default=None, repr=False)
    size: int = 0
    position_list_that_counts_size: position_list.MessagePositionList | None = None
    reader_hold_count: int = 0


Position = MessagePosition


TransactionSequencePosition = tuple[TxSequenceID, int]
"""The place of a message in a transactional sequence: a tuple of TxSequenceID and TxSequenceNumber."""


@dataclass(slots=True, eq=False)
class AcceptedMessage:
    """An accepted transactional message that is not on disk yet, or whose predecessors are not all on disk yet.
    ``previous_sequence_position`` is the place of the previous message in the sender's sequences.
    """

    transfer: IncomingTransactionalTransferInfo
    position: MessagePosition
    SequenceIdentifier: TxSequenceID
    SequenceNumber: int
    previous_sequence_position: TransactionSequencePosition
    is_saved: bool = False


@dataclass(slots=True, eq=False)
class IncomingTransactionalTransferInfo:
    """The progress of one sender's message sequence to a queue. Spec: MS-MQDMPR 3.1.1.5. LastAccessTime is in s
    UTC.

    ``unsaved_messages`` contains the messages that the disk has not confirmed yet, in sequence.
    ``saved_sequence_identifier`` and ``saved_sequence_number`` name the last message before the unsaved messages; this
    last message may be acknowledged.
    """

    QueueReference: Queue
    FormatName: str
    SenderIdentifier: UUID
    SequenceIdentifier: TxSequenceID = NO_INCOMING_SEQUENCE
    SequenceNumber: int = 0
    LastAccessTime: int = 0
    RejectCount: int = 0
    unsaved_messages: deque[AcceptedMessage] = field(default_factory=deque)
    saved_sequence_identifier: TxSequenceID = NO_INCOMING_SEQUENCE
    saved_sequence_number: int = 0


IncomingTransferKey = tuple[UUID, str]
"""The key of a sender's sequence: a tuple of the SenderIdentifier and the FormatName in lower case."""


@dataclass(slots=True, eq=False, kw_only=True)
class Queue(QueueAttributes):
    """A queue. Spec: MS-MQDMPR 3.1.1.2. ``parent`` is the queue that owns this queue if this queue is a subqueue or
    a journal.
    """

    JournalQueueReference: Queue | None = field(default=None, repr=False)
    SubqueueCollection: dict[str, Queue] = field(default_factory=dict, repr=False)
    """The subqueues, by name in lower case."""
    MessagePositionList: position_list.MessagePositionList = field(default_factory=position_list.MessagePositionList)
    IncomingTransactionalTransferInfoCollection: dict[IncomingTransferKey, IncomingTransactionalTransferInfo] = field(
        default_factory=dict
    )
    OpenQueueDescriptorCollection: dict[int, OpenQueueDescriptor] = field(default_factory=dict, repr=False)
    """The open descriptors, by Handle."""
    parent: Queue | None = field(default=None, repr=False)

    @property
    def Active(self) -> bool:  # noqa: N802 - as printed
        """Whether the queue is open."""
        return bool(self.OpenQueueDescriptorCollection)

    @property
    def TotalBytes(self) -> int:  # noqa: N802 - as printed
        """The size in bytes of all messages of the queue."""
        return self.MessagePositionList.TotalBytes


@value_object(kw_only=True)
class OutgoingTransferInfo:
    """The state of a transactional sequence, for administrators. Spec: MS-MQDMPR 3.1.1.4. Times are in s."""

    EodFirstNonAck: SequenceInfo = NO_SEQUENCE_INFO
    EodLastAck: SequenceInfo = NO_SEQUENCE_INFO
    EodLastAckCount: int = 0
    EodLastAckTime: int = 0
    EodLastNonAck: SequenceInfo = NO_SEQUENCE_INFO
    EodNextSeq: SequenceInfo = NO_SEQUENCE_INFO
    EodNoAckCount: int = 0
    EodNoReadCount: int = 0
    EodResendCount: int = 0
    EodResendInterval: int = 0
    EodResendTime: int = 0


@value_object
class ConnectionHistoryEntry:
    """One entry of OutgoingQueue.ConnectionHistory. Spec: MS-MQDMPR 3.1.1.3. ConnectionHistoryTime is in s UTC, and
    Error is an HRESULT.
    """

    Status: states.ConnectionStatus
    ConnectionHistoryTime: int
    Error: int
    AddressList: str


@dataclass(slots=True, eq=False, kw_only=True)
class OutgoingQueue(Queue):
    """A queue of the messages that are to be sent to one destination. Spec: MS-MQDMPR 3.1.1.3.

    ``session`` is the session whose OutgoingQueueReference is this queue. The OutgoingMessageTable of the session
    contains the messages.
    """

    DestinationFormatName: str
    State: states.OutgoingQueueState = states.OutgoingQueueState.INACTIVE
    ConnectionHistory: deque[ConnectionHistoryEntry] = field(
        default_factory=lambda: deque(maxlen=CONNECTION_HISTORY_SIZE)
    )
    NextHops: list[str] = field(default_factory=list)
    Multicast: bool = False
    OutgoingTransferInfoReference: OutgoingTransferInfo = field(default=OutgoingTransferInfo())
    session: Session = field(init=False, repr=False)

    @property
    def Active(self) -> bool:  # noqa: N802 - as printed
        """Whether the queue is open or has messages to send."""
        return bool(self.OpenQueueDescriptorCollection) or len(self.session.OutgoingMessageTable) > 0


@value_object
class NextHop:
    """An address through which a destination can be reached. Spec: MS-MQQB 3.1.1.3.1.3."""

    QMGuid: UUID
    HostName: str
    Address: str


@value_object
class MessageIDHistoryEntry:
    """The entry of a received message in the MessageIDHistoryTable. Spec: MS-MQQB 3.1.1.3. TimeStamp is a u32 in s
    UTC.
    """

    MessageIdentifier: codec.MessageIdentifier
    TimeStamp: int


@dataclass(slots=True, eq=False)
class OutgoingMessagePosition:
    """A message that is to be sent, or that was sent and is not acknowledged yet. Spec: MS-MQQB 3.1.1.3.1.2.
    ``order`` numbers the messages in the order in which they were added to the table.
    """

    MessagePosition: Position
    UserMessage: UserMessagePacket
    SequenceNumber: int = field(default=0, metadata=U16)
    RecoverableSequenceNumber: int = field(default=0, metadata=U16)
    TxSequenceNumber: int = field(default=0, metadata=U32)
    AwaitingAck: bool = False
    ReceivedSessionAck: bool = False
    ReceivedOrderAck: bool = False
    Transmitted: bool = False
    order: int = 0

    @property
    def priority(self) -> int:
        """The DispatchEntry.Priority of the message. Spec: MS-MQDMPR 3.1.7.1.28."""
        return self.MessagePosition.QueueReference.BasePriority + self.MessagePosition.MessageReference.Priority

    @property
    def recoverable(self) -> bool:
        """Whether the message has a RecoverableSequenceNumber. The number itself cannot show this, because it wraps
        to 0 after 65,535.
        """
        return bool(self.UserMessage.UserHeader.DM)


@dataclass(slots=True, kw_only=True)
class OutgoingTransferSequence:
    """The transactional sequence of a session. Spec: MS-MQQB 3.1.1.3.1.1. Times are in s UTC, and ResendInterval is
    in s.
    """

    ResendInterval: int
    TimeOfLastAck: int
    LastAck: SequenceInfo = field(default_factory=SequenceInfo)
    LastAckCount: int = 0
    ResendIntervalIndex: int = 0
    ResendTime: int = 0
    UnackedSequence: list[SequenceInfo] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RecoverableReceipt:
    """A received recoverable message that is not acknowledged yet. ``must_be_acknowledged`` states whether the
    acknowledgment flag of the message may be set.
    """

    is_on_disk: bool = False
    must_be_acknowledged: bool = True


@dataclass(slots=True, eq=False)
class Session:
    """A session with another queue manager. Spec: MS-MQQB 3.1.1.3.1. The attributes in lower case are additions of
    this implementation.
    """

    number: int
    initiator: bool
    RemoteQMGuid: UUID = NULL_GUID
    NextHopCollection: list[NextHop] = field(default_factory=list)
    NextHopIndexer: int = 0
    RemoteQMPublicKey: bytes = bytes(4)
    MessageSentCount: int = field(default=0, metadata=U16)
    RecoverableMessageSentCount: int = field(default=0, metadata=U16)
    MessageReceivedCount: int = field(default=0, metadata=U16)
    RecoverableMessageReceivedCount: int = field(default=0, metadata=U16)
    LastAckedRecoverableMsgSeqNumber: int = field(default=0, metadata=U16)
    RecoverableMsgAckFlags: int = field(default=0, metadata=U32)
    UnackedReceivedMsgCount: int = field(default=0, metadata=U16)
    OutgoingTxSequenceID: TxSequenceID = FIRST_OUTGOING_SEQUENCE
    TxMessageRejectCount: int = 0
    OutgoingTxSequenceNumber: int = field(default=1, metadata=U32)
    IncomingTxSequenceID: TxSequenceID = NO_INCOMING_SEQUENCE
    IncomingTxSequenceNumber: int = field(default=0, metadata=U32)
    OutgoingQueueReference: OutgoingQueue | None = None
    TxOutgoingSequence: OutgoingTransferSequence | None = None
    WindowSize: int = field(default=0, metadata=U16)
    ReceivedWindowSize: int = field(default=0, metadata=U16)
    SessionState: states.SessionState = states.SessionState.CLOSED
    SessionActive: bool = False
    ReceivedAck: bool = False
    AckWaitTimeout: int = field(default=0, metadata=U32)
    RecoverableAckSendTimeout: int = field(default=INFINITE_TIMEOUT, metadata=U32)
    RemoteQMAddress: str = ""
    RemoteQMHostName: str = ""
    UnAckedMessageCount: int = 0
    OutgoingMessageTable: tables.OutgoingMessageTable = field(default_factory=tables.OutgoingMessageTable)
    AwaitingFinalACKTable: dict[int, OutgoingMessagePosition] = field(default_factory=dict)
    """The positions of messages that await a FinalAck, by UserHeader.MessageID."""
    DirectFormatSession: bool = False
    OrderAckTimeout: int = 0
    LastOrderAckSendTime: int = 0
    MaximumOrderAckDelay: int = 0

    transport: str | None = None
    framer: StreamFramer = field(default_factory=StreamFramer)
    awaited_opening_event: states.AwaitedOpeningEvent = states.AwaitedOpeningEvent.NOTHING
    is_retrying_connection: bool = False
    """Whether the session is being established because the Session Retry Connect Timer expired."""
    is_ping_sent_before_session: bool = False
    ping_cookie: int = 0
    is_destination_direct: bool = False
    """Whether the destination is a direct format name. In this case, ServerGuid is zero in the request (note <46>)."""
    was_session_refused: bool = False
    """Whether this acceptor refused the session in its response (CS is set)."""
    last_ack_number: int = field(default=0, metadata=U16)
    """The AckSequenceNumber of the last received acknowledgment."""
    already_acknowledged_count: int = field(default=0, metadata=U16)
    """The number of messages in UnackedReceivedMsgCount that were already included in the last sent acknowledgment,
    although the disk had not confirmed them.
    """
    order_acks_due: dict[IncomingTransactionalTransferInfo, None] = field(default_factory=dict)
    """The sequences to acknowledge when the Order Ack Send Timer next expires, in the order in which they were added.
    """
    unacknowledged_receipts: deque[RecoverableReceipt] = field(default_factory=deque)
    """The received recoverable messages whose acknowledgment flags are not set yet, in sequence.

    The disk may confirm the messages in any order, but the flags are set in sequence.
    """
    destination: UUID = NULL_GUID
    """The rQueueManagerGuid that Get Destination Info returns. The GUID is zero for a direct format name, and in a
    session that this queue manager accepted.
    """
    unresolved_next_hops: list[NextHop] = field(default_factory=list)
    """The next hops whose addresses are not resolved yet."""
    addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The resolved addresses of next hops, by host name."""
    awaiting_command_tokens: list[int] = field(default_factory=list)
    """The tokens of the OpenSession commands that are answered when the session is open or closed."""


@dataclass(slots=True, kw_only=True)
class QueueManagerState(QueueManagerAttributes):
    """The whole state of the queue manager (LocalQueueManager). Spec: MS-MQQB 3.1.1.3, MS-MQDMPR 3.1.1.1.

    The keys of collections are path names or format names in lower case. ``storage`` is the size in bytes of the
    messages in all queues, and ``journal_storage`` is the size in bytes of the messages in all journals and
    dead-letter queues.
    """

    MessageIDHistoryTable: tables.MessageIDHistoryTable = field(default_factory=tables.MessageIDHistoryTable)
    MessageIdOrdinal: int = field(default=0, metadata=U32)
    PingCookie: int = field(default=0, metadata=U32)
    SendInsecureNacks: bool = False
    ResendTimeoutsShort: int = field(default=30, metadata=U32)
    ResendTimeoutsMedium: int = field(default=300, metadata=U32)
    ResendTimeoutsLong: int = field(default=1_800, metadata=U32)
    ResendTimeoutsFinal: int = field(default=21_600, metadata=U32)
    ResendTimerTable: tuple[int, ...] = ()
    QueueCollection: collection.QueueCollection = field(default_factory=collection.QueueCollection)
    SystemJournalQueue: Queue = field(default_factory=lambda: _create_system_queue("system$;journal"))
    SystemDeadletterQueue: Queue = field(default_factory=lambda: _create_system_queue("system$;deadletter"))
    SystemTransactionalDeadletterQueue: Queue = field(
        default_factory=lambda: _create_system_queue("system$;deadxact", Transactional=True)
    )
    OutgoingQueues: dict[str, OutgoingQueue] = field(default_factory=dict)
    last_private_queue_number: int = field(default=0, metadata=U32)
    last_sequence_time: int = field(default=0, metadata=U32)
    """The TimeStamp of the newest OutgoingTxSequenceID. This value is kept because no two sequences may have the
    same identifier.
    """
    TransactionCollection: dict[UUID, Transaction] = field(default_factory=dict)
    """The transactions, by Identifier."""
    last_transaction_number: int = field(default=0, metadata={"width": 20})
    storage: QueueStorageUse = field(default_factory=QueueStorageUse)
    journal_storage: QueueStorageUse = field(default_factory=QueueStorageUse)

    def __post_init__(self) -> None:
        for queue in self.system_queues:
            queue.MessagePositionList.storage = self.journal_storage

    @property
    def system_queues(self) -> tuple[Queue, ...]:
        """The system journal and the dead-letter queues. Spec: MS-MQDMPR 3.1.3."""
        return self.SystemJournalQueue, self.SystemDeadletterQueue, self.SystemTransactionalDeadletterQueue


def _create_system_queue(pathname: str, **attributes: Any) -> Queue:
    return Queue(Pathname=pathname, QueueType=QueueType.SYSTEM, **attributes)
