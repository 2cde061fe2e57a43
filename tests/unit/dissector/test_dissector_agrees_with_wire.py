"""tshark with the generated dissector reads each field of golden and crafted packets as ``harness.wire`` does."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.utils import wrpcap

from harness.capture.golden import GOLDEN_FOLDER, load_golden_capture
from harness.dissector.lua import write_dissector
from harness.wire import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    OrderAckBody,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    connection_parameters,
    dissect,
    dissect_ping,
    establish_connection,
    ping_request,
    session_ack,
    user_message,
)
from harness.wire.layer import Layer
from harness.wire.layouts import FILTER_BY_LAYER
from harness.wire.words import NamedBits, list_words

TSHARK = shutil.which("tshark")
pytestmark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
SILENCE_S = 120

Value = tuple[str, str]
"""A field as a display filter and a value: digits, a GUID, bytes as hexadecimal digits, or text."""

CRAFTED = [
    *(establish_connection(OperatingSystem=word, Reserved=3, internal={"CS": 1}) for word in (0x1234, 0xFFFF)),
    connection_parameters(WindowSize=7, Reserved=0x1234),
    session_ack(AckSequenceNumber=3, RecoverableMsgAckFlags=0x80000001),
    user_message(label="a label", body=b"body", base={"Flags": 0x0007}),
    user_message(label="", body=b"", session={"AckSequenceNumber": 9}),
    user_message(destination=PrivateQueueFormatNameId(PrivateQueueIdentifier=0x1F), body=b"12345"),
    user_message(destination=PublicQueueFormatName(PublicQueueIdentifier=UUID(int=7))),
    user_message(
        user={
            "AdminQueue": PrivateQueueFormatName(SourceQueueManager=UUID(int=5), PrivateQueueIdentifier=8),
            "ResponseQueue": DirectQueueFormatName(DirectFormatName="DIRECT=OS:a\\b"),
            "ConnectorType": UUID(int=9),
        },
        transaction={"ConnectorQMGuid": UUID(int=3), "ID": 77},
        security={"SecurityID": b"\1\2\3", "EncryptionKey": b"\5", "Signature": b"\6" * 6, "SenderCert": b"\7" * 9},
        debug={"QueueIdentifier": UUID(int=4)},
        soap={"Header": "head", "Body": "a body"},
        mqf={
            "Destination": [
                MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="DIRECT=OS:x\\y")),
                MQFFormatNameElement(FormatName=PublicQueueFormatName(PublicQueueIdentifier=UUID(int=11))),
                MQFFormatNameElement(FormatName=PrivateQueueFormatName(PrivateQueueIdentifier=12)),
                MQFFormatNameElement(FormatName=MQFDistributionQueueFormatName()),
            ],
            "Signature": MQFSignatureHeader(Signature=b"\x09" * 5),
        },
        session={"AckSequenceNumber": 1},
        ExtensionData=b"\1\2\3",
        label="\u00fcml\u00e4ut \U0001f4a7",
        body=b"x" * 2_000,
    ),
    user_message(MessageClass=0x00FF, body=OrderAckBody(TxSequenceNumber=4)),
]


@pytest.fixture(scope="session")
def lua(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the generated dissector to a file; return the path."""
    file = tmp_path_factory.mktemp("dissector") / "msmq.lua"
    file.write_text(write_dissector(), encoding="utf-8")
    return file


def run_tshark(lua: Path, capture: Path, *options: str) -> str:
    """Run tshark with the dissector on a capture; return the output."""
    command = [str(TSHARK), "-X", f"lua_script:{lua}", "-r", str(capture), *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SILENCE_S, check=True)
    text = done.stdout.decode("utf-8")
    assert "Lua Error" not in text
    return text


def write_stream(file: Path, packets: list[bytes], port: int = 1801, mss: int = 1_400) -> Path:
    """Write packets as one TCP connection from a client to a server, cut into segments."""
    ends = IP(src="192.0.2.1", dst="192.0.2.2") / TCP(sport=49759, dport=port, flags="A", seq=1, ack=1)
    frames, sequence = [], 1
    whole = b"".join(packets)
    for at in range(0, len(whole), mss):
        frame = ends.copy()
        frame[TCP].seq = sequence + at
        frames.append(frame / whole[at : at + mss])
    wrpcap(str(file), frames, linktype=101)
    return file


def expect_fields(packet: Any) -> Iterator[Value]:
    """Yield every field of a packet as ``harness.wire`` reads it, in wire order."""
    for layer in packet.iterpayloads():
        yield from fields_of(layer)


def fields_of(layer: Layer) -> Iterator[Value]:
    """Yield the fields of a layer or structure; the bits of a word follow the word."""
    name = f"msmq.{FILTER_BY_LAYER[type(layer)]}"
    words = {word.bits[-1][0].name: (word_name, word) for word_name, word in list_words(type(layer)).items()}
    for field in layer.fields_desc:
        value = layer.getfieldval(field.name)
        filter_ = f"{name}.{field.name.lower()}"
        if field.name in words:
            word_name, word = words[field.name]
            yield f"{name}.{word_name.lower()}", str(getattr(layer, word_name))
            for bits, _ in word.bits:
                yield f"{name}.{word_name.lower()}.{bits.name.lower()}", str(layer.getfieldval(bits.name))
        elif isinstance(field, NamedBits) or value is None or value == b"":
            continue
        elif isinstance(value, Layer):
            yield filter_, "structure"
            yield from fields_of(value)
        elif isinstance(value, list):
            yield filter_, "structure"
            for one in value:
                yield from fields_of(one)
        elif isinstance(value, str):
            if value or field.i2len(layer, value):
                yield filter_, value
        else:
            yield filter_, value.hex() if isinstance(value, bytes) else str(value)


