"""MS-MQQP 3.1.4, 3.1.6: impacket's client reads from a process, and tshark finds nothing malformed in the packets of
both sides.
"""

from __future__ import annotations

import json
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mqconform_process import mqconform
from patience import PATIENCE_S
from qm_process import Control, Served, serve

sys.path.append(str(Path(__file__).parents[1] / "unit" / "rpc"))
from impacket.dcerpc.v5 import epm
from impacket.dcerpc.v5.rpcrt import DCERPCException
from impacket_calls import (
    HANDLE,
    R_QMOpenRemoteQueue,
    RemoteQMCancelReceive,
    RemoteQMCancelReceiveResponse,
    RemoteQMCloseQueue,
    RemoteQMEndReceive,
    RemoteQMGetQMQMServerPort,
    RemoteQMOpenQueue,
    RemoteQMPurgeQueue,
    RemoteQMStartReceive,
    RemoteQMStartReceiveResponse,
)
from rpc_made import LICENCE
from test_rpc_impacket import QC, QQ, SYNTAXES, Impacket, RecordingTransport, uuidtup_to_bin
from test_rpc_tshark import dissected

from reference_qm.codec import parse_packet

PLAIN = "private$\\mqc-plain"
DIRECT = f"TCP:127.0.0.1\\{PLAIN}"
TOML = f"""
[rpc]
port = 0
mapper = true
mapper_port = 0
[[queues]]
name = '{PLAIN}'
"""
FLAGS = ("--tcp-port", "0", "--ping-port", "0", "--control", "127.0.0.1:0")
NACK, ACK = 1, 2
IP_READ = 1
INFINITE_TIMEOUT = 0xFFFFFFFF
CANCELED = 0x400E03E9
MIB_KB = 1024


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Served, Control]]:
    with serve(tmp_path, *FLAGS, toml=TOML) as process, process.control() as control:
        yield process, control


def send(control: Control, *bodies: str) -> None:
    for body in bodies:
        control.call("send", to=f"DIRECT={DIRECT}", body=body)


def bodies(control: Control) -> list[str]:
    return [one["body"] for one in control.call("peek", queue=PLAIN)["messages"]]


class RemoteReader:
    """An application with its supporting server: qmcomm provides the handle, and all other calls use qm2qm."""

    def __init__(self, served: Served, syntax: str = "NDR", multiplexed: bool = False, login: Any = None) -> None:
        self.application = Impacket(served.endpoint("rpc"), QC, syntax, login=login)
        self.queue = self._open_remote()
        read = served.endpoint("rpc_read")
        first = Impacket(served.endpoint("rpc"), QQ, syntax, login=login)
        assert first.request(RemoteQMGetQMQMServerPort(), dwPortType=IP_READ)["Port"] == read[1]
        first.dce.disconnect()
        self.qm2qm = Impacket(read, QQ, syntax, multiplexed, login)
        fields = {"hQueue": self.queue, "pQueue": self.queue, "dwpContext": self.queue}
        opened = self.qm2qm.request(RemoteQMOpenQueue(), pLicGuid=LICENCE.bytes_le, dwMQS=0, **fields)
        assert opened["ErrorCode"] == 0
        self.session: HANDLE = opened["phContext"]

    def _open_remote(self) -> int:
        call = R_QMOpenRemoteQueue()
        name = call["pQueueFormat"]
        name["m_qft"], name["m_SuffixAndFlags"], name["m_reserved"], name["Union"]["tag"] = 3, 0, 0, 3
        name["Union"]["m_pDirectID"] = f"{DIRECT}\0"
        access = {"dwCallingProcessID": 0, "dwDesiredAccess": 1, "dwShareMode": 0, "dwMQS": 0}
        opened = self.application.request(call, pLicGuid=LICENCE.bytes_le, **access)
        assert opened["ErrorCode"] == 0
        return int(opened["phQueue"])

    def start(self, request: int = 1, timeout_ms: int = 0) -> RemoteQMStartReceive:
        call = RemoteQMStartReceive()
        where = {"hRemoteQueue": self.queue, "dwQueue": self.queue}
        self.qm2qm.describe(call["lpRemoteReadDesc"], **where, dwRequestID=request, ulTimeout=timeout_ms)
        return call

    def receive(self) -> tuple[str, HANDLE]:
        """Receive a message; return its body and the handle of the read."""
        answer = self.qm2qm.dce.request(self.start(), checkError=False)
        assert answer["ErrorCode"] == 0
        return body_of(answer), answer["pphContext"]

    def end(self, handle: HANDLE, ack: int) -> int:
        return int(self.qm2qm.request(RemoteQMEndReceive(), pphContext=handle, dwAck=ack)["ErrorCode"])

    def close(self) -> None:
        for client in (self.qm2qm, self.application):
            client.dce.disconnect()


