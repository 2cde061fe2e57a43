"""Tests ``serve`` as a real process on loopback."""

from __future__ import annotations

import contextlib
import re
import resource
import signal
import socket
import struct
from pathlib import Path
from uuid import UUID

import pytest
from patience import PATIENCE_S, until
from qm_process import free_port, refused, serve

from reference_qm.codec import BaseHeader

ANY = ("--tcp-port", "0", "--ping-port", "0")
CONTROLLED = (*ANY, "--control", "127.0.0.1:0")
LONG_MS = 3_600_000
"""The waiting time of a read in ms. It is so long that a stop which waited for the read would count as hanging."""
PING = struct.Struct("<HHI16s")
"""The layout of a ping (MS-MQQB 2.2.7): Flags, Signature, Cookie, QMGuid."""
PING_SIGNATURE = 0x5548

PAGE = resource.getpagesize()
LONGEST_PACKET = 4 * 1024 * 1024


def ping(acceptor: tuple[str, int], cookie: int) -> tuple[int, int, UUID]:
    """Return Flags, Cookie and QMGuid of the Ping Response."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.settimeout(PATIENCE_S)
        asker.connect(acceptor)
        asker.send(PING.pack(0, PING_SIGNATURE, cookie, bytes(16)))
        flags, signature, echoed, guid = PING.unpack(asker.recv(100))
    assert signature == PING_SIGNATURE
    return flags, echoed, UUID(bytes_le=guid)


def sockets_of(pid: int) -> set[tuple[str, str]]:
    """Return the pairs (protocol, local address) at which a process listens."""
    links = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(str(entry.readlink()))
    inodes = {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    found = set()
    for protocol, listening in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        for line in Path(f"/proc/{pid}/net/{protocol}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and fields[3] == listening:
                host, port = fields[1].split(":")
                found.add((protocol, f"{socket.inet_ntoa(bytes.fromhex(host)[::-1])}:{int(port, 16)}"))
    return found


def test_serve_prints_its_ports_and_listens_on_no_other(tmp_path: Path):
    with serve(tmp_path, *ANY, anew=True) as served:
        at = r"127\.0\.0\.1:\d+"
        ports = rf"tcp={at} ping={at} rpc={at} rpc_read={at} mapper=none control=none"
        assert re.fullmatch(f"ready {ports}", served.ready)
        tcp = {("tcp", served.bound[name]) for name in ("tcp", "rpc", "rpc_read")}
        assert sockets_of(served.process.pid) == tcp | {("udp", served.bound["ping"])}


def test_serve_offers_ping_remote_reading_and_control_only_if_configured(tmp_path: Path):
    toml = "[listen]\ntcp_port = 0\nping = false\n[rpc]\nenabled = false\n[control]\naddress = '127.0.0.1:0'"
    with serve(tmp_path, toml=toml) as served:
        nothing = "ping=none rpc=none rpc_read=none mapper=none"
        assert re.fullmatch(rf"ready tcp=127\.0\.0\.1:\d+ {nothing} control=127\.0\.0\.1:\d+", served.ready)
        assert sockets_of(served.process.pid) == {("tcp", served.bound["tcp"]), ("tcp", served.bound["control"])}


def test_serve_answers_ping_with_its_identifier(tmp_path: Path):
    guid = "6d71636f-6e66-4f72-8d00-000000000042"
    toml = f"[queue_manager]\nidentifier = '{guid}'\nhost_name = 'contoso'"
    with serve(tmp_path, *CONTROLLED, toml=toml) as served, served.control() as control:
        assert ping(served.endpoint("ping"), 0x01020304) == (0, 0x01020304, UUID(guid))
        identity = control.call("identity")
        assert UUID(identity["guid"]) == UUID(guid)
        assert "restart" in identity["facilities"]


def exchange(sender, receiver, receiver_address: str, delivery: str, count: int = 5) -> None:
    """Check that messages of one delivery kind arrive once and in order."""
    for n in range(count):
        sender.call(
            "send",
            to=f"DIRECT=TCP:{receiver_address}\\private$\\q",
            body=f"{delivery} {n}",
            label=f"label {n}",
            delivery=delivery,
        )
    for n in range(count):
        message = receiver.call("receive", queue="private$\\q", timeout_ms=PATIENCE_S * 1000)["message"]
        assert (message["body"], message["label"], message["delivery"]) == (f"{delivery} {n}", f"label {n}", delivery)
    assert receiver.call("receive", queue="private$\\q", timeout_ms=0)["message"] is None


def test_two_processes_exchange_messages_both_ways(tmp_path: Path):
    port = free_port("127.0.0.1", "127.0.0.2")
    with contextlib.ExitStack() as stack:
        controls = []
        for address in ("127.0.0.1", "127.0.0.2"):
            folder = tmp_path / address
            folder.mkdir()
            toml = f"""
                queues = [{{ name = 'private$\\q' }}]
                [queue_manager]
                send_ping = false
                [listen]
                address = "{address}"
                tcp_port = {port}
                ping_port = 0
                [remote]
                tcp_port = {port}
                [control]
                address = "127.0.0.1:0"
            """
            served = stack.enter_context(serve(folder, toml=toml))
            controls.append(stack.enter_context(served.control()))
        one, two = controls
        for control in controls:
            control.call("set_timers", scale=50)
        for delivery in ("express", "recoverable"):
            exchange(one, two, "127.0.0.2", delivery)
            exchange(two, one, "127.0.0.1", delivery)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_serve_cleanly_at_once(tmp_path: Path, number: signal.Signals):
    with serve(tmp_path, *CONTROLLED, toml="queues = [{ name = 'private$\\q' }]") as served:
        with socket.create_connection(served.endpoint("tcp"), PATIENCE_S) as peer, served.control() as control:
            control.call("identity")
            control.ask("receive", queue="private$\\q", timeout_ms=LONG_MS)
            served.process.send_signal(number)
            assert peer.recv(1) == b""
            assert control.read_reply()["ok"] is False  # whoever waits is answered
            assert served.ends() == 0
        with socket.create_server(served.endpoint("tcp")):
            pass
    assert (tmp_path / "stderr").read_bytes() == b""


def test_control_verb_stop_ends_serve(tmp_path: Path):
    with serve(tmp_path, *CONTROLLED) as served, served.control() as control:
        control.call("stop")
        assert served.ends() == 0
        assert control.answers.readline() == b""


def test_restart_closes_transports_and_keeps_listeners(tmp_path: Path):
    with serve(tmp_path, *CONTROLLED) as served, served.control() as control:
        before = control.call("identity")["guid"]
        with socket.create_connection(served.endpoint("tcp"), PATIENCE_S) as peer:
            until(lambda: control.call("inspect")["adm"]["Sessions"], "the connection is accepted")
            control.call("restart")
            assert peer.recv(1) == b""
        assert control.call("identity")["guid"] == before
        assert ping(served.endpoint("ping"), 7) == (0, 7, UUID(before))
        with socket.create_connection(served.endpoint("tcp"), PATIENCE_S):
            pass


def test_reset_restores_initial_state_of_serve(tmp_path: Path):
    toml = "queues = [{ name = 'private$\\there' }]"
    with serve(tmp_path, *CONTROLLED, "--store", str(tmp_path / "store"), toml=toml) as served:
        with served.control() as control:
            guid = control.call("identity")["guid"]
            timers = control.call("set_timers")
            control.call("create_queue", name="private$\\made")
            here = "DIRECT=TCP:127.0.0.1\\private$\\there"
            control.call("send", to=here, body="here", delivery="recoverable")
            control.call("send", to="DIRECT=TCP:127.0.0.9\\private$\\x", body="away", delivery="transactional")
            control.call("set_timers", scale=50)
            control.call("configure", send_insecure_nacks=True)
            control.call("reset")
            assert control.call("identity")["guid"] == guid
            assert control.call("set_timers") | {"id": 0} == timers | {"id": 0}
            assert control.call("configure")["send_insecure_nacks"] is False
            listed = control.call("list")
            assert [(queue["name"], queue["count"]) for queue in listed["queues"]] == [("private$\\there", 0)]
            assert (listed["outgoing"], listed["transactions"]) == ([], [])
            control.call("send", to=here, body="later", delivery="recoverable")
        served.process.kill()
    again = serve(tmp_path, *CONTROLLED, "--store", str(tmp_path / "store"), toml=toml)
    with again as served, served.control() as control:
        assert control.call("identity")["guid"] == guid
        (message,) = control.call("peek", queue="private$\\there")["messages"]
        assert message["body"] == "later"


def test_connections_above_the_limit_are_closed(tmp_path: Path):
    toml = "[queue_manager]\nmax_sessions = 4\n[limits]\nconnections = 8"
    with serve(tmp_path, *CONTROLLED, toml=toml) as served, contextlib.ExitStack() as stack:
        peers = [stack.enter_context(socket.create_connection(served.endpoint("tcp"), PATIENCE_S)) for _ in range(200)]
        ended = 0
        for peer in peers[8:]:
            with contextlib.suppress(ConnectionResetError):
                assert peer.recv(1) == b""
            ended += 1
        assert ended == 192
        for peer in peers[:8]:
            peer.setblocking(False)
            with pytest.raises(BlockingIOError):
                peer.recv(1)
        with served.control() as control:
            control.call("identity")


def test_a_port_in_use_gives_one_line_error_and_exit_2():
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        port, ping_port = taken.getsockname()[1], udp.getsockname()[1]
        said = refused("--tcp-port", str(port), "--ping-port", "0")
        assert said.startswith(f"mqconform serve: cannot listen on tcp 127.0.0.1:{port}: Address already in use; ")
        assert "--tcp-port" in said
        said = refused("--tcp-port", "0", "--ping-port", str(ping_port))
        assert f"cannot listen on udp 127.0.0.1:{ping_port}: Address already in use" in said
        assert "--ping-port" in said
        said = refused(*ANY, "--control", f"127.0.0.1:{port}")
        assert f"cannot listen on tcp 127.0.0.1:{port}" in said
        assert "--control" in said


def test_an_address_of_another_machine_gives_one_line_error_and_exit_2():
    assert "192.0.2.1:0: Cannot assign requested address" in refused(*ANY, "--address", "192.0.2.1")


def test_bad_settings_give_one_line_errors_and_exit_2(tmp_path: Path):
    path = tmp_path / "qm.toml"
    path.write_text("[listen]\nprot = 1801\n")
    assert refused("--config", str(path)).startswith(f"mqconform serve: {path}: [listen]: unknown key 'prot'; known: ")
    assert refused("--control", "here") == (
        "mqconform serve: --control = 'here': must be ADDRESS:PORT like 127.0.0.1:0"
    )
    assert "cannot be read" in refused("--config", str(tmp_path / "none.toml"))


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE


def test_serve_rejects_illegal_bytes_without_buffering(tmp_path: Path):
    """Before a session is open, a packet has at most 572 bytes, so ``serve`` buffers no more. Once 300 connections with
    nearly 4 MiB each occupied 1.4 GB.
    """
    message = BaseHeader(PacketSize=LONGEST_PACKET).build() + bytes(LONGEST_PACKET - 17)
    with serve(tmp_path, "--tcp-port", "0", "--ping-port", "0") as served, contextlib.ExitStack() as stack:
        before = resident(served.process.pid)
        for _ in range(50):
            sock = stack.enter_context(socket.create_connection(served.endpoint("tcp"), PATIENCE_S))
            with contextlib.suppress(ConnectionError):
                sock.sendall(message)
                assert sock.recv(1) == b""
        assert resident(served.process.pid) < before + 10 * LONGEST_PACKET
