"""Both codecs and the dissector read the published bytes, or refuse them for the reason that sources.toml names."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from published_bytes import FOREIGN, load_published
from scapy.layers.inet import IP, TCP
from scapy.utils import wrpcap

from harness.dissector.lua import write_dissector
from harness.vectors.reading import read_stub
from harness.wire import WireError, dissect
from harness.wire.layouts import FILTER_BY_LAYER
from harness.wire.words import list_words
from reference_qm.codec import FormatError, parse_packet
from reference_qm.rpc import QMCOMM
from reference_qm.rpc.ndr import StubEncoding

PUBLISHED = load_published()
TCP_BYTES = [name for name, one in PUBLISHED.items() if one.transport == "tcp"]
READABLE = [name for name in TCP_BYTES if not PUBLISHED[name].refused]
REFUSED = [name for name in TCP_BYTES if PUBLISHED[name].refused]
TSHARK = shutil.which("tshark")
SILENCE_S = 120


def whole(name: str) -> bytes:
    """Return a whole packet. Where the source shows only the beginning of a packet, the remaining bytes are those of
    the request.
    """
    one = PUBLISHED[name]
    return one.data if one.first is None else one.data + PUBLISHED["nuclei-probe"].data[one.first :]


def plain(value: Any) -> Any:
    return value if isinstance(value, int | str) else str(value)


def read_with_scapy(data: bytes, path: str) -> Any:
    layer, name = path.split(".")
    return plain(getattr(dissect(data)[layer], name))


def read_strictly(data: bytes, path: str) -> Any:
    value: Any = parse_packet(data)
    for name in path.split("."):
        value = getattr(value, name)
    return plain(value)


def test_each_published_capture_has_its_source_and_licence() -> None:
    assert {one.file for one in PUBLISHED.values()} == {path.name for path in FOREIGN.glob("*.hex")}
    for one in PUBLISHED.values():
        assert one.source.startswith("https://")
        assert one.licence and one.what
        assert one.first in (None, len(one.data))
        assert bool(one.fields) != bool(one.refused)


@pytest.mark.parametrize("read", [read_with_scapy, read_strictly])
@pytest.mark.parametrize("name", READABLE)
def test_codec_reads_the_fields_of_published_packet(name: str, read: Any) -> None:
    data = whole(name)
    assert {path: read(data, path) for path in PUBLISHED[name].fields} == PUBLISHED[name].fields


@pytest.mark.parametrize("name", REFUSED)
def test_both_codecs_refuse_a_message_with_headers_of_a_foreign_document(name: str) -> None:
    data = PUBLISHED[name].data
    assert int.from_bytes(data[8:12], "little") == len(data)
    with pytest.raises(WireError, match="bytes are left over after MessagePropertiesHeader"):
        dissect(data)
    with pytest.raises(FormatError, match="bytes too many"):
        parse_packet(data)


def test_published_stub_has_the_arguments_of_its_table_in_both_codecs() -> None:
    one = PUBLISHED["nessus-open-remote-queue"]
    found = {each.name: each.value for each in read_stub(one.packet, "request ndr", one.data)}
    assert {name: found[name] for name in one.fields} == one.fields
    method = next(method for method in QMCOMM.methods.values() if method.name == one.packet)
    arguments = method.read_in_parameters(one.data, StubEncoding(wide=False))
    name = arguments.pop("pQueueFormat")
    assert (name["m_qft"], name["union"]) == (3, one.fields["pQueueFormat.arm.value"])
    plain_fields = {key: value for key, value in one.fields.items() if "." not in key}
    assert {key: arguments[key] for key in plain_fields} == plain_fields


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
def test_dissector_reads_published_packets_and_marks_the_refused(tmp_path: Path) -> None:
    lua = tmp_path / "msmq.lua"
    lua.write_text(write_dissector(), encoding="utf-8")
    frames = []
    for port, name in enumerate(TCP_BYTES, 50_000):
        frames.append(
            IP(src="192.0.2.1", dst="192.0.2.2") / TCP(sport=port, dport=1801, flags="A", seq=1) / whole(name)
        )
    wrpcap(str(tmp_path / "published.pcap"), frames, linktype=101)
    command = [str(TSHARK), "-X", f"lua_script:{lua}", "-r", str(tmp_path / "published.pcap"), "-T", "pdml"]
    pdml = subprocess.run(command, capture_output=True, text=True, timeout=SILENCE_S, check=True).stdout
    packets = [one for one in ET.fromstring(pdml).iter("proto") if one.get("name") == "msmq"]
    assert len(packets) == len(TCP_BYTES)
    for name, packet in zip(TCP_BYTES, packets, strict=True):
        shown = {each.get("name", ""): each.get("show", "") for each in packet.iter("field")}
        assert ("msmq.malformed" in shown) is bool(PUBLISHED[name].refused), name
        for path, value in PUBLISHED[name].fields.items():
            found = shown[filter_of(path)]
            assert (int(found, 0) if isinstance(value, int) else found) == value, path


def filter_of(path: str) -> str:
    """Return the display filter of a field; the filter of a bit contains the name of the bit's word."""
    header, name = path.split(".")
    layer = next(layer for layer in FILTER_BY_LAYER if layer.__name__ == header)
    for word_name, word in list_words(layer).items():
        if name in {bits.name for bits, _ in word.bits}:
            return f"msmq.{FILTER_BY_LAYER[layer]}.{word_name}.{name}".lower()
    return f"msmq.{FILTER_BY_LAYER[layer]}.{name}".lower()
