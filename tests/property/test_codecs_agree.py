"""The two codecs, which were written separately, read the same values from the same bytes.

Some values have different forms in the two codecs, which the comparison knows: a string without terminator is bytes for
the layers, and has ``...Terminated`` False in the codec; a label that consists of a terminator alone is bytes for the
layers, because an empty Label means a missing label; padding of zeros is None in the codec; SecurityData is a separate
record.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import pytest
from budgets import FEW, MANY, budget
from hypothesis import given
from hypothesis import strategies as st
from scapy.packet import Packet
from test_wire_round_trips import packets, structures, values

from harness import wire
from harness.capture.kinds import KIND_BY_PACKET_CLASS
from harness.wire.words import WordOfBitFields
from reference_qm import codec
from reference_qm.codec.record import Bits, Record

EXAMPLES = budget(MANY)

STRUCTURES = (
    "SequenceInfo",
    "ObjectID",
    "XactUow",
    "TxSequenceID",
    "MessageIdentifier",
    "OrderAckBody",
    "FinalAckBody",
    "PublicKeyBlob",
    "SimpleBlob",
    "ProviderInfo",
    "MQFAddressHeader",
)
"""The structures that both codecs define as types, by their common name."""


# -- comparing --------------------------------------------------------------------------------------------------


def differences(record: Any, layer: Packet) -> list[str]:
    """Return a description of every field and every bit whose value in the record differs from its value in
    the layer.
    """
    found = []
    names = [field.name for field in dataclasses.fields(record)]
    names += [name for name, value in vars(type(record)).items() if isinstance(value, Bits | property)]
    for name in names:
        if name.endswith("Terminated"):
            continue  # compared with its text
        one, other = getattr(record, name), layer if name == "SecurityData" else seen(layer, name)
        if dataclasses.is_dataclass(one) and isinstance(other, Packet):
            found += differences(one, other)
        elif isinstance(one, tuple):
            found += [] if len(one) == len(other) else [f"{name}: {len(one)} and {len(other)} elements"]
            found += [line for pair in zip(one, other, strict=False) for line in differences(*pair)]
        elif not alike(record, name, one, other):
            found.append(f"{type(record).__name__}.{name}: {one!r} and {other!r}")
    return found


def seen(layer: Packet, name: str) -> Any:
    """Return the value of the layer for a field, which is given by its name in the codec."""
    if name == "Padding" and isinstance(layer, wire.SecurityHeader):
        paddings = [field.name for field in layer.fields_desc if field.name.endswith("Padding")]
        return b"".join(layer.getfieldval(padding) for padding in paddings)
    return (
        getattr(layer, name)
        if isinstance(getattr(type(layer), name, None), WordOfBitFields)
        else layer.getfieldval(name)
    )


def alike(record: Any, name: str, value: Any, other: Any) -> bool:
    if name == "Padding":
        return other == (bytes(len(other)) if value is None else value)
    if isinstance(value, str):
        has_terminator = getattr(record, terminated(name), True)
        if isinstance(other, str):
            return has_terminator and value == other
        bare = not has_terminator or (value == "" and name == "Label")
        return bare and value.encode("utf-16-le", "surrogatepass") + b"\0\0" * has_terminator == other
    if value is None and not isinstance(record, codec.UserHeader | codec.DebugHeader | codec.TransactionHeader):
        return not other  # a string that takes no bytes
    return bool(value == other)


def terminated(name: str) -> str:
    """Return the name of the field that shows whether a string has a terminator."""
    return {"DirectFormatName": "Terminated", "Label": "LabelTerminated"}.get(name, f"{name}Terminated")


def packet_differences(record: Any, packet: Packet) -> list[str]:
    """Compare whole packets like ``differences``: both codecs must read the same headers with the same content."""
    if isinstance(record, codec.PingPacket):
        return differences(record, packet)
    if isinstance(record, codec.UnknownInternalPacket):
        body = packet.getlayer(wire.UnknownInternal)
        found = [] if record.Body == (body.Data if body else b"") else ["the bodies of unknown internal packets"]
        headers = [record.BaseHeader, record.InternalHeader]
        layers = [packet, packet.payload]
    else:
        found = []
        headers = [getattr(record, field.name) for field in dataclasses.fields(record)]
        headers = [header for header in headers if header is not None]
        layers = list(packet.iterpayloads())
    if [type(header).__name__ for header in headers] != [type(layer).__name__ for layer in layers]:
        return [f"the headers {headers} and {layers}"]
    return found + [line for pair in zip(headers, layers, strict=True) for line in differences(*pair)]


def outcome(parse: Any, data: bytes) -> Any:
    """Return the result of parsing, or None when the bytes are refused."""
    try:
        return parse(data)
    except (codec.FormatError, wire.WireError):
        return None


def check(data: bytes, parse: Any = codec.parse_packet, dissect: Any = wire.dissect) -> None:
    """Check that both codecs accept the bytes and read the same values, or that both refuse the bytes."""
    record, layer = outcome(parse, data), outcome(dissect, data)
    assert (record is None) == (layer is None), refusals(data, parse, dissect)
    if record is not None:
        assert KIND_BY_PACKET_CLASS[type(record)] == wire.get_packet_kind(layer)
        assert packet_differences(record, layer) == []
        assert record.build() == bytes(layer) == data


def refusals(data: bytes, parse: Any, dissect: Any) -> str:
    """Describe the results of all codecs for bytes on which they disagree."""
    said = []
    for read in (parse, dissect):
        try:
            said.append(f"{read.__module__} accepts {read(data)!r}")
        except (codec.FormatError, wire.WireError) as error:
            said.append(f"{read.__module__} refuses: {error}")
    return " | ".join(said)


# -- what the layers build ----------------------------------------------------------------------------------------


@EXAMPLES
@given(packets)
def test_codec_reads_packets_built_by_scapy_layers(packet):
    data = bytes(packet)
    record = codec.parse_packet(data)
    assert KIND_BY_PACKET_CLASS[type(record)] == wire.kind(data)
    assert packet_differences(record, wire.dissect(data)) == []
    assert record.build() == data


@EXAMPLES
@given(values(wire.PingPacket, Signature=st.just(0x5548)))
def test_codec_reads_pings_built_by_scapy_layers(fields):
    data = bytes(wire.ping_request(**fields))
    assert packet_differences(codec.parse_ping(data), wire.dissect_ping(data)) == []
    assert codec.parse_ping(data).build() == data


@pytest.mark.parametrize("name", STRUCTURES)
@budget(FEW)
@given(st.data())
def test_codec_reads_structures_built_by_scapy_layers(name, data):
    content = bytes(data.draw(structures(getattr(wire, name))))
    record = getattr(codec, name).parse(content)
    assert differences(record, getattr(wire, name)(content)) == []
    assert record.build() == content


# -- what the codec builds ----------------------------------------------------------------------------------------

u8, u16, u32 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32))
guid = st.uuids()
blob = st.binary(max_size=24)
text = st.text(st.characters(), max_size=12)  # with lone surrogates
maybe = partial(st.one_of, st.none())


def cleared(flags: int, record: type[Record], **bits: int) -> int:
    """Return the flags after their reserved bits are set to the required values."""
    for name, value in bits.items():
        view = vars(record)[name]
        flags = flags & ~(view.mask << view.shift) | value << view.shift
    return flags


private_id = st.builds(codec.PrivateQueueFormatNameId, u32)
public = st.builds(codec.PublicQueueFormatName, guid)
private = st.builds(codec.PrivateQueueFormatName, guid, u32)
direct = st.builds(codec.DirectQueueFormatName, text, st.just(True)) | st.builds(
    codec.DirectQueueFormatName, text.filter(lambda name: not name.endswith("\0")), st.just(False)
)
queues = {0: st.none(), 3: private_id, 5: public, 7: direct}
admin_queues = {**queues, 2: private_id, 6: private}
response_queues = {**admin_queues, 1: st.none(), 4: private_id}
names = st.one_of(
    public,
    private,
    st.builds(codec.MQFDirectQueueFormatName, text.filter(lambda name: "\0" not in name)),
    st.builds(codec.MQFDistributionQueueFormatName, guid),
)
address = st.builds(
    codec.MQFAddressHeader, u16, st.lists(st.builds(codec.MQFFormatNameElement, names), max_size=4).map(tuple)
)
mqf_header = st.builds(
    codec.MultiQueueFormatHeader, address, address, address, st.builds(codec.MQFSignatureHeader, blob, u16, u16)
)
session_header = st.builds(codec.SessionHeader, u16, u16, u32, u16, u16, u16, u16)
security_header = st.builds(codec.SecurityHeader, u16, st.builds(codec.SecurityData, blob, blob, blob, blob, blob))
soap_header = st.builds(codec.SoapHeader, maybe(text), maybe(text), u16, u16, u16, u16)
properties_header = st.builds(
    codec.MessagePropertiesHeader,
    *(u8, u16, st.binary(min_size=20, max_size=20), u32, u32, maybe(u32), u32, u32, u32),
    *(maybe(text), blob, blob),
)


@st.composite
def transaction_header(draw):
    connector = draw(maybe(guid))
    flags = cleared(draw(u32), codec.TransactionHeader, CG=connector is not None)
    sequence = draw(st.builds(codec.TxSequenceID, u32, u32))
    return codec.TransactionHeader(flags, sequence, draw(u32), draw(u32), connector)


@st.composite
def debug_header(draw):
    queue = draw(maybe(guid))
    kind = 1 if queue else draw(st.sampled_from([0, 2, 3]))
    return codec.DebugHeader(cleared(draw(u16), codec.DebugHeader, QT=kind), draw(u16), queue)


@st.composite
def user_records(draw):
    headers = {
        "TransactionHeader": draw(maybe(transaction_header())),
        "SecurityHeader": draw(maybe(security_header)),
        "DebugHeader": draw(maybe(debug_header())),
        "SoapHeader": draw(maybe(soap_header)),
        "MultiQueueFormatHeader": draw(maybe(mqf_header)),
        "SessionHeader": draw(maybe(session_header)),
    }
    there = {name: int(header is not None) for name, header in headers.items()}
    kinds = [draw(st.sampled_from(sorted(types))) for types in (queues, admin_queues, response_queues)]
    connector = draw(maybe(guid))
    flags = cleared(
        draw(u32),
        codec.UserHeader,
        **dict(zip(("DQ", "AQ", "RQ"), kinds, strict=True)),
        TH=there["TransactionHeader"],
        SH=there["SecurityHeader"],
        MP=1,
        HH=there["SoapHeader"],
        MQ=there["MultiQueueFormatHeader"],
        CQ=int(connector is not None),
    )
    types = zip((queues, admin_queues, response_queues), kinds, strict=True)
    user = codec.UserHeader(
        *(draw(guid), draw(guid), draw(u32), draw(u32), draw(u32), flags),
        *(draw(strategies[kind]) for strategies, kind in types),
        connector,
    )
    base_flags = cleared(draw(u16), codec.BaseHeader, IN=0, SH=there["SessionHeader"], DH=there["DebugHeader"])
    base = codec.BaseHeader(draw(u8), base_flags, 0, draw(u32))
    return codec.UserMessagePacket(
        BaseHeader=base, UserHeader=user, MessagePropertiesHeader=draw(properties_header), **headers
    )


@st.composite
def internal_records(draw):
    number, packet, header = draw(
        st.sampled_from(
            [
                (1, codec.SessionAckPacket, session_header),
                (
                    2,
                    codec.EstablishConnectionPacket,
                    st.builds(
                        codec.EstablishConnectionHeader,
                        *(guid, guid, u32, u16, u16, st.binary(min_size=512, max_size=512)),
                    ),
                ),
                (3, codec.ConnectionParametersPacket, st.builds(codec.ConnectionParametersHeader, u32, u32, u16, u16)),
                *((n, codec.UnknownInternalPacket, blob) for n in (0, 4, 15)),
            ]
        )
    )
    with_session = int(number == 1 and draw(st.booleans()))
    flags = cleared(draw(u16), codec.BaseHeader, IN=1, SH=with_session)
    size = draw(st.sampled_from([0, 0x14])) if with_session else 0
    base = codec.BaseHeader(draw(u8), flags, size, draw(u32))
    kind = codec.InternalHeader(draw(u16), cleared(draw(u16), codec.InternalHeader, PT=number))
    return packet(base, kind, draw(header))


@EXAMPLES
@given(user_records() | internal_records())
def test_scapy_layers_read_packets_built_by_codec(record):
    data = record.build()
    packet = wire.dissect(data)
    assert packet_differences(codec.parse_packet(data), packet) == []
    assert bytes(packet) == data


@EXAMPLES
@given(st.builds(codec.PingPacket, u16, u32, guid))
def test_scapy_layers_read_pings_built_by_codec(record):
    packet = wire.dissect_ping(record.build())
    assert differences(record, packet) == []
    assert bytes(packet) == record.build()


LISTED = [wire.MQFFormatNameElement(FormatName=wire.MQFDirectQueueFormatName(DirectFormatName="a"))]
LAST_SOAP = {"soap": {"Header": "h", "Padding": b""}}
LAST_SIGNATURE = {"mqf": {"Signature": wire.MQFSignatureHeader(Signature=b"12345", Padding=b"")}}


@pytest.mark.parametrize(
    ("packet", "accepted"),
    [
        (wire.user_message(**LAST_SOAP), True),
        (wire.user_message(**LAST_SOAP, session={}), True),
        (wire.user_message(**LAST_SOAP, mqf={}), False),
        (wire.user_message(**LAST_SIGNATURE), True),
        (wire.user_message(**LAST_SIGNATURE, session={}), True),
        *((wire.user_message(label=label), True) for label in (b"a\0", b"\0\0")),
        (wire.user_message(destination=""), True),
        (wire.user_message(destination=wire.DirectQueueFormatName(DirectFormatName=b"")), True),
        (wire.user_message(destination=wire.DirectQueueFormatName(DirectFormatName=b"abc")), False),
        (wire.user_message(user={"MP": 0}), False),
        (wire.user_message(user={"RQ": 1}), True),
        (wire.user_message(user={"AQ": 1}), False),
        (wire.user_message(security={"ST": 1, "AI": 0, "SecurityID": b"sid"}), True),
        (wire.user_message(debug={"QT": 2}), True),
        *(
            (wire.user_message(mqf={"Response": wire.MQFAddressHeader(HeaderSize=size, FormatNameList=LISTED)}), fits)
            for size, fits in [(17, False), (18, True), (20, True), (21, False), (0, False)]
        ),
        (wire.session_ack(base={"PacketSize": 0x14}), True),
        (wire.session_ack(base={"PacketSize": 0x15}), False),
        (wire.session_ack(base={"SH": 0}), True),
        (wire.session_ack(base={"SH": 0, "PacketSize": 0x14}), False),
        (wire.session_ack(internal={"PT": 9}), True),
        (wire.establish_connection(base={"SH": 1}), False),
        (wire.establish_connection(internal={"PT": 3}), False),
    ],
)
def test_codecs_agree_at_limits_of_structure(packet, accepted):
    data = bytes(packet)
    check(data)
    assert (outcome(wire.dissect, data) is not None) == accepted


# -- what neither built -------------------------------------------------------------------------------------------


@budget(MANY)
@given(packets | user_records().map(codec.UserMessagePacket.build), st.data())
def test_codecs_agree_whether_changed_packets_are_valid(packet, data):
    changed = bytearray(bytes(packet))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(changed) - 1) | st.integers(0, min(len(changed) - 1, 79)))
        changed[place] = data.draw(st.integers(0, 255) | st.integers(0, 8))
    check(bytes(changed))
    cut = bytes(changed[: data.draw(st.integers(0, len(changed)))]) + data.draw(st.binary(max_size=8))
    for counted in (len(cut), max(len(cut) - 16, 0)):
        check(cut[:8] + counted.to_bytes(4, "little") + cut[12:] if len(cut) >= 12 else cut)


@EXAMPLES
@given(st.integers(0, 0xFFFF), st.binary(max_size=200))
def test_codecs_agree_whether_bytes_after_valid_start_are_valid(flags, rest):
    size = (16 + len(rest)).to_bytes(4, "little")
    check(b"\x10\0" + flags.to_bytes(2, "little") + b"LIOR" + size + bytes(4) + rest)


@EXAMPLES
@given(st.binary(max_size=40) | st.binary(min_size=20, max_size=20).map(lambda rest: b"\1\0HU" + rest))
def test_codecs_agree_whether_datagrams_are_valid(data):
    check(data, codec.parse_ping, wire.dissect_ping)


@pytest.mark.parametrize("name", STRUCTURES)
@budget(FEW)
@given(st.data())
def test_codecs_agree_whether_changed_structures_are_valid(name, data):
    layout = getattr(wire, name)
    changed = bytearray(bytes(data.draw(structures(layout))))
    for _ in range(data.draw(st.integers(0, 2))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255) | st.integers(0, 8))
    content = bytes(changed[: data.draw(st.integers(1, len(changed)))]) + data.draw(st.binary(max_size=4))
    record, layer = outcome(getattr(codec, name).parse, content), outcome(layout, content)
    assert (record is None) == (layer is None), refusals(content, getattr(codec, name).parse, layout)
    if record is not None:
        assert differences(record, layer) == []
        assert record.build() == bytes(layer) == content
