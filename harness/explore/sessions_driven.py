"""Take the steps of the area `sessions` on a system by sending packets only."""

from __future__ import annotations

from collections.abc import Set
from typing import Any
from uuid import UUID

from harness.explore.unused_fields import group_unused_field_values_by_header
from harness.explore.wire_seen import SystemPackets
from harness.explore.worlds import StepObservation
from harness.model.sessions.area import (
    EXPRESS_ACK_PAUSE_MS,
    FOREIGN_SERVER_GUID,
    INITIALIZATION_TIMEOUT_MS,
    NULL_SERVER_GUID,
    OWN_SERVER_GUID,
    REACTION_TIME_MS,
    SERVER_GUID_LIKE_OWN_AT_END,
    SERVER_GUID_LIKE_OWN_AT_START,
)
from harness.model.sessions.pings import NAMES_OF_SOURCE_PORTS_OF_PINGS
from harness.model.steps import Step
from harness.peer.conversation import RawConversation
from harness.peer.handshake import NULL_GUID, UNUSUAL_WINDOW_SIZE
from harness.peer.peer import Peer
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.wire import connection_parameters, establish_connection, ping_request, session_ack, user_message
from harness.wire.ping import SIGNATURE
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FinalAckBody,
    FormatError,
    MessageClass,
    OrderAckBody,
    TxSequenceID,
    parse_packet,
)

FOREIGN_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-00000000ffff")
"""An identifier that no queue manager has."""
_IMMEDIATE_REACTION_MS = 50
_NO_SEQUENCE_ID = TxSequenceID(1, 1)
_LONG_RECOVERABLE_TIMEOUT_MS = 3_600_000
"""int ms: the duration of the Session Cleanup Timer, which is longer than any session of an exploration."""
_SIGNATURE_OFFSET = 2
_BYTES_BY_GARBLED_REQUEST = {"signature": 4, "version": 0}
"""The ways to make a packet invalid. The value of each way is the offset of the changed byte in the BaseHeader (MS-MQMQ
2.2.19.1).
"""


