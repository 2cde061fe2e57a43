"""Judge the packets that the peer sends with the passive predicates, as if the SUT had sent these packets.

The mark ``malforms`` on a check names the rules that the check breaks on purpose with packets from the peer. A check
without this mark has a bug if its peer breaks a rule and the check then expects more of the system than survival.
"""

from __future__ import annotations

from harness.capture.recorder import (
    FROM_SUT_DIRECTION,
    MALFORMED_PACKET_KIND,
    RPC_TRANSPORT_NAME,
    TO_SUT_DIRECTION,
    Connection,
    Frame,
    set_frame_kind,
)
from harness.judging.passive import PASSIVE_RULES, PassiveJudge
from reference_qm.codec import FormatError
from reference_qm.codec.base import measure_packet

_OPPOSITE_ROLE_BY_ROLE = {"acceptor": "initiator", "initiator": "acceptor"}


class PeerPacketJudge:
    """A judge of the peer's packets. It applies the predicates as if the SUT and the peer had exchanged their
    roles.
    """

    def __init__(self) -> None:
        self._reset_state()

    def _reset_state(self) -> None:
        self._packets = PassiveJudge()
        self._connections: dict[Connection, Connection] = {}
        self._pieces: dict[Connection, bytes] = {}
        """The bytes of packets that the peer has not sent completely yet."""

    def on_frame(self, frame: Frame) -> None:
        """Judge the next packet of a connection as if the SUT and the peer had exchanged their roles."""
        if frame.transport == RPC_TRANSPORT_NAME:
            return
        data = frame.data if frame.from_sut else self._complete_packet(frame)
        if data is None:
            return
        connection = None if frame.connection is None else self._get_connection_mirror(frame.connection)
        direction = TO_SUT_DIRECTION if frame.from_sut else FROM_SUT_DIRECTION
        mirrored = Frame(
            frame.number, frame.time_ms, direction, frame.transport, data, frame.kind, connection, frame.error
        )
        if data is not frame.data:
            set_frame_kind(mirrored)
        elif "record" in frame.__dict__:  # parse the packet once for both judges
            mirrored.__dict__["record"] = frame.record
        if connection is not None:
            connection.add(mirrored)
        self._packets.on_frame(mirrored)

    def take(self) -> dict[str, str]:
        """Return the rules that packets from the peer have broken since the last call, each with its first violation.

        Rules that are only advice (SHOULD) are excluded, because a peer does not have to follow them. Predicates
        about a whole system are excluded, because they do not apply to packets that a check composes.
        """
        broken = {
            rule: f"{failures[0][1]} (frame {failures[0][0].number})"
            for rule, tally in self._packets.tallies.items()
            if (failures := tally.failures)
            and not (PASSIVE_RULES[rule].advice or PASSIVE_RULES[rule].binds_only_complete_system)
        }
        self._reset_state()
        return broken

    def _complete_packet(self, frame: Frame) -> bytes | None:
        """Return the packet that a frame of the peer completes, or None if the packet still has fewer bytes than
        its PacketSize.
        """
        connection = frame.connection
        if connection is None or (frame.kind != MALFORMED_PACKET_KIND and connection not in self._pieces):
            return frame.data
        held = self._pieces.pop(connection, b"") + frame.data
        try:
            size = measure_packet(held)
        except FormatError:
            return held
        if size is not None and size <= len(held):
            return held
        self._pieces[connection] = held
        return None

    def _get_connection_mirror(self, connection: Connection) -> Connection:
        if connection not in self._connections:
            role = _OPPOSITE_ROLE_BY_ROLE[connection.sut_role]
            self._connections[connection] = Connection(connection.number, role, transport=connection.transport)
        return self._connections[connection]
