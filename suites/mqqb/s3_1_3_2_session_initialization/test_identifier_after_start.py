"""MS-MQQB 3.1.3.2 Session Initialization: the Identifier of the queue manager in sessions before and after a start."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqqb.steps.outgoing_session import OutgoingSession


def _restart_sut(sut):
    sut.restart()


def _stop_and_start_service(sut):
    sut.change_environment(service=False)
    sut.change_environment(service=True)


@covers("MQQB-3.1.3.2-34")
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(_restart_sut, marks=needs("restart"), id="restart"),
        pytest.param(_stop_and_start_service, marks=needs("environment"), id="stop and start"),
    ],
)
def test_identifier_is_the_same_after_start(peer, sut, judge, start):
    """The SUT answers session requests before and after a start with the same ServerGuid. The ClientGuid in the SUT's
    own request after the start is the same GUID.
    """
    before = peer.request_session().received[0]
    start(sut)
    after = peer.request_session().received[0]
    first, second = (UUID(str(frame["EstablishConnectionHeader"].ServerGuid)) for frame in (before, after))
    judge(
        "MQQB-3.1.3.2-34", expected=fields(ServerGuid=first), observed={"ServerGuid": second}, evidence=[before, after]
    )
    request = OutgoingSession(peer, sut).poll_request()
    if request is not None:
        own = UUID(str(request["EstablishConnectionHeader"].ClientGuid))
        judge(
            "MQQB-3.1.3.2-34",
            expected=fields(ClientGuid=first),
            observed={"ClientGuid": own},
            evidence=[before, request],
        )
