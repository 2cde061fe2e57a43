"""A remote queue manager opens a session and then reads no bytes from the connection."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from patience import PATIENCE_S
from qm_process import serve

from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket, Packet, StreamFramer, parse_packet

STALLED_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ff")
BODY = "x" * 700_000
MESSAGES = 60
UNSENT = 4 * 1024 * 1024
KERNEL = 16 * 1024 * 1024
"""A size in bytes that exceeds the two kernel buffers of a connection."""


def next_packet(sock: socket.socket, framer: StreamFramer) -> Packet:
    while not (packets := framer.feed(sock.recv(600))):
        pass
    (packet,) = packets
    return parse_packet(packet)


def open_session(sock: socket.socket) -> None:
    """Open a session as the acceptor does (MS-MQQB 3.1.5.3 and 3.1.5.4)."""
    framer = StreamFramer()
    establish = next_packet(sock, framer)
    assert isinstance(establish, EstablishConnectionPacket)
    header = replace(establish.EstablishConnectionHeader, ServerGuid=STALLED_GUID)
    sock.sendall(replace(establish, EstablishConnectionHeader=header).build())
    parameters = next_packet(sock, framer)
    assert isinstance(parameters, ConnectionParametersPacket)
    sock.sendall(parameters.build())


def test_bytes_for_stalled_peer_are_limited_and_other_peers_are_served(tmp_path: Path):
    with socket.create_server(("127.0.0.2", 0)) as listener, contextlib.ExitStack() as stack:
        listener.settimeout(PATIENCE_S)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        toml = f"""
            queues = [{{ name = 'private$\\q' }}]
            [queue_manager]
            window_size = 65535
            [listen]
            tcp_port = 0
            ping_port = 0
            [remote]
            tcp_port = {listener.getsockname()[1]}
            [control]
            address = "127.0.0.1:0"
            [limits]
            unsent_bytes = {UNSENT}
        """
        control = stack.enter_context(stack.enter_context(serve(tmp_path, toml=toml)).control())
        to = "DIRECT=TCP:127.0.0.2\\private$\\q"
        control.call("send", to=to, body="opens the session", delivery="express")
        peer = stack.enter_context(listener.accept()[0])
        listener.close()
        peer.settimeout(PATIENCE_S)
        open_session(peer)
        for _ in range(MESSAGES):
            control.call("send", to=to, body=BODY, delivery="express")
        control.call("send", to="DIRECT=TCP:127.0.0.1\\private$\\q", body="served", delivery="express")
        message = control.call("receive", queue="private$\\q", timeout_ms=PATIENCE_S * 1000)["message"]
        assert message["body"] == "served"
        arrived = 0
        with contextlib.suppress(ConnectionResetError):
            while chunk := peer.recv(1 << 20):
                arrived += len(chunk)
        assert arrived < KERNEL + UNSENT < MESSAGES * len(BODY)
