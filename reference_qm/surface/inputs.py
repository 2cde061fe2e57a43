"""Defines the inputs of the core, which are the only arguments of ``QueueManager.handle``.

Transports have names: the core names the transports that it opens (``out-1``, ...), and the host names the
transports that it accepts (``in-1``, ...).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple
from uuid import UUID

from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.objects import DirectoryObject
from reference_qm.surface.commands import Request
from reference_qm.value_object import value_object


class Endpoint(NamedTuple):
    """A transport address, which consists of the text of an IPv4 or IPv6 address and a port."""

    host: str
    port: int


class PingSocket(Enum):
    """The two UDP sockets of MS-MQQB 2.1.2, one for requests and one for responses. Each datagram names its socket."""

    LISTENER = "listener"
    """The socket at port 3527 of the acceptor."""
    SOURCE = "source"
    """The socket from which the initiator sends its Ping Requests."""


@value_object
class QueueManagerStarted:
    """The input Queue Manager Started (MS-MQQB 3.1.4.1)."""


@value_object
class QueueManagerStopped:
    """The input Queue Manager Stopped (MS-MQQB 3.1.4.2)."""


@value_object
class TransportAccepted:
    """A remote initiator connected (MS-MQQB 3.1.5.10)."""

    transport: str
    remote: Endpoint
    local: Endpoint


@value_object
class TransportConnected:
    """The connection of a ``Connect`` effect was established."""

    transport: str
    remote: Endpoint
    local: Endpoint


@value_object
class TransportFailed:
    """The connection of a ``Connect`` effect could not be established. ``error`` is one line for the connection
    history.
    """

    transport: str
    error: str


@value_object
class TransportLost:
    """The underlying transport indicates a disconnect (MS-MQQB 3.1.7.3)."""

    transport: str
    reason: str


@value_object
class BytesReceived:
    """Bytes were received from a stream. They may be any part of a packet, or several packets."""

    transport: str
    data: bytes


@value_object
class DatagramReceived:
    """One UDP datagram was received (MS-MQQB 3.1.7.7, 3.1.7.8)."""

    socket: PingSocket
    remote: Endpoint
    data: bytes


@value_object
class RpcListening:
    """The ports for DCE/RPC are open (MS-MQQP 3.1.3). RemoteQMGetQMQMServerPort and the endpoint mapper return the
    numbers of these ports.

    ``handshake`` is the port of qmcomm (IP_HANDSHAKE), and ``read`` is the port of qm2qm (IP_READ); each port
    serves both interfaces.
    """

    handshake: Endpoint
    read: Endpoint


@value_object
class RpcAccepted:
    """A client of DCE/RPC connected (MS-MQQP 2.1). The host gives the connection the name ``connection``."""

    connection: str
    remote: Endpoint
    local: Endpoint


@value_object
class RpcBytesReceived:
    """Bytes were received from a DCE/RPC connection. They may be any part of a PDU, or several PDUs."""

    connection: str
    data: bytes


@value_object
class RpcConnectionLost:
    """A DCE/RPC connection was lost (MS-MQQP 3.1.6)."""

    connection: str
    reason: str


@value_object
class HostResolved:
    """The answer to ``ResolveHost``: addresses as text, best first. The list is empty if the name is unknown."""

    host: str
    addresses: tuple[str, ...]


@value_object
class RecordPersisted:
    """The record of a ``Persist`` effect is on disk."""

    token: int


@value_object
class PersistFailed:
    """A ``Persist`` effect failed. No part of its record is on disk."""

    token: int
    error: str


@value_object
class DirectoryAnswered:
    """The answer to ``ReadDirectory`` or ``WriteDirectory`` (MS-MQDMPR 3.1.1.17).

    ``identifier``: the Identifier of a created object. ``elements``: all current objects in the directory's order,
    or None if they could not be read.
    """

    token: int
    status: DirectoryOperationResult
    identifier: UUID | None = None
    elements: tuple[DirectoryObject, ...] | None = None


@value_object
class DirectoryChanged:
    """Another program changed the directory, or the directory became unavailable or available. The content of the
    last read may be outdated.
    """


@value_object
class DomainReported:
    """The local security authority reported the domain of the machine (MS-MQDMPR 3.1.3). The domain is None if the
    machine belongs to no domain.
    """

    identifier: UUID | None


@value_object
class CoordinatorChanged:
    """The Transaction Coordinator became unavailable or available (MS-MQSO 5.5.3)."""

    available: bool


@value_object
class ResourcesChanged:
    """Memory or storage became short or sufficient (MS-MQSO 5.1.1.1, Throttled)."""

    low: bool


@value_object
class Command:
    """A request of a higher layer. The core answers it with one ``CommandCompleted`` or ``CommandRejected`` that has
    the same token.
    """

    token: int
    request: Request


Input = (
    QueueManagerStarted
    | QueueManagerStopped
    | TransportAccepted
    | TransportConnected
    | TransportFailed
    | TransportLost
    | BytesReceived
    | DatagramReceived
    | RpcListening
    | RpcAccepted
    | RpcBytesReceived
    | RpcConnectionLost
    | HostResolved
    | RecordPersisted
    | PersistFailed
    | DirectoryAnswered
    | DirectoryChanged
    | DomainReported
    | CoordinatorChanged
    | ResourcesChanged
    | Command
)
