"""MS-MQQB 3.1.5.3.1 Request Packet: requests that arrive in parts, or whose reserved fields have other values."""

from __future__ import annotations

from harness.expectations import fields, packet
from harness.judging.verdicts import Verdict
from harness.peer.handshake import establish_request
from harness.run.marks import covers, malforms, sut_survives

SEGMENT_BOUNDARIES_IN_REQUEST = (1, 10, 60)
"""The positions in bytes at which a request is divided."""
UNUSUAL_VALUE_OF_RESERVED_FIELD_RE = 0x2D


@covers("MQQB-3.1.5.3.1-D02")
def test_request_in_parts_is_answered(peer, judge):
    """The peer sends a request in four parts, one after the other. The SUT answers the request."""
    connection = peer.connect()
    data = bytes(establish_request(peer))
    sent = []
    for begin, end in zip(
        (0, *SEGMENT_BOUNDARIES_IN_REQUEST), (*SEGMENT_BOUNDARIES_IN_REQUEST, len(data)), strict=True
    ):
        sent.append(connection.send(data[begin:end]))
        peer.settle()
    answer = connection.poll("EstablishConnection")
    judge.all(
        expected=packet("EstablishConnection", {"InternalHeader.CS": 0}),
        observed=answer or connection,
        case="response to the request",
        evidence=[*sent, answer],
    )


@malforms("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04", "MQQB-3.1.5.2.3-12")
@sut_survives()
@covers("MQQB-3.1.5.3.1-12")
def test_response_to_request_with_other_reserved_fields_has_fixed_values(peer, judge):
    """The peer sends a request in which RE, Reserved and Padding differ from the specified values. If the SUT answers
    the request, its response has the specified values.
    """
    connection = peer.connect()
    sent = connection.send(
        establish_request(peer, RE=UNUSUAL_VALUE_OF_RESERVED_FIELD_RE, Reserved=0xBEEF, Padding=b"\xa5" * 512)
    )
    answer = connection.poll("EstablishConnection")
    if answer is None:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT does not answer a request whose RE is not 0x10")
        return
    header = answer["EstablishConnectionHeader"]
    judge.all(
        expected=fields(RE=0x10, Reserved=0, Padding={0x5A}),
        observed={"RE": header.RE, "Reserved": header.Reserved, "Padding": set(bytes(header.Padding))},
        evidence=[sent, answer],
    )
