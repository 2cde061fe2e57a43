"""The strict codec parses each packet that it builds to the same record, and builds each record that it parses to the
same bytes.
"""

from dataclasses import replace

from budgets import MANY, budget
from hypothesis import given
from hypothesis import strategies as st

from reference_qm.codec import (
    BaseHeader,
    ConnectionParametersHeader,
    ConnectionParametersPacket,
    ConnectorName,
    DebugHeader,
    DirectQueueFormatName,
    DistributionListName,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
    MachineName,
    MachineQueuePath,
    MessagePropertiesHeader,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    MulticastName,
    MultipleElementName,
    MultiQueueFormatHeader,
    PingPacket,
    PrivateName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PrivateQueuePath,
    PublicName,
    PublicQueueFormatName,
    PublicQueuePath,
    SecurityData,
    SecurityHeader,
    SessionAckPacket,
    SessionHeader,
    SoapHeader,
    TransactionHeader,
    TxSequenceID,
    UnknownInternalPacket,
    UserHeader,
    UserMessagePacket,
    parse_format_name,
    parse_framed_packet,
    parse_packet,
    parse_ping,
)

u8, u16, u32 = (st.integers(0, (1 << width) - 1) for width in (8, 16, 32))
guids = st.uuids()
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
unended = words.filter(lambda text: text != "" and not text.endswith("\0"))
buffers = st.binary(max_size=40)


def padding(draw, size):
    """Draw padding bytes in the form in which a record keeps them."""
    drawn = draw(st.binary(min_size=size, max_size=size))
    return drawn if any(drawn) else None


def end_padding(draw, size):
    return b"" if size and draw(st.booleans()) else padding(draw, size)


@st.composite
def direct_names(draw):
    terminated = draw(st.booleans())
    name = DirectQueueFormatName(draw(words if terminated else unended), terminated)
    return replace(name, Padding=padding(draw, -(2 + name.Count) % 4))


private_ids = st.builds(PrivateQueueFormatNameId, u32)
public_names = st.builds(PublicQueueFormatName, guids)
private_names = st.builds(PrivateQueueFormatName, guids, u32)
QUEUES = {
    "DQ": {0: st.none(), 3: private_ids, 5: public_names, 7: direct_names()},
    "AQ": {0: st.none(), 2: private_ids, 3: private_ids, 5: public_names, 6: private_names, 7: direct_names()},
}
QUEUES["RQ"] = {**QUEUES["AQ"], 1: st.none(), 4: private_ids}


def with_bits(kind, value, **bits):
    """Overwrite named bits of a flags field."""
    for name, bit in bits.items():
        value &= ~kind.flags(**{name: vars(kind)[name].mask})
        value |= kind.flags(**{name: bit})
    return value


@st.composite
def labelled(draw):
    label, terminated = draw(
        st.one_of(st.tuples(st.one_of(st.none(), words), st.just(True)), st.tuples(unended, st.just(False)))
    )
    header = MessagePropertiesHeader(
        draw(u8),
        draw(u16),
        draw(st.binary(min_size=20, max_size=20)),
        *(draw(u32) for _ in range(6)),
        label,
        draw(buffers),
        draw(buffers),
        terminated,
    )
    size = 2 * header.LabelLength + header.ExtensionSize + header.MessageSize
    return replace(header, Padding=padding(draw, -size % 4))


@st.composite
def transactions(draw):
    connector = draw(st.one_of(st.none(), guids))
    flags = with_bits(TransactionHeader, draw(u32), CG=connector is not None)
    return TransactionHeader(flags, TxSequenceID(draw(u32), draw(u32)), draw(u32), draw(u32), connector)


@st.composite
def securities(draw):
    items = [draw(buffers) for _ in range(5)]
    return SecurityHeader(draw(u16), SecurityData(*items, Padding=padding(draw, sum(-len(item) % 4 for item in items))))


