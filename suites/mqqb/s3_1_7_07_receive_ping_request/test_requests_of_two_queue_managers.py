"""MS-MQQB 3.1.7.7 Receive Ping Request: requests of two queue managers in turn."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.pinging import ping_sut


@needs("ping")
@covers("MQQB-3.1.7.7-02")
def test_requests_of_two_queue_managers_have_their_own_responses(peer, judge):
    """Two queue managers send Ping Requests alternately, each from a port of its own, and each request has its own
    Cookie. Each response has the Cookie of its request.
    """
    ends = {peer.identifier: peer.open_ping_port(), OTHER_GUID: peer.open_ping_port()}
    for number in range(2):
        for guid, end in ends.items():
            cookie = 0x1000 * (number + 1) + (guid == OTHER_GUID)
            exchange = ping_sut(peer, end=end, QMGuid=guid, Cookie=cookie)
            if exchange.ping is None:
                raise ConformanceFailure("the SUT did not answer a Ping Request")
            judge(
                "MQQB-3.1.7.7-02",
                expected=fields(Cookie=cookie),
                observed=exchange.fields("Cookie"),
                case=f"response {number + 1} to the queue manager {guid}",
                evidence=[*exchange],
            )
