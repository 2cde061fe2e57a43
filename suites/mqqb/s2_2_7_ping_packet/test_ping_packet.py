"""MS-MQQB 2.2.7 Ping Packet: the acceptor receives a Ping Request and sends a Ping Response; an initiator receives a
Ping Response with unused bits.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import fields
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, sut_survives
from harness.wire import ping_request
from suites.mqqb.steps.pinging import (
    STALLED_SUT_REASON,
    PingingSut,
    ping_sut,
    request_session_or_report_refused_connection,
    request_session_with_client_guid,
    require_ping_answer,
)

RULES_OF_UNUSED_BITS = {
    2: "MQQB-2.2.7-06",
    3: "MQQB-2.2.7-07",
    4: "MQQB-2.2.7-08",
    5: "MQQB-2.2.7-09",
    6: "MQQB-2.2.7-10",
    7: "MQQB-2.2.7-11",
    8: "MQQB-2.2.7-12",
    9: "MQQB-2.2.7-13",
    10: "MQQB-2.2.7-14",
    11: "MQQB-2.2.7-15",
    12: "MQQB-2.2.7-16",
    13: "MQQB-2.2.7-17",
    14: "MQQB-2.2.7-18",
    15: "MQQB-2.2.7-19",
}
"""The rule of each unused bit of Flags."""
CLIENT_GUID_FORMAT = "6d71636f-6e66-4f72-8d01-{:012x}"
SESSION_COUNT_BEYOND_CLIENT_LIMIT = 12
"""The number of sessions, each of a different initiator, that the check requests.

