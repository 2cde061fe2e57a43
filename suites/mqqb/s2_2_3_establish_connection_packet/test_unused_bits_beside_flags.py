"""MS-MQQB 2.2.3.1 EstablishConnectionHeader: the response to a request with an unused bit of OperatingSystem."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.peer.handshake import establish_request
from harness.run.marks import covers

UNUSED_BIT_BY_RULE = {
    "MQQB-2.2.3.1-09": "X11",
    "MQQB-2.2.3.1-10": "X12",
    "MQQB-2.2.3.1-11": "X13",
    "MQQB-2.2.3.1-12": "X14",
    "MQQB-2.2.3.1-13": "X15",
}


@covers(*UNUSED_BIT_BY_RULE)
@pytest.mark.parametrize(
    "flags", [{"SE": 0, "OS": 0}, {"SE": 1, "OS": 0}, {"SE": 0, "OS": 1}], ids=["neither", "session", "server"]
)
def test_unused_bit_of_request_changes_no_flag_of_response(peer, judge, flags):
    """The peer sends EstablishConnection requests without and with each unused bit of OperatingSystem. CS and the named
    bits of OperatingSystem are the same in all responses of the SUT.
    """
    plain_sent, plain = _request_session(peer, flags)
    if plain is None:
        raise ConformanceFailure("the SUT does not answer an EstablishConnection request")
    expected = fields(_read_flags(plain))
    for rule, bit in UNUSED_BIT_BY_RULE.items():
        sent, reply = _request_session(peer, {**flags, bit: 1})
        judge(
            rule,
            expected=expected,
            observed="no response" if reply is None else _read_flags(reply),
            case=f"flags of the response to a request with {bit} set",
            evidence=[plain_sent, plain, sent, reply],
        )


def _request_session(peer: Any, header: dict[str, int]) -> tuple[Any, Any]:
    """Send a request on a new connection; return the request and the response, which is None if the SUT sends none."""
    connection = peer.connect()
    sent = connection.send(establish_request(peer, **header))
    reply = connection.poll("EstablishConnection")
    connection.close()
    return sent, reply


def _read_flags(reply: Any) -> dict[str, int]:
    header = reply["EstablishConnectionHeader"]
    named = {name: int(getattr(header, name)) for name in ("RE", "SE", "OS", "QS")}
    return named | {"CS": int(reply["InternalHeader"].CS)}
