"""The clock and the resolver of the host."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from shell_fakes import RESPONSE_TIMEOUT_S, ScriptedCore, on, running

from reference_qm.shell import system
from reference_qm.surface.commands import Identity
from reference_qm.surface.effects import ResolveHost
from reference_qm.surface.inputs import HostResolved, QueueManagerStarted


def test_core_is_woken_at_its_due_time_and_not_before():
    async def story():
        core = ScriptedCore()
        due = system.read_clocks().monotonic_ms + 30
        core.due = due
        async with running(core):
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                await core.timer_ran.wait()
        assert len(core.expired) == 1
        assert core.expired[0].monotonic_ms >= due

    asyncio.run(story())


def test_wake_up_cancelled_by_the_core_does_not_happen():
    async def story():
        core = ScriptedCore()
        core.due = system.read_clocks().monotonic_ms + 60_000
        async with running(core) as (host, _):
            core.due = None
            host.ask(Identity(), lambda answer: None)
            assert host.driver.due is None
        assert not core.expired

    asyncio.run(story())


@pytest.mark.parametrize(
    ("host", "addresses"), [("127.0.0.9", ("127.0.0.9",)), ("localhost", ("127.0.0.1",)), ("a" * 64, ())]
)
def test_host_name_is_resolved_to_the_address_family_of_the_own_address(host: str, addresses: tuple[str, ...]):
    async def story():
        core = ScriptedCore(on(QueueManagerStarted, ResolveHost(host)))
        async with running(core):
            assert await core.wait_for(HostResolved) == HostResolved(host, addresses)

    asyncio.run(story())


def test_silent_name_server_does_not_block_host(monkeypatch: pytest.MonkeyPatch):
    begun, silence = threading.Event(), threading.Event()
    asked: list[object] = []

    def never(*args: object, **kwargs: object) -> list[object]:
        asked.append((kwargs, threading.current_thread().daemon))
        begun.set()
        silence.wait(RESPONSE_TIMEOUT_S)
        return []

    async def story():
        core = ScriptedCore(on(QueueManagerStarted, ResolveHost("slow.example"), ResolveHost("127.0.0.1")))
        async with running(core):
            assert (await core.wait_for(HostResolved)).host == "127.0.0.1"

    monkeypatch.setattr(socket, "getaddrinfo", never)
    asyncio.run(story())
    assert begun.wait(RESPONSE_TIMEOUT_S)
    silence.set()
    # A daemon thread does not outlive the process; the family is that of the own address.
    assert asked == [({"family": socket.AF_INET, "type": socket.SOCK_STREAM}, True)]
