"""MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort, 3.1.4.9 RemoteQmGetVersion; 3.1.3 Initialization."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure, SutUnavailable
from harness.expectations import between, each, facts, holds, none
from harness.peer.association import Call
from harness.peer.remote import Remote
from harness.run.marks import covers, goes_on, needs
from harness.sut.control import OF_THE_CHANNEL
from harness.sut.releases import release_of
from harness.wire.rpc import QM2QM, QMCOMM, Syntax
from harness.wire.rpc_qm2qm import PortType

pytestmark = needs("qm2qm")

DEFAULTS = (2103, 2105)
STEP = 11
BEYOND = (4, 5, 0x0000_0100, 0x8000_0000, 0xFFFF_FFFF)
"""Numbers that are no dwPortType."""
LAST_PORT = 0xFFFF


def asked(remote: Remote, *types: int) -> list[Call]:
    """Ask for ports on a connection of their own."""
    association = remote.associate(QM2QM)
    return [association.call("RemoteQMGetQMQMServerPort", dwPortType=one) for one in types]


def served(remote: Remote, port: int | None, interface: Syntax) -> str:
    """Return whether an interface can be bound at a port."""
    if not port or port > LAST_PORT:
        return f"no port: {port}"
    try:
        refused, said = remote.connect(port).offer(interface)
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
def test_at_the_port_that_is_told_the_interface_is_served(remote, judge, port_type, interface, rule):
    """IP_HANDSHAKE is where qmcomm can be bound, PortType.IP_READ where qm2qm can; both are ports."""
    call = asked(remote, port_type)[0]
    found = served(remote, call.status, interface)
    judge(rule, expected="served", observed=found, evidence=call.evidence)
    judge("MQQP-3.1.3-01", expected="served", observed=found, evidence=call.evidence)
    judge("MQQP-3.1.4.8-D05", expected=between(1, LAST_PORT), observed=call.status, evidence=call.evidence)


@needs("restart")
@covers("MQQP-3.1.3-01", "MQQP-3.1.4.8-D05")
def test_after_a_restart_the_interface_is_served_again(remote, sut, judge):
    """The system is started again: ports are told as before, qm2qm can be bound there, a message be read."""
    before = asked(remote, PortType.IP_READ)[0]
    sut.restart()
    try:
        after = asked(remote, PortType.IP_READ)[0]
        found = served(remote, after.status, QM2QM)
        read = remote.open_with_messages("first").receive().label_or_outcome if found == "served" else "nothing"
    except OF_THE_CHANNEL:
        raise
    except (ConformanceFailure, SutUnavailable) as lost:
        judge(
            "MQQP-3.1.3-01", expected=facts(port="served", read="first"), observed=str(lost), evidence=before.evidence
        )
        judge("MQQP-3.1.4.8-D05", expected=between(1, LAST_PORT), observed=str(lost), evidence=before.evidence)
        return
    evidence = [before, after]
    observed = {"port": found, "read": read}
    judge("MQQP-3.1.3-01", expected=facts(port="served", read="first"), observed=observed, evidence=evidence)
    judge("MQQP-3.1.4.8-D05", expected=between(1, LAST_PORT), observed=after.status, evidence=evidence)


@covers("MQQP-3.1.4.8-02", "MQQP-3.1.4.8-03")
@goes_on()
def test_what_is_none_of_the_four_has_no_port(remote, judge):
    """Numbers above 3 bring 0, or a fault of the range (E53); what is not available brings 0. Then ports are told."""
    calls = asked(remote, *BEYOND, PortType.IP_READ)
    refused = ["no port" if call.thrown is not None or call.status == 0 else call.outcome for call in calls[:-1]]
    observed: dict[str, Any] = {"beyond": refused, "then": bool(calls[-1].status) or calls[-1].outcome}
    expected: dict[str, Any] = {"beyond": each("no port"), "then": holds("a port")}
    judge("MQQP-3.1.4.8-02", expected=expected, observed=observed, evidence=calls)
    spx = asked(remote, PortType.IPX_HANDSHAKE, PortType.IPX_READ) if release_of(remote.sut).spx is False else []
    observed["SPX"] = [call.outcome if call.status is None else call.status for call in spx]
    expected["SPX"] = [0] * len(spx)
    judge("MQQP-3.1.4.8-03", expected=expected, observed=observed, evidence=[*calls, *spx])


@pytest.mark.parametrize(
    ("port_type", "rule"),
    [
        pytest.param(PortType.IPX_HANDSHAKE, "MQQP-3.1.4.8-D03", marks=covers("MQQP-3.1.4.8-D03"), id="IPX_HANDSHAKE"),
        pytest.param(PortType.IPX_READ, "MQQP-3.1.4.8-D04", marks=covers("MQQP-3.1.4.8-D04"), id="IPX_READ"),
    ],
)
def test_spx_may_be_asked_for(remote, judge, port_type, rule):
    """The value is one of the four: a port, or 0 where there is no SPX, is returned, and no fault."""
    call = asked(remote, port_type)[0]
    observed = call.status if call.status is not None else call.outcome
    judge(rule, expected=between(0, LAST_PORT), observed=observed, evidence=call.evidence)


@covers("MQQP-3.1.4.8-04", "MQQP-3.1.4.8-D06", "MQQP-3.1.4.8-D07")
def test_a_port_is_fixed_when_the_server_begins(remote, judge):
    """Asked again, on another connection and while a queue is open, the ports are the same, and of their row."""
    types = (PortType.IP_HANDSHAKE, PortType.IP_READ)
    before = asked(remote, *types)
    queue = remote.open_with_messages("first")
    open_beside = [queue.association.call("RemoteQMGetQMQMServerPort", dwPortType=one) for one in types]
    after = asked(remote, *types)
    every = [[call.status for call in calls] for calls in (before, open_beside, after)]
    evidence = [*before, *after]
    judge("MQQP-3.1.4.8-D06", expected=each(every[0], "time"), observed=every, evidence=evidence)
    every_type = [*before, *open_beside, *after, *asked(remote, PortType.IPX_HANDSHAKE, PortType.IPX_READ)]
    thrown = [call.outcome for call in every_type if call.thrown is not None]
    judge("MQQP-3.1.4.8-D07", expected=none("fault"), observed=thrown, evidence=evidence)
    apart = [(port or 0) - default for port, default in zip(every[0], DEFAULTS, strict=True)]
    steps = [(one >= 0 and one % STEP == 0) or f"{one} from it" for one in apart]
    configured = {remote.sut.file.driver.rpc_port, remote.sut.rpc_port} - set(DEFAULTS)
    if configured & set(every[0]):  # it listens where its configuration says
        steps = [True, True]
    judge(
        "MQQP-3.1.4.8-04", expected=each(holds("by steps from the default"), "port"), observed=steps, evidence=evidence
    )


@covers("MQQP-3.1.4.9-02", "MQQP-3.1.4.9-03", "MQQP-3.1.4.9-D01", "MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03")
def test_the_version_is_told_before_and_while_a_queue_is_open(remote, judge):
    """Major 6, minor 1, or those of the release that the SUT says to be; some build, not before its first."""
    release = release_of(remote.sut)
    before = remote.associate(QM2QM).call("RemoteQmGetVersion")
    queue = remote.open_with_messages("first")
    later = queue.association.call("RemoteQmGetVersion")
    calls = [before, later]
    evidence = calls
    thrown = [call.outcome for call in calls if call.thrown is not None]
    judge("MQQP-3.1.4.9-D03", expected=none("fault"), observed=thrown, evidence=evidence)
    told = [call.out is not None or call.outcome for call in calls]
    observed = {"versions": told, "read": queue.receive().label_or_outcome}
    expected = facts(versions=each(holds("a version")), read="first")
    judge("MQQP-3.1.4.9-D02", expected=expected, observed=observed, evidence=evidence)
    for call in (one.expect_success() for one in calls):
        major, minor = release.version
        judge("MQQP-3.1.4.9-02", expected=major, observed=call.out.pMajor, evidence=call.evidence)
        judge("MQQP-3.1.4.9-D01", expected=minor, observed=call.out.pMinor, evidence=call.evidence)
        build = between(release.first_build or 1, 0xFFFF)
        judge("MQQP-3.1.4.9-03", expected=build, observed=call.out.pBuildNumber, evidence=call.evidence)
