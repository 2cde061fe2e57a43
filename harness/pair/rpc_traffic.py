"""Record the DCE/RPC connections between the systems of a pair. Over these connections, applications read queues
remotely.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.capture.recorder import Connection, Recorder
from harness.capture.rpc_stream import RpcFramer
from harness.topology.relay import RelayedStreamPair
from reference_qm.codec import FramingError


@dataclass(eq=False, slots=True)
class _RecordedPacket:
    connection: Connection
    framer: RpcFramer = field(default_factory=RpcFramer)
    """The framer that splits the client's bytes into PDUs."""


class RpcRelayTrafficRecorder:
    """An observer of the RPC relays. It records the server of each connection as the SUT."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._packet_recorder_by_connection: dict[RelayedStreamPair, _RecordedPacket] = {}

    def on_opened(self, link: RelayedStreamPair) -> None:
        """Record a connection."""
        opening = self._recorder.record_opening(link.client, link.server, by_peer=True, rpc=True)
        self._packet_recorder_by_connection[link] = _RecordedPacket(opening)

    def on_data(self, link: RelayedStreamPair, data: bytes, *, from_initiator: bool) -> None:
        """Record bytes that one side sent. The client's bytes are recorded PDU by PDU."""
        recorded = self._packet_recorder_by_connection[link]
        if not from_initiator:
            self._recorder.record_received(recorded.connection, data)
            return
        try:
            pdus = recorded.framer.feed(data)
        except FramingError as error:
            pdus = [*error.packets, data]
        for pdu in pdus:
            self._recorder.record_sent(recorded.connection, pdu)

    def on_closed(self, link: RelayedStreamPair, *, by_initiator: bool) -> None:
        """Record the end of a connection."""
        self._recorder.record_connection_end(
            self._packet_recorder_by_connection.pop(link).connection, by_peer=by_initiator
        )
