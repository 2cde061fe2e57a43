"""The service around a core: faults, failures, and ports."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import pytest
from shell_fakes import RESPONSE_TIMEOUT_S, ScriptedCore, on

from harness.faults.registry import Fault, FaultyCore, load_faults
from reference_qm.core.queue_manager import QueueManager
from reference_qm.shell.service import QueueManagerService, make_core_factory
from reference_qm.shell.settings import ServeSettings, SettingsError, load_settings
from reference_qm.surface.effects import Effect, Persist
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import BytesReceived, Endpoint, Input, QueueManagerStarted
from reference_qm.surface.store import MemoryStore, Record


def settings(**flags: str) -> ServeSettings:
    chosen = {"--tcp-port": "0", "--ping-port": "0", **{f"--{name}": value for name, value in flags.items()}}
    return load_settings(None, chosen, SeededEntropy("service"))


def test_internal_failure_ends_process_and_is_logged(caplog: pytest.LogCaptureFixture):
    def script(event: Input) -> list[Effect]:
        if isinstance(event, BytesReceived):
            raise ZeroDivisionError("a mistake in the core")
        return []

    async def story() -> bool:
        ready: asyncio.Queue[str] = asyncio.Queue()
        running = asyncio.create_task(QueueManagerService(settings(), ScriptedCore(script).begin).run(ready.put_nowait))
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            port = int((await ready.get()).split()[1].rpartition(":")[2])
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"x")
            went_well = await running
            writer.close()
        return went_well

    assert asyncio.run(story()) is False
    assert "a mistake in the core" in caplog.text


def test_operating_system_error_is_logged_and_survived(caplog: pytest.LogCaptureFixture):
    async def story() -> bool:
        loop = asyncio.get_running_loop()
        it = QueueManagerService(settings(), ScriptedCore().begin)

        def ready(line: str) -> None:
            problem = OSError(24, "Too many open files")
            loop.call_exception_handler({"message": "socket.accept() out of system resource", "exception": problem})
            it.stop()

        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            return await it.run(ready)

    assert asyncio.run(story()) is True
    assert caplog.messages == ["socket.accept() out of system resource: [Errno 24] Too many open files"]


@pytest.mark.parametrize("error", [RuntimeError("no thread\nis left"), OSError(5, "Input/output error"), MemoryError()])
def test_internal_store_failure_ends_process_with_one_line(caplog: pytest.LogCaptureFixture, error: Exception):
    class Broken(MemoryStore):
        async def write(self, records: Sequence[Record]) -> None:
            raise error

    core = ScriptedCore(on(QueueManagerStarted, Persist(1, {"n": 1})))

    async def story() -> bool:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            return await QueueManagerService(settings(), core.begin, Broken()).run(lambda line: None)

    assert asyncio.run(story()) is False
    said = f"the store failed and can store no further records: {type(error).__name__}: {' '.join(str(error).split())}"
    assert caplog.messages == [said]


def test_service_without_free_ports_has_no_side_effect():
    core = ScriptedCore()

    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            endpoint = f"127.0.0.1:{taken.getsockname()[1]}"
            with pytest.raises(SettingsError, match=f"cannot listen on tcp {endpoint}: Address already in use"):
                await QueueManagerService(settings(control=endpoint), core.begin).run(pytest.fail)

    asyncio.run(story())
    assert QueueManagerStarted() not in core.inputs


def test_service_logs_an_address_outside_loopback(caplog: pytest.LogCaptureFixture):
    async def story() -> None:
        it = QueueManagerService(settings(), ScriptedCore().begin)
        assert it._format_open_endpoint(Endpoint("127.0.0.1", 1)) == "127.0.0.1:1"
        assert not caplog.messages
        assert it._format_open_endpoint(Endpoint("192.0.2.1", 1801)) == "192.0.2.1:1801"

    asyncio.run(story())
    assert len(caplog.messages) == 1
    assert "192.0.2.1:1801 is not a loopback address" in caplog.text


def test_service_installs_named_faults_in_its_core(monkeypatch: pytest.MonkeyPatch):
    put_in: list[str] = []
    for name in ("silent", "mute"):
        fault = Fault(name, ("MQQB-2.1.1-01",), "for this test", lambda faulty, name=name: put_in.append(name))
        monkeypatch.setitem(load_faults(), name, fault)
    assert isinstance(make_core_factory(settings(), [])({}), QueueManager)
    assert not put_in
    assert isinstance(make_core_factory(settings(), ["silent", "mute"])({}), FaultyCore)
    assert put_in == ["silent", "mute"]
    with pytest.raises(SettingsError, match=r"^--fault silnet: there is no such fault; similar ones: silent$"):
        make_core_factory(settings(), ["mute", "silnet"])({})
