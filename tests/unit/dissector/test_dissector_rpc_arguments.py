"""tshark with the generated dissector reads each argument of the RPC stubs as ``harness.wire`` does."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from uuid import UUID

import pytest
from published_bytes import load_published
from scapy.layers.dcerpc import DceRpc5Request
from scapy.packet import Raw
from scapy.utils import PcapNgReader, wrpcapng
from test_dissector_agrees_with_wire import TSHARK, lua, plain_value, run_tshark

from harness.capture.writer import CaptureWriter
from harness.vectors.reading import read_stub
from harness.vectors.rpc_rows import OPERATIONS_WITH_VECTORS, STUB_ARGUMENTS_BY_METHOD, list_stubs
from harness.wire.rpc import (
    MAX_FRAGMENT_BYTES,
    NDR,
    NDR64,
    QM2QM,
    QMCOMM,
    BindOutcome,
    Proposal,
    Syntax,
    bind,
    bind_ack,
    build_pdu,
)
from harness.wire.rpc_fragments import build_request_fragments, build_response_fragments
from harness.wire.rpc_qmcomm import PRIVATE, PUBLIC
from reference_qm.surface.inputs import Endpoint

__all__ = ["lua"]
pytestmark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
CLIENT, SERVER = Endpoint("192.0.2.1", 40_000), Endpoint("192.0.2.2", 2103)
CONTEXTS = {QM2QM: 0, QMCOMM: 1}
SYNTAXES = {"ndr": NDR, "ndr64": NDR64}
GUIDS = {"pLicGuid"}
ARM_KINDS = {PUBLIC: "guid", PRIVATE: "bytes"}

Sent = tuple[str, str, bytes]
"""The name of an operation, ``build_request_fragments`` or ``build_response_fragments``, and a stub."""


def write_calls(file: Path, sent: list[Sent], syntax: Syntax = NDR, fragment: int = MAX_FRAGMENT_BYTES) -> Path:
    """Write a capture of a connection with a bind of both interfaces and the stubs, each in its own call, in fragments
    of at most ``fragment`` bytes.
    """
    proposals = [Proposal(number, interface, (syntax,)) for interface, number in CONTEXTS.items()]
    traffic = [
        (True, bind(1, proposals)),
        (False, bind_ack(1, [BindOutcome(0, transfer_syntax=syntax)] * len(proposals), group=1)),
    ]
    for call, (name, direction, stub) in enumerate(sent, 2):
        operation = OPERATIONS_WITH_VECTORS[name]
        context = CONTEXTS[operation.interface]
        asked = stub if direction == "request" else b""
        traffic += [
            (True, each) for each in build_request_fragments(call, context, operation.opnum, asked, fragment=fragment)
        ]
        if direction == "response":
            traffic += [(False, each) for each in build_response_fragments(call, context, stub, fragment=fragment)]
    with CaptureWriter(file) as capture:
        capture.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        for time_us, (from_client, each) in enumerate(traffic, 1):
            capture.write_tcp_data(1, from_client, bytes(each), time_us=time_us)
    return file


def read_arguments(lua: Path, capture: Path) -> list[dict[str, str]]:
    """Return the arguments in each PDU with a stub, by display filter; for a stub in several fragments, the last
    fragment has the arguments.
    """
    decode = ("-d", f"tcp.port=={SERVER.port},dcerpc")
    pdml = run_tshark(lua, capture, *decode, "-Y", "dcerpc.stub_data && dcerpc.cn_flags.last_frag == 1", "-T", "pdml")
    found = []
    for packet in ET.fromstring(pdml).iter("packet"):
        protos = [one for one in packet.iter("proto") if one.get("name") == "msmq_rpc"]
        shown = [(one.get("name", ""), plain_value(one)) for proto in protos for one in proto.iter("field")]
        own = ("msmq.rpc.interface", "msmq.rpc.operation", "msmq.rpc.status")
        found.append({name: value for name, value in shown if name.startswith("msmq.rpc.") and name not in own})
    return found


def expect_arguments(sent: Sent, syntax: str = "ndr") -> dict[str, str]:
    """Return the arguments that ``harness.wire`` reads, in the form in which tshark shows them."""
    name, direction, stub = sent
    expected = {}
    fields = {each.name: each.value for each in read_stub(name, f"{direction} {syntax}", stub)}
    for path, value in fields.items():
        if value is None:
            continue
        shown = str(value)
        kind = ARM_KINDS.get(fields.get("pQueueFormat.arm.tag")) if path == "pQueueFormat.arm.value" else None
        if path in GUIDS or kind == "guid":
            shown = str(UUID(bytes_le=bytes.fromhex(shown)))
        expected[f"msmq.rpc.{path.replace('value', kind) if kind else path}".lower()] = shown
    return expected


def list_sent(syntax: str = "ndr") -> list[Sent]:
    """Return the valid stubs of the test vectors, and for NDR also a published stub."""
    made = [
        (name, row.name.partition("-")[0], row.data)
        for name in STUB_ARGUMENTS_BY_METHOD
        for row in list_stubs(name)
        if row.result == "valid" and row.name.endswith(f"-{syntax}") and row.data
    ]
    probe = load_published()["nessus-open-remote-queue"]
    return [*made, (probe.packet, "request", probe.data)] if syntax == "ndr" else made


@pytest.mark.parametrize("fragment", [MAX_FRAGMENT_BYTES, 40])
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_arguments_of_each_operation_are_those_of_the_stub_layers(
    lua: Path, tmp_path: Path, syntax: str, fragment: int
) -> None:
    sent = list_sent(syntax)
    assert len(sent) >= 30
    found = read_arguments(lua, write_calls(tmp_path / "calls.pcapng", sent, SYNTAXES[syntax], fragment))
    assert len(found) == len(sent)
    for one, arguments in zip(sent, found, strict=True):
        assert arguments == expect_arguments(one, syntax), one[:2]


def test_stub_with_a_missing_fragment_is_not_read(lua: Path, tmp_path: Path) -> None:
    name, stub = "RemoteQMOpenQueue", bytes(range(32))
    capture = write_calls(tmp_path / "whole.pcapng", [(name, "request", stub)], fragment=40)
    with PcapNgReader(str(capture)) as reader:
        frames = list(reader)
    pieces = [place for place, frame in enumerate(frames) if bytes(frame).find(stub[:8]) > 0]
    assert len(pieces) == 1
    wrpcapng(str(tmp_path / "cut.pcapng"), [frame for place, frame in enumerate(frames) if place not in pieces])
    assert read_arguments(lua, capture) == [expect_arguments((name, "request", stub))]
    assert all(found == {} for found in read_arguments(lua, tmp_path / "cut.pcapng"))


def test_truncated_rpc_stub_names_its_missing_argument(lua: Path, tmp_path: Path) -> None:
    name, stub = "RemoteQMCancelReceive", bytes(range(10))
    (found,) = read_arguments(lua, write_calls(tmp_path / "cut.pcapng", [(name, "request", stub)]))
    assert found["msmq.rpc.cut"] == "dwRequestID: the stub is too short"
    assert found["msmq.rpc.hqueue"] == str(int.from_bytes(stub[:4], "little"))


def test_interface_without_layouts_is_named_by_its_uuid(lua: Path, tmp_path: Path) -> None:
    """For an interface without layouts, the dissector shows the name that belongs to the UUID of the interface (MS-MQRR
    1.9 and MS-MQMR 1.9).
    """
    names = {"1a9134dd-7b39-45ba-ad88-44d01ca47f28": "RemoteRead", "41208ee0-e970-11d1-9b9e-00e02c064c39": "qmmgmt"}
    interfaces = [Syntax(UUID(uuid), 1) for uuid in names]
    calls = [
        build_pdu("request", 7, DceRpc5Request(cont_id=number, opnum=3) / Raw(bytes(4))) for number in range(len(names))
    ]
    opening = bind(1, [Proposal(number, interface, (NDR,)) for number, interface in enumerate(interfaces)])
    with CaptureWriter(tmp_path / "named.pcapng") as capture:
        capture.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        for time_us, each in enumerate([opening, *calls], 1):
            capture.write_tcp_data(1, True, bytes(each), time_us=time_us)
    options = ("-d", f"tcp.port=={SERVER.port},dcerpc", "-Y", "msmq.rpc.operation", "-T", "fields")
    shown = run_tshark(lua, tmp_path / "named.pcapng", *options, "-e", "msmq.rpc.interface", "-e", "msmq.rpc.operation")
    assert shown.splitlines() == [f"{name}\topnum 3" for name in names.values()]
