"""The enumerations of the abstract data model. Spec: MS-MQQB 3.1.1.3.1, MS-MQDMPR 3.1.1."""

from __future__ import annotations

from enum import Enum


class SessionState(Enum):
    """The values of SessionState. Spec: MS-MQQB 3.1.1.3.1."""

    __hash__ = object.__hash__  # members are compared by identity, and looked up for every packet

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    WAITING_CP_MSG = "WAITING_CP_MSG"
    WAITING_CPR_MSG = "WAITING_CPR_MSG"
    WAITING_EC_MSG = "WAITING_EC_MSG"
    WAITING_ECR_MSG = "WAITING_ECR_MSG"
    WAITING_RECONNECT = "WAITING_RECONNECT"


class AwaitedOpeningEvent(Enum):
    """The event that an initiator awaits before it can send a packet. The specification needs no such value, because
    there each event blocks until it is complete.
    """

    NOTHING = "nothing"
    ADDRESSES = "addresses"
    PING_RESPONSE = "ping response"
    TRANSPORT = "transport"


class OutgoingQueueState(Enum):
    """The values of OutgoingQueue.State. Spec: MS-MQDMPR 3.1.1.3."""

    CONNECTED = "Connected"
    DISCONNECTED = "Disconnected"
    DISCONNECTING = "Disconnecting"
    INACTIVE = "Inactive"
    LOCKED = "Locked"
    NEED_VALIDATION = "NeedValidation"
    WAITING = "Waiting"
    ON_HOLD = "OnHold"


class ConnectionStatus(Enum):
    """The values of ConnectionHistory.Status that occur with TCP when no directory is used. Spec: MS-MQDMPR
    3.1.1.3.
    """

    IN_PROCESS = "InProcess"
    ESTABLISH_PACKET_RECEIVED = "EstablishPacketReceived"
    ESTABLISHED = "Established"
    UNKNOWN_FAILURE = "UnknownFailure"
    PING_FAILURE = "PingFailure"
    SOCKET_CONNECT_FAILURE = "SocketConnectFailure"
    DNS_FAILURE = "DnsFailure"
    CONNECTION_REFUSED = "ConnectionRefused"
    ROUTING_DATA_NOT_AVAILABLE = "RoutingDataNotAvailable"
    CERTIFICATE_VALIDATION_FAILURE = "CertificateValidationFailure"


class MessagePositionState(Enum):
    """The values of MessagePosition.State.

    Spec: MS-MQDMPR 3.1.1.11. A message is also Locked while it is being written to the disk.
    """

    AVAILABLE = "Available"
    LOCKED = "Locked"
    DELETED = "Deleted"
    PURGE_PENDING = "PurgePending"


class DeliveryGuarantee(Enum):
    """The values of Message.DeliveryGuarantee. Spec: MS-MQDMPR 3.1.1.12."""

    EXPRESS = "Express"
    RECOVERABLE = "Recoverable"
