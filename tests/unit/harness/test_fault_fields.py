"""Faults that are derived from the packet layouts: such a fault changes the field that its path names, and no other
byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from harness.errors import HarnessError
from harness.faults.fields import (
    ConversationRole,
    add_to_field,
    change_number_in_field,
    clear_bits,
    invert_bits,
    limit_to_sender_role,
    refuse_packets_unless_field_is_zero,
    send_wrong_size,
    set_bits,
    set_field_value,
    set_reserved_bits,
)
from harness.faults.registry import FaultyCore, Install
from reference_qm.codec import (
    BaseHeader,
    ConnectionParametersHeader,
    ConnectionParametersPacket,
    DebugHeader,
    DirectQueueFormatName,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
    MessagePropertiesHeader,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    MultiQueueFormatHeader,
    Packet,
    PingPacket,
    SecurityData,
    SecurityHeader,
    SessionAckPacket,
    SessionHeader,
    SoapHeader,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.surface.effects import SendDatagram, SendPacket
from reference_qm.surface.inputs import Endpoint, PingSocket

GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000aa")
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
ACK = SessionAckPacket(
    BaseHeader(Flags=BaseHeader.flags(IN=1, SH=1)), InternalHeader(Flags=1), SessionHeader(3, 2, 5, 0xFFFF, 0, 64)
)
ESTABLISH = EstablishConnectionPacket(
    BaseHeader(Flags=BaseHeader.flags(IN=1)), InternalHeader(Flags=2), EstablishConnectionHeader(GUID)
)
PARAMETERS = ConnectionParametersPacket(
    BaseHeader(Flags=BaseHeader.flags(IN=1)), InternalHeader(Flags=3), ConnectionParametersHeader(1, 2, 0, 64)
)
QUEUE = DirectQueueFormatName(r"TCP:10.0.0.1\private$\q")
ELEMENT = MQFFormatNameElement(MQFDirectQueueFormatName(r"TCP:10.0.0.1\q"))
PLAIN = UserMessagePacket(
    BaseHeader=BaseHeader(Flags=3),
    UserHeader=UserHeader(GUID, Flags=UserHeader.flags(DQ=7, MP=1), DestinationQueue=QUEUE),
    MessagePropertiesHeader=MessagePropertiesHeader(Label="abc", MessageBody=b"body!"),
)
FULL = UserMessagePacket(
    BaseHeader=BaseHeader(Flags=BaseHeader.flags(SH=1, DH=1)),
    UserHeader=UserHeader(
        GUID,
        Flags=UserHeader.flags(DQ=7, MP=1, TH=1, SH=1, HH=1, MQ=1, CQ=1),
        DestinationQueue=QUEUE,
        ConnectorType=GUID,
    ),
    TransactionHeader=TransactionHeader(TxSequenceNumber=7, PreviousTxSequenceNumber=6),
    SecurityHeader=SecurityHeader(SecurityHeader.flags(ST=1), SecurityData(SecurityID=b"s" * 9)),
    MessagePropertiesHeader=MessagePropertiesHeader(Label="abc", MessageBody=b"body!"),
    DebugHeader=DebugHeader(),
    SoapHeader=SoapHeader("header", "body"),
    MultiQueueFormatHeader=MultiQueueFormatHeader(
        MQFAddressHeader(0x64, (ELEMENT,)), Signature=MQFSignatureHeader(b"sig!")
    ),
    SessionHeader=SessionHeader(WindowSize=64),
)


def sent(install: Install, packet: Packet, transport: str = "out-1") -> bytes:
    """Return the bytes that a queue manager with the fault sends in place of a packet."""
    faulty = FaultyCore(None)  # type: ignore[arg-type] # only its filters are used
    install(faulty)
    (filter_,) = faulty.effect_filters
    (effect,) = filter_(SendPacket(transport, packet.build()))
    assert isinstance(effect, SendPacket)
    return effect.data


def changed(install: Install, packet: Packet) -> dict[int, tuple[int, int]]:
    """Return the bytes that a fault changes, by offset: the original and the new value."""
    before, after = packet.build(), sent(install, packet)
    assert len(before) == len(after)
    return {at: pair for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]}


@pytest.mark.parametrize(
    ("packet", "path", "value"),
    [
        (ACK, "SessionHeader.WindowSize", 1),
        (ACK, "InternalHeader.CS", 1),
        (ACK, "BaseHeader.TimeToReachQueue", 3600),
        (ESTABLISH, "EstablishConnectionHeader.ServerGuid", OTHER),
        (ESTABLISH, "EstablishConnectionHeader.Padding", bytes(512)),
        (ESTABLISH, "EstablishConnectionHeader.RE", 0x11),
        (FULL, "UserHeader.SourceQueueManager", OTHER),
        (FULL, "UserHeader.RC", 0x1E),
        (FULL, "UserHeader.ConnectorType", OTHER),
        (FULL, "TransactionHeader.ID", 0xFFFFF),
        (FULL, "TransactionHeader.TxSequenceNumber", 8),
        (FULL, "SecurityHeader.AS", 3),
        (FULL, "MessagePropertiesHeader.MessageClass", 0x200),
        (FULL, "MessagePropertiesHeader.CorrelationID", b"c" * 20),
        (FULL, "DebugHeader.Reserved", 0xBEEF),
        (FULL, "SoapHeader.HeaderSectionID", 0x321),
        (FULL, "SoapHeader.BodySectionID", 0x385),
        (FULL, "MultiQueueFormatHeader.Destination.Reserved", 1),
        (FULL, "MultiQueueFormatHeader.Response.HeaderID", 1),
        (FULL, "MultiQueueFormatHeader.Signature.ID", 0x15F),
        (FULL, "SessionHeader.WindowSize", 1),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_field_fault_sets_the_field_to_its_value(packet: Packet, path: str, value: object) -> None:
    again: Any = parse_packet(sent(set_field_value(type(packet), path, value), packet))  # type: ignore[arg-type]
    *headers, name = path.split(".")
    record = again
    for header in headers:
        record = getattr(record, header)
    assert getattr(record, name) == value
    where = changed(set_field_value(type(packet), path, value), packet)  # type: ignore[arg-type]
    assert where, "the packet had another value"
    assert max(where) - min(where) < 512


@pytest.mark.parametrize(
    ("install", "packet", "expected"),
    [
        (set_field_value(SessionAckPacket, "BaseHeader.VersionNumber", 0x11), ACK, {0: (0x10, 0x11)}),
        (set_field_value(SessionAckPacket, "BaseHeader.Signature", b"MIOR"), ACK, {4: (0x4C, 0x4D)}),
        (add_to_field(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1), ACK, {20: (3, 2)}),
        (add_to_field(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 1), ACK, {28: (0xFF, 0), 29: (0xFF, 0)}),
        (add_to_field(SessionAckPacket, "InternalHeader.PT", 15), ACK, {18: (1, 0)}),
        (
            change_number_in_field(UserMessagePacket, "MessagePropertiesHeader.LabelLength", lambda old: 2 * old),
            PLAIN,
            {117: (4, 8)},
        ),
        (send_wrong_size(ConnectionParametersPacket, "BaseHeader.PacketSize", -4), PARAMETERS, {8: (32, 28)}),
        (send_wrong_size(UserMessagePacket, "MessagePropertiesHeader.LabelLength"), PLAIN, {117: (4, 8)}),
        (send_wrong_size(UserMessagePacket, "MessagePropertiesHeader.MessageSize", 1), PLAIN, {148: (5, 6)}),
        (set_bits(UserMessagePacket, "UserHeader.AQ"), PLAIN, {61: (0x1C, 0xFC)}),
        (set_bits(UserMessagePacket, "BaseHeader.IN"), PLAIN, {2: (3, 11)}),
        (clear_bits(SessionAckPacket, "BaseHeader.SH"), ACK, {2: (0x18, 0x08)}),
        (invert_bits(EstablishConnectionPacket, "EstablishConnectionHeader.SE"), ESTABLISH, {57: (0, 1)}),
        (set_reserved_bits(SessionAckPacket, "BaseHeader.Flags"), ACK, {2: (0x18, 0xD8), 3: (0, 0xFE)}),
        (set_reserved_bits(SessionAckPacket, "InternalHeader.X5"), ACK, {18: (1, 0x21)}),
        (set_reserved_bits(UserMessagePacket, "BaseHeader.Reserved"), PLAIN, {1: (0, 0xFF)}),
        (set_reserved_bits(UserMessagePacket, "MessagePropertiesHeader.Flags"), PLAIN, {116: (0, 0xF0)}),
    ],
)
def test_field_fault_changes_only_bytes_of_field(
    install: Install, packet: Packet, expected: dict[int, tuple[int, int]]
) -> None:
    assert changed(install, packet) == expected


@pytest.mark.parametrize(
    ("install", "packet"),
    [
        (set_field_value(UserMessagePacket, "SessionHeader.WindowSize", 1), PLAIN),
        (add_to_field(UserMessagePacket, "TransactionHeader.TxSequenceNumber", 1), PLAIN),
        (set_field_value(UserMessagePacket, "UserHeader.ConnectorType", OTHER), PLAIN),
        (set_bits(UserMessagePacket, "BaseHeader.DH"), ACK),
        (set_bits(UserMessagePacket, "BaseHeader.DH", lambda packet: packet.TransactionHeader is not None), PLAIN),
    ],
    ids=["no header", "no header before others", "no field", "another kind", "another condition"],
)
def test_field_fault_leaves_other_packets_unchanged(install: Install, packet: Packet) -> None:
    assert changed(install, packet) == {}


@pytest.mark.parametrize(("role", "transport"), [("initiator", "out-1"), ("acceptor", "in-1")])
def test_fault_of_a_role_leaves_other_roles_unchanged(role: ConversationRole, transport: str) -> None:
    install = limit_to_sender_role(role, set_bits(SessionAckPacket, "InternalHeader.CS"))
    found = {one: sent(install, ACK, one) != ACK.build() for one in ("out-1", "in-1")}
    assert [one for one, wrong in found.items() if wrong] == [transport]


def test_field_faults_change_header_less_ping_packets() -> None:
    faulty = FaultyCore(None)  # type: ignore[arg-type] # only its filters are used
    limit_to_sender_role("acceptor", add_to_field(PingPacket, "Cookie", 1))(faulty)
    limit_to_sender_role("initiator", set_bits(PingPacket, "RC"))(faulty)
    set_bits(PingPacket, "RF")(faulty)
    set_reserved_bits(PingPacket, "Flags")(faulty)
    effect: Any = SendDatagram(PingSocket.LISTENER, Endpoint("127.0.0.1", 3527), PingPacket(0, 7, GUID).build())
    for filter_ in faulty.effect_filters:
        (effect,) = filter_(effect)
    assert PingPacket.parse(effect.data) == PingPacket(0xFFFE, 8, GUID)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: add_to_field(EstablishConnectionPacket, "EstablishConnectionHeader.Version", 1),
            "EstablishConnectionHeader.Version: EstablishConnectionHeader has no field Version; it has ClientGuid, ",
        ),
        (
            lambda: set_bits(SessionAckPacket, "UserHeader.TH"),
            "UserHeader.TH: SessionAckPacket has no header UserHeader; it has BaseHeader, InternalHeader, ",
        ),
        (lambda: set_field_value(UserMessagePacket, "UserHeader.DestinationQueue", 1), "has no field DestinationQueue"),
        (
            lambda: set_field_value(PingPacket, "PingPacket.Cookie", 1),
            "PingPacket has no header PingPacket; it has none",
        ),
        (lambda: set_field_value(SessionAckPacket, "InternalHeader.PT", 16), "InternalHeader.Flags cannot contain 16"),
        (lambda: set_field_value(SessionAckPacket, "BaseHeader.Signature", b"LIO"), "cannot contain b'LIO'"),
        (lambda: set_field_value(UserMessagePacket, "UserHeader.ConnectorType", 1), "ConnectorType cannot contain 1"),
        (lambda: add_to_field(EstablishConnectionPacket, "EstablishConnectionHeader.Padding", 1), "is not an integer"),
        (lambda: send_wrong_size(SessionAckPacket, "SessionHeader.WindowSize2"), "not a size, length or count"),
        (lambda: set_bits(SessionAckPacket, "InternalHeader.Flags"), "names no bits of a field"),
        (lambda: set_reserved_bits(SessionAckPacket, "InternalHeader.PT"), "has no reserved bits"),
        (lambda: set_reserved_bits(SessionAckPacket, "BaseHeader.PacketSize"), "has no reserved bits"),
        (lambda: refuse_packets_unless_field_is_zero(SessionAckPacket, "BaseHeader.X7"), "BaseHeader has no field X7"),
    ],
)
def test_fault_with_unknown_field_path_fails_at_registration(make: Callable[[], Install], said: str) -> None:
    with pytest.raises(HarnessError) as caught:
        make()
    assert said in str(caught.value)
