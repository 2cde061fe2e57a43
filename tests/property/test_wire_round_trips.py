"""Round trips of the scapy layers: they dissect what they build to the same fields, and rebuild it to the
same bytes.
"""

from __future__ import annotations

from typing import Any

from budgets import SOME, budget
from hypothesis import given
from hypothesis import strategies as st
from scapy.packet import Packet

from harness.wire import (
    ConnectionParametersHeader,
    DebugHeader,
    EstablishConnectionHeader,
    FinalAckBody,
    MessageIdentifier,
    MessagePropertiesHeader,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    ObjectID,
    OrderAckBody,
    PingPacket,
    PrivateQueueFormatName,
    ProviderInfo,
    PublicKeyBlob,
    PublicQueueFormatName,
    SecurityHeader,
    SequenceInfo,
    SessionHeader,
    SimpleBlob,
    SoapHeader,
    TransactionHeader,
    XactUow,
    connection_parameters,
    dissect,
    dissect_ping,
    establish_connection,
    kind,
    ping_request,
    session_ack,
    user_message,
)
from harness.wire.blobs import Blob
from harness.wire.fields import (
    BytesField,
    ComputedField,
    GuidField,
    GuidFieldPresentIfFlagIsSet,
    NestedField,
    PaddingField,
    WideStringField,
)
from harness.wire.layer import Structure
from harness.wire.user import QUEUE_LAYOUTS_BY_FLAG
from harness.wire.words import NamedBits

EXAMPLES = budget(SOME)
MOST = 24


