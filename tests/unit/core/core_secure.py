"""Two queue managers with keys, users, and the public keys of the other queue manager."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from core_network import TRANSACTIONAL, Host, Network, guid, private

SECURITY = str(Path(__file__).parents[1] / "security")
if SECURITY not in sys.path:
    sys.path.append(SECURITY)

from security_made import OTHER, PROVIDERS, STAFF, USER, certificate, remote_keys, rsa_key  # noqa: E402

from reference_qm.codec import UserMessagePacket, parse_packet  # noqa: E402
from reference_qm.security import SecurityConfig, SecuritySettings, Sid, UserAccount  # noqa: E402
from reference_qm.surface.commands import Inspect, PeekMessages  # noqa: E402

ALICE = UserAccount("alice", USER, frozenset({STAFF}), (certificate(),), rsa_key(1024))
MALLORY = UserAccount("mallory", Sid.of("S-1-5-21-1-2-3-1666"), frozenset(), (certificate(OTHER),), rsa_key(OTHER))
KEYS = {name: rsa_key(which) for name, (_, which) in PROVIDERS.items()}
DEADLETTER = "system$;deadletter"
PLAIN_2 = private(2, 1)
TRANSACTIONAL_2 = private(2, 2)


def sender_config(**changes: Any) -> SecurityConfig:
    return replace(SecurityConfig(KEYS, KEYS, (ALICE, MALLORY), {guid(2): remote_keys()}), **changes)


def receiver_config(**changes: Any) -> SecurityConfig:
    """Return the configuration of a receiver that knows alice's certificate, but not her private key."""
    return replace(SecurityConfig(KEYS, KEYS, (replace(ALICE, key=None),)), **changes)


def secure_pair(
    sender: SecurityConfig | None = None,
    receiver: SecurityConfig | None = None,
    settings: SecuritySettings | None = None,
    **config: Any,
) -> tuple[Host, Host]:
    """Return a sender (host 1) and a receiver (host 2) with the given configuration."""
    network = Network()
    sending = sender or sender_config()
    if settings is not None:
        sending = replace(sending, settings=settings)
    first = network.host(1, security=sending, routes={guid(2): "10.0.0.2"})
    second = network.host(2, security=receiver or receiver_config(), routes={guid(1): "10.0.0.1"}, **config)
    return first, second


def arrived(host: Host, queue: str = "private$\\plain") -> list[dict[str, Any]]:
    return list(host.ask(PeekMessages(queue))["messages"])


def arrived_transactional(host: Host) -> list[dict[str, Any]]:
    return arrived(host, TRANSACTIONAL)


def user_messages(host: Host) -> list[UserMessagePacket]:
    return [packet for packet in host.packets() if isinstance(packet, UserMessagePacket)]


def alter(host: Host, change: Callable[[UserMessagePacket], UserMessagePacket]) -> None:
    """Change every UserMessage Packet that the host sends, with the given function."""

    def tamper(data: bytes) -> bytes:
        packet = parse_packet(data)
        return change(packet).build() if isinstance(packet, UserMessagePacket) else data

    host.tamper = tamper


def manager(host: Host) -> dict[str, Any]:
    return dict(host.ask(Inspect())["adm"]["QueueManager"])
