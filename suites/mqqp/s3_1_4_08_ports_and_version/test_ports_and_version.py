"""MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort, 3.1.4.9 RemoteQmGetVersion; 3.1.3 Initialization."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure, SutUnavailable
from harness.expectations import between, each, facts, holds, none
from harness.peer.association import Call
from harness.peer.remote import RemoteQueue, RemoteReaderOfSut
from harness.run.marks import covers, needs, sut_survives
from harness.sut.control import UNUSABLE_CHANNEL_ERRORS
from harness.sut.releases import find_release
from harness.wire.rpc import NDR, QM2QM, QMCOMM, UNKNOWN_SYNTAX, Proposal, Syntax, bind
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, PortType

pytestmark = needs("qm2qm")

DEFAULT_RPC_PORTS = (2103, 2105)
PORT_STEP = 11
INVALID_PORT_TYPES = (4, 5, 0x0000_0100, 0x0001_0001, 0x0100_0001, 0x8000_0001, 0xFFFF_FFFF)
"""Undefined values of dwPortType."""
HIGHEST_PORT = 0xFFFF


def request_ports(remote: RemoteReaderOfSut, *types: int) -> list[Call]:
    """Call RemoteQMGetQMQMServerPort for each given port type on a new connection; return the results."""
    association = remote.associate(QM2QM)
    return [association.call("RemoteQMGetQMQMServerPort", dwPortType=one) for one in types]


def request_ports_of_server(remote: RemoteReaderOfSut, port: int | None, *types: int) -> list[Call]:
    """Call RemoteQMGetQMQMServerPort for each given port type at a port; return the results, or an empty list if the
    SUT does not serve qm2qm at the port.
    """
    if not port or port > HIGHEST_PORT:
        return []
    try:
        association = remote.connect(port)
    except SutUnavailable:
        return []
    refused, _ = association.bind_and_list_rejected_interfaces(QM2QM)
    return [] if refused else [association.call("RemoteQMGetQMQMServerPort", dwPortType=one) for one in types]


def get_bind_outcome(remote: RemoteReaderOfSut, port: int | None, interface: Syntax) -> str:
    """Return whether a bind to an interface succeeds at a port."""
    if not port or port > HIGHEST_PORT:
        return f"no port: {port}"
    try:
        refused, said = remote.connect(port).bind_and_list_rejected_interfaces(interface)
    except SutUnavailable as error:
        return str(error)
    return f"not served: {said}" if refused else "served"


@covers("MQQP-3.1.4.8-D05", "MQQP-3.1.3-01")
@pytest.mark.parametrize(
    ("port_type", "interface", "rule"),
    [
        pytest.param(
            PortType.IP_HANDSHAKE, QMCOMM, "MQQP-3.1.4.8-D01", marks=covers("MQQP-3.1.4.8-D01"), id="IP_HANDSHAKE"
        ),
        pytest.param(PortType.IP_READ, QM2QM, "MQQP-3.1.4.8-D02", marks=covers("MQQP-3.1.4.8-D02"), id="IP_READ"),
    ],
)
def test_interface_is_served_at_returned_port(remote, judge, port_type, interface, rule):
    """The port for IP_HANDSHAKE accepts a bind to qmcomm, and the port for IP_READ accepts a bind to qm2qm. A second
    call on the connection, and a call while a queue is open, also return a port of the interface.
    """
    call, second = request_ports(remote, port_type, port_type)
    found = get_bind_outcome(remote, call.status, interface)
    judge(rule, expected="served", case="interface at the returned port", observed=found, evidence=call.evidence)
    queue = remote.open()
    beside = request_ports(remote, port_type)[0]
    queue.close()
    for case, later in (("a second call", second), ("a call while a queue is open", beside)):
        served = found if later.status == call.status else get_bind_outcome(remote, later.status, interface)
        judge(
            rule, expected="served", case=f"interface at the port of {case}", observed=served, evidence=later.evidence
        )
    judge(
        "MQQP-3.1.3-01",
        expected="served",
        case="interface at the returned port",
        observed=found,
        evidence=call.evidence,
    )
    judge(
        "MQQP-3.1.4.8-D05",
        expected=between(1, HIGHEST_PORT),
        case="returned port",
        observed=call.status,
        evidence=call.evidence,
    )


@needs("restart")
@covers("MQQP-3.1.3-01", "MQQP-3.1.4.8-D05")
def test_interface_is_served_after_restart(remote, sut, judge):
    """After a restart of the SUT, a bind to qm2qm at the port for IP_READ succeeds, and a message can be received."""
    before = request_ports(remote, PortType.IP_READ)[0]
    sut.restart()
    try:
        after = request_ports(remote, PortType.IP_READ)[0]
        found = get_bind_outcome(remote, after.status, QM2QM)
        read = remote.open_with_messages("first").receive().label_or_outcome if found == "served" else "nothing"
    except UNUSABLE_CHANNEL_ERRORS:
        raise
    except (ConformanceFailure, SutUnavailable) as lost:
        judge(
            "MQQP-3.1.3-01",
            expected=facts(interface_at_the_returned_port="served", read="first"),
            observed=str(lost),
            evidence=before.evidence,
        )
        judge(
            "MQQP-3.1.4.8-D05",
            expected=between(1, HIGHEST_PORT),
            case="returned port",
            observed=str(lost),
            evidence=before.evidence,
        )
        return
    evidence = [before, after]
    observed = {"interface_at_the_returned_port": found, "read": read}
    judge(
        "MQQP-3.1.3-01",
        expected=facts(interface_at_the_returned_port="served", read="first"),
        observed=observed,
        evidence=evidence,
    )
    judge(
        "MQQP-3.1.4.8-D05",
        expected=between(1, HIGHEST_PORT),
        case="returned port",
        observed=after.status,
        evidence=evidence,
    )


@covers("MQQP-3.1.3-01")
@sut_survives()
def test_interface_is_served_after_broken_connections(remote, sut, judge):
    """Clients end their connections in several ways: before a bind, in the middle of a bind, after invalid bytes, after
    a bind to an unknown interface and, finally, while a queue is open and a read waits. After each end, a bind to qm2qm
    succeeds. A client that was connected before, and a new client, can each read a message.
    """
    port, queue = remote.get_read_port(), remote.open_with_messages("first")
    lost = remote.open("admin")
    lost.begin_receive(ulTimeout=INFINITE_TIMEOUT_MS).state_after_silence()
    good = bytes(bind(1, [Proposal(0, QM2QM, (NDR,))]))
    sent_before_the_end = {
        "no byte": b"",
        "half of a bind": good[: len(good) // 2],
        "a version that does not exist": b"\xff" + good[1:],
        "a bind with the length 0": good[:8] + bytes(2) + good[10:],
        "bytes of another protocol": b"GET / HTTP/1.0\r\n\r\n",
    }
    found = {}
    for name, data in sent_before_the_end.items():
        broken = remote.connect(port)
        if data:
            broken.send(data)
            broken.wait_closed(sut.quiet_ms)
        if not broken.over:
            broken.close()
        found[name] = get_bind_outcome(remote, port, QM2QM)
    remote.connect(port).bind_and_list_rejected_interfaces(UNKNOWN_SYNTAX)
    found["a bind to an unknown interface"] = get_bind_outcome(remote, port, QM2QM)
    judge(
        "MQQP-3.1.3-01",
        expected=facts(**dict.fromkeys(found, "served")),
        observed=found,
        case="bind after a broken connection",
        evidence=queue.session.evidence,
    )
    lost.association.close()
    bound = get_bind_outcome(remote, port, QM2QM)
    reads = [queue.peek()]
    if bound == "served":
        reads.append(remote.open().peek())
    judge(
        "MQQP-3.1.3-01",
        expected=facts(bind="served", reads=["first"] * 2),
        observed={"bind": bound, "reads": [one.label_or_outcome for one in reads]},
        case="bind and reads after the loss of a client with an open queue",
        evidence=reads,
    )


@covers("MQQP-3.1.4.8-02", "MQQP-3.1.4.8-03", "MQQP-3.1.4.8-D05")
@sut_survives()
def test_unknown_port_type_has_no_port(remote, judge):
    """RemoteQMGetQMQMServerPort with a dwPortType above 3 returns 0 or a range fault (erratum E53). With an SPX port
    type, the method returns 0 if the release does not support SPX. With IP_READ, the method still returns a port.
    """
    calls = request_ports(remote, *INVALID_PORT_TYPES, PortType.IP_READ)
    refused = ["no port" if call.thrown is not None or call.status == 0 else call.outcome for call in calls[:-1]]
    observed: dict[str, Any] = {
        "calls with a port type above 3": refused,
        "call with IP_READ": bool(calls[-1].status) or calls[-1].outcome,
    }
    expected: dict[str, Any] = {"calls with a port type above 3": each("no port"), "call with IP_READ": holds("a port")}
    judge("MQQP-3.1.4.8-02", expected=expected, observed=observed, evidence=calls)
    judge(
        "MQQP-3.1.4.8-D05",
        expected=between(1, HIGHEST_PORT),
        case="port for IP_READ after calls with other port types",
        observed=calls[-1].status,
        evidence=calls[-1].evidence,
    )
    spx = (
        request_ports(remote, PortType.IPX_HANDSHAKE, PortType.IPX_READ)
        if find_release(remote.sut).serves_spx is False
        else []
    )
    observed["SPX port types"] = [call.outcome if call.status is None else call.status for call in spx]
    expected["SPX port types"] = [0] * len(spx)
    judge("MQQP-3.1.4.8-03", expected=expected, observed=observed, evidence=[*calls, *spx])


@pytest.mark.parametrize(
    ("port_type", "rule"),
    [
        pytest.param(PortType.IPX_HANDSHAKE, "MQQP-3.1.4.8-D03", marks=covers("MQQP-3.1.4.8-D03"), id="IPX_HANDSHAKE"),
        pytest.param(PortType.IPX_READ, "MQQP-3.1.4.8-D04", marks=covers("MQQP-3.1.4.8-D04"), id="IPX_READ"),
    ],
)
@covers("MQQP-3.1.4.8-03")
def test_spx_port_type_returns_port_or_zero(remote, judge, port_type, rule):
    """RemoteQMGetQMQMServerPort with an SPX port type returns a port, or 0 if the SUT does not support SPX, also while
    a queue is open; the call does not cause a fault.
    """
    calls = request_ports(remote, port_type, PortType.IP_READ, port_type)
    queue = remote.open()
    calls += request_ports(remote, port_type)
    queue.close()
    ports = [call.status if call.status is not None else call.outcome for call in (calls[0], *calls[2:])]
    expected = each(between(0, HIGHEST_PORT), "returned port")
    judge(
        rule,
        "MQQP-3.1.4.8-03",
        expected=expected,
        case="two calls, and a call while a queue is open",
        observed=ports,
        evidence=calls,
    )


@covers("MQQP-3.1.4.8-04", "MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06", "MQQP-3.1.4.8-D07")
def test_ports_stay_the_same_while_server_runs(remote, judge):
    """The ports for IP_HANDSHAKE and IP_READ are the same on a second connection, while a queue is open, while a read
    waits, after the queue was closed, and for calls at either of the two ports. Each port is the default port, or the
    default port plus a multiple of 11.
    """
    types = (PortType.IP_HANDSHAKE, PortType.IP_READ)
    before = request_ports(remote, *types)
    queue = remote.open_with_messages("first")
    start_second_sequence = [queue.association.call("RemoteQMGetQMQMServerPort", dwPortType=one) for one in types]
    after = request_ports(remote, *types)
    queue.receive()
    queue.begin_receive(ulTimeout=INFINITE_TIMEOUT_MS).state_after_silence()
    waiting = request_ports(remote, *types)
    of_spx = request_ports(remote, PortType.IPX_HANDSHAKE, PortType.IPX_READ)
    queue.close()
    closed = request_ports(remote, *types)
    at_ports = [calls for one in before if (calls := request_ports_of_server(remote, one.status, *types))]
    every = [
        [call.status for call in calls] for calls in (before, start_second_sequence, after, waiting, closed, *at_ports)
    ]
    evidence = [*before, *after, *waiting, *closed, *(call for calls in at_ports for call in calls)]
    judge("MQQP-3.1.4.8-D06", expected=each(every[0], "pair of ports"), observed=every, evidence=evidence)
    every_type = [
        *before,
        *start_second_sequence,
        *after,
        *waiting,
        *closed,
        *(call for calls in at_ports for call in calls),
        *of_spx,
        *request_ports(remote, PortType.IPX_HANDSHAKE, PortType.IPX_READ),
    ]
    judge(
        "MQQP-3.1.4.8-D05",
        expected=each(between(1, HIGHEST_PORT), "returned port"),
        observed=[port for pair in every for port in pair],
        evidence=evidence,
    )
    thrown = [call.outcome for call in every_type if call.thrown is not None]
    judge("MQQP-3.1.4.8-D07", expected=none("fault"), observed=thrown, evidence=evidence)
    apart = [(port or 0) - default for port, default in zip(every[0], DEFAULT_RPC_PORTS, strict=True)]
    steps = [(one >= 0 and one % PORT_STEP == 0) or f"a distance of {one} from the default port" for one in apart]
    configured = {remote.sut.file.driver.rpc_port, remote.sut.rpc_port} - set(DEFAULT_RPC_PORTS)
    if configured & set(every[0]):  # it listens where its configuration says
        steps = [True, True]
    judge(
        "MQQP-3.1.4.8-04",
        expected=each(holds("the default port, or higher by a multiple of 11"), "port"),
        observed=steps,
        evidence=evidence,
    )


@covers("MQQP-3.1.4.9-02", "MQQP-3.1.4.9-03", "MQQP-3.1.4.9-D01", "MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03")
def test_version_is_returned_before_and_while_queue_is_open(remote, judge):
    """RemoteQmGetVersion returns version 6.1, or the version of the SUT's release, and a build number. It does so
    before a queue is opened, between R_QMOpenRemoteQueue and RemoteQMOpenQueue, while a queue is open, while a read
    waits, and after the queue was closed.
    """
    release = find_release(remote.sut)
    before = remote.associate(QM2QM).call("RemoteQmGetVersion")
    remote.empty_queue()
    association = remote.associate()
    opened = remote.open_remote(association).expect_success()
    between_both = association.call("RemoteQmGetVersion")
    queue = RemoteQueue(remote, association, opened)
    remote.deliver(["first"])
    later = queue.association.call("RemoteQmGetVersion")
    received = queue.receive().label_or_outcome
    queue.begin_receive(ulTimeout=INFINITE_TIMEOUT_MS).state_after_silence()
    waiting = remote.associate(QM2QM).call("RemoteQmGetVersion")
    queue.close()
    calls = [before, between_both, later, waiting, queue.association.call("RemoteQmGetVersion")]
    evidence = calls
    thrown = [call.outcome for call in calls if call.thrown is not None]
    judge("MQQP-3.1.4.9-D03", expected=none("fault"), observed=thrown, evidence=evidence)
    told = [call.out is not None or call.outcome for call in calls]
    observed = {"answers of RemoteQmGetVersion": told, "read": received}
    expected = facts(**{"answers of RemoteQmGetVersion": each(holds("a version")), "read": "first"})
    judge("MQQP-3.1.4.9-D02", expected=expected, observed=observed, evidence=evidence)
    versions = [
        (call.out.pMajor, call.out.pMinor, call.out.pBuildNumber) if call.out is not None else call.outcome
        for call in calls
    ]
    judge("MQQP-3.1.4.9-D02", expected=each(versions[0], "version"), observed=versions, evidence=evidence)
    for call in (one.expect_success() for one in calls):
        major, minor = release.version
        judge("MQQP-3.1.4.9-02", expected=major, case="pMajor", observed=call.out.pMajor, evidence=call.evidence)
        judge("MQQP-3.1.4.9-D01", expected=minor, case="pMinor", observed=call.out.pMinor, evidence=call.evidence)
        build = between(release.first_build or 1, 0xFFFF)
        judge(
            "MQQP-3.1.4.9-03",
            expected=build,
            case="pBuildNumber",
            observed=call.out.pBuildNumber,
            evidence=call.evidence,
        )
