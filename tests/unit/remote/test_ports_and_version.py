"""MS-MQQP 3.1.3, 3.1.4, 3.1.4.8, 3.1.4.9 and MS-MQMP 3.1.4.24: the ports, the version, and the interfaces that each
port serves.
"""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from remote_reader import ADDRESS, LISTENING, Faulted, Server

from reference_qm.rpc import QM2QM, QMCOMM, FaultStatus
from reference_qm.rpc.mapper import EPT_S_NOT_REGISTERED
from reference_qm.rpc.syntaxes import NDR, SyntaxId
from reference_qm.rpc.towers import ProtocolTower
from reference_qm.surface.inputs import Endpoint, RpcListening

IP_HANDSHAKE, IP_READ, IPX_HANDSHAKE, IPX_READ = range(4)


@pytest.mark.parametrize("method", ["RemoteQMGetQMQMServerPort", "R_QMGetRTQMServerPort"])
@pytest.mark.parametrize(("kind", "port"), [(IP_HANDSHAKE, 2103), (IP_READ, 2105), (IPX_HANDSHAKE, 0), (IPX_READ, 0)])
def test_the_ports_of_both_interfaces_are_returned_and_none_of_spx(method, kind, port):
    parameter = "dwPortType" if method.startswith("Remote") else "fIP"
    assert Server().connect().call(method, **{parameter: kind}) == {"Return": port}


def ask_mapper(reader, interface: SyntaxId):
    octets = ProtocolTower(interface, NDR, 0, IPv4Address(0)).build()
    tower = {"tower_length": len(octets), "tower_octet_string": octets}
    return reader.call("ept_map", obj=None, map_tower=tower, entry_handle=None, max_towers=4)


@pytest.mark.parametrize(("interface", "port"), [(QMCOMM, LISTENING.handshake.port), (QM2QM, LISTENING.read.port)])
def test_endpoint_mapper_returns_ports_of_interfaces(interface, port):
    found = ask_mapper(Server().connect(), interface.syntax)
    (tower,) = found["ITowers"]
    parsed = ProtocolTower.parse(tower["tower_octet_string"])
    assert (found["status"], parsed.port, parsed.address) == (0, port, IPv4Address(ADDRESS))


def test_endpoint_mapper_is_empty_before_ports_are_open():
    server = Server()
    server.core.rpc_listening = None
    assert ask_mapper(server.connect(), QM2QM.syntax)["status"] == EPT_S_NOT_REGISTERED


def test_endpoint_mapper_returns_zero_address_for_an_ipv6_listener():
    server = Server()
    server.handle(RpcListening(Endpoint("::1", 2103), Endpoint("::1", 2105)))
    (tower,) = ask_mapper(server.connect(), QM2QM.syntax)["ITowers"]
    assert ProtocolTower.parse(tower["tower_octet_string"]).address == IPv4Address(0)


def test_halted_queue_manager_answers_too_busy():
    server = Server()
    reader = server.connect()
    server.core.halted = "halted"
    with pytest.raises(Faulted) as fault:
        reader.call("RemoteQmGetVersion")
    assert fault.value.status == FaultStatus.NCA_S_SERVER_TOO_BUSY
    server.restart()
    assert server.connect().call("RemoteQmGetVersion")["pMajor"] == 6
