"""MS-MQQB 2.2.3 EstablishConnection Packet: requests to two hosts, for format names of different kinds."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import one_of
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("send", "private_names")
@covers("MQQB-2.2.3.1-01")
def test_server_guid_for_direct_name_after_request_for_private_name(peer, second_host, sut, judge):
    """The SUT has a message for a private format name of the peer, and then a message for a direct format name of a
    second host. ServerGuid of the first request is the GUID in the name. ServerGuid of the second request is zero, or
    the GUID of the second host (erratum E11).
    """
    first = OutgoingSession(peer, sut, private_name(peer.identifier)).await_request()
    second = OutgoingSession(second_host, sut, second_host.direct_name()).await_request()
    for name, request, expected in (
        ("private", first, str(peer.identifier)),
        ("direct", second, one_of(str(UUID(int=0)), str(second_host.identifier))),
    ):
        judge(
            "MQQB-2.2.3.1-01",
            expected=expected,
            observed=str(UUID(str(request["EstablishConnectionHeader"].ServerGuid))),
            case=f"ServerGuid for the {name} format name",
            evidence=request,
            errata="E11",
        )
