"""One end of a connection to a core; the test sends each packet itself."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from core_network import PLAIN, Host, direct, guid

from reference_qm.codec import (
    BaseHeader,
    ConnectionParametersHeader,
    ConnectionParametersPacket,
    DirectQueueFormatName,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
    MessagePropertiesHeader,
    Packet,
    SessionAckPacket,
    SessionHeader,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.surface.commands import OpenSession
from reference_qm.surface.inputs import BytesReceived, Endpoint, TransportAccepted, TransportConnected, TransportLost

RAW = guid(99)
_NUMBERS = itertools.count(1)


def internal(pt: int, **bits: int) -> tuple[BaseHeader, InternalHeader]:
    base = BaseHeader(Flags=BaseHeader.flags(IN=1, PR=3, **({"SH": 1} if pt == 1 else {})))
    return base, InternalHeader(Flags=InternalHeader.flags(PT=pt, **bits))


def establish(cs: int = 0, **fields: Any) -> EstablishConnectionPacket:
    defaults: dict[str, Any] = {"ClientGuid": RAW, "OperatingSystem": 0x0310, "TimeStamp": 77}
    return EstablishConnectionPacket(*internal(2, CS=cs), EstablishConnectionHeader(**(defaults | fields)))


def parameters(cs: int = 0, **fields: Any) -> ConnectionParametersPacket:
    defaults: dict[str, Any] = {"RecoverableAckTimeout": 600, "AckTimeout": 30_000, "WindowSize": 64}
    return ConnectionParametersPacket(*internal(3, CS=cs), ConnectionParametersHeader(**(defaults | fields)))


def session_ack(**fields: int) -> SessionAckPacket:
    return SessionAckPacket(*internal(1), SessionHeader(**({"WindowSize": 64} | fields)))


def user_message(
    ordinal: int,
    *,
    recoverable: bool = False,
    transactional: bool = False,
    queue: str = PLAIN,
    body: bytes = b"body",
    session: SessionHeader | None = None,
    priority: int = 3,
    life_s: int = 0xFFFFFFFF,
    **user: Any,
) -> UserMessagePacket:
    flags = UserHeader.flags(DM=int(recoverable or transactional), DQ=7, MP=1, TH=int(transactional))
    return UserMessagePacket(
        BaseHeader=BaseHeader(
            Flags=BaseHeader.flags(PR=priority, SH=int(session is not None)), TimeToReachQueue=life_s
        ),
        UserHeader=replace(
            UserHeader(
                SourceQueueManager=RAW,
                MessageID=ordinal,
                SentTime=1_800_000_000,
                Flags=flags,
                DestinationQueue=DirectQueueFormatName(f"OS:host\\{queue}"),
            ),
            **user,
        ),
        TransactionHeader=TransactionHeader() if transactional else None,
        MessagePropertiesHeader=MessagePropertiesHeader(MessageBody=body),
        SessionHeader=session,
    )


class Raw:
    """A connection of a host to the test; ``sent`` has the packets that the host has sent."""

    def __init__(self, host: Host, transport: str) -> None:
        self.host = host
        self.transport = transport
        self.received = 0

    @classmethod
    def initiator(cls, host: Host) -> Raw:
        """Connect to a host without sending a packet."""
        raw = cls(host, f"in-raw-{next(_NUMBERS)}")
        host.handle(TransportAccepted(raw.transport, Endpoint("10.0.0.99", 4_000), Endpoint(host.address, 1801)))
        return raw

    @classmethod
    def open(cls, host: Host, **fields: Any) -> Raw:
        """Connect to a host and open a session."""
        raw = cls.initiator(host)
        raw.feed(establish())
        raw.feed(parameters(**fields))
        assert raw.session["SessionState"] == "OPEN"
        return raw

    @classmethod
    def acceptor(cls, host: Host, to: str = direct(9)) -> Raw:
        """Let a host connect to 10.0.0.9, where the test answers; ``sent`` then has the host's request."""
        host.network.by_hand.add("10.0.0.9")
        host.begin(OpenSession(to))
        return cls.next_acceptor(host)

    @classmethod
    def next_acceptor(cls, host: Host) -> Raw:
        """Accept the connection that a host has begun."""
        connect = host.connects[-1]
        raw = cls(host, connect.transport)
        host.handle(TransportConnected(connect.transport, connect.remote, Endpoint(host.address, 50_000)))
        return raw

    @classmethod
    def accepted(cls, host: Host, **fields: Any) -> Raw:
        """Let a host open a session to the test, and accept the session."""
        return cls.acceptor(host).accept(**fields)

    def accept(self, **fields: Any) -> Raw:
        """Answer the host's requests as a correct acceptor does, so that the session is open."""
        request = self.last
        assert isinstance(request, EstablishConnectionPacket)
        self.feed(establish(**{**_fields(request), "ServerGuid": RAW}))
        self.feed(parameters(**fields))
        assert self.session["SessionState"] == "OPEN"
        return self

    def feed(self, *packets: Packet | bytes) -> None:
        """Send packets to the host in one piece."""
        data = b"".join(one if isinstance(one, bytes) else one.build() for one in packets)
        self.host.handle(BytesReceived(self.transport, data))
        self.host.network.settle()

    def lose(self) -> None:
        self.host.handle(TransportLost(self.transport, "reset"))
        self.host.network.settle()

    @property
    def sent(self) -> list[Packet]:
        return [parse_packet(data) for transport, data in self.host.sent if transport == self.transport]

    @property
    def last(self) -> Packet:
        return self.sent[-1]

    @property
    def acks(self) -> list[SessionHeader]:
        return [packet.SessionHeader for packet in self.sent if isinstance(packet, SessionAckPacket)]

    @property
    def messages(self) -> list[UserMessagePacket]:
        return [packet for packet in self.sent if isinstance(packet, UserMessagePacket)]

    @property
    def closed(self) -> str | None:
        """Return the reason with which the core closed the connection, or None."""
        return next((one.reason for one in self.host.closed if one.transport == self.transport), None)

    @property
    def session(self) -> dict[str, Any]:
        """Return the ADM elements of the session on the side of the host."""
        return next(dict(one) for one in self.host.adm()["Sessions"] if one["transport"] == self.transport)


def _fields(request: EstablishConnectionPacket) -> dict[str, Any]:
    header = request.EstablishConnectionHeader
    return {
        "ClientGuid": header.ClientGuid,
        "TimeStamp": header.TimeStamp,
        "OperatingSystem": header.OperatingSystem,
    }