def body_of(answer: Any) -> str:
    packet = parse_packet(b"".join(answer["lpRemoteReadDesc"]["lpBuffer"]))
    return str(packet.MessagePropertiesHeader.MessageBody.decode())


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_remote_reader_receives_acknowledges_refuses_and_purges_messages(served, syntax, tmp_path: Path):
    process, control = served
    send(control, "one", "two", "three")
    reader = RemoteReader(process, syntax)
    body, handle = reader.receive()
    assert (body, reader.end(handle, ACK), bodies(control)) == ("one", 0, ["two", "three"])
    body, handle = reader.receive()
    assert (body, reader.end(handle, NACK), bodies(control)) == ("two", 0, ["two", "three"])
    with pytest.raises(DCERPCException, match="nca_s_fault_context_mismatch"):
        reader.end(handle, ACK)
    assert reader.qm2qm.request(RemoteQMPurgeQueue(), hQueue=reader.queue)["ErrorCode"] == 0
    assert bodies(control) == []
    assert reader.qm2qm.request(RemoteQMCloseQueue(), pphContext=reader.session)["ErrorCode"] == 0
    reader.close()
    if shutil.which("tshark"):
        for name, client in (("qm2qm", reader.qm2qm), ("qmcomm", reader.application)):
            rows = dissected(tmp_path / f"{name}.pcapng", client.transport.traffic, "dcerpc.pkt_type")
            assert {"11", "12", "0", "2"} <= {kind for (kinds,) in rows for kind in kinds.split(",")}


def test_waiting_remote_read_gets_its_message_or_is_cancelled(served):
    process, control = served
    reader = RemoteReader(process, multiplexed=True)
    waiting = reader.start(1, INFINITE_TIMEOUT)
    reader.qm2qm.dce.call(waiting.opnum, waiting)
    send(control, "late")
    answer = RemoteQMStartReceiveResponse(reader.qm2qm.dce.recv())
    assert (answer["ErrorCode"], body_of(answer)) == (0, "late")
    assert reader.end(answer["pphContext"], ACK) == 0
    waiting, cancel = reader.start(2, INFINITE_TIMEOUT), RemoteQMCancelReceive()
    for name, value in {"hQueue": reader.queue, "pQueue": reader.queue, "dwRequestID": 2}.items():
        cancel[name] = value
    reader.qm2qm.dce.call(waiting.opnum, waiting)
    reader.qm2qm.dce.call(cancel.opnum, cancel)
    answers = reader.qm2qm.dce.recv(), reader.qm2qm.dce.recv()
    assert RemoteQMStartReceiveResponse(answers[0])["ErrorCode"] == CANCELED
    assert RemoteQMCancelReceiveResponse(answers[1])["ErrorCode"] == 0
    reader.close()


def test_message_of_vanished_remote_reader_returns_to_queue(served):
    process, control = served
    send(control, "one")
    reader = RemoteReader(process)
    reader.receive()
    assert bodies(control) == []
    held = reader.qm2qm.transport.get_socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, as of a machine that fails
    held.close()
    assert control.call("receive", queue=PLAIN, timeout_ms=PATIENCE_S * 1000)["message"]["body"] == "one"
    reader.application.dce.disconnect()


