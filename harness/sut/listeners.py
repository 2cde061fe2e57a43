"""Find out which program listens at a port. Before the SUT is started, the harness tries to connect to the port. After
the start, it reads Linux's /proc.
"""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from harness.errors import SutUnavailable

PROC_FOLDER = Path("/proc")
_PROC_TABLES_BY_SOCKET_TYPE = {socket.SOCK_STREAM: ("tcp", "tcp6"), socket.SOCK_DGRAM: ("udp", "udp6")}
_LISTENING_STATE_BY_SOCKET_TYPE = {socket.SOCK_STREAM: "0A", socket.SOCK_DGRAM: "07"}
"""The states in /proc/net of a TCP socket that listens, and of a UDP socket that receives datagrams from any
address.
"""


@dataclass(frozen=True, slots=True)
class SutPort:
    """A port of the SUT. ``key_in_sut_file`` is the key of the port in the SUT file."""

    key_in_sut_file: str
    address: str
    number: int
    kind: socket.SocketKind = socket.SOCK_STREAM

    def __str__(self) -> str:
        udp = "udp " if self.kind is socket.SOCK_DGRAM else ""
        return f"{udp}{self.address}:{self.number} ({self.key_in_sut_file})"


def refuse_taken_port(ports: Iterable[SutPort]) -> None:
    """Raise SutUnavailable if a program already listens at a port. The run would otherwise test this program
    instead of the SUT.
    """
    for port in ports:
        if (taken := describe_listener(port)) is not None:
            raise SutUnavailable(
                f"{port} is {taken}: that program would be tested in the SUT's place; end that program, or "
                "give another port (0 selects a free port)"
            )


def describe_listener(port: SutPort) -> str | None:
    """Return a text that states that the port is in use, or None if the port is free. The text names the process
    that listens, unless this process cannot be found.
    """
    return f"in use{_describe_owners(_find_pids(_list_listening_inodes(port)))}" if _is_port_taken(port) else None


def is_own_address(address: str) -> bool:
    """Return whether an address belongs to this machine."""
    try:
        _bind_address(address)
    except OSError:
        return False
    return True


def _bind_address(address: str) -> None:
    with socket.socket(_get_address_family(address), socket.SOCK_STREAM) as probe:
        probe.bind((address, 0))


def refuse_foreign_address(address: str, key: str) -> None:
    """Raise SutUnavailable if an address does not belong to this machine."""
    try:
        _bind_address(address)
    except OSError as error:
        raise SutUnavailable(
            f"{key} {address} is not an address of this machine ({error.strerror}): give an address of this "
            "machine at which the SUT finds the peer"
        ) from error


def refuse_foreign_listener(ports: Iterable[SutPort], program: int) -> None:
    """Raise SutUnavailable if neither the program nor a process that it started listens at a port.

    The port is not refused if its sockets cannot be inspected, for example because they belong to another user's
    processes.
    """
    family = _list_program_processes(program)
    if not family or any(_list_process_sockets(pid) is None for pid in family):
        return
    own = {inode for pid in family for inode in _list_process_sockets(pid) or ()}
    for port in ports:
        others = _list_listening_inodes(port) - own
        if others:
            raise SutUnavailable(
                f"{port} is in use{_describe_owners(_find_pids(others))}; the started program does not listen there; "
                "if this is intended (a container, a service manager), set own_ports = false in [driver]"
            )


def _is_port_taken(port: SutPort) -> bool:
    with socket.socket(_get_address_family(port.address), port.kind) as probe:
        if port.kind is socket.SOCK_STREAM:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # ended connections do not count as a listener
        try:
            probe.bind((port.address, port.number))
            if port.kind is socket.SOCK_STREAM:
                probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise SutUnavailable(
                    f"{port}: this is not an address of this machine, so the program cannot listen there"
                ) from error
            # After EACCES, the port counts as free: the program may have rights that this process lacks.
            return error.errno == errno.EADDRINUSE
    return False


def _get_address_family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _list_listening_inodes(port: SutPort) -> set[int]:
    """Return the inodes of the sockets that receive the traffic to a port."""
    wanted = ip_address(socket.getaddrinfo(port.address, None, _get_address_family(port.address))[0][4][0])
    return {
        inode
        for table in _PROC_TABLES_BY_SOCKET_TYPE[port.kind]
        for state, address, number, inode in _read_proc_table_rows(PROC_FOLDER / "net" / table)
        if (state, number) == (_LISTENING_STATE_BY_SOCKET_TYPE[port.kind], port.number)
        and _covers_address(address, wanted)
    }


def _read_proc_table_rows(table: Path) -> Iterator[tuple[str, IPv4Address | IPv6Address, int, int]]:
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        fields = line.split()
        address, _, number = fields[1].partition(":")
        yield fields[3], _parse_proc_address(address), int(number, 16), int(fields[9])


def _parse_proc_address(printed: str) -> IPv4Address | IPv6Address:
    """Parse an address in the form that /proc prints: words of 32 bits, each in the byte order of the machine."""
    words = [int(printed[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(printed), 8)]
    address = ip_address(b"".join(words))
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _covers_address(listening: IPv4Address | IPv6Address, wanted: IPv4Address | IPv6Address) -> bool:
    if listening.is_unspecified:  # [::] also accepts IPv4, unless the program has excluded it
        return listening.version == 6 or wanted.version == 4
    return listening == wanted


def _list_program_processes(program: int) -> set[int]:
    """Return the program and the processes that it started. The processes that it started are its descendants, and the
    other processes in its session.
    """
    parents: dict[int, int] = {}
    family = {program}
    for pid in _list_all_pids():
        try:
            fields = (
                (PROC_FOLDER / str(pid) / "stat")
                .read_text(encoding="utf-8", errors="replace")
                .rpartition(")")[2]
                .split()
            )
        except OSError:
            continue
        parents[pid] = int(fields[1])
        if int(fields[3]) == program:
            family.add(pid)
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    return family & parents.keys()


def _list_all_pids() -> list[int]:
    try:
        return [int(entry.name) for entry in PROC_FOLDER.iterdir() if entry.name.isdigit()]
    except OSError:
        return []


def _list_process_sockets(pid: int) -> set[int] | None:
    """Return the inodes of the sockets of a process, or None if the harness has no permission to read them."""
    found = set()
    try:
        for entry in (PROC_FOLDER / str(pid) / "fd").iterdir():
            try:
                target = str(entry.readlink())
            except FileNotFoundError:
                continue
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    except FileNotFoundError:
        return set()  # the process has ended meanwhile
    except OSError:
        return None
    return found


def _find_pids(inodes: set[int]) -> list[int]:
    return [pid for pid in _list_all_pids() if inodes & (_list_process_sockets(pid) or set())] if inodes else []


def _describe_owners(pids: list[int]) -> str:
    names = []
    for pid in pids:
        try:
            names.append(f"process {pid}, {(PROC_FOLDER / str(pid) / 'comm').read_text(encoding='utf-8').strip()}")
        except (OSError, UnicodeDecodeError):
            names.append(f"process {pid}")
    return f" by {'; '.join(names[:3])}" if names else ""
