"""MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort, 3.1.4.9 RemoteQmGetVersion; 3.1.3 Initialization."""

from __future__ import annotations

from harness.errors import ConformanceFailure, SutUnavailable
from harness.run.marks import covers, needs
from harness.sut.releases import release_of
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import IP_HANDSHAKE, IP_READ, IPX_HANDSHAKE, IPX_READ
from suites.mqqb.steps.opening import Between

pytestmark = needs("qm2qm")

DEFAULTS = (2103, 2105)
STEP = 11


@covers("MQQP-3.1.4.8-02", "MQQP-3.1.4.8-03", "MQQP-3.1.4.8-04", "MQQP-3.1.3-01")
def test_ports_are_told_where_the_interfaces_are_served(remote, judge):
    """IP_HANDSHAKE and IP_READ bring ports at which the interface can be bound; SPX and other values bring none."""
    association = remote.associate(QM2QM)
    calls = {one: association.call("RemoteQMGetQMQMServerPort", dwPortType=one) for one in range(4)}
    ports = [calls[one].status for one in (IP_HANDSHAKE, IP_READ)]
    evidence = [frame for call in calls.values() for frame in call.evidence]
    spx = [calls[one].status for one in (IPX_HANDSHAKE, IPX_READ)]
    judge("MQQP-3.1.4.8-03", expected=[0, 0], observed=spx, evidence=evidence)
    judge.finished("MQQP-3.1.4.8-03")
    served = []
    for port in ports:
        try:
            served.append("served" if port and QM2QM in remote.associate(QM2QM, port=port).contexts else "not served")
        except (ConformanceFailure, SutUnavailable) as error:
            served.append(str(error))
    judge("MQQP-3.1.3-01", expected=["served", "served"], observed=served, evidence=evidence)
    judge.finished("MQQP-3.1.3-01")
    beyond = association.call("RemoteQMGetQMQMServerPort", dwPortType=4)
    refused = "none" if beyond.thrown is not None or beyond.status == 0 else beyond.outcome
    seen = [*("a port" if port else "none" for port in ports), refused]
    judge(
        "MQQP-3.1.4.8-02", expected=["a port", "a port", "none"], observed=seen, evidence=[*evidence, *beyond.evidence]
    )
    apart = [(port or 0) - default for port, default in zip(ports, DEFAULTS, strict=True)]
    steps = ["by steps" if one >= 0 and one % STEP == 0 else f"{one} from it" for one in apart]
    configured = remote.sut.file.driver.rpc_port
    if configured in ports and configured not in DEFAULTS:  # it listens where its configuration says
        steps = ["by steps", "by steps"]
    judge("MQQP-3.1.4.8-04", expected=["by steps", "by steps"], observed=steps, evidence=evidence)


@covers("MQQP-3.1.4.9-02", "MQQP-3.1.4.9-03")
def test_the_version_is_6_1_and_a_build(remote, judge):
    """Major 6, minor 1, or those of the release that the SUT says to be; some build, not before its first."""
    release = release_of(remote.sut)
    call = remote.associate(QM2QM).call("RemoteQmGetVersion").settled()
    judge(
        "MQQP-3.1.4.9-02",
        expected=list(release.version),
        observed=[call.out.pMajor, call.out.pMinor],
        evidence=call.evidence,
    )
    expected = Between(release.first_build or 1, 0xFFFF)
    judge("MQQP-3.1.4.9-03", expected=expected, observed=call.out.pBuildNumber, evidence=call.evidence)
