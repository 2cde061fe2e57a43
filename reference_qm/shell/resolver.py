"""Resolves host names to addresses without blocking the event loop (MS-MQQB 3.1.5.2.1)."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading

MAX_CONCURRENT_LOOKUPS = 8


class HostNameResolver:
    """Looks up host names in daemon threads, so that a name server that does not answer does not delay the end of
    the process.
    """

    def __init__(self, address: str) -> None:
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._lookup_slots = asyncio.Semaphore(MAX_CONCURRENT_LOOKUPS)

    async def lookup(self, host: str) -> tuple[str, ...]:
        """Return the addresses of ``host`` in this resolver's address family as text, best first.

        The list is empty for an unknown name.
        """
        if is_numeric_host(host):
            return (host,)
        async with self._lookup_slots:
            loop = asyncio.get_running_loop()
            found: asyncio.Future[tuple[str, ...]] = loop.create_future()
            threading.Thread(target=self._look_up_host, args=(host, loop, found), daemon=True).start()
            return await found

    def _look_up_host(self, host: str, loop: asyncio.AbstractEventLoop, found: asyncio.Future[tuple[str, ...]]) -> None:
        addresses: tuple[str, ...] = ()
        # A label that cannot be a host name (empty, longer than 63) raises UnicodeError, and counts as unknown.
        with contextlib.suppress(OSError, UnicodeError):
            entries = socket.getaddrinfo(host, None, family=self.family, type=socket.SOCK_STREAM)
            addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile, so no caller waits
            loop.call_soon_threadsafe(_set_addresses, found, addresses)


def is_numeric_host(host: str) -> bool:
    """Return whether a host is given as a numeric address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _set_addresses(found: asyncio.Future[tuple[str, ...]], addresses: tuple[str, ...]) -> None:
    if not found.done():
        found.set_result(addresses)
