"""Create the configuration of each worker of a run (``--workers``). Each worker has its own addresses, identity and
queues.
"""

from __future__ import annotations

import ipaddress
from dataclasses import fields, replace
from hashlib import sha256
from uuid import uuid5

from harness.errors import UsageError
from harness.sut.sut_file import DriverTable, QueuesTable, SutFile, is_loopback

MAX_WORKERS = 100
NEEDS_THAT_FORBID_OTHER_WORKERS = frozenset(
    {
        "restart",
        "reset",
        "set_timers",
        "configure",
        "environment",
        "insecure_nacks",
        "rejected_40_bit_keys",
        "queue_manager_quota",
        "ping_initiator",
    }
)
"""The capabilities and facilities that affect all users of a SUT, or that exist only once. A check that needs one
of them runs alone. A queue manager has only one PingCookie, so it ignores the response to every ping except the
last one (MS-MQQB 3.1.7.8).
"""
HOSTS_PER_NETWORK = 250
"""The number of host addresses that fresh peers use in each network of 256 addresses."""
FRESH_ADDRESS_COUNT = HOSTS_PER_NETWORK * (0xFFFF - MAX_WORKERS)
ADDRESS_BIT_OF_SECOND_PEER_HOST = 0x0080_0000
"""The bit in which the loopback address of the peer differs from that of its second host, as in 127.0.0.2 and
127.128.0.2.
"""


def build_worker_configurations(file: SutFile, workers: int) -> list[SutFile]:
    """Return a SUT file for each worker. Raise UsageError if the SUT does not support several workers.

    With a driver of the kind ``process``, each worker has its own SUT and peer, with their own addresses. With
    ``external``, all workers share one SUT; outside loopback, each worker has a different peer address. With
    ``virtual``, each worker has its own reference.
    """
    kind = file.driver.kind
    if not 1 <= workers <= MAX_WORKERS:
        raise UsageError(f"--workers {workers}: the number must be 1 to {MAX_WORKERS}")
    shared = workers > 1 and kind == "external" and file.control.kind == "none"
    if shared and file.capabilities.get("qm2qm", False) and not has_own_queues(file):
        raise UsageError(
            f"--workers {workers}: the workers would share the queues in [queues] and [[more_queues]], but a check "
            "empties the queues that it reads remotely (capability qm2qm); to give each worker its own queues, insert "
            "{worker} into their names"
        )
    if workers > 1 and kind == "process" and not _has_own_program(file.driver):
        raise UsageError(
            f"--workers {workers}: driver.command of {file.path} is the same for each worker, so "
            "the programs would listen at the same endpoint; insert {address} (each worker has its own: 127.0.0.1, "
            "127.0.1.1, ...), {worker}, or {tcp_port} with tcp_port = 0 into the command"
        )
    return [_build_worker_configuration(file, number) for number in range(workers)]


def _has_own_program(driver: DriverTable) -> bool:
    """Return whether each worker starts a different command. If so, the programs of the workers listen at different
    endpoints.
    """
    told = ("{address}", "{worker}", *(["{tcp_port}"] if driver.tcp_port == 0 else []))
    return any(placeholder in part for part in driver.command for placeholder in told)


def _build_worker_configuration(file: SutFile, number: int) -> SutFile:
    driver = file.driver
    names = {each.name: getattr(file.queues, each.name) for each in fields(file.queues)}
    queues = QueuesTable(**{kind: name.replace("{worker}", str(number)) for kind, name in names.items()})
    if number and driver.kind == "process":
        driver = replace(
            driver, address=_shift_address(driver.address, number), peer_address=_derive_peer_address(file, number)
        )
    elif number and driver.kind == "external" and not is_loopback(driver.address):
        driver = replace(driver, peer_address=_derive_peer_address(file, number), second_peer_address="")
    more = tuple(replace(one, name=one.name.replace("{worker}", str(number))) for one in file.more_queues)
    return replace(file, driver=driver, queues=queues, more_queues=more)


def has_own_queues(file: SutFile) -> bool:
    """Return whether each worker has its own queues."""
    names = file.queues.plain, file.queues.transactional, file.queues.admin, *(one.name for one in file.more_queues)
    return all("{worker}" in name for name in names)


def derive_fresh_peer_file(file: SutFile, run: str, number: int) -> SutFile:
    """Return the SUT file with a peer that is new to the SUT, so that what the SUT stores about the peers of other
    checks has no effect. ``run`` is a word that is unique to the run; ``number`` is the number of the check in the run.
    """
    driver = file.driver
    identifier = uuid5(driver.peer_identifier, f"{run} {number}")
    address = _derive_fresh_address(run, number) if is_ipv4_loopback(driver.peer_address) else driver.peer_address
    return replace(file, driver=replace(driver, peer_identifier=identifier, peer_address=address))


def find_second_peer_address(driver: DriverTable) -> str | None:
    """Return the address of the peer's second host, or None if there is no such address. It is the address in the
    SUT file or, if the file contains none, an address derived from the loopback address of the peer.
    """
    if driver.second_peer_address:
        return driver.second_peer_address
    try:
        peer = ipaddress.IPv4Address(driver.peer_address)
    except ValueError:
        return None
    return str(ipaddress.IPv4Address(int(peer) ^ ADDRESS_BIT_OF_SECOND_PEER_HOST)) if peer.is_loopback else None


def _derive_fresh_address(run: str, number: int) -> str:
    """Return a loopback address for a fresh peer. It differs from the addresses of the workers' known peers. It
    does not end in 1, because such addresses are reserved for SUTs.
    """
    begin = int.from_bytes(sha256(run.encode()).digest()[:4], "big")
    network, host = divmod((begin + number) % FRESH_ADDRESS_COUNT, HOSTS_PER_NETWORK)
    return str(ipaddress.IPv4Address("127.0.0.2") + 256 * (MAX_WORKERS + network) + host)


def _derive_peer_address(file: SutFile, number: int) -> str:
    driver = file.driver
    if number <= len(driver.more_peer_addresses):
        return driver.more_peer_addresses[number - 1]
    if driver.more_peer_addresses or not is_loopback(driver.peer_address):
        raise UsageError(
            f"{file.path}: driver.more_peer_addresses names {len(driver.more_peer_addresses)} addresses of this "
            f"machine, but worker {number} also needs one"
        )
    return _shift_address(driver.peer_address, number)


def is_ipv4_loopback(address: str) -> bool:
    """Return whether an address is an IPv4 loopback address."""
    return is_loopback(address) and ":" not in address


def _shift_address(address: str, number: int) -> str:
    """Return ``address`` moved up by ``number`` blocks of 256 addresses: 127.0.0.2 becomes 127.0.1.2, then
    127.0.2.2.
    """
    try:
        return str(ipaddress.IPv4Address(address) + 256 * number)
    except ValueError as error:
        raise UsageError(
            f"--workers needs an IPv4 address, because IPv6 has only one loopback address: {address}"
        ) from error
