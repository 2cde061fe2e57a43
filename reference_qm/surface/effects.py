"""Defines the effects of the core, which are the only results of ``QueueManager.handle`` and ``handle_timer``."""

from __future__ import annotations

from reference_qm.directory.interface import Change
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import Endpoint, PingSocket
from reference_qm.value_object import value_object


@value_object
class Connect:
    """Open a TCP connection. The host answers with TransportConnected or TransportFailed."""

    transport: str
    remote: Endpoint


@value_object
class SendPacket:
    """Send exactly one packet on a stream."""

    transport: str
    data: bytes


@value_object
class CloseTransport:
    """Close a stream. No TransportLost follows. ``reason`` is one line that names the section."""

    transport: str
    reason: str


@value_object
class SendDatagram:
    """Send one UDP datagram from the ping socket for requests or from the ping socket for responses."""

    socket: PingSocket
    remote: Endpoint
    data: bytes


@value_object
class SendRpcBytes:
    """Send bytes on a DCE/RPC connection."""

    connection: str
    data: bytes


@value_object
class CloseRpcConnection:
    """Close a DCE/RPC connection after all its bytes are sent. No RpcConnectionLost follows. ``reason`` is one line
    that names the section.
    """

    connection: str
    reason: str


@value_object
class ResolveHost:
    """Resolve a host name (MS-MQQB 3.1.5.2.1). The host answers with HostResolved."""

    host: str


@value_object
class Persist:
    """Write a record to the disk. The host answers with RecordPersisted or PersistFailed. ``record`` is one JSON-ready
    object.
    """

    token: int
    record: dict[str, object]


@value_object
class ReadDirectory:
    """Read the whole directory (MS-MQDMPR 3.1.7.1.20). The host answers with DirectoryAnswered."""

    token: int


@value_object
class WriteDirectory:
    """Change the directory (MS-MQDMPR 3.1.7.1.18, 3.1.7.1.19, 3.1.7.1.24). The host answers with DirectoryAnswered."""

    token: int
    change: Change


@value_object
class RestartQueueManager:
    """Restart the queue manager with the content of the store, because its initialization failed (MS-MQSO 6.4.4.1)."""


@value_object
class CommandCompleted:
    """The answer to a Command."""

    token: int
    result: Result


@value_object
class CommandRejected:
    """A Command was refused. ``error`` is one line that names the cause and the remedy."""

    token: int
    error: str


Answer = CommandCompleted | CommandRejected

Effect = (
    Connect
    | SendPacket
    | CloseTransport
    | SendDatagram
    | SendRpcBytes
    | CloseRpcConnection
    | ResolveHost
    | Persist
    | ReadDirectory
    | WriteDirectory
    | RestartQueueManager
    | CommandCompleted
    | CommandRejected
)
