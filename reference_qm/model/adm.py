"""The abstract data model under the specification's names. Spec: MS-MQQB 3.1.1.3, MS-MQDMPR 3.1.1.

What an element is declared with is its width in bits, as printed. Which must survive process and node failures is what
``core.store.durability`` writes.
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
from reference_qm.model.message import INFINITE as INFINITE
from reference_qm.model.message import NO_INCOMING as NO_INCOMING
from reference_qm.model.message import Message as Message
from reference_qm.model.position_list import Boundary, Storage
from reference_qm.value_object import value_object

if TYPE_CHECKING:
    from reference_qm.model.transactions import Transaction

CONNECTION_HISTORY_SIZE = 64
"""Entries kept of a ConnectionHistory: three for each attempt to connect."""

U16 = {"width": 16}
U32 = {"width": 32}

FIRST_OUTGOING = TxSequenceID(Ordinal=1)
NO_SEQUENCE = SequenceInfo()


@dataclass(slots=True, eq=False)
class MessagePosition:
    """A message's slot in a queue. Spec: MS-MQDMPR 3.1.1.11.

    LookupIdentifier is printed of the Message, but given with its place in a queue. Next and Previous are None outside
    of a list. ``order_queue``: where the final acknowledgment goes when the message is removed; None: none is wanted.
    ``size``: bytes that it takes of a quota; ``counted_in``, ``held``: see MessagePositionList.
    """

    MessageReference: Message
    QueueReference: Queue
    State: states.MessagePositionState = states.MessagePositionState.LOCKED
    order: int = 0
    order_queue: str | None = None
    key: int = 0
    """Under which it is on disk; 0 for one that is not."""
    awaits_disk: bool = False
    """Whether it is on its way to the disk, so that neither it nor any behind it may be sent or received yet."""
    LookupIdentifier: int = field(default=0, metadata={"width": 64})
    Next: MessagePosition | Boundary | None = field(default=None, repr=False)
    Previous: MessagePosition | Boundary | None = field(default=None, repr=False)
    size: int = 0
    counted_in: position_list.MessagePositionList | None = None
    held: int = 0


Position = MessagePosition


SequencePlace = tuple[TxSequenceID, int]
"""The position in a sequence: its identifier and the number of a message of it."""


@dataclass(slots=True, eq=False)
class Acceptance:
    """A transactional message that was accepted and is not known to be on disk, nor all before it.

    ``follows``: how far its sender's sequences had got before it.
    """

    transfer: IncomingTransactionalTransferInfo
    position: MessagePosition
    SequenceIdentifier: TxSequenceID
    SequenceNumber: int
    follows: SequencePlace
    saved: bool = False


@dataclass(slots=True, eq=False)
class IncomingTransactionalTransferInfo:
    """The messages of one sender to a queue in sequence. Spec: MS-MQDMPR 3.1.1.5. LastAccessTime in s UTC.

    ``unsaved`` are the messages that the disk has not confirmed yet, in sequence; ``saved_identifier`` and
    ``saved_number`` name the last message before them, the one that may be acknowledged.
    """

    QueueReference: Queue
    FormatName: str
    SenderIdentifier: UUID
    SequenceIdentifier: TxSequenceID = NO_INCOMING
    SequenceNumber: int = 0
    LastAccessTime: int = 0
    RejectCount: int = 0
    unsaved: deque[Acceptance] = field(default_factory=deque)
    saved_identifier: TxSequenceID = NO_INCOMING
    saved_number: int = 0


TransferKey = tuple[UUID, str]
"""SenderIdentifier and FormatName in lower case."""


@dataclass(slots=True, eq=False, kw_only=True)
class Queue(QueueAttributes):
    """A queue. Spec: MS-MQDMPR 3.1.1.2. ``parent``: the queue that this subqueue or journal belongs to."""

    JournalQueueReference: Queue | None = field(default=None, repr=False)
    SubqueueCollection: dict[str, Queue] = field(default_factory=dict, repr=False)
    """By name in lower case."""
    MessagePositionList: position_list.MessagePositionList = field(default_factory=position_list.MessagePositionList)
    IncomingTransactionalTransferInfoCollection: dict[TransferKey, IncomingTransactionalTransferInfo] = field(
        default_factory=dict
    )
    OpenQueueDescriptorCollection: dict[int, OpenQueueDescriptor] = field(default_factory=dict, repr=False)
    """By Handle."""
    parent: Queue | None = field(default=None, repr=False)

    @property
    def Active(self) -> bool:  # noqa: N802 - as printed
        """Return whether it is open."""
        return bool(self.OpenQueueDescriptorCollection)

    @property
    def TotalBytes(self) -> int:  # noqa: N802 - as printed
        """The bytes that its messages take."""
        return self.MessagePositionList.TotalBytes


@value_object(kw_only=True)
class OutgoingTransferInfo:
    """The state of a transactional sequence as an administrator sees it. Spec: MS-MQDMPR 3.1.1.4. Times in s."""

    EodFirstNonAck: SequenceInfo = NO_SEQUENCE
    EodLastAck: SequenceInfo = NO_SEQUENCE
    EodLastAckCount: int = 0
    EodLastAckTime: int = 0
    EodLastNonAck: SequenceInfo = NO_SEQUENCE
    EodNextSeq: SequenceInfo = NO_SEQUENCE
    EodNoAckCount: int = 0
    EodNoReadCount: int = 0
    EodResendCount: int = 0
    EodResendInterval: int = 0
    EodResendTime: int = 0


@value_object
class ConnectionHistoryEntry:
    """One entry of OutgoingQueue.ConnectionHistory. Spec: MS-MQDMPR 3.1.1.3. Time in s UTC; Error an HRESULT."""

    Status: states.ConnectionStatus
    ConnectionHistoryTime: int
    Error: int
    AddressList: str


@dataclass(slots=True, eq=False, kw_only=True)
class OutgoingQueue(Queue):
    """Messages on their way to one destination. Spec: MS-MQDMPR 3.1.1.3.

    ``session`` is the one whose OutgoingQueueReference it is; its OutgoingMessageTable holds the messages.
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
        """Return whether it is open or has something to send."""
        return bool(self.OpenQueueDescriptorCollection) or len(self.session.OutgoingMessageTable) > 0