STRUCTURES = {
    f"msmq.{name}"
    for name in (
        *("user.destinationqueue", "user.adminqueue", "user.responsequeue", "mqfelement.formatname"),
        *("transaction.txsequenceid", "orderack.txsequenceid", "mqf.destination", "mqf.administration"),
        *("mqf.response", "mqf.signature", "mqfaddress.formatnamelist"),
    )
}
BODIES = ("msmq.orderack.", "msmq.finalack.", "msmq.provider.", "msmq.simpleblob.", "msmq.txsequenceid.")


def dissected_fields(proto: ET.Element) -> list[Value]:
    """Return the fields of one MSMQ packet in tshark's PDML, in the order of the tree."""
    found = []
    for field in proto.iter("field"):
        name = field.get("name", "")
        if not name.startswith("msmq.") or name.count(".") < 2 or name.startswith("msmq.rule"):
            continue
        found.append((name, "structure" if name in STRUCTURES else plain_value(field)))
    return found


def plain_value(field: ET.Element) -> str:
    """Return the value of a field in the form of the comparison: a number without its base, a GUID, bytes as
    hexadecimal digits, or text.
    """
    shown = field.get("show", "")
    if shown.startswith("0x"):
        return str(int(shown, 16))
    if shown in ("True", "False"):
        return str(int(shown == "True"))
    is_bytes = ":" in shown and shown.replace(":", "") == field.get("value")
    return field.get("value", "") if is_bytes or shown == field.get("value") else shown


def packets_of(pdml: str) -> list[ET.Element]:
    """Return the MSMQ packets in tshark's PDML."""
    return [one for one in ET.fromstring(pdml).iter("proto") if one.get("name") == "msmq"]


def compare(proto: ET.Element, packet: Any) -> None:
    """Compare all fields of a packet, except the decoded body of a message, which follows the headers in
    tshark's tree.
    """
    expected = list(expect_fields(packet))
    found = dissected_fields(proto)
    assert found[: len(expected)] == expected
    assert all(name.startswith(BODIES) for name, _ in found[len(expected) :])


def test_golden_frames_have_the_fields_of_the_scapy_layers(lua: Path) -> None:
    pdml = run_tshark(lua, GOLDEN_FOLDER / "frames.pcapng", "-T", "pdml")
    frames = load_golden_capture().frames
    found = packets_of(pdml)
    assert len(found) == len(frames) == 8
    for proto, frame in zip(found, frames, strict=True):
        compare(proto, dissect_ping(frame.data) if frame.transport == "udp" else dissect(frame.data))


@pytest.mark.parametrize("port", [1801, 4711])
@pytest.mark.parametrize("mss", [1_400, 61])
def test_crafted_packets_of_one_stream_have_the_fields_of_the_scapy_layers(
    lua: Path, tmp_path: Path, port: int, mss: int
) -> None:
    """tshark dissects the packets of a stream on another port as well, because the signature in a segment's first bytes
    selects the dissector.
    """
    packets = [bytes(one) for one in CRAFTED]
    capture = write_stream(tmp_path / "stream.pcap", packets, port, mss)
    found = packets_of(run_tshark(lua, capture, "-T", "pdml"))
    assert len(found) == len(packets)
    for proto, data in zip(found, packets, strict=True):
        compare(proto, dissect(data))


def test_each_layer_of_the_dissector_tables_is_compared_with_scapy() -> None:
    """Some packet of the tests contains each layer of the dissector's tables, except the layers for a message's body
    and for items of SecurityData, which the next test compares.
    """
    seen = {name.split(".")[1] for one in CRAFTED for name, _ in expect_fields(dissect(bytes(one)))} | {"ping"}
    assert set(FILTER_BY_LAYER.values()) - seen == {"unknown", "orderack", "finalack", "provider", "simpleblob"}


def test_body_of_an_order_ack_is_decoded(lua: Path, tmp_path: Path) -> None:
    capture = write_stream(tmp_path / "order.pcap", [bytes(CRAFTED[-1])])
    found = dissected_fields(packets_of(run_tshark(lua, capture, "-T", "pdml"))[0])
    assert ("msmq.orderack.txsequencenumber", "4") in found


def test_ping_on_nonstandard_port_is_recognized_by_its_signature(lua: Path, tmp_path: Path) -> None:
    data = bytes(ping_request(Cookie=12, QMGuid=UUID(int=1)))
    frame = IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=4057, dport=4711) / data
    wrpcap(str(tmp_path / "ping.pcap"), [frame], linktype=101)
    found = packets_of(run_tshark(lua, tmp_path / "ping.pcap", "-T", "pdml"))
    compare(found[0], dissect_ping(data))
