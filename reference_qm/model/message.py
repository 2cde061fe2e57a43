"""The Message of the abstract data model. Spec: MS-MQDMPR 3.1.1.12."""

from __future__ import annotations

from uuid import UUID

from reference_qm import codec
from reference_qm.codec import NULL_GUID, TxSequenceID
from reference_qm.model import states
from reference_qm.security import MessageSecurity
from reference_qm.value_object import value_object

INFINITE_TIMEOUT = 0xFFFFFFFF
NO_INCOMING_SEQUENCE = TxSequenceID()


@value_object(kw_only=True)
class Message:
    """A message. Spec: MS-MQDMPR 3.1.1.12. Times are in s. Format names are strings, or None if the message has no
    such queue.

    SourceMachineIdentifier is a part of Identifier. DestinationQueueType, AdministrationQueueType and
    ResponseQueueType are omitted, because they follow from the format names: the format name of a private queue
    contains its computer.
    """

    Identifier: codec.MessageIdentifier
    DestinationQueueFormatName: str
    DestinationQueueManagerIdentifier: UUID = NULL_GUID
    Class: int = 0
    AllowPeekWhenLocked: bool = False
    Priority: int = 3
    DeliveryGuarantee: states.DeliveryGuarantee = states.DeliveryGuarantee.EXPRESS
    Label: str = ""
    Body: bytes = b""
    BodyType: int = 0
    AppSpecific: int = 0
    CorrelationIdentifier: bytes = bytes(20)
    Extension: bytes = b""
    SentTime: int = 0
    ArrivalTime: int = 0
    TimeToReachQueue: int = INFINITE_TIMEOUT
    TimeToBeReceived: int = INFINITE_TIMEOUT
    TracingRequested: bool = False
    TracingQueueIdentifier: UUID = NULL_GUID
    HopCount: int = 0
    """The value of UserHeader.Flags.RC. MS-MQDMPR has no attribute for this value."""
    ApplicationDeadletterQueue: str = ""
    """The path name of the local queue that the application uses as dead-letter queue, or an empty string."""
    AcknowledgementsRequested: int = 0
    PositiveJournalingRequested: bool = False
    NegativeJournalingRequested: bool = False
    AdministrationQueueFormatName: str | None = None
    ResponseQueueFormatName: str | None = None
    DestinationMultiQueueFormatName: str | None = None
    AdministrationMultiQueueFormatName: str | None = None
    ResponseMultiQueueFormatName: str | None = None
    MultipleDestinationSignature: bytes = b""
    ConnectorTypeIdentifier: UUID = NULL_GUID
    ConnectorQueueManagerIdentifier: UUID = NULL_GUID
    TransactionIdentifier: int | None = None
    """The transaction of the message, or None if the message is not transactional."""
    FirstInTransaction: bool = False
    LastInTransaction: bool = False
    FinalAckRequired: bool = False
    TransactionalMessageSequenceIdentifier: TxSequenceID = NO_INCOMING_SEQUENCE
    TransactionSequenceNumber: int = 0
    TransactionPreviousSequenceNumber: int = 0
    security: MessageSecurity | None = None
    """The security attributes, or None if the message has none."""
