"""MS-RPCE 3.3.1.5.2 between processes: the clients of impacket and of the harness authenticate to ``serve`` with NTLM
and Negotiate.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator

import pytest
import typer
from impacket.dcerpc.v5.rpcrt import (
    RPC_C_AUTHN_LEVEL_CONNECT,
    RPC_C_AUTHN_LEVEL_PKT_INTEGRITY,
    RPC_C_AUTHN_LEVEL_PKT_PRIVACY,
    DCERPCException,
)
from qm_process import Control, Served, serve
from test_serve_remote_reading import (
    ACK,
    QQ,
    Impacket,
    RemoteQMGetQMQMServerPort,
    RemoteQMPurgeQueue,
    RemoteReader,
    bodies,
    dissected,
    send,
)
from typer.testing import CliRunner, Result

from reference_qm.rpc.header import Header, PacketType, PfcFlags
from reference_qm.rpc.status import FaultStatus
from reference_qm.shell.reader import read_remote_queue

PLAIN, RESTRICTED = "private$\\mqc-plain", "private$\\restricted"
SID = "S-1-5-21-1-2-3-1000"
USER, PASSWORD = "tester", "Test-1: no real one"
TOML = f"""
[rpc]
port = 0
least_level = "LEAST"
[[rpc.users]]
name = "{USER}"
password_file = "password.txt"
[[rpc.users]]
name = "stranger"
password = "{PASSWORD}"
[[security.users]]
name = "Tester"
sid = "{SID}"
[[queues]]
name = '{PLAIN}'
[[queues]]
name = '{RESTRICTED}'
allow = {{ "{SID}" = ["receive_message", "peek_message"] }}
"""
FLAGS = ("--tcp-port", "0", "--ping-port", "0", "--control", "127.0.0.1:0")
LEVELS = (RPC_C_AUTHN_LEVEL_CONNECT, RPC_C_AUTHN_LEVEL_PKT_INTEGRITY, RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
LARGE = "x" * 20_000
"""A body so large that request and response consist of several fragments."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Control]]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "password.txt").write_text(f"{PASSWORD}\n", encoding="utf-8")
    with (
        serve(folder, *FLAGS, toml=TOML.replace("LEAST", "connect")) as process,
        process.control() as control,
    ):
        yield process, control


@pytest.mark.parametrize("level", LEVELS)
def test_impacket_reads_a_queue_at_every_authentication_level(served, level, tmp_path):
    process, control = served
    send(control, LARGE)
    reader = RemoteReader(process, login=(level, USER, PASSWORD, "WORKSTATION-7"))
    body, handle = reader.receive()
    assert (body, reader.end(handle, ACK), bodies(control)) == (LARGE, 0, [])
    reader.close()
    traffic = reader.qm2qm.transport.traffic
    wire = b"".join(data for _, data in traffic)
    assert (LARGE.encode("utf-16-le")[:100] in wire or LARGE[:100].encode() in wire) is (level != LEVELS[-1])
    assert [kind for mine, data in traffic if mine for kind in (Header.parse(data).ptype,)][:3] == [
        PacketType.BIND,
        PacketType.AUTH3,
        PacketType.REQUEST,
    ]
    if shutil.which("tshark"):
        rows = dissected(tmp_path / "read.pcapng", traffic, "dcerpc.auth_level")
        assert str(level) in {one for (found,) in rows for one in found.split(",")}


def test_wrong_password_is_reported_at_first_call(served):
    process, _ = served
    client = Impacket(process.endpoint("rpc"), QQ, login=(LEVELS[1], USER, "other"))
    with pytest.raises(DCERPCException, match="rpc_s_access_denied"):
        client.request(RemoteQMGetQMQMServerPort(), dwPortType=1)
    client.dce.disconnect()


def test_methods_that_return_a_port_need_no_authentication_level(served):
    process, _ = served
    client = Impacket(process.endpoint("rpc"), QQ)
    assert client.request(RemoteQMGetQMQMServerPort(), dwPortType=1)["Port"] == process.endpoint("rpc_read")[1]
    with pytest.raises(DCERPCException, match="rpc_s_access_denied"):
        client.request(RemoteQMPurgeQueue(), hQueue=7)
    client.dce.disconnect()


