"""C706 12.6, MS-RPCE: tshark, with its own implementation of DCE/RPC, finds nothing malformed in the PDUs of both
sides.
"""

import shutil
from ipaddress import IPv4Address

import pytest
from impacket.dcerpc.v5 import epm
from impacket.dcerpc.v5.rpcrt import DCERPCException
from patience import run_watched
from rpc_made import Client, element, features, sent
from rpc_served import ToyQueue, serving
from test_rpc_impacket import QQ, SYNTAXES, Impacket, RecordingTransport, uuidtup_to_bin
from test_rpc_impacket import NoSuchMethod as Op11

from harness.capture.writer import CaptureWriter
from reference_qm.rpc import QM2QM, SendBytes
from reference_qm.rpc.bind_bodies import AlterContext, Bind
from reference_qm.rpc.bodies import CoCancel, Orphaned, Request
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags, SecTrailer
from reference_qm.rpc.mapper import EndpointMapper, MappedEndpoint
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.inputs import Endpoint

TSHARK = shutil.which("tshark")
pytestmark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")

CLIENT, SERVER = Endpoint("127.0.0.1", 40_000), Endpoint("127.0.0.1", 2105)


def dissected(path, traffic, *fields):
    """Write traffic to a capture; return the values of the given fields in each frame that contains DCE/RPC."""
    with CaptureWriter(path) as capture:
        capture.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        for time_us, (from_client, data) in enumerate(traffic):
            capture.write_tcp_data(1, from_client, data, time_us=time_us + 1)
    shown = [part for field in ("_ws.malformed", "_ws.expert.message", *fields) for part in ("-e", field)]
    command = [TSHARK, "-r", str(path), "-d", f"tcp.port=={SERVER.port},dcerpc", "-Y", "dcerpc", "-T", "fields", *shown]
    output = run_watched(command, check=True).stdout
    rows = [line.split("\t") for line in output.splitlines()]
    assert rows
    assert [row for row in rows if row[0] or "alformed" in row[1]] == []
    return [row[2:] for row in rows]


def kinds(rows):
    return [int(kind) for (value,) in rows for kind in value.split(",")]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_tshark_finds_impacket_traffic_with_the_reference_well_formed(tmp_path, syntax):
    with serving(ToyQueue()) as (endpoint, _):
        client = Impacket(endpoint, syntax=syntax)
        client.open_queue()
        client.dce.set_max_fragment_size(16)
        client.dce.request(client.receiving(9_000), checkError=False)
        client.dce.set_default_max_fragment_size()  # impacket sends an empty stub in no fragment at all
        with pytest.raises(DCERPCException):
            client.request(Op11())
        client.dce.disconnect()
    found = kinds(dissected(tmp_path / "x.pcapng", client.transport.traffic, "dcerpc.pkt_type"))
    assert set(found) == {11, 12, 0, 2, 3}
    assert (
        found.count(2) == 1 + 3
    )  # the answers to RemoteQMOpenQueue and, in fragments of 4280, to RemoteQMStartReceive


def test_tshark_reads_an_endpoint_lookup_to_the_end_of_its_stub(tmp_path):
    mapper = EndpointMapper([MappedEndpoint(QM2QM, IPv4Address("127.0.0.1"), 2105)])
    with serving(mapper) as (endpoint, _):
        transport = RecordingTransport(endpoint)
        dce = transport.get_dce_rpc()
        dce.connect()
        epm.hept_map("127.0.0.1", QQ, uuidtup_to_bin(SYNTAXES["NDR"]), "ncacn_ip_tcp", dce)
        dce.disconnect()
    rows = dissected(
        tmp_path / "x.pcapng", transport.traffic, "epm.uuid", "epm.proto.tcp_port", "epm.proto.ip", "epm.rc"
    )
    assert "1088a980-eae5-11d0-8d9b-00a02453c337" in rows[-1][0]
    assert rows[-1][1:] == ["2105", "127.0.0.1", "0x00000000"]


def test_tshark_finds_every_built_pdu_well_formed(tmp_path):
    client = Client()
    traffic = []

    def say(body, call_id=1, flags=WHOLE_PDU_FLAGS, **more):
        wire = Pdu(body, call_id, flags, **more).build()
        traffic.append((True, wire))
        happened = client.feed(wire)
        traffic.extend((False, one.data) for one in happened if isinstance(one, SendBytes))
        return happened

    qq = QM2QM.syntax
    proposals = element(0, qq, NDR), element(1, qq, NDR64), element(2, qq, features(3))
    say(Bind(5840, 5840, 0, proposals), flags=WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX)
    say(AlterContext(5840, 5840, 0, (element(3, qq, NDR),)), 2)
    (received,) = say(Request(1, 8, b""), 3)
    say(CoCancel(), 3)
    traffic.append((False, sent(received.call.respond(pMajor=6, pMinor=1, pBuildNumber=6531))[0].build()))
    say(Request(1, 8, b""), 4)
    say(Orphaned(), 4)
    say(Request(1, 99, b""), 5)
    traffic.extend((False, pdu.build()) for pdu in sent(client.association.shut_down()))
    client = Client()
    say(Bind(5840, 5840, 0, proposals), 1, sec_trailer=SecTrailer(10, 5, 0, b"NTLMSSP\0" + bytes(24)))
    found = kinds(dissected(tmp_path / "x.pcapng", traffic, "dcerpc.pkt_type"))
    assert found == [11, 12, 14, 15, 0, 18, 2, 0, 19, 0, 3, 17, 11, 13]
