"""Everything that can happen to the core: the only things that ``QueueManager.handle`` takes.

Transports are named by strings: the core names those that it opens (``out-1``, ...), the shell those that it
accepts (``in-1``, ...).
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
    """A transport address: textual IPv4 or IPv6 address and port."""

    host: str
    port: int


class PingSocket(Enum):
    """Which of the two UDP ports of MS-MQQB 2.1.2 a datagram belongs to."""

    LISTENER = "listener"
    """Port 3527 of the acceptor."""
    SOURCE = "source"
    """The port that the initiator sends its Ping Requests from."""


@value_object
class Started:
    """Queue Manager Started (MS-MQQB 3.1.4.1)."""


@value_object
class Stopped:
    """Queue Manager Stopped (MS-MQQB 3.1.4.2)."""


@value_object
class TransportAccepted:
    """A remote initiator connected (MS-MQQB 3.1.5.10)."""

    transport: str
    remote: Endpoint
    local: Endpoint


@value_object
class TransportConnected:
    """A ``Connect`` effect succeeded."""

    transport: str
    remote: Endpoint
    local: Endpoint


@value_object
class TransportFailed:
    """A ``Connect`` effect failed; ``error`` is one line for the connection history."""

    transport: str
    error: str


@value_object
class TransportLost:
    """The underlying transport indicates a disconnect (MS-MQQB 3.1.7.3)."""

    transport: str
    reason: str


@value_object
class BytesReceived:
    """Bytes of a stream, cut anywhere."""

    transport: str
    data: bytes


@value_object
class DatagramReceived:
    """One UDP datagram (MS-MQQB 3.1.7.7, 3.1.7.8)."""

    socket: PingSocket
    remote: Endpoint
    data: bytes


@value_object
class RpcListening:
    """The ports of DCE/RPC were taken (MS-MQQP 3.1.3): what RemoteQMGetQMQMServerPort and the endpoint mapper return.

    ``handshake`` is that of qmcomm (IP_HANDSHAKE), ``read`` that of qm2qm (IP_READ); each serves both.
    """

    handshake: Endpoint
    read: Endpoint


@value_object
class RpcAccepted:
    """A client of DCE/RPC connected; ``connection`` is a name that the host gives (MS-MQQP 2.1)."""

    connection: str
    remote: Endpoint
    local: Endpoint


@value_object
class RpcBytes:
    """Bytes of a DCE/RPC connection, cut anywhere."""

    connection: str
    data: bytes


@value_object
class RpcLost:
    """A DCE/RPC connection is gone (MS-MQQP 3.1.6)."""

    connection: str
    reason: str


@value_object
class HostResolved:
    """The answer to ``ResolveHost``: textual addresses, best first; empty when the name is unknown."""

    host: str
    addresses: tuple[str, ...]


@value_object
class Persisted:
    """A ``Persist`` effect is safely on disk."""

    token: int


@value_object
class PersistFailed:
    """A ``Persist`` effect could not be carried out; nothing of it is on disk."""

    token: int
    error: str


@value_object
class DirectoryAnswered:
    """The answer to ``ReadDirectory`` or ``WriteDirectory`` (MS-MQDMPR 3.1.1.17).

    ``identifier``: that of an object that was created. ``elements``: everything that the directory holds now, in its
    order; None when it could not be read.
    """

    token: int
    status: DirectoryOperationResult
    identifier: UUID | None = None
    elements: tuple[DirectoryObject, ...] | None = None


@value_object
class DirectoryChanged:
    """Somebody changed the directory, or it was lost or found again: what was read last may be true no more."""


@value_object
class DomainTold:
    """The local security authority told the domain of the machine (MS-MQDMPR 3.1.3); None: it belongs to none."""

    identifier: UUID | None


@value_object
class CoordinatorChanged:
    """The Transaction Coordinator was lost, or is there again (MS-MQSO 5.5.3)."""

    available: bool


@value_object
class ResourcesChanged:
    """Memory or storage ran short, or is enough again (MS-MQSO 5.1.1.1, Throttled)."""

    low: bool


@value_object
class Command:
    """Something that a higher layer asks for; answered by one ``Completed`` or ``Rejected`` with the same token."""

    token: int
    request: Request


Input = (
    Started
    | Stopped
    | TransportAccepted
    | TransportConnected
    | TransportFailed
    | TransportLost
    | BytesReceived
    | DatagramReceived
    | RpcListening
    | RpcAccepted
    | RpcBytes
    | RpcLost
    | HostResolved
    | Persisted
    | PersistFailed
    | DirectoryAnswered
    | DirectoryChanged
    | DomainTold
    | CoordinatorChanged
    | ResourcesChanged
    | Command
)