@st.composite
def debugs(draw):
    queue = draw(st.one_of(st.none(), guids))
    qt = 1 if queue else draw(st.sampled_from([0, 2, 3]))
    return DebugHeader(with_bits(DebugHeader, draw(u16), QT=qt), draw(u16), queue)


@st.composite
def soaps(draw, last):
    ended = st.tuples(st.one_of(st.none(), words), st.just(True))
    sections = st.one_of(ended, st.tuples(unended, st.just(False)))
    (header, header_ended), (body, body_ended) = draw(sections), draw(sections)
    soap = SoapHeader(header, body, draw(u16), draw(u16), draw(u16), draw(u16), header_ended, body_ended)
    size = -2 * (soap.HeaderDataLength + soap.BodyDataLength) % 4
    return replace(soap, Padding=end_padding(draw, size) if last else padding(draw, size))


@st.composite
def addresses(draw):
    names = st.one_of(
        public_names,
        private_names,
        st.builds(MQFDirectQueueFormatName, words.filter(lambda text: "\0" not in text)),
        st.builds(MQFDistributionQueueFormatName, guids),
    )
    elements, offset = [], 12
    for name in draw(st.lists(names, max_size=4)):
        gap = 0 if isinstance(name, PublicQueueFormatName | MQFDirectQueueFormatName) else -(offset + 2) % 4
        elements.append(MQFFormatNameElement(name, padding(draw, gap)))
        offset += len(elements[-1].build(offset))
    return MQFAddressHeader(
        draw(u16), tuple(elements), offset + draw(st.integers(0, -offset % 4)), draw(u16), padding(draw, -offset % 4)
    )


@st.composite
def signatures(draw):
    signature = draw(buffers)
    return MQFSignatureHeader(signature, draw(u16), draw(u16), end_padding(draw, -len(signature) % 4))


multi_queues = st.builds(MultiQueueFormatHeader, addresses(), addresses(), addresses(), signatures())
sessions = st.builds(SessionHeader, u16, u16, u32, u16, u16, u16, u16)


@st.composite
def user_messages(draw):
    def maybe(strategy):
        return draw(st.one_of(st.none(), strategy))

    kinds = {bits: draw(st.sampled_from(sorted(layouts))) for bits, layouts in QUEUES.items()}
    queues = [draw(QUEUES[bits][kind]) for bits, kind in kinds.items()]
    connector, transaction, security = maybe(guids), maybe(transactions()), maybe(securities())
    debug, mqf, session = maybe(debugs()), maybe(multi_queues), maybe(sessions)
    soap = maybe(soaps(last=mqf is None))
    flags = with_bits(
        UserHeader,
        draw(u32),
        **kinds,
        MP=1,
        CQ=connector is not None,
        TH=transaction is not None,
        SH=security is not None,
        HH=soap is not None,
        MQ=mqf is not None,
    )
    base_flags = with_bits(BaseHeader, draw(u16), IN=0, DH=debug is not None, SH=session is not None)
    return UserMessagePacket(
        BaseHeader=BaseHeader(draw(u8), base_flags, 0, draw(u32)),
        UserHeader=UserHeader(draw(guids), draw(guids), draw(u32), draw(u32), draw(u32), flags, *queues, connector),
        TransactionHeader=transaction,
        SecurityHeader=security,
        MessagePropertiesHeader=draw(labelled()),
        DebugHeader=debug,
        SoapHeader=soap,
        MultiQueueFormatHeader=mqf,
        SessionHeader=session,
    )


@st.composite
def internal_packets(draw):
    packet, strategy, pt = draw(
        st.sampled_from(
            [
                (
                    EstablishConnectionPacket,
                    st.builds(
                        EstablishConnectionHeader, guids, guids, u32, u16, u16, st.binary(min_size=512, max_size=512)
                    ),
                    2,
                ),
                (ConnectionParametersPacket, st.builds(ConnectionParametersHeader, u32, u32, u16, u16), 3),
                (SessionAckPacket, sessions, 1),
                (UnknownInternalPacket, buffers, 0),
            ]
        )
    )
    if packet is UnknownInternalPacket:
        pt = draw(st.sampled_from([0, *range(4, 16)]))
    has_session = packet is SessionAckPacket and draw(st.booleans())
    size = draw(st.sampled_from([0, 0x14, 0x24])) if has_session else 0
    flags = with_bits(BaseHeader, draw(u16), IN=1, SH=has_session)
    internal = InternalHeader(draw(u16), with_bits(InternalHeader, draw(u16), PT=pt))
    return packet(BaseHeader(draw(u8), flags, size, draw(u32)), internal, draw(strategy))


