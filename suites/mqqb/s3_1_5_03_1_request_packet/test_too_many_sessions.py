"""MS-MQQB 3.1.5.3.1 Request Packet, 2.2.1: a session beyond the limit of the SUT."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import connection_closed_by_sut, packet
from harness.peer.handshake import establish_request
from harness.run.marks import covers, sut_survives
from reference_qm.surface.entropy import generate_guid
from suites.mqqb.steps.opening import format_guid

MAX_OPENED_SESSIONS = 12
"""The number of sessions of different initiators: more than the ten that a Windows client release accepts (notes <12>,
<70>).
"""
SESSION_LIMIT_KEY = "max_sessions"
SMALL_SESSION_LIMIT = 2
CONNECTION_STATE_BIT = 0x10


def _open_sessions_until_refusal(peer):
    """Open sessions of different initiators until the SUT refuses or closes one; return this session and its request,
    or None if the SUT accepts all.
    """
    for _ in range(MAX_OPENED_SESSIONS):
        connection = peer.connect()
        sent = connection.send(establish_request(peer, ClientGuid=generate_guid(peer.entropy), SE=1))
        answer = connection.poll_packet(0)
        if answer is None or answer.data[18] & CONNECTION_STATE_BIT or connection.wait_closed(peer.sut.quiet_ms):
            return connection, sent
    return None


@sut_survives()
@covers("MQQB-2.2.1-06", "MQQB-3.1.5.3.1-09", "MQQB-3.1.5.3.1-D01")
def test_session_beyond_the_limit_is_refused_and_closed(peer, sut, judge):
    """Different initiators request sessions until the SUT refuses a request: the response to the refused request has CS
    1, and the SUT closes its connection. If the limit of the SUT can be configured, the test sets the limit to two; the
    SUT also refuses a second request, which contains the GUID of the SUT, and sends this GUID. A SUT without that
    setting may accept all twelve sessions; in this case the rules are not judged.
    """
    usual = sut.control.call("configure").get(SESSION_LIMIT_KEY) if sut.has("configure") else None
    if usual is not None:
        sut.configure(max_sessions=SMALL_SESSION_LIMIT)
    refused = _open_sessions_until_refusal(peer)
    if refused is None:
        judge.mark_not_exercised(
            "MQQB-2.2.1-06",
            "MQQB-3.1.5.3.1-09",
            "MQQB-3.1.5.3.1-D01",
            reason=f"the SUT accepts {MAX_OPENED_SESSIONS} sessions, so the check does not reach the SUT's limit",
        )
        return
    connection, sent = refused
    answer = connection.received[0] if connection.received else None
    refusal = packet("EstablishConnection", {"InternalHeader.CS": 1})
    judge(
        "MQQB-2.2.1-06",
        expected=refusal,
        observed=answer or connection,
        case="response to the request",
        evidence=[sent, answer],
    )
    judge(
        "MQQB-3.1.5.3.1-D01",
        expected=connection_closed_by_sut(),
        observed=connection.await_close(),
        evidence=[sent, answer],
    )
    if usual is not None:
        later = peer.connect()
        sent = later.send(establish_request(peer, ClientGuid=generate_guid(peer.entropy), ServerGuid=sut.guid, SE=1))
        answer = later.poll_packet(0)
        judge(
            "MQQB-2.2.1-06",
            expected=refusal,
            observed=answer or later,
            case="response to a second request beyond the limit",
            evidence=[sent, answer],
        )
        judge(
            "MQQB-3.1.5.3.1-D01",
            expected=connection_closed_by_sut(),
            observed=later.await_close(),
            evidence=[sent, answer],
        )
        if answer is not None and answer.kind == "EstablishConnection":
            judge(
                "MQQB-3.1.5.3.1-09",
                expected=format_guid(sut.guid),
                observed=format_guid(answer["EstablishConnectionHeader"].ServerGuid),
                case="ServerGuid of the refusal",
                evidence=[sent, answer],
            )
        else:
            judge.mark_not_exercised("MQQB-3.1.5.3.1-09", reason="the SUT closed the connection without a response")
    else:
        judge.mark_not_exercised(
            "MQQB-3.1.5.3.1-09",
            reason="the limit is unknown, so the check sends no request with the SUT's GUID beyond the limit",
        )
    if usual is not None:
        sut.configure(max_sessions=usual)
        if not peer.eventually(lambda: peer.request_session().received[0]["InternalHeader"].CS == 0):
            raise ConformanceFailure("the SUT accepts no further session")