Windows client releases accept ten sessions (notes <12>, <70>).
"""


NAMES_OF_JUDGED_PING_FIELDS = ("RC", "RF", "Signature", "Cookie", "QMGuid")
"""The fields of a Ping Response that depend on the Ping Request."""


@sut_survives()
@needs("ping")
@covers("MQQB-2.2.7-01", *RULES_OF_UNUSED_BITS.values())
def test_unused_flags_of_a_ping_request_are_ignored(peer, judge):
    """The peer sends Ping Requests with RC 0 and with RC 1. A request with one or all unused bits set gets the same
    response as a request with all unused bits clear.
    """
    require_ping_answer(peer)
    all_bits = sum(1 << bit for bit in RULES_OF_UNUSED_BITS)
    for RC in (0, 1):
        expected = ping_sut(peer, Flags=RC).fields(*NAMES_OF_JUDGED_PING_FIELDS)
        case = f"response to a Ping Request with RC {RC}"
        for rule, unused in (
            *((rule, 1 << bit) for bit, rule in RULES_OF_UNUSED_BITS.items()),
            ("MQQB-2.2.7-01", all_bits),
        ):
            exchange = ping_sut(peer, Flags=RC | unused)
            judge(
                rule,
                expected=expected,
                observed=exchange.fields(*NAMES_OF_JUDGED_PING_FIELDS),
                case=case,
                evidence=exchange,
            )


@sut_survives()
@needs("ping_initiator")
@pytest.mark.parametrize(
    ("bit", "rule"),
    [pytest.param(bit, rule, marks=covers(rule), id=str(bit)) for bit, rule in RULES_OF_UNUSED_BITS.items()],
)
@pytest.mark.parametrize(
    ("RF", "expected"), [(0, PingingSut.SESSION_OPENED_OUTCOME), (1, PingingSut.NO_SESSION_OUTCOME)]
)
def test_unused_bit_of_a_ping_response_is_ignored(peer, sut, judge, bit, rule, RF, expected):
    """The peer sends a Ping Response with one unused bit set. The SUT opens a session if RF is 0, and opens no session
    if RF is 1.
    """
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    answer = pinging_sut.answer_ping(asked, Flags=1 << bit | RF << 1)
    observed = pinging_sut.await_session(pinging_sut.time_shorter_than_retry_timer_ms)
    if expected == PingingSut.SESSION_OPENED_OUTCOME != observed and pinging_sut.was_too_slow_after_ping(asked):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    case = f"after a Ping Response with RF {RF} and bit {bit}"
    judge(rule, expected=expected, observed=observed, case=case, evidence=[asked, answer])


@needs("ping")
@covers("MQQB-2.2.7-04", "MQQB-3.1.7.7-05")
def test_rf_predicts_outcome_while_sessions_are_added(peer, judge):
    """Before each of up to 12 session requests, RF of a Ping Response is 0 if the SUT then accepts the request, and 1
    if the SUT refuses it.
    """
    for number in range(SESSION_COUNT_BEYOND_CLIENT_LIMIT):
        client = UUID(CLIENT_GUID_FORMAT.format(number))
        exchange = ping_sut(peer, QMGuid=client)
        outcome, connection = request_session_with_client_guid(peer, client)
        evidence = [*exchange, *connection.received[:1]]
        predicted = exchange.session_outcome_predicted_by_rf
        judge.all(
            expected=outcome,
            observed=predicted,
            case=f"outcome of session request {number + 1} that RF of the Ping Response predicts",
            evidence=evidence,
        )
        if outcome != "accepted":
            return


COOKIE_SHARED_BY_PING_REQUESTS = 0x8765_4321
RULES_OF_REFUSING_RESPONSES = (
    "MQQB-2.2.7-03",
    "MQQB-2.2.7-04",
    "MQQB-2.2.7-20",
    "MQQB-2.2.7-D01",
    "MQQB-3.1.7.7-05",
    "MQQB-3.1.7.7-07",
    "MQQB-3.1.7.7-08",
    "MQQB-3.1.7.7-09",
)


@needs("ping", "configure")
@covers(*RULES_OF_REFUSING_RESPONSES)
@pytest.mark.parametrize("RC", [0, 1])
def test_rf_predicts_outcome_when_the_session_limit_changes(peer, sut, judge, RC):
    """The SUT's session limit is set to 1, and then to its usual value. Each time, RF in a Ping Response predicts
    whether the SUT accepts the next session request. RC and Cookie are those of the Ping Request, and QMGuid is that of
    the SUT.
    """
    usual = sut.control.call("configure").get("max_sessions")
    if usual is None:
        judge.mark_not_exercised(
            *RULES_OF_REFUSING_RESPONSES, reason="the SUT's limit of sessions cannot be configured"
        )
        return
    opened = [request_session_with_client_guid(peer, peer.identifier)[1]]
    for limit in (1, usual):
        sut.configure(max_sessions=limit)
        exchange = ping_sut(peer, RC=RC, Cookie=COOKIE_SHARED_BY_PING_REQUESTS)
        outcome, connection = request_session_with_client_guid(peer, peer.identifier)
        opened.append(connection)
        case = f"Ping Response with max_sessions {limit}"
        judge(
            "MQQB-2.2.7-04",
            "MQQB-3.1.7.7-05",
            expected=outcome,
            observed=exchange.session_outcome_predicted_by_rf,
            case=f"outcome that RF of the {case} predicts",
            evidence=exchange,
        )
        judge(
            "MQQB-2.2.7-03",
            "MQQB-3.1.7.7-07",
            expected=fields(RC=RC),
            observed=exchange.fields("RC"),
            case=case,
            evidence=exchange,
        )
        for rule, name, value in (
            ("MQQB-3.1.7.7-08", "Cookie", COOKIE_SHARED_BY_PING_REQUESTS),
            ("MQQB-3.1.7.7-09", "QMGuid", sut.guid),
        ):
            judge(rule, expected=fields({name: value}), observed=exchange.fields(name), case=case, evidence=[*exchange])
        sent, got = exchange
        flags = RC | (outcome != "accepted") << 1
        judge(
            "MQQB-2.2.7-20",
            expected=fields(Signature=0x5548, QMGuid=sut.guid),
            observed=exchange.fields("Signature", "QMGuid"),
            case=case,
            evidence=[sent, got],
        )
        judge(
            "MQQB-2.2.7-D01",
            expected=bytes([flags, 0]) + b"HU" + sent.data[4:8] + sut.guid.bytes_le,
            observed="nothing" if got is None else bytes([got.data[0] & 3, 0]) + got.data[2:],
            case=f"bytes of the {case}",
            evidence=[sent, got],
        )


@needs("ping", "pause")
@covers("MQQB-2.2.7-04", "MQQB-3.1.7.7-05")
def test_rf_is_set_while_the_sut_is_offline(peer, sut, judge):
    """The SUT is taken off the network, which ends its sessions, and brought back. RF in a Ping Response is set while
    the SUT refuses session requests, and clear afterwards.
    """
    for case, change in (("offline", sut.take_offline), ("online again", sut.bring_online)):
        change()
        exchange = ping_sut(peer)
        outcome = request_session_or_report_refused_connection(peer)
        if exchange.received is None and outcome != "accepted":
            reason = "the SUT answers no ping while it is offline"
            judge.mark_not_exercised("MQQB-2.2.7-04", "MQQB-3.1.7.7-05", reason=reason, evidence=[*exchange])
            continue
        judge.all(
            expected=outcome,
            observed=exchange.session_outcome_predicted_by_rf,
            case=f"outcome that RF of the Ping Response predicts while the SUT is {case}",
            evidence=exchange,
        )


@needs("ping")
@covers("MQQB-2.2.7-21", "MQQB-3.1.7.7-03")
@pytest.mark.parametrize("signature", [0x0000, 0x0048, 0x5500, 0x5549, 0x4855, 0xFFFF])
def test_ping_request_with_wrong_signature_is_ignored(peer, judge, signature):
    """A Ping Request with a wrong Signature gets no response; the same request with the correct Signature gets a
    response.
    """
    require_ping_answer(peer)
    end = peer.open_ping_port()
    request = {"QMGuid": peer.identifier, "Cookie": 0x1234}
    wrong = end.send(ping_request(**request, Signature=signature))
    ignored = end.stays_quiet()
    right = end.send(ping_request(**request))
    got = end.poll()
    observed = {"wrong request ignored": ignored, "correct request answered": got is not None}
    expected = fields({"wrong request ignored": True, "correct request answered": True})
    judge.all(expected=expected, observed=observed, evidence=[wrong, right, got])


@needs("ping")
@covers("MQQB-2.2.7-D01")
@pytest.mark.parametrize("RC", [0, 1])
def test_ping_response_has_its_fields_in_place(peer, sut, judge, RC):
    """A Ping Request has a Cookie with four different bytes. Every byte of the response has the expected value, except
    that the flag RF may be 0 or 1.
    """
    sent, got = ping_sut(peer, RC=RC, Cookie=0x8765_4321)
    observed = "nothing" if got is None else bytes([got.data[0] & ~2]) + got.data[1:]
    expected = bytes([RC, 0]) + b"HU" + bytes.fromhex("21436587") + sut.guid.bytes_le
    judge(
        "MQQB-2.2.7-D01", expected=expected, observed=observed, case="bytes of the Ping Response", evidence=[sent, got]
    )
