"""MS-MQQB 2.2.7 Ping Packet: the flags of the Ping Request that an initiator sends after a restart."""

from __future__ import annotations

from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqqb.s2_2_7_ping_packet.test_ping_flags_of_an_initiator import SERVER_CLASS_SYSTEMS
from suites.mqqb.steps.pinging import PingingSut, describe_ping_fields


@needs("ping_initiator", "operating_system", "restart")
@covers("MQQB-2.2.7-02")
def test_ping_request_after_restart_has_rc_of_its_system(peer, sut, judge):
    """The SUT restarts and then sends a Ping Request. RC is 0 if OperatingSystemType of the SUT is WinServer or WinEnt,
    and 1 otherwise.
    """
    kind = sut.operating_system_type
    sut.restart()
    asked = PingingSut(peer, sut).await_ping()
    judge(
        "MQQB-2.2.7-02",
        expected=fields(RC=int(kind not in SERVER_CLASS_SYSTEMS)),
        observed=describe_ping_fields(asked, "RC"),
        case=f"Ping Request of a SUT of type {kind} after a restart",
        evidence=asked,
    )
