"""MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort: calls for both interfaces on one connection."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.wire.rpc import QM2QM, QMCOMM
from harness.wire.rpc_qm2qm import PortType
from suites.mqqp.s3_1_4_08_ports_and_version.test_ports_and_version import get_bind_outcome, request_ports

pytestmark = needs("qm2qm")

RULE_AND_INTERFACE_BY_PORT_TYPE = {
    PortType.IP_HANDSHAKE: ("MQQP-3.1.4.8-D01", QMCOMM),
    PortType.IP_READ: ("MQQP-3.1.4.8-D02", QM2QM),
}


@covers("MQQP-3.1.4.8-D01", "MQQP-3.1.4.8-D02")
@pytest.mark.parametrize("first", [PortType.IP_HANDSHAKE, PortType.IP_READ], ids=["IP_HANDSHAKE", "IP_READ"])
def test_each_interface_is_served_at_its_port_after_calls_for_both(remote, judge, first):
    """A client calls RemoteQMGetQMQMServerPort on one connection, alternately for the two interfaces, twice for
    each. Each interface accepts a bind at the ports that were returned for it.
    """
    types = [first, PortType.IP_READ if first == PortType.IP_HANDSHAKE else PortType.IP_HANDSHAKE] * 2
    calls = request_ports(remote, *types)
    known: dict[tuple[PortType, int | None], str] = {}
    for number, (asked, call) in enumerate(zip(types, calls, strict=True), 1):
        rule, interface = RULE_AND_INTERFACE_BY_PORT_TYPE[asked]
        key = (asked, call.status)
        if key not in known:
            known[key] = get_bind_outcome(remote, call.status, interface)
        judge(
            rule,
            expected="served",
            observed=known[key],
            case=f"interface at the port of call {number}",
            evidence=call.evidence,
        )