@value_object
class NextHop:
    """A way to the destination. Spec: MS-MQQB 3.1.1.3.1.3."""

    QMGuid: UUID
    HostName: str
    Address: str


@value_object
class MessageIDHistoryEntry:
    """A message received. Spec: MS-MQQB 3.1.1.3. TimeStamp u32 s UTC."""

    MessageIdentifier: codec.MessageIdentifier
    TimeStamp: int


@dataclass(slots=True, eq=False)
class OutgoingMessagePosition:
    """A message to be sent or acknowledged. Spec: MS-MQQB 3.1.1.3.1.2. ``order``: as added to the table."""

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
        """DispatchEntry.Priority. Spec: MS-MQDMPR 3.1.7.1.28."""
        return self.MessagePosition.QueueReference.BasePriority + self.MessagePosition.MessageReference.Priority

    @property
    def recoverable(self) -> bool:
        """Return whether it counts as recoverable. RecoverableSequenceNumber is 0 again after 65,535."""
        return bool(self.UserMessage.UserHeader.DM)


@dataclass(slots=True, kw_only=True)
class OutgoingTransferSequence:
    """The transactional sequence of a session. Spec: MS-MQQB 3.1.1.3.1.1. Times in s UTC, ResendInterval in s."""

    ResendInterval: int
    TimeOfLastAck: int
    LastAck: SequenceInfo = field(default_factory=SequenceInfo)
    LastAckCount: int = 0
    ResendIntervalIndex: int = 0
    ResendTime: int = 0
    UnackedSequence: list[SequenceInfo] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RecoverableReceipt:
    """A recoverable message received and not yet acknowledgeable; ``acknowledge``: whether its flag may ever be set."""

    done: bool = False
    acknowledge: bool = True


