"""Take the steps of the area `connecting` on a system. The peer answers the system's pings and requests for
sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from itertools import pairwise
from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.explore.unused_fields import group_unused_field_values_by_header
from harness.explore.worlds import StepObservation
from harness.model.agreement import ExpectedRefusal, ExpectedValueThatSystemCannotShow
from harness.model.connecting.area import RESPONSE_WITH_REFUSAL, RESPONSE_WITH_WRONG_CLIENT_GUID, VALID_RESPONSE
from harness.model.connecting.attempts import (
    ACK_WAIT_TIMEOUT_MS,
    INITIALIZATION_TIMEOUT_MS,
    REACTION_TIME_MS,
    WINDOW_SIZE,
)
from harness.model.connecting.state import (
    DIRECT_DESTINATION,
    MAX_COMPARED_HISTORY_ENTRIES,
    PEER_SERVER_GUID,
    PING_COOKIE_ORDERS,
    PINGS_ANSWERED,
    PINGS_IGNORED,
    PINGS_REFUSED,
    PRIVATE_DESTINATION,
    UNKNOWN_HOST_DESTINATION,
    ZERO_SERVER_GUID,
)
from harness.model.steps import Step
from harness.peer.conversation import RawConversation
from harness.peer.handshake import NULL_GUID
from harness.peer.peer import Peer
from harness.peer.raw_ends import PingPort
from harness.peer.timeouts import PEER_TIMEOUTS
from harness.sut.control import ControlRefused
from harness.wire import connection_parameters, establish_connection, ping_response, session_ack, user_message
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FinalAckBody,
    FormatError,
    MessageClass,
    OrderAckBody,
    SessionAckPacket,
    TxSequenceID,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.surface.inputs import Endpoint

_FOREIGN_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-00000000ffff")
_TIMEOUT_LONGER_THAN_WALK_MS = 3_600_000
_MAX_MESSAGES_NAMED_BY_ACK = 32
_QUEUE_ON_UNKNOWN_HOST = "DIRECT=OS:mqc-no-such-host.invalid\\private$\\mqc-x"
_ORDER_QUEUE = "PRIVATE$\\order_queue$"
_SESSION_ACK_PACKET_TYPE = 1
"""InternalHeader.Flags.PT of a SessionAck (MS-MQMQ 2.2.20.1)."""
_ORDERING_LABEL = "QM Ordering Ack"
_NO_SEQUENCE_ID = TxSequenceID(1, 1)
_PING_SIZE_BYTES, _PING_REFUSED_FLAG_BIT, _SIGNATURE_OFFSET = 24, 2, 2


class PingAnsweringPort(PingPort):
    """The peer's port for pings. Before each response, the port sends two datagrams that the system must
    ignore, and after the response a further response, which contradicts the response.
    """

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer, peer.sut.file.driver.peer_ping_port)
        self.mode = PINGS_ANSWERED
        self.unused: dict[str, int] = {}
        """The unused bits that are set in each response."""
        self.wrong = 0
        self._cookies: list[int] = []

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        """Check a ping, and answer it."""
        super().on_datagram(remote, data)
        cookie = int.from_bytes(data[4:8], "little")
        own = (
            data[8:] == self.peer.sut.guid.bytes_le
            and len(data) == _PING_SIZE_BYTES
            and not data[0] & _PING_REFUSED_FLAG_BIT
        )
        self.wrong += not own
        self._cookies.append(cookie)
        if self.mode == PINGS_IGNORED:
            return
        refused = self.mode == PINGS_REFUSED
        fields: dict[str, Any] = {"QMGuid": self.peer.identifier, "Cookie": cookie}
        decoy = ping_response(**fields | {"Cookie": cookie ^ 0x0001_0000}, RF=int(not refused))
        self.send(decoy, to=remote)
        other = bytearray(bytes(ping_response(**fields, RF=int(not refused))))
        other[_SIGNATURE_OFFSET] ^= 0xFF
        self.send(bytes(other), to=remote)
        self.send(ping_response(**fields, **self.unused, RF=int(refused)), to=remote)
        self.send(ping_response(**fields, RF=int(not refused)), to=remote)

    def describe_cookies(self) -> str:
        """Describe the cookies of all pings in the terms of the model."""
        ascending, constant = PING_COOKIE_ORDERS
        if set(self._cookies) == {1}:
            return constant
        follow = all(later == one + 1 & 0xFFFF_FFFF for one, later in pairwise(self._cookies))
        return ascending if follow else str(self._cookies)


class DrivenConnectingSystem:
    """A system that sends to three destinations, and a peer without a core that accepts the system's connections."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._sut = peer.sut
        self._names = {
            DIRECT_DESTINATION: peer.direct_name("mqc-x"),
            PRIVATE_DESTINATION: peer.build_private_format_name_of_peer(9),
            UNKNOWN_HOST_DESTINATION: _QUEUE_ON_UNKNOWN_HOST,
        }
        if peer.sut.has("set_timers"):
            timers = {
                "session_initialization_ms": INITIALIZATION_TIMEOUT_MS,
                "session_cleanup_ms": _TIMEOUT_LONGER_THAN_WALK_MS,
            }
            timers["ack_wait_timeout_ms"] = ACK_WAIT_TIMEOUT_MS
            peer.sut.set_timers(**timers, **({} if peer.environment.is_time_virtual else {"scale": 1}))
        self._pings = PingAnsweringPort(peer)
        peer.call_at_end_of_test(self._pings.close)
        self._queue = peer.sut.queue("plain")
        self._listener = peer.listen_without_core(ping=False)
        self._sessions: dict[str, RawConversation] = {}
        self._connection_counts = dict.fromkeys(self._names, 0)
        self._acknowledged = dict.fromkeys(self._names, 0)
        self._counts_of_messages_from_peer = dict.fromkeys(self._names, 0)
        """The number of messages that the peer sent on each session."""
        self._window_sizes = dict.fromkeys(self._names, 64)

    def elapsed_ms(self) -> int | None:
        """Return None: elapsed time is not measured, because the model sets the duration of each step."""
        return None

    def idle(self, ms: int) -> None:
        """Let time pass."""
        self._peer.pass_time(ms)

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        """Take a step, and wait until the system has reacted."""
        try:
            getattr(self, f"_perform_{step.name}")(**step.arguments)
            answer: Any = "done"
        except ControlRefused:
            answer = ExpectedRefusal()
        self._peer.pass_time(step.arguments.get("ms", REACTION_TIME_MS))
        self._take_connections(step)
        return StepObservation({"answer": answer}, self._read_visible_state())

    def _take_connections(self, step: Step) -> None:
        """Assign each new connection to a destination."""
        named: list[RawConversation] = []
        for conversation in list(self._listener.waiting):
            request = _parse_packet(conversation.record.from_sut[0]) if conversation.record.from_sut else None
            if isinstance(request, EstablishConnectionPacket):
                self._listener.waiting.remove(conversation)
                if request.EstablishConnectionHeader.ServerGuid == NULL_GUID:
                    self._assign_connection(conversation, DIRECT_DESTINATION)
                else:
                    named.append(conversation)
        for conversation in named:
            self._assign_connection(conversation, self._find_destination(step))

    def _assign_connection(self, conversation: RawConversation, name: str) -> None:
        self._sessions[name] = conversation
        self._connection_counts[name] += 1
        self._acknowledged[name] = self._counts_of_messages_from_peer[name] = 0

    def _find_destination(self, step: Step) -> str:
        """Return the destination of a session request in which the system sent the peer's identifier. The request may
        also be for the direct name (erratum E11) if no session to this destination exists and its outgoing queue waits
        for a session.
        """
        names = sorted((PRIVATE_DESTINATION, DIRECT_DESTINATION), key=lambda name: name != step.arguments.get("to"))
        free = [one for one in names if one not in self._sessions or self._sessions[one].record.closed_by is not None]
        waiting = [one for one in free if self._describe_outgoing_queue(self._names[one])["state"] == "Waiting"]
        return [*waiting, PRIVATE_DESTINATION][0]

    # -- steps ----------------------------------------------------------------------------------------------------

    def _perform_send(self, message: str, to: str, delivery: str) -> None:
        self._sut.send(self._names[to], label=message, body="", delivery=delivery)

    def _perform_send_private(self, message: str, to: str, delivery: str) -> None:
        self._perform_send(message, to, delivery)

    def _perform_burst(self, messages: list[str], to: str) -> None:
        for message in messages:
            self._perform_send(message, to, "express")

    def _perform_offer_burst(self, to: str, number: int) -> None:
        for _ in range(number):
            self._sessions[to].send(self._build_message(self._queue, {"DM": 1}))
        self._counts_of_messages_from_peer[to] += number

    def _perform_acknowledge(self, to: str, number: int, unused: list[str]) -> None:
        packets = [_parse_packet(frame) for frame in self._sessions[to].record.from_sut]
        messages = [one for one in packets if isinstance(one, UserMessagePacket)]
        last = {_get_label(one): place for place, one in enumerate(messages, 1) if place > self._acknowledged[to]}
        self._acknowledged[to] = max(list(last.values())[:number], default=self._acknowledged[to])
        named = sum(one.UserHeader.DM == 1 for one in messages[: self._acknowledged[to]])
        first = max(named - _MAX_MESSAGES_NAMED_BY_ACK + 1, 1)
        header: dict[str, Any] = {
            "WindowSize": self._window_sizes[to],
            "AckSequenceNumber": self._acknowledged[to],
            "RecoverableMsgAckSeqNumber": min(first, named),
            "RecoverableMsgAckFlags": (1 << (named - first + 1)) - 1,
            "UserMsgSequenceNumber": self._counts_of_messages_from_peer[to],
            "RecoverableMsgSeqNumber": self._counts_of_messages_from_peer[to],
        }
        self._sessions[to].send(session_ack(**header | group_unused_field_values_by_header(unused)))

    def _perform_respond(self, to: str, how: str, unused: list[str]) -> None:
        if how not in (VALID_RESPONSE, RESPONSE_WITH_REFUSAL, RESPONSE_WITH_WRONG_CLIENT_GUID):
            self._send_forbidden_packet(to, how)
            return
        client = _FOREIGN_QUEUE_MANAGER_GUID if how == RESPONSE_WITH_WRONG_CLIENT_GUID else self._sut.guid
        fields = group_unused_field_values_by_header(unused)
        internal = {"CS": int(how == RESPONSE_WITH_REFUSAL)} | fields["internal"]
        response = self._build_response(
            ClientGuid=client, base=fields["base"], internal=internal, **fields["establish"]
        )
        self._sessions[to].send(response)

    def _build_response(self, **fields: Any) -> Any:
        usual: dict[str, Any] = {"ClientGuid": self._sut.guid, "ServerGuid": self._peer.identifier, "TimeStamp": 1_000}
        return establish_connection(**usual | fields)

    def _perform_parametrize(self, to: str, how: str, window: int, unused: list[str]) -> None:
        if how == VALID_RESPONSE:
            self._window_sizes[to] = window
            fields = group_unused_field_values_by_header(unused)
            header = PEER_TIMEOUTS | {"WindowSize": window} | fields["parameters"]
            response = connection_parameters(base=fields["base"], internal=fields["internal"], **header)
            self._sessions[to].send(response)
        else:
            self._send_forbidden_packet(to, how)

    def _send_forbidden_packet(self, to: str, how: str) -> None:
        """Send a packet that is not permitted in the phase of the session."""
        packets: dict[str, Callable[[], Any]] = {
            "session ack": lambda: session_ack(WindowSize=64),
            "message": lambda: self._build_message(),
            "garbage": lambda: b"\xff" * 64,
            "parameters": lambda: connection_parameters(**PEER_TIMEOUTS | {"WindowSize": 64}),
            "establish": lambda: self._build_response(),
            "order ack": lambda: self._build_message(
                MessageClass=int(MessageClass.MQMSG_CLASS_ORDER_ACK),
                label=_ORDERING_LABEL,
                body=OrderAckBody(_NO_SEQUENCE_ID, 1, 0).build(),
            ),
            "final ack": lambda: self._build_message(
                MessageClass=int(MessageClass.MQMSG_CLASS_ACK_RECEIVE),
                label=_ORDERING_LABEL,
                body=FinalAckBody(_NO_SEQUENCE_ID, 1, 0, self._sut.guid, 1).build(),
            ),
        }
        self._sessions[to].send(packets[how]())

    def _build_message(
        self, queue: str = "PRIVATE$\\mqc-plain", user: dict[str, Any] | None = None, **properties: Any
    ) -> Any:
        sent = {
            "SourceQueueManager": self._peer.identifier,
            "MessageID": self._peer.next_message_id(),
            "SentTime": self._peer.environment.now().utc_s,
            "DM": int("body" in properties),
        }
        return user_message(
            user=sent | (user or {}),
            base={"PR": 0 if properties else 3},
            destination=f"TCP:{self._sut.address}\\{_ORDER_QUEUE if properties else queue}",
            **properties,
        )

    def _perform_hang_up(self, to: str) -> None:
        self._sessions[to].end()

    def _perform_treat_pings(self, how: str, unused: list[str]) -> None:
        self._pings.mode = how
        self._pings.unused = group_unused_field_values_by_header(unused)[""]

    def _perform_pause(self, to: str) -> None:
        self._sut.control.call("pause_queue", to=self._names[to])

    def _perform_resume(self, to: str) -> None:
        self._sut.control.call("resume_queue", to=self._names[to])

    def _perform_wait(self, ms: int) -> None:
        """Do nothing. This step consists only of waiting, and the caller waits after this call."""

    # -- visible state --------------------------------------------------------------------------------------------

    def _read_visible_state(self) -> dict[str, Any]:
        listed = {one["format_name"].lower(): one for one in self._sut.control.call("list")["outgoing"]}
        seen: dict[str, Any] = {"pings": len(self._pings.received), "wrong pings": self._pings.wrong}
        seen["cookies of pings"] = self._pings.describe_cookies()
        for name, to in self._names.items():
            one = listed.get(to.lower())
            seen[name] = {
                "connections": self._connection_counts[name],
                "waiting": 0 if one is None else one["count"],
                **self._describe_outgoing_queue(to),
                **(self._describe_session(name) if name in self._sessions else {}),
            }
        return seen

    def _describe_outgoing_queue(self, to: str) -> dict[str, Any]:
        if not self._sut.has("management"):
            return {"state": ExpectedValueThatSystemCannotShow(), "history": ExpectedValueThatSystemCannotShow()}
        found = self._sut.control.call("get_outgoing_queue", to=to)["outgoing"]
        if not found:
            return {"state": "Inactive", "history": []}
        history = found[0].get("ConnectionHistory")
        return {
            "state": found[0].get("State", ExpectedValueThatSystemCannotShow()),
            "history": ExpectedValueThatSystemCannotShow()
            if history is None
            else [entry["Status"] for entry in history[-MAX_COMPARED_HISTORY_ENTRIES:]],
        }

    def _describe_session(self, name: str) -> dict[str, Any]:
        session = self._sessions[name]
        packets = [_parse_packet(frame) for frame in session.record.from_sut]
        messages = [one for one in packets if isinstance(one, UserMessagePacket)]
        servers = {
            self._peer.identifier: PEER_SERVER_GUID,
            **({NULL_GUID: ZERO_SERVER_GUID} if name == DIRECT_DESTINATION else {}),
        }
        asked = packets[0].EstablishConnectionHeader
        headers = [one.SessionHeader for one in packets if isinstance(one, SessionAckPacket | UserMessagePacket)]
        return {
            "server": servers.get(asked.ServerGuid, str(asked.ServerGuid)),
            "closed": session.record.closed_by is not None,
            "came": ExpectedValueThatSystemCannotShow()
            if self._has_nondefault_window_size(packets)
            else list(map(_get_label, messages)),
            "set-up": len(packets),
            "se": asked.SE,
            "acknowledged": max((one.AckSequenceNumber for one in headers if one is not None), default=0),
            "wrong packets": sum(not self._is_valid_packet(one, servers) for one in packets),
        }

    def _has_nondefault_window_size(self, packets: list[Any]) -> bool:
        """Return whether the system sent a WindowSize other than the default value."""
        named = [one.ConnectionParametersHeader for one in packets if isinstance(one, ConnectionParametersPacket)]
        return any(one.WindowSize != WINDOW_SIZE for one in named)

    def _is_valid_packet(self, packet: Any, servers: Collection[UUID]) -> bool:
        if isinstance(packet, EstablishConnectionPacket):
            header = packet.EstablishConnectionHeader
            return header.ClientGuid == self._sut.guid and header.ServerGuid in servers
        if isinstance(packet, ConnectionParametersPacket):
            return packet.ConnectionParametersHeader.WindowSize > 0
        if isinstance(packet, SessionAckPacket):
            return bool(
                packet.BaseHeader.IN and packet.BaseHeader.SH and packet.InternalHeader.PT == _SESSION_ACK_PACKET_TYPE
            )
        return packet is not None


def _get_label(packet: UserMessagePacket) -> str:
    return (packet.MessagePropertiesHeader.Label or "").rstrip("\0")


def _parse_packet(frame: Frame) -> Any:
    try:
        return parse_packet(frame.data)
    except FormatError:
        return None
