"""MS-MQQB 2.1.1 Protocol Session: connections for format names that contain a GUID."""

from __future__ import annotations

import pytest

from harness.expectations import packet
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("send")
@covers("MQQB-2.1.1-02")
@pytest.mark.parametrize(
    "kind", [pytest.param("private", marks=needs("private_names")), pytest.param("public", marks=needs("public_names"))]
)
def test_initiator_connects_to_the_tcp_port_for_name_with_guid(peer, sut, judge, kind):
    """The SUT has a message for a private or public format name of the peer. It connects to the peer's TCP port and
    requests a session there.
    """
    name = private_name(peer.identifier) if kind == "private" else f"PUBLIC={PEER_PUBLIC_QUEUE}"
    session = OutgoingSession(peer, sut, name)
    connection = session.listener.accept()
    request = connection.poll("EstablishConnection") if connection is not None else None
    judge(
        "MQQB-2.1.1-02",
        expected=packet("EstablishConnection"),
        observed=request or connection,
        case="first packet of the SUT",
        evidence=[request],
    )
