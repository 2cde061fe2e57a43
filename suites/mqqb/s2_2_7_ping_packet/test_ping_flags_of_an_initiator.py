"""MS-MQQB 2.2.7 Ping Packet: the flags of the request that an initiator sends, and of the response that it gets."""

from __future__ import annotations

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.pinging import OPENED, OPENED_NONE, Caller, element, seen

SERVERS = ("WinServer", "WinEnt")


@needs("ping_initiator", "inspect")
@covers("MQQB-2.2.7-02")
def test_only_a_server_leaves_its_type_clear(peer, sut, judge):
    """RC of the Ping Request is clear for OperatingSystemType WinServer and WinEnt only.

    OS of the EstablishConnection request says the same, but not on the wire: frames 1 and 3 of 4.1 have RC 1 and OS 1.
    """
    asked = Caller(peer, sut).asked()
    kind = element(sut.inspect()["QueueManager"], "OperatingSystemType")
    expected = fields(RC=int(kind not in SERVERS))
    judge("MQQB-2.2.7-02", expected=expected, observed=seen(asked, "RC"), case=kind, evidence=asked)


@sut_survives()
@needs("ping_initiator")
@covers("MQQB-2.2.7-01")
@pytest.mark.parametrize(("RF", "expected"), [(0, OPENED), (1, OPENED_NONE)])
def test_unused_flags_of_a_response_make_no_difference(peer, sut, judge, RF, expected):
    """With every unused flag set, a response still means what its RF says."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    answer = caller.answer(asked, Flags=0xFFFC | RF << 1)
    judge("MQQB-2.2.7-01", expected=expected, observed=caller.outcome(caller.before_retry_ms), evidence=[asked, answer])
