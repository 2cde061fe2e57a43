"""Ports for SUTs are free and given only once; ports for DCE/RPC are among those at which MS-MQQP 3.1.4.8 lets a server
listen.
"""

import socket
import subprocess
import sys

import pytest

from harness.errors import HarnessError
from harness.sut import free_ports
from harness.sut.free_ports import READ_PORT_OFFSET, RPC_PORT, RPC_PORT_STEP, find_free_rpc_port, free_port

ADDRESS = "127.0.49.1"
"""An address that no other test uses, so that no parallel test takes its ports."""


def test_free_port_is_returned_only_once():
    ports = [free_port(ADDRESS, socket.SOCK_STREAM) for _ in range(50)]
    assert len(set(ports)) == 50


def test_free_rpc_ports_are_chosen_in_pairs_at_steps_of_eleven():
    ports = [find_free_rpc_port(ADDRESS) for _ in range(20)]
    assert all((port - RPC_PORT) % RPC_PORT_STEP == 0 for port in ports)
    assert len({*ports, *(port + READ_PORT_OFFSET for port in ports)}) == 40


def test_port_pair_with_one_port_in_use_is_skipped():
    following = find_free_rpc_port(ADDRESS) + RPC_PORT_STEP
    with socket.create_server((ADDRESS, following + READ_PORT_OFFSET)):
        assert find_free_rpc_port(ADDRESS) != following


def test_port_that_another_process_has_reserved_is_not_assigned(monkeypatch: pytest.MonkeyPatch):
    """The other process has been given the port, and does not listen yet."""
    with started_process("print(free_port(ADDRESS, socket.SOCK_STREAM), flush=True)") as other:
        monkeypatch.setattr(free_ports, "_FIRST_PORT", int(other.stdout.readline()))
        monkeypatch.setattr(free_ports, "_MAX_PORTS", 1)
        with pytest.raises(HarnessError, match=f"is free on {ADDRESS}"):
            free_port(ADDRESS, socket.SOCK_STREAM)
        other.communicate("\n")
    assert free_port(ADDRESS, socket.SOCK_STREAM) == free_ports._FIRST_PORT


def started_process(code: str) -> subprocess.Popen[str]:
    """Start Python with code that then waits for a line on its standard input."""
    imports = f"import socket\nfrom harness.sut.free_ports import free_port\nADDRESS = {ADDRESS!r}\n"
    command = [sys.executable, "-c", f"{imports}{code}\ninput()"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
