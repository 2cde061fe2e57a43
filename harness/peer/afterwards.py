"""Before and after a test, accept the messages that still wait in the SUT for the peer."""

from __future__ import annotations

from uuid import UUID

from harness.environment.core_host import CoreHost
from harness.errors import ConformanceFailure, SutUnavailable
from harness.peer.party import CounterpartOfSut
from harness.sut.provisioning import GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS
from harness.sut.sut_file import (
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    PEER_PUBLIC_QUEUE,
)
from reference_qm.config import QueueManagerConfig, TimerSettings
from reference_qm.core.queue_manager import QueueManager

PEER_QUOTA_KB = 16 * 1024
"""The quota, in KB, of a reference core that acts as the peer. Four messages of maximum length fit in this quota,
which is more than any check sends.
"""
CONNECT_RETRY_PERIOD_MS = 15_000
"""int ms: three times the Session Retry Connect Timer (MS-MQQB 3.1.2.3, note <45>). A SUT with messages for the peer
connects within this time.
"""
POLL_INTERVAL_MS = 200
TIME_SCALE_FOR_IMMEDIATE_ACKS = 200
"""The factor by which the timers of the peer are shortened when the peer accepts messages after a test. With this
factor, the peer acknowledges messages immediately.
"""


def accept_messages_left_by_earlier_tests(peer: CounterpartOfSut) -> None:
    """Before a test, accept the messages that earlier tests or runs left for this peer; record the number of these
    messages.
    """
    sut = peer.sut
    if peer.environment.is_time_virtual or sut.forgets or not sut.peer_returns:
        return
    for identifier, names in _list_expected_identifiers(peer).items():
        if waiting := sut.count_waiting_messages(names):
            sut.residue.append(f"an earlier check or run left {waiting} messages for {identifier}")
            _accept_as_queue_manager(peer, identifier, names)


def accept_waiting_messages(peer: CounterpartOfSut) -> None:
    """After a test, accept and acknowledge the SUT's messages for the peer until none is left, or record how many
    remain.

    Accept no messages if the SUT does not report how many messages wait and no later test uses this peer. Such messages
    affect no other test.
    """
    sut = peer.sut
    if peer.environment.is_time_virtual or sut.forgets:
        return
    try:
        for identifier, names in _list_expected_identifiers(peer).items():
            if not (sut.peer_returns if (waiting := sut.count_waiting_messages(names)) is None else waiting):
                continue
            left = _accept_as_queue_manager(peer, identifier, names)
            if left:
                sut.residue.append(f"{left} messages for {identifier} at {peer.address} remain in the SUT")
    except (SutUnavailable, ConformanceFailure) as error:
        sut.residue.append(f"messages for {peer.address} were not removed and could still be in the SUT: {error}")


def _list_expected_identifiers(peer: CounterpartOfSut) -> dict[UUID, tuple[str, ...]]:
    """Return the identifiers of the queue managers that the SUT may expect at the peer's address. For each identifier,
    return the strings by which a format name of that queue manager can be recognized.
    """
    known: dict[UUID, tuple[str, ...]] = {peer.identifier: (f":{peer.address}\\", str(peer.identifier))}
    if peer.sut.has("public_names"):
        known[peer.identifier] += (str(PEER_PUBLIC_QUEUE),)
    if peer.sut.has("directory"):
        known[peer.identifier] += (
            str(PEER_PUBLIC_QUEUE),
            str(GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE),
            str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE),
        )
    if peer.sut.has("security"):
        known |= {
            identifier: (str(identifier),)
            for identifier in (GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS)
        }
    return known


def _accept_as_queue_manager(peer: CounterpartOfSut, identifier: UUID, names: tuple[str, ...]) -> int:
    """Accept messages as the queue manager with the given identifier; return the number of messages that still wait in
    the SUT, or 0 if the SUT does not report this number.
    """
    sut, driver = peer.sut, peer.sut.file.driver
    config = QueueManagerConfig(
        identifier=identifier,
        host_name=peer.address,
        addresses=(peer.address,),
        remote_tcp_port=sut.tcp_port,
        remote_ping_port=sut.ping_port,
        queue_manager_quota_kb=PEER_QUOTA_KB,
        timers=TimerSettings(scale=TIME_SCALE_FOR_IMMEDIATE_ACKS),
        routes={sut.identifier: sut.address} if sut.identifier else {},
    )
    host = CoreHost(peer.environment, QueueManager(config, peer.entropy), peer.address)
    host.start()
    try:
        host.listen(driver.peer_tcp_port)
        host.listen_ping(driver.peer_ping_port)
        if sut.count_waiting_messages(names) is None:
            peer.environment.run_until(lambda: False, sut.quiet_ms)
            return 0
        for _ in range(1 + (sut.duration_ms(CONNECT_RETRY_PERIOD_MS) + sut.response_timeout_ms) // POLL_INTERVAL_MS):
            if not sut.count_waiting_messages(names):
                break
            peer.environment.run_until(lambda: False, POLL_INTERVAL_MS)
        return sut.count_waiting_messages(names) or 0
    finally:
        host.stop()