@dataclass(slots=True, eq=False)
class Session:
    """One protocol session. Spec: MS-MQQB 3.1.1.3.1, and below what an implementation needs besides."""

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
    OutgoingTxSequenceID: TxSequenceID = FIRST_OUTGOING
    TxMessageRejectCount: int = 0
    OutgoingTxSequenceNumber: int = field(default=1, metadata=U32)
    IncomingTxSequenceID: TxSequenceID = NO_INCOMING
    IncomingTxSequenceNumber: int = field(default=0, metadata=U32)
    OutgoingQueueReference: OutgoingQueue | None = None
    TxOutgoingSequence: OutgoingTransferSequence | None = None
    WindowSize: int = field(default=0, metadata=U16)
    ReceivedWindowSize: int = field(default=0, metadata=U16)
    SessionState: states.SessionState = states.SessionState.CLOSED
    SessionActive: bool = False
    ReceivedAck: bool = False
    AckWaitTimeout: int = field(default=0, metadata=U32)
    RecoverableAckSendTimeout: int = field(default=INFINITE, metadata=U32)
    RemoteQMAddress: str = ""
    RemoteQMHostName: str = ""
    UnAckedMessageCount: int = 0
    OutgoingMessageTable: tables.OutgoingMessageTable = field(default_factory=tables.OutgoingMessageTable)
    AwaitingFinalACKTable: dict[int, OutgoingMessagePosition] = field(default_factory=dict)
    """By UserHeader.MessageID."""
    DirectFormatSession: bool = False
    OrderAckTimeout: int = 0
    LastOrderAckSendTime: int = 0
    MaximumOrderAckDelay: int = 0

    transport: str | None = None
    framer: StreamFramer = field(default_factory=StreamFramer)
    opening: states.Opening = states.Opening.NOTHING
    retrying: bool = False
    """Whether it is opened because the Session Retry Connect Timer expired."""
    pinged: bool = False
    ping_cookie: int = 0
    direct: bool = False
    """Whether it is for a direct format name (ServerGuid zero, note <46>)."""
    refused: bool = False
    """Whether the remote initiator was answered that its connection is refused (CS)."""
    last_ack: int = field(default=0, metadata=U16)
    """AckSequenceNumber of the acknowledgment received last."""
    carried: int = field(default=0, metadata=U16)
    """The part of UnackedReceivedMsgCount that the last acknowledgment counted while it waited for the disk."""
    order_acks_due: dict[IncomingTransactionalTransferInfo, None] = field(default_factory=dict)
    """The sequences that the next expiry of the Order Ack Send Timer acknowledges; a set that keeps its order."""
    receipts: deque[RecoverableReceipt] = field(default_factory=deque)
    """Recoverable messages counted but not yet flagged, in sequence: disks may answer later, flags go in order."""
    destination: UUID = NULL_GUID
    """rQueueManagerGuid of Get Destination Info: zero for a direct format name, and on the acceptor's side."""
    unresolved_hops: list[NextHop] = field(default_factory=list)
    """The next hops, without their addresses."""
    addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The addresses that their host names resolved to."""
    awaited_by: list[int] = field(default_factory=list)
    """Tokens of the OpenSession commands to be answered."""


@dataclass(slots=True, kw_only=True)
class QueueManagerState(QueueManagerAttributes):
    """The queue manager as a whole, LocalQueueManager. Spec: MS-MQQB 3.1.1.3, MS-MQDMPR 3.1.1.1.

    Keys of collections are path names or format names in lower case. ``storage`` and ``journal_storage``: what the
    messages of all queues, and of all journals and dead-letter queues, take.
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
    """TimeStamp of the newest OutgoingTxSequenceID: no two sequences may have the same identifier."""
    TransactionCollection: dict[UUID, Transaction] = field(default_factory=dict)
    """By Identifier."""
    last_transaction: int = field(default=0, metadata={"width": 20})
    storage: Storage = field(default_factory=Storage)
    journal_storage: Storage = field(default_factory=Storage)

    def __post_init__(self) -> None:
        for queue in self.system_queues:
            queue.MessagePositionList.storage = self.journal_storage

    @property
    def system_queues(self) -> tuple[Queue, ...]:
        """The queues that journal what was sent. Spec: MS-MQDMPR 3.1.3."""
        return self.SystemJournalQueue, self.SystemDeadletterQueue, self.SystemTransactionalDeadletterQueue


def _create_system_queue(pathname: str, **attributes: Any) -> Queue:
    return Queue(Pathname=pathname, QueueType=QueueType.SYSTEM, **attributes)