@pytest.mark.parametrize("tampered", ["replayed", "flipped"])
def test_forged_request_ends_connection(served, tampered):
    process, _ = served
    client = Impacket(process.endpoint("rpc"), QQ, login=(LEVELS[2], USER, PASSWORD))
    client.request(RemoteQMGetQMQMServerPort(), dwPortType=1)
    wire = next(data for mine, data in reversed(client.transport.traffic) if mine)
    again = bytearray(wire)
    again[12] += 1  # call_id
    if tampered == "flipped":
        again[30] ^= 1
    client.transport.send(bytes(again))
    answer = client.transport.recv()
    assert Header.parse(answer).ptype == PacketType.FAULT
    assert int.from_bytes(answer[24:28], "little") == FaultStatus.RPC_S_SEC_PKG_ERROR
    assert Header.parse(answer).pfc_flags & PfcFlags.DID_NOT_EXECUTE
    assert client.transport.get_socket().recv(1) == b""
    client.dce.disconnect()


@pytest.mark.parametrize(("kind", "level"), [("ntlm", "integrity"), ("negotiate", "privacy")])
def test_read_command_authenticates_and_reports_authentication_failures(served, monkeypatch, kind, level):
    process, control = served
    host, port = process.endpoint("rpc")
    send(control, LARGE)
    app = typer.Typer()
    app.command("read")(read_remote_queue)
    flags = [f"DIRECT=TCP:{host}\\{PLAIN}", "--rpc-port", str(port), "--level", level, "--authentication", kind]

    def asked(password: str) -> Result:
        monkeypatch.setenv("MQC_TEST_PASSWORD", password)
        return CliRunner().invoke(app, [*flags, "--user", USER, "--password-env", "MQC_TEST_PASSWORD"])

    done = asked(PASSWORD)
    assert done.exit_code == 0
    assert base64.b64decode(json.loads(done.stdout)["body_base64"]).decode() == LARGE
    denied = asked("no such password")
    assert (denied.exit_code, denied.stdout) == (2, "")
    assert "0x00000005" in denied.stderr
    assert "no such password" not in denied.stderr


@pytest.mark.parametrize(("user", "outcome"), [(USER, 1), ("stranger", 2)])
def test_queue_can_be_read_only_by_users_with_rights(served, monkeypatch, user, outcome):
    """A user with rights can read the queue (exit code 1: the queue is empty); a user without rights cannot open it
    (exit code 2).
    """
    process, _ = served
    host, port = process.endpoint("rpc")
    monkeypatch.setenv("MQC_TEST_PASSWORD", PASSWORD)
    app = typer.Typer()
    app.command("read")(read_remote_queue)
    login = ["--level", "integrity", "--user", user, "--password-env", "MQC_TEST_PASSWORD"]
    done = CliRunner().invoke(app, [f"DIRECT=TCP:{host}\\{RESTRICTED}", "--rpc-port", str(port), *login])
    assert done.exit_code == outcome
    assert ("MQ_ERROR_ACCESS_DENIED" in done.stderr) is (outcome == 2)


def test_remote_reader_authenticates_to_process_that_demands_packet_privacy(tmp_path):
    user = f'[[rpc.users]]\nname = "{USER}"\npassword = "{PASSWORD}"\n'
    far, near = tmp_path / "far", tmp_path / "near"
    for folder in (far, near):
        folder.mkdir()
    demanding = f"[rpc]\nport = 0\nleast_level = 'privacy'\n{user}[[queues]]\nname = '{PLAIN}'\n"
    with serve(far, "--address", "127.0.8.2", *FLAGS, toml=demanding) as other, other.control() as owner:
        port = other.endpoint("rpc")[1]
        reading = f"[remote]\nrpc_port = {port}\n[rpc]\nport = 0\nlevel = 'privacy'\nuser = '{USER}'\n"
        with serve(near, "--address", "127.0.8.1", *FLAGS, toml=reading + user) as own, own.control() as reader:
            owner.call("send", to=f"DIRECT=TCP:127.0.8.2\\{PLAIN}", body=LARGE)
            remote = reader.call("remote_open", queue=f"DIRECT=TCP:127.0.8.2\\{PLAIN}")["remote"]
            assert reader.call("remote_receive", remote=remote)["message"]["body"] == LARGE