class DrivenSessions:
    """A system that accepts sessions on raw connections from the peer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._wire = SystemPackets(peer)
        self._connections: dict[str, RawConversation] = {}
        self._step_ms = REACTION_TIME_MS
        own = peer.sut.guid
        self._server_guids = {
            OWN_SERVER_GUID: own,
            NULL_SERVER_GUID: NULL_GUID,
            FOREIGN_SERVER_GUID: FOREIGN_QUEUE_MANAGER_GUID,
            SERVER_GUID_LIKE_OWN_AT_START: UUID(int=own.int ^ 1),
            SERVER_GUID_LIKE_OWN_AT_END: UUID(int=own.int ^ 1 << 127),
        }
        self._pings = (
            {name: peer.open_ping_port() for name in NAMES_OF_SOURCE_PORTS_OF_PINGS} if peer.sut.has("ping") else {}
        )
        if peer.sut.has("set_timers"):
            timers = {
                "session_initialization_ms": INITIALIZATION_TIMEOUT_MS,
                "session_cleanup_ms": _LONG_RECOVERABLE_TIMEOUT_MS,
            }
            peer.sut.set_timers(**timers, **({} if peer.environment.is_time_virtual else {"scale": 1}))

    def elapsed_ms(self) -> int | None:
        """Return None: elapsed time is not measured, because the model sets the duration of each step."""
        return None

    def idle(self, ms: int) -> None:
        """Let time pass."""
        self._peer.pass_time(ms)

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        """Send the packet of the step, and wait until the system has reacted."""
        self._step_ms = REACTION_TIME_MS
        answer = getattr(self, f"_perform_{step.name}")(**step.arguments)
        self._peer.pass_time(self._step_ms)
        answers = {} if answer is None else {"answer": answer}
        return StepObservation(answers, {name: self._describe_session(one) for name, one in self._connections.items()})

    # -- steps ----------------------------------------------------------------------------------------------------

    def _perform_connect(self, session: str) -> None:
        self._connections[session] = self._peer.connect()

    def _perform_ping(
        self, end: str, cookie: int, rc: int, rf: int, unused: list[str], valid: bool
    ) -> list[dict[str, Any]]:
        before = {name: len(one.received) for name, one in self._pings.items()}
        bits = dict.fromkeys(unused, 1)
        packet = bytearray(bytes(ping_request(QMGuid=self._peer.identifier, Cookie=cookie, RC=rc, RF=rf, **bits)))
        packet[_SIGNATURE_OFFSET] ^= 0 if valid else 0xFF
        self._pings[end].send(bytes(packet))
        self._peer.pass_time(self._step_ms)
        self._step_ms = 0
        came = [(name, frame.data) for name, one in self._pings.items() for _, frame in one.received[before[name] :]]
        return [self._describe_ping(name, data) for name, data in came]

    def _describe_ping(self, end: str, data: bytes) -> dict[str, Any]:
        """Describe a Ping Response in the terms of the model."""
        return {
            "end": end,
            "cookie": int.from_bytes(data[4:8], "little"),
            "rc": data[0] & 1,
            "rf": data[0] >> 1 & 1,
            "guid": "own" if data[8:24] == self._peer.sut.guid.bytes_le else data[8:24].hex(),
            "signature": int.from_bytes(data[2:4], "little") == SIGNATURE,
            "size": len(data),
        }

    def _perform_establish(
        self, session: str, server: str, client: str, stamp: int, se: int, ignored: list[str]
    ) -> None:
        unused = group_unused_field_values_by_header(ignored)
        self._send_packet(
            session,
            establish_connection(
                ClientGuid=self._peer.identifier if client == "peer" else FOREIGN_QUEUE_MANAGER_GUID,
                ServerGuid=self._server_guids[server],
                TimeStamp=stamp,
                SE=se,
                base=unused["base"],
                internal=unused["internal"],
                **unused["establish"],
            ),
        )

    def _perform_parametrize(self, session: str, recoverable_ms: int, window: int, ignored: list[str]) -> None:
        header: dict[str, Any] = {
            "RecoverableAckTimeout": recoverable_ms,
            "AckTimeout": ACK_TIMEOUT_MS,
            "WindowSize": window,
        }
        unused = group_unused_field_values_by_header(ignored)
        header |= unused["parameters"]
        self._send_packet(session, connection_parameters(base=unused["base"], internal=unused["internal"], **header))

    def _perform_send(self, session: str, recoverable: bool, wrong: int | None) -> None:
        sent = [*self._wire.sent(self._connections[session]), recoverable]
        header = {"UserMsgSequenceNumber": len(sent) + (wrong or 0) & 0xFFFF, "RecoverableMsgSeqNumber": sum(sent)}
        header["WindowSize"] = UNUSUAL_WINDOW_SIZE
        self._send_message(session, recoverable, **({} if wrong is None else {"session": header}))

    def _send_message(self, through: str, recoverable: bool, **fields: Any) -> None:
        user = {
            "SourceQueueManager": self._peer.identifier,
            "MessageID": self._peer.next_message_id(),
            "SentTime": self._peer.environment.now().utc_s,
            "DM": int(recoverable),
        }
        usual = {"destination": f"TCP:{self._peer.sut.address}\\private$\\nowhere"}
        self._wire.send(self._connections[through], bytes(user_message(user=user, **usual | fields)))

    def _perform_burst(self, session: str, number: int) -> dict[str, int]:
        for _ in range(number):
            self._send_message(session, True)
        self._peer.pass_time(_IMMEDIATE_REACTION_MS)
        return {"at once": self._wire.acknowledged(self._connections[session])["acknowledged"]}

    def _perform_acknowledge(self, session: str, wrong: int, wrong_recoverable: int, ignored: list[str]) -> None:
        sent = self._wire.sent(self._connections[session])
        header: dict[str, Any] = {
            "UserMsgSequenceNumber": len(sent) + wrong & 0xFFFF,
            "RecoverableMsgSeqNumber": sum(sent) + wrong_recoverable & 0xFFFF,
        }
        header |= group_unused_field_values_by_header(ignored)
        self._send_packet(session, session_ack(WindowSize=UNUSUAL_WINDOW_SIZE, **header))

    def _perform_offer_order_ack(self, session: str, final: bool) -> None:
        cls = MessageClass.MQMSG_CLASS_ACK_RECEIVE if final else MessageClass.MQMSG_CLASS_ORDER_ACK
        body = (
            FinalAckBody(_NO_SEQUENCE_ID, 1, 0, FOREIGN_QUEUE_MANAGER_GUID, 1)
            if final
            else OrderAckBody(_NO_SEQUENCE_ID, 1, 0)
        )
        self._send_message(
            session,
            final,
            destination=f"TCP:{self._peer.sut.address}\\PRIVATE$\\order_queue$",
            MessageClass=int(cls),
            label="QM Ordering Ack",
            body=body.build(),
            base={"PR": 0},
        )

    def _perform_garble(self, session: str, how: str) -> None:
        data = bytearray(bytes(establish_connection(ClientGuid=self._peer.identifier, ServerGuid=NULL_GUID)))
        data[_BYTES_BY_GARBLED_REQUEST[how]] ^= 0xFF
        self._connections[session].send(bytes(data))

    def _perform_hang_up(self, session: str) -> None:
        self._connections[session].end()

    def _perform_rest_until_acknowledged(self) -> None:
        self._step_ms = EXPRESS_ACK_PAUSE_MS

    def _send_packet(self, session: str, packet: Any) -> None:
        self._connections[session].send(packet)

    # -- visible state --------------------------------------------------------------------------------------------

    def _describe_session(self, connection: RawConversation) -> dict[str, Any]:
        answers = [self._describe_packet(frame.data) for frame in connection.received]
        return {
            "open": connection.record.closed_by is None,
            "answers": [one for one in answers if one is not None],
            **self._wire.acknowledged(connection),
        }

    def _describe_packet(self, data: bytes) -> dict[str, Any] | None:
        """Describe, in the terms of the model, a packet that sets up the session."""
        try:
            packet = parse_packet(data)
        except FormatError:
            return {"kind": "no packet"}
        if isinstance(packet, EstablishConnectionPacket):
            header = packet.EstablishConnectionHeader
            servers = {guid: name for name, guid in self._server_guids.items()}
            clients = {self._peer.identifier: "peer", FOREIGN_QUEUE_MANAGER_GUID: "other"}
            return {
                "kind": "EstablishConnection",
                "refused": bool(packet.InternalHeader.CS),
                "client": clients.get(header.ClientGuid, str(header.ClientGuid)),
                "server": servers.get(header.ServerGuid, str(header.ServerGuid)),
                "stamp": header.TimeStamp,
                "se": header.SE,
            }
        if isinstance(packet, ConnectionParametersPacket):
            parameters = packet.ConnectionParametersHeader
            return {
                "kind": "ConnectionParameters",
                "refused": bool(packet.InternalHeader.CS),
                "recoverable_ms": parameters.RecoverableAckTimeout,
                "ack_ms": parameters.AckTimeout,
            }
        return None