packets = st.one_of(user_messages(), internal_packets())


@budget(MANY)
@given(packets)
def test_packets_equal_themselves_after_build_and_parse(packet):
    wire = packet.build()
    parsed = parse_packet(wire)
    assert parsed == replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=parsed.BaseHeader.PacketSize))
    assert parsed.BaseHeader.PacketSize == packet.BaseHeader.PacketSize or packet.BaseHeader.PacketSize == 0
    assert parsed.build() == wire
    assert replace(parse_framed_packet(wire)).build() == wire


@given(st.builds(PingPacket, u16, u32, guids))
def test_pings_equal_themselves_after_build_and_parse(ping):
    assert parse_ping(ping.build()) == ping


@given(st.binary(max_size=40).filter(lambda wire: len(wire) % 2 == 0))
def test_direct_name_keeps_any_wide_characters(wire):
    padded = len(wire).to_bytes(2, "little") + wire + bytes(-(2 + len(wire)) % 4)
    assert DirectQueueFormatName.parse(padded).build() == padded


queue_characters = st.sampled_from([chr(c) for c in range(0x21, 0x80) if chr(c) not in '"+,;\\'])
queue_names = st.text(queue_characters, min_size=1, max_size=124)
subqueues = st.one_of(
    st.none(), st.text(queue_characters, min_size=1, max_size=32).filter(lambda text: text.upper() != "JOURNAL")
)
destinations = st.one_of(
    st.tuples(st.just("TCP"), st.ip_addresses().map(str)),
    st.tuples(st.just("OS"), st.from_regex(r"[a-z0-9.:-]{1,256}", fullmatch=True)),
    st.tuples(st.sampled_from(["HTTP", "HTTPS"]), st.from_regex(r"//[a-z0-9.]+(:[0-9]{0,5})?/MSMQ", fullmatch=True)),
    st.tuples(st.just("IPX"), st.from_regex(r"[0-9a-f]{1,8}:[0-9a-f]{1,12}", fullmatch=True)),
).filter(lambda destination: len(destination[1]) <= 256)


@st.composite
def paths(draw, journal):
    kind = draw(st.sampled_from([PrivateQueuePath, PublicQueuePath]))
    return kind(*draw(destinations), draw(queue_names), draw(subqueues), draw(journal))


@st.composite
def machine_paths(draw):
    return MachineQueuePath(*draw(destinations), draw(st.sampled_from(["JOURNAL", "DEADLETTER", "DEADXACT"])))


def writable(journal):
    """Return a strategy for names that may be elements of a multiple-element format name; ``journal`` is the strategy
    for the flag of a journal.
    """
    return st.one_of(
        paths(journal),
        st.builds(PublicName, guids),
        st.builds(PrivateName, guids, u32, journal),
        st.builds(DistributionListName, guids, st.one_of(st.none(), st.from_regex(r"[a-z.@]{1,255}", fullmatch=True))),
        st.builds(ConnectorName, guids),
        st.builds(MulticastName, st.ip_addresses(v=4, network="224.0.0.0/4").map(str), u16),
    )


format_names = st.one_of(
    writable(st.booleans()),
    machine_paths(),
    st.builds(MachineName, guids),
    st.builds(MultipleElementName, st.lists(writable(st.just(False)), min_size=2, max_size=4).map(tuple)),
)


@budget(MANY)
@given(format_names)
def test_format_names_equal_themselves_after_print_and_parse(name):
    assert parse_format_name(str(name)) == name