def values(layer: type[Packet], **given_: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for the fields of a layer that are not computed; ``given_`` overrides the strategies of single
    fields.
    """
    fields = {field.name: strategy for field in layer.fields_desc if (strategy := value(field)) is not None}
    return st.fixed_dictionaries(fields | given_)


def value(field: Any) -> st.SearchStrategy[Any] | None:
    """Return a strategy for the value of a field, or None for a field that computes its value."""
    match field:
        case PaddingField() | ComputedField():
            return None
        case NamedBits():
            return None if field.compute else st.integers(0, (1 << field.size) - 1)
        case GuidField():
            return st.uuids()
        case GuidFieldPresentIfFlagIsSet():
            return st.none() | st.uuids()
        case BytesField():
            fixed = isinstance(field.size, int)
            return st.binary(min_size=field.size if fixed else 0, max_size=field.size if fixed else MOST)
        case WideStringField():
            ends_it = "\0" if field.size is None else ""
            return st.text(st.characters(exclude_categories=["Cs"], exclude_characters=ends_it), max_size=MOST)
        case NestedField():
            return structures(field.layout)
    low, high = (-(1 << 63), (1 << 63) - 1) if field.fmt == "<q" else (0, (1 << 8 * field.sz) - 1)
    return st.integers(low, high)


def structures(layout: type[Structure]) -> st.SearchStrategy[Structure]:
    if issubclass(layout, Blob):  # its other fields are printed as constants
        key = layout.fields_desc[-1]
        return value(key).map(lambda content: layout(**{key.name: content}))
    if layout is MQFAddressHeader:
        return values(layout, FormatNameList=st.lists(elements, max_size=4)).map(lambda fields: layout(**fields))
    return values(layout).map(lambda fields: layout(**fields))


def queues(flag: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return the fields of UserHeader for the queue of ``flag``: the flag and the queue that it announces."""
    name = {"DQ": "DestinationQueue", "AQ": "AdminQueue", "RQ": "ResponseQueue"}[flag]
    return st.one_of(
        *(
            st.fixed_dictionaries({flag: st.just(number), name: st.none() if layout is None else structures(layout)})
            for number, layout in QUEUE_LAYOUTS_BY_FLAG[flag].items()
        )
    )


elements = st.one_of(
    *(
        structures(layout).map(lambda name: MQFFormatNameElement(FormatName=name))
        for layout in (
            PublicQueueFormatName,
            PrivateQueueFormatName,
            MQFDirectQueueFormatName,
            MQFDistributionQueueFormatName,
        )
    )
)
base = st.fixed_dictionaries(
    {"Reserved": st.integers(0, 255), "PR": st.integers(0, 7), "TR": st.integers(0, 1), "X0": st.integers(0, 1)}
    | {"TimeToReachQueue": st.integers(0, 0xFFFFFFFF), "X9": st.integers(0, 1)}
)
internal = st.fixed_dictionaries(
    {"Reserved": st.integers(0, 0xFFFF), "CS": st.integers(0, 1), "X15": st.integers(0, 1)}
)
user = st.builds(
    lambda *parts: {name: value for part in parts for name, value in part.items()},
    st.fixed_dictionaries(
        {name: st.integers(0, 0xFFFFFFFF) for name in ("TimeToBeReceived", "SentTime", "MessageID")}
        | {"SourceQueueManager": st.uuids(), "QueueManagerAddress": st.uuids(), "ConnectorType": st.none() | st.uuids()}
        | {"RC": st.integers(0, 31), "DM": st.integers(0, 3), "JN": st.integers(0, 1), "X4": st.integers(0, 7)}
    ),
    queues("DQ"),
    queues("AQ"),
    queues("RQ"),
)
mqf = st.fixed_dictionaries(
    {name: st.lists(elements, max_size=4) for name in ("Destination", "Administration", "Response")}
    | {"Signature": structures(MQFSignatureHeader)}
)

PARTS = {
    "transaction": (TransactionHeader, values(TransactionHeader)),
    "security": (SecurityHeader, values(SecurityHeader)),
    "properties": (MessagePropertiesHeader, values(MessagePropertiesHeader)),
    "debug": (DebugHeader, values(DebugHeader)),
    "soap": (SoapHeader, values(SoapHeader)),
    "session": (SessionHeader, values(SessionHeader)),
}

messages = st.builds(
    user_message,
    base=base,
    user=user,
    properties=PARTS["properties"][1],
    mqf=st.none() | mqf,
    **{name: st.none() | strategy for name, (_, strategy) in PARTS.items() if name != "properties"},
)


def internals(make: Any, layer: type[Packet]) -> st.SearchStrategy[Packet]:
    return st.builds(
        lambda base, internal, header: make(base=base, internal=internal, **header), base, internal, values(layer)
    )


packets = st.one_of(
    internals(establish_connection, EstablishConnectionHeader),
    internals(connection_parameters, ConnectionParametersHeader),
    internals(session_ack, SessionHeader),
    messages,
)


def fields_of(layer: Packet) -> dict[str, Any]:
    """Return the values with which a layer was built, without computed fields and padding."""
    return {name: given_ for name, given_ in layer.fields.items() if given_ is not None}


def assert_same(built: Packet, read: Packet) -> None:
    """Check that the dissection has the headers of ``built`` in the same order, with every value that was given to
    them.
    """
    assert [type(layer) for layer in built.iterpayloads()] == [type(layer) for layer in read.iterpayloads()]
    for one, other in zip(built.iterpayloads(), read.iterpayloads(), strict=True):
        for name, given_ in fields_of(one).items():
            got = other.getfieldval(name)
            if isinstance(given_, Packet):
                assert_same(given_, got)
            elif isinstance(given_, list):
                assert len(given_) == len(got)
                for element, got_element in zip(given_, got, strict=True):
                    assert_same(element, got_element)
            else:
                assert got == given_, name


@EXAMPLES
@given(packets)
def test_packet_is_dissected_to_its_built_fields_and_rebuilt(packet):
    data = bytes(packet)
    read = dissect(data)
    assert_same(packet, read)
    assert bytes(read) == data
    assert read.PacketSize == len(data) - (16 if kind(data) == "UserMessage" and read.SH else 0)


@EXAMPLES
@given(values(PingPacket, Signature=st.just(0x5548)))
def test_ping_is_dissected_to_its_built_fields(fields):
    data = bytes(ping_request(**fields))
    read = dissect_ping(data)
    assert {name: read.getfieldval(name) for name in fields} == fields
    assert bytes(read) == data


@EXAMPLES
@given(messages, st.data())
def test_padding_of_any_value_is_kept(packet, data):
    read = dissect(bytes(packet))
    for layer in padded(read):
        for field in layer.fields_desc:
            if isinstance(field, PaddingField):
                count = len(layer.getfieldval(field.name))
                layer.setfieldval(field.name, data.draw(st.binary(min_size=count, max_size=count)))
    filled = bytes(read)
    assert_same(read, dissect(filled))
    assert bytes(dissect(filled)) == filled


def padded(packet: Packet) -> list[Packet]:
    """Return every header and every structure in a packet."""
    found = []
    for layer in packet.iterpayloads():
        found.append(layer)
        for given_ in layer.fields.values():
            inner = given_ if isinstance(given_, list) else [given_]
            found += [deep for part in inner if isinstance(part, Packet) for deep in padded(part)]
    return found


@EXAMPLES
@given(
    st.one_of(
        *map(
            structures,
            (
                *(OrderAckBody, FinalAckBody, PublicKeyBlob, SimpleBlob, MessageIdentifier, ObjectID, SequenceInfo),
                *(ProviderInfo, XactUow),
            ),
        )
    )
)
def test_dissected_body_or_key_blob_equals_the_built_one(structure):
    data = bytes(structure)
    read = type(structure)(data)
    assert_same(structure, read)
    assert bytes(read) == data
