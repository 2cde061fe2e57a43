"""Faults that break rules of MS-MQQB 2.2.2 ConnectionParameters Packet on some sessions only."""

from __future__ import annotations

from typing import Any

from harness.faults.registry import add
from harness.faults.session_packets import (
    change_sent_packet,
    clear_internal_flag,
    has_earlier_request,
    has_other_session,
    is_destination_guid,
)
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session

_CONNECTION_PARAMETERS_HEADER_OFFSET = 20
"""The offset of the ConnectionParametersHeader in a packet."""


def _is_request_to_destination_with_guid(qm: QueueManager, session: Session, packet: Any) -> bool:
    return session.initiator and is_destination_guid(qm, session, packet)


def _is_response_while_other_session_exists(qm: QueueManager, session: Session, packet: Any) -> bool:
    return not session.initiator and has_other_session(qm, session, packet)


def _is_connection_parameters_request(qm: QueueManager, session: Session, packet: Any) -> bool:
    return session.initiator


for _words, _condition, _says in (
    (
        "response-beside-other-session",
        _is_response_while_other_session_exists,
        "response while another session is open",
    ),
    ("request-to-private-name", _is_request_to_destination_with_guid, "request to a private format name"),
    ("later-request", has_earlier_request, "request of a second connection to the same destination"),
):
    add(
        f"connection-parameters-{_words}-in-clear",
        "MQQB-2.2.2-01",
        f"The queue manager clears IN in the ConnectionParameters {_says}.",
        change_sent_packet(ConnectionParametersPacket, clear_internal_flag, _condition),
        blind=True,
    )


def _swap_two_ack_timeouts(data: bytes) -> bytes:
    at = _CONNECTION_PARAMETERS_HEADER_OFFSET
    return data[:at] + data[at + 4 : at + 8] + data[at : at + 4] + data[at + 8 :]


def _swap_window_size_and_reserved(data: bytes) -> bytes:
    return data[:-4] + data[-2:] + data[-4:-2]


for _name, _says, _change, _condition in (
    (
        "connection-parameters-request-ack-timeout-first",
        "The initiator sends AckTimeout before RecoverableAckTimeout.",
        _swap_two_ack_timeouts,
        _is_connection_parameters_request,
    ),
    (
        "connection-parameters-later-request-window-size-before-reserved",
        "The initiator sends WindowSize before Reserved on a second connection to the same destination.",
        _swap_window_size_and_reserved,
        has_earlier_request,
    ),
):
    add(
        _name,
        "MQQB-2.2.2.1-D01",
        _says,
        change_sent_packet(ConnectionParametersPacket, _change, _condition),
        blind=True,
    )
