"""Checks take the messages of the SUT from the peer's inbox, because the SUT may send them on any session (E16)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from harness.paths import SUITES

OF_THE_WHOLE_TEST = {
    ("recorder", "frames"),
    ("recorder", "connections"),
    ("peer", "open_conversations"),
    ("peer", "sessions"),
    ("peer", "sessions_not_awaited_by_check"),
}
"""The attributes that a check would search if it looked for messages itself."""
OF_ONE_CONNECTION = {"received", "from_sut"}
ONE_MESSAGE = {("poll", "UserMessage"), ("expect", "UserMessage")}

ABOUT_CONNECTIONS = frozenset(
    {
        "mqmq/s2_2_19_1_base_header",
        "mqmq/s2_2_20_4_session_header",
        "mqmq/s2_2_20_user_message_packet",
        "mqqb/s2_1_1_protocol_session",
        "mqqb/s2_1_2_ping_message",
        "mqqb/s2_2_1_internal_header",
        "mqqb/s2_2_2_connection_parameters_packet",
        "mqqb/s2_2_3_establish_connection_packet",
        "mqqb/s2_2_7_ping_packet",
        "mqqb/s2_2_message_syntax",
        "mqqb/s3_1_1_4_session_message_sequence",
        "mqqb/s3_1_1_7_3_session_with_transactional_messages_sent",
        "mqqb/s3_1_3_2_session_initialization",
        "mqqb/s3_1_5_01_1_packet_identification",
        "mqqb/s3_1_5_01_receiving_any_packet",
        "mqqb/s3_1_5_02_1_resolve_host_address",
        "mqqb/s3_1_5_03_1_request_packet",
        "mqqb/s3_1_5_03_2_response_packet",
        "mqqb/s3_1_5_04_1_request_packet",
        "mqqb/s3_1_5_04_2_response_packet",
        "mqqb/s3_1_5_05_1_mark_acknowledged_messages",
        "mqqb/s3_1_5_05_receiving_session_ack",
        "mqqb/s3_1_5_08_02_general_processing",
        "mqqb/s3_1_5_08_07_recoverable_message_processing",
        "mqqb/s3_1_5_09_closing_a_session",
        "mqqb/s3_1_6_01_session_retry_connect_timer",
        "mqqb/s3_1_6_02_session_cleanup_timer",
        "mqqb/s3_1_6_03_session_ack_wait_timer",
        "mqqb/s3_1_6_04_session_ack_send_timer",
        "mqqb/s3_1_7_01_3_updating_the_user_message",
        "mqqb/s3_1_7_06_send_ping_request",
        "mqqb/s3_1_7_11_construction_of_a_user_message_packet",
        "mqqb/s3_1_7_12_message_position_available",
        "mqqb/s3_1_7_13_pause_queue",
        "mqqb/s3_1_7_14_resume_queue",
        "mqqp/s2_1_transport",
        "mqqp/s3_1_4_04_close_queue",
        "mqso/s5_5_5_internal_storage_failure",
    }
)
"""Sections whose checks are about a connection: the packets on it, their order, their counts, and the end of the
connection.
"""


def looks(source: str) -> Iterator[str]:
    """Yield each way in which the source of a check looks for packets without the inbox."""
    nodes = list(ast.walk(ast.parse(source)))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name) if (
                owner,
                name,
            ) in OF_THE_WHOLE_TEST:
                yield f"{owner}.{name}"
            case ast.Attribute(attr=name) if name in OF_ONE_CONNECTION and node not in called:
                yield f".{name}"
            case ast.Call(func=ast.Attribute(attr=verb), args=[ast.Constant(value=kind), *_]) if (
                verb,
                kind,
            ) in ONE_MESSAGE:
                yield f'.{verb}("{kind}")'


@cache
def looking() -> dict[str, set[str]]:
    """Return the sections whose checks look for packets without the inbox, each with the ways in which they do so."""
    found: dict[str, set[str]] = {}
    for file in sorted(SUITES.rglob("test_*.py")):
        if ways := set(looks(file.read_text(encoding="utf-8"))):
            found.setdefault(str(file.parent.relative_to(SUITES)), set()).update(ways)
    return found


def test_only_checks_about_connections_read_a_connection_directly() -> None:
    others = {section: ways for section, ways in looking().items() if section not in ABOUT_CONNECTIONS}
    assert not others, "use peer.inbox, or session.messages for checks of one session"


def test_every_section_exempt_from_the_inbox_reads_a_connection() -> None:
    assert looking().keys() >= ABOUT_CONNECTIONS


def test_no_check_searches_the_packets_of_all_connections() -> None:
    ways = {f"{owner}.{name}" for owner, name in OF_THE_WHOLE_TEST}
    assert not {section: found & ways for section, found in looking().items() if found & ways}


@pytest.mark.parametrize(
    ("source", "way"),
    [
        ("peer.recorder.frames", "recorder.frames"),
        ("recorder.connections", "recorder.connections"),
        ("sender.peer.sessions.values()", "peer.sessions"),
        ("len(connection.received)", ".received"),
        ('session.poll("UserMessage", within_ms=1)', '.poll("UserMessage")'),
    ],
)
def test_scan_finds_each_way_to_search_packets(source: str, way: str) -> None:
    assert list(looks(source)) == [way]


def test_wait_for_an_acknowledgment_does_not_count_as_packet_search() -> None:
    assert not list(looks('session.poll("SessionAck"); peer.inbox.messages; session.messages'))