def test_restart_ends_rpc_associations_and_keeps_rpc_ports(served):
    process, control = served
    control.call("send", to=f"DIRECT={DIRECT}", body="one", delivery="recoverable")
    reader = RemoteReader(process)
    reader.receive()
    control.call("restart")
    assert bodies(control) == ["one"]
    with pytest.raises((DCERPCException, OSError)):
        reader.receive()
    reader.close()
    again = RemoteReader(process)
    assert again.receive()[0] == "one"
    again.close()


def test_endpoint_mapper_at_own_port_returns_qm2qm_port(served):
    process, _ = served
    dce = RecordingTransport(process.endpoint("mapper")).get_dce_rpc()
    dce.connect()
    found = epm.hept_map("127.0.0.1", QQ, uuidtup_to_bin(SYNTAXES["NDR"]), "ncacn_ip_tcp", dce)
    assert found == f"ncacn_ip_tcp:127.0.0.1[{process.endpoint('rpc_read')[1]}]"
    dce.disconnect()


def read(process: Served, *flags: str, queue: str = DIRECT) -> subprocess.CompletedProcess[str]:
    return mqconform("read", "--rpc-port", process.endpoint("rpc")[1], *flags, f"DIRECT={queue}")


def test_read_command_peeks_receives_and_reports_empty_queue_or_failure(served):
    process, control = served
    send(control, "one")
    for flags, left in ((("--peek",), ["one"]), ((), [])):
        done = read(process, *flags)
        assert (done.returncode, json.loads(done.stdout)["body"], bodies(control)) == (0, "one", left)
    empty = read(process, "--timeout-ms", "10")
    assert (empty.returncode, empty.stdout, empty.stderr) == (1, "", "")
    failed = read(process, queue="TCP:127.0.0.1\\private$\\nowhere")
    assert failed.returncode == 2
    assert failed.stderr.startswith("mqconform read: R_QMOpenRemoteQueue returned 0xc00e0003 MQ_ERROR_QUEUE_NOT_FOUND")


def memory_kb(process: Served) -> int:
    """Return the maximum resident memory of a process in kB."""
    status = Path(f"/proc/{process.process.pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def test_false_lengths_in_rpc_stubs_take_no_memory_and_other_clients_are_served(served):
    process, control = served
    send(control, "one")
    reader = RemoteReader(process)
    before_kb = memory_kb(process)
    desc = struct.pack("<10I", reader.queue, 0, 0, 0, 4_325_376, reader.queue, 1, 0, 0, 0)
    for number in range(50):
        with socket.create_connection(process.endpoint("rpc_read"), PATIENCE_S) as client:
            client.sendall(_BIND)
            client.recv(4096)
            stub = desc + struct.pack("<IIII", 0x20000, 4_325_376, 0, 4_325_376) + bytes(8)
            client.sendall(_request(stub, alloc_hint=len(stub) if number % 2 else 0xFFFFFFFF))
            assert client.recv(4096)[2] == 3  # a fault
            client.sendall(struct.pack("<BBBBIHHI", 5, 0, 0, 3, 0x10, 0xFFFF, 0, 9) + bytes(40))
            while client.recv(4096):
                pass  # a fragment above what was agreed ends the connection
    assert memory_kb(process) - before_kb < 8 * MIB_KB
    assert reader.receive()[0] == "one"
    reader.close()


_CONTEXT = uuidtup_to_bin(("1088a980-eae5-11d0-8d9b-00a02453c337", "1.0")) + uuidtup_to_bin(SYNTAXES["NDR"])
_BIND_BODY = struct.pack("<HHIIHH", 5840, 5840, 0, 1, 0, 1) + _CONTEXT
_BIND = struct.pack("<BBBBIHHI", 5, 0, 11, 7, 0x10, 16 + len(_BIND_BODY), 0, 1) + _BIND_BODY


def _request(stub: bytes, alloc_hint: int) -> bytes:
    body = struct.pack("<IHH", alloc_hint, 0, 0) + stub
    return struct.pack("<BBBBIHHI", 5, 0, 0, 3, 0x10, 16 + len(body), 0, 2) + body
