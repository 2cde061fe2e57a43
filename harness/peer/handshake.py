"""Build the packets with which the peer opens a session without a core, with any fields. Spec: MS-MQQB 3.1.5.3,
3.1.5.4.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.peer.conversation import RawConversation
from harness.peer.party import CounterpartOfSut
from harness.peer.timeouts import PEER_TIMEOUTS
from harness.wire import connection_parameters, establish_connection

NULL_GUID = UUID(int=0)
FIELD_RESERVED_WITH_UNUSUAL_VALUE = {"Reserved": 0xA7}
"""A value of BaseHeader.Reserved. Receivers ignore this field (MS-MQMQ 2.2.19.1), so a response with a different
value is not an echo of the request.
"""
UNUSUAL_WINDOW_SIZE = 4_099
"""An unusual WindowSize, which no SUT uses by chance."""


def establish_request(peer: CounterpartOfSut, **header: Any) -> Any:
    """Build an EstablishConnection request from the peer, for a direct format name unless a ServerGuid is given."""
    usual: dict[str, Any] = {"ClientGuid": peer.identifier, "ServerGuid": NULL_GUID, "TimeStamp": 123_456}
    return establish_connection(base=FIELD_RESERVED_WITH_UNUSUAL_VALUE, **usual | header)


def build_parameters_request(**header: Any) -> Any:
    """Build a ConnectionParameters request from the peer with short timeouts."""
    return connection_parameters(
        base=FIELD_RESERVED_WITH_UNUSUAL_VALUE, **PEER_TIMEOUTS | {"WindowSize": UNUSUAL_WINDOW_SIZE} | header
    )


def shake_hands(connection: RawConversation, request: Any, parameters: Any) -> RawConversation:
    """Send an EstablishConnection request and a ConnectionParameters request; wait for the answer to each request."""
    connection.send(request)
    connection.expect("EstablishConnection")
    connection.send(parameters)
    connection.expect("ConnectionParameters")
    return connection
