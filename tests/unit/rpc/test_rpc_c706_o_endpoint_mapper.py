"""C706 L, O; MS-RPCE 2.2.1.2: towers and the endpoint mapper."""

from ipaddress import IPv4Address

import pytest
from rpc_made import UNKNOWN, Client, element, sent

from reference_qm.rpc import EPT, QM2QM, QMCOMM, FaultStatus, HandleRundown, RpcServer, StubError
from reference_qm.rpc.mapper import EPT_S_NOT_REGISTERED, EndpointMapper, MappedEndpoint
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.syntaxes import NDR, NDR64, SyntaxId
from reference_qm.rpc.towers import ProtocolTower
from reference_qm.surface.entropy import SeededEntropy

HERE = IPv4Address("192.0.2.1")
QQ_TOWER = (
    "0500 1300 0d 80a98810e5ead0118d9b00a02453c337 0100 0200 0000"
    "1300 0d 045d888aeb1cc9119fe808002b104860 0200 0200 0000"
    "0100 0b 0200 0000 0100 07 0200 0839 0100 09 0400 c0000201"
)
MAPPER = EndpointMapper(
    [MappedEndpoint(QMCOMM, HERE, 2103), MappedEndpoint(QM2QM, HERE, 2105), MappedEndpoint(QM2QM, HERE, 2116)]
)
QQ_ASKED = ProtocolTower(QM2QM.syntax, NDR).build()


def asked(octets):
    return None if octets is None else {"tower_length": len(octets), "tower_octet_string": octets}


def mapped(octets, max_towers=4):
    """Call ept_map; return the ports that it found, and the status."""
    client = Client(RpcServer([EPT], SeededEntropy("ept")))
    client.bind(element(0, EPT.syntax, NDR))
    arguments = {"obj": None, "map_tower": asked(octets), "entry_handle": None, "max_towers": max_towers}
    (event,) = client.request(3, EPT.methods[3].build_in_parameters(arguments, StubEncoding()))
    (answer,) = sent(MAPPER(event))
    found = EPT.methods[3].read_out_parameters(answer.body.stub, StubEncoding(), arguments)
    assert found["entry_handle"] is None
    towers = [ProtocolTower.parse(one["tower_octet_string"]) for one in found["ITowers"]]
    assert all(one.address == HERE for one in towers)
    return [one.port for one in towers], found["status"]


def test_tower_builds_and_parses_exact_octets():
    tower = ProtocolTower(QM2QM.syntax, NDR, 2105, HERE)
    assert tower.build() == bytes.fromhex(QQ_TOWER)
    assert ProtocolTower.parse(bytes.fromhex(QQ_TOWER)) == tower


@pytest.mark.parametrize(
    ("octets", "ports"),
    [
        (QQ_ASKED, [2105, 2116]),
        (ProtocolTower(QM2QM.syntax, NDR64).build(), [2105, 2116]),
        (ProtocolTower(QMCOMM.syntax, NDR).build(), [2103]),
        (ProtocolTower(UNKNOWN, NDR).build(), []),
        (ProtocolTower(QM2QM.syntax, UNKNOWN).build(), []),
        (ProtocolTower(SyntaxId(QM2QM.syntax.uuid, 2), NDR).build(), []),
        (QQ_ASKED.replace(b"\1\0\7\2\0", b"\1\0\x0f\2\0"), []),
        (QQ_ASKED[:-1], []),
        (b"", []),
        (None, []),
    ],
)
def test_endpoint_mapper_returns_the_port_of_a_served_interface(octets, ports):
    assert mapped(octets) == (ports, 0 if ports else EPT_S_NOT_REGISTERED)


@pytest.mark.parametrize(("room", "ports"), [(0, []), (1, [2105]), (500, [2105, 2116])])
def test_endpoint_mapper_returns_at_most_the_requested_number_of_towers(room, ports):
    assert mapped(QQ_ASKED, room)[0] == ports


@pytest.mark.parametrize("octets", [b"\5", b"\1\0\5\0", QQ_ASKED + b"\0", b"\xff\xff"])
def test_endpoint_mapper_refuses_octets_that_are_no_tower(octets):
    with pytest.raises(StubError):
        ProtocolTower.parse(octets)


def test_endpoint_mapper_refuses_a_foreign_lookup_handle_and_frees_null():
    client = Client(RpcServer([EPT], SeededEntropy("ept")))
    client.bind(element(0, EPT.syntax, NDR))
    assert sent(client.request(4, bytes(19) + b"\1"))[0].body.status == FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH
    (event,) = client.request(4, bytes(20))
    assert sent(MAPPER(event))[0].body.stub == bytes(24)
    assert MAPPER(HandleRundown(client.server.groups.make_context_handle("x", None))) == []
