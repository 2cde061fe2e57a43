"""The control protocol over TCP: lines, ids, and limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from shell_fakes import RESPONSE_TIMEOUT_S, ScriptedCore, client, running

from reference_qm.control import VERBS_BY_FACILITY, ControlError
from reference_qm.shell import control_server
from reference_qm.shell.control_server import ControlServer
from reference_qm.surface.commands import (
    CancelWaiting,
    CloseQueue,
    Identity,
    OpenQueue,
    ReceiveMessage,
    Result,
)
from reference_qm.surface.effects import CommandCompleted, CommandRejected, Effect
from reference_qm.surface.inputs import Command, Endpoint, Input, QueueManagerStarted
from reference_qm.surface.remote_commands import RemoteClose, RemoteOpen
from reference_qm.surface.store import StoreError

MIB = 1024 * 1024


def answering(event: Input) -> list[Effect]:
    """Answer the request ``identity`` at once, and no other request."""
    if isinstance(event, Command) and isinstance(event.request, Identity):
        return [CommandCompleted(event.token, Result({"name": "fake"}))]
    return []


class Caller:
    """One control client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, *requests: dict[str, Any] | bytes) -> None:
        self.writer.write(b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in requests))

    async def read_reply(self) -> dict[str, Any]:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            return json.loads(await self.reader.readline())

    async def was_closed_by_server(self) -> bool:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            return await self.reader.read() == b""


class Bench:
    """A control server on a host with a scripted core."""

    def __init__(self, core: ScriptedCore, server: ControlServer, endpoint: Endpoint, stopped: asyncio.Event) -> None:
        self.core = core
        self.server = server
        self.endpoint = endpoint
        self.stopped = stopped

    @contextlib.asynccontextmanager
    async def caller(self) -> AsyncIterator[Caller]:
        async with client(self.endpoint) as ends:
            yield Caller(*ends)


@contextlib.asynccontextmanager
async def bench(offered: frozenset[str] = frozenset(VERBS_BY_FACILITY)) -> AsyncIterator[Bench]:
    core = ScriptedCore(answering)
    stopped = asyncio.Event()
    async with running(core) as (host, _):
        server = ControlServer(host, stopped.set, host.reset, offered)
        endpoint = await server.bind(Endpoint("127.0.0.1", 0))
        await server.start()
        yield Bench(core, server, endpoint, stopped)
        server.close_listener()
        server.close_client_connections()


def test_control_request_is_answered_with_its_id():
    async def story():
        async with bench() as it, it.caller() as caller:
            caller.say({"id": 1, "verb": "identity"}, {"id": "two", "verb": "identity"})
            assert await caller.read_reply() == {"id": 1, "ok": True, "name": "fake"}
            assert await caller.read_reply() == {"id": "two", "ok": True, "name": "fake"}

    asyncio.run(story())


def test_unsupported_control_verb_is_refused_in_one_line():
    async def story():
        async with bench(frozenset({"receive"})) as it, it.caller() as caller:
            caller.say({"id": 1, "verb": "reset"}, {"id": 2, "verb": "begin"}, {"id": 3, "verb": "identity"})
            assert await caller.read_reply() == {
                "id": 1,
                "ok": False,
                "error": "reset is not offered here, because it needs the facility reset",
                "unsupported": True,
            }
            assert (await caller.read_reply())["error"] == (
                "begin is not offered here, because it needs the facility transactions"
            )
            assert (await caller.read_reply())["ok"] is True

    asyncio.run(story())


def test_waiting_control_request_blocks_no_client():
    async def story():
        async with bench() as it, it.caller() as first, it.caller() as second:
            first.say({"id": 1, "verb": "receive", "queue": "private$\\q", "timeout_ms": 1000})
            first.say({"id": 2, "verb": "identity"})
            assert (await first.read_reply())["id"] == 2
            second.say({"id": 1, "verb": "identity"})
            assert (await second.read_reply())["ok"] is True
            waiting = next(
                e for e in it.core.inputs if isinstance(e, Command) and isinstance(e.request, ReceiveMessage)
            )
            it.core.script = lambda event: (
                [CommandRejected(waiting.token, "gone")] if isinstance(event, QueueManagerStarted) else []
            )
            it.server.host.handle(QueueManagerStarted())
            assert await first.read_reply() == {"id": 1, "ok": False, "error": "gone"}

    asyncio.run(story())


def test_waiting_requests_of_disconnected_control_client_are_cancelled():
    async def story():
        async with bench() as it:
            async with it.caller() as caller:
                caller.say({"id": 1, "verb": "receive", "queue": "private$\\q", "timeout_ms": 1000})
                caller.say({"id": 2, "verb": "identity"})
                await caller.read_reply()
            commands = [await it.core.wait_for(Command) for _ in range(3)]
            waiting = next(one for one in commands if isinstance(one.request, ReceiveMessage))
            assert commands[-1].request == CancelWaiting(waiting.token)

    asyncio.run(story())


def test_waiting_control_request_can_be_cancelled_only_by_its_client():
    async def story():
        async with bench() as it, it.caller() as caller, it.caller() as other:
            caller.say({"id": "r", "verb": "receive", "queue": "private$\\q", "timeout_ms": 1000})
            waiting = await it.core.wait_for(Command)
            gone = CommandRejected(waiting.token, "cancelled")
            it.core.script = lambda event: (
                [gone, CommandCompleted(event.token, Result({"cancelled": True}))] if isinstance(event, Command) else []
            )
            other.say({"id": 1, "verb": "cancel", "request": "r"})
            assert (
                "request 'r' of this client is not pending, so it cannot be cancelled"
                in (await other.read_reply())["error"]
            )
            caller.say({"id": 2, "verb": "cancel", "request": "r"})
            assert await caller.read_reply() == {"id": "r", "ok": False, "error": "cancelled"}
            assert await caller.read_reply() == {"id": 2, "ok": True, "cancelled": True}
            caller.say({"id": 3, "verb": "cancel", "request": "r"})
            assert "request 'r'" in (await caller.read_reply())["error"]
            caller.say({"id": 4, "verb": "cancel"})
            assert "takes only the argument request" in (await caller.read_reply())["error"]

    asyncio.run(story())


@pytest.mark.parametrize(
    ("line", "number", "complaint"),
    [
        (b"{", None, "the line is not a JSON object"),
        (b"\xff", None, "the line is not a JSON object"),
        (b"", None, "the line is not a JSON object"),
        (b"[" * 100_000, None, "nested too deeply"),
        (b"[1]", None, "the line is not a JSON object, but of type list"),
        (b'{"verb": "identity"}', None, '"id" is missing'),
        (b'{"id": true, "verb": "identity"}', None, '"id" is missing'),
        (b'{"id": 1}', 1, "verb"),
        (b'{"id": 1, "verb": []}', 1, "verb"),
        (b'{"id": 1, "verb": "fly"}', 1, "fly"),
        (b'{"id": 1, "verb": "identity", "loud": true}', 1, "loud"),
        (b'{"id": 1, "verb": "restart", "loud": true}', 1, "loud"),
    ],
)
def test_bad_control_line_is_answered_and_client_continues(line: bytes, number: int | None, complaint: str):
    async def story():
        async with bench() as it, it.caller() as caller:
            caller.say(line + b"\n", {"id": 9, "verb": "identity"})
            reply = await caller.read_reply()
            assert (reply["id"], reply["ok"]) == (number, False)
            assert complaint in reply["error"]
            assert "\n" not in reply["error"]
            assert (await caller.read_reply())["id"] == 9
            assert len(it.core.begun) == 1

    asyncio.run(story())


def test_control_lines_may_arrive_in_any_chunks():
    async def story():
        async with bench() as it, it.caller() as caller:
            for byte in b'{"id": 1, "verb": "identity"}\n{"id": 2, "verb": "identity"}\n':
                caller.writer.write(bytes([byte]))
                await caller.writer.drain()
            assert [(await caller.read_reply())["id"] for _ in range(2)] == [1, 2]

    asyncio.run(story())


def test_endless_control_line_is_not_stored():
    async def story():
        async with bench() as it, it.caller() as caller:
            caller.say(b"x" * (control_server.LINE_BYTES_LIMIT + 1))
            assert f"longer than {control_server.LINE_BYTES_LIMIT} bytes" in (await caller.read_reply())["error"]
            assert await caller.was_closed_by_server()

    asyncio.run(story())


def test_number_of_waiting_control_requests_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(control_server, "UNANSWERED_REQUESTS_LIMIT", 3)

    async def story():
        async with bench() as it, it.caller() as caller:
            caller.say(*({"id": n, "verb": "receive", "queue": "private$\\q", "timeout_ms": 9} for n in range(4)))
            reply = await caller.read_reply()
            assert (reply["id"], reply["ok"]) == (3, False)
            assert "are not answered yet" in reply["error"]

    asyncio.run(story())


def test_number_of_control_clients_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(control_server, "CONTROL_CLIENTS_LIMIT", 1)

    async def story():
        async with bench() as it, it.caller() as first, it.caller() as second:
            first.say({"id": 1, "verb": "identity"})
            assert (await first.read_reply())["ok"] is True
            assert "already connected" in (await second.read_reply())["error"]
            assert await second.was_closed_by_server()

    asyncio.run(story())


def test_requests_of_a_stalled_control_client_are_not_read():
    async def story():
        async with bench() as it, it.caller() as caller:
            large = Result({"text": "x" * MIB})
            it.core.script = lambda event: [CommandCompleted(event.token, large)] if isinstance(event, Command) else []
            requests = 50
            # StreamReader stops reading from the socket by itself once twice its limit (64 KiB) is unread.
            caller.say(*({"id": n, "verb": "identity"} for n in range(requests)))
            await it.core.wait_for(Command)
            asked = [event for event in it.core.inputs if isinstance(event, Command)]
            assert len(asked) < requests
            for number in range(requests):
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    start = b'{"id":%d,' % number
                    assert await caller.reader.readexactly(len(start)) == start
                    rest = len(json.dumps(large.values, separators=(",", ":"))) + len(b'"ok":true,')
                    assert (await caller.reader.readexactly(rest)).endswith(b'x"}\n')

    asyncio.run(story())


def test_restart_verb_is_answered_after_the_core_started_again():
    async def story():
        async with bench() as it, it.caller() as first, it.caller() as second:
            first.say({"id": 1, "verb": "receive", "queue": "private$\\q", "timeout_ms": 1000})
            first.say({"id": 2, "verb": "identity"})
            assert (await first.read_reply())["id"] == 2
            second.say({"id": 5, "verb": "restart"})
            assert await second.read_reply() == {"id": 5, "ok": True}
            assert len(it.core.begun) == 2
            assert [type(event) for event in it.core.inputs].count(QueueManagerStarted) == 2
            assert await first.read_reply() == {
                "id": 1,
                "ok": False,
                "error": "the queue manager was restarted in the meantime",
            }
            second.say({"id": 6, "verb": "identity"})
            assert (await second.read_reply())["ok"] is True

    asyncio.run(story())


def test_reset_verb_is_answered_after_the_new_core_started():
    async def story():
        async with bench() as it, it.caller() as first, it.caller() as second:
            first.say({"id": 1, "verb": "receive", "queue": "private$\\q", "timeout_ms": 1000})
            first.say({"id": 2, "verb": "identity"})
            assert (await first.read_reply())["id"] == 2
            second.say({"id": 5, "verb": "reset"})
            assert await second.read_reply() == {"id": 5, "ok": True}
            assert len(it.core.begun) == 2
            assert [type(event) for event in it.core.inputs].count(QueueManagerStarted) == 2
            assert await first.read_reply() == {
                "id": 1,
                "ok": False,
                "error": "the queue manager was reset in the meantime",
            }

    asyncio.run(story())


@pytest.mark.parametrize("error", [StoreError("store x: no room"), ControlError("reset: not here")])
def test_impossible_reset_verb_is_refused_in_one_line(error: Exception):
    async def story():
        async with bench() as it, it.caller() as caller:

            def reset() -> None:
                raise error

            it.server.reset = reset
            caller.say({"id": 5, "verb": "reset"})
            assert await caller.read_reply() == {"id": 5, "ok": False, "error": str(error)}

    asyncio.run(story())


def test_stop_verb_is_answered_and_ends_the_service():
    async def story():
        async with bench() as it, it.caller() as caller:
            caller.say({"id": 1, "verb": "stop"})
            assert await caller.read_reply() == {"id": 1, "ok": True}
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                await it.stopped.wait()

    asyncio.run(story())


def opening(event: Input) -> list[Effect]:
    """Answer each request that opens an object with its token as the handle, and every other request with an empty
    result.
    """
    if not isinstance(event, Command):
        return []
    names = {OpenQueue: "handle", RemoteOpen: "remote"}
    name = names.get(type(event.request))
    return [CommandCompleted(event.token, Result({name: event.token} if name else {}))]


def test_queue_handles_are_closed_with_the_control_connection_that_opened_them():
    async def story():
        async with bench() as it:
            it.core.script = opening
            async with it.caller() as caller:
                caller.say({"id": 1, "verb": "open_queue", "queue": "private$\\q", "access": "receive"})
                kept = (await caller.read_reply())["handle"]
                caller.say({"id": 2, "verb": "open_queue", "queue": "private$\\q", "access": "peek"})
                closed = (await caller.read_reply())["handle"]
                caller.say(
                    {"id": 3, "verb": "remote_open", "queue": "DIRECT=TCP:127.0.0.1\\private$\\q", "access": "peek"}
                )
                remote = (await caller.read_reply())["remote"]
                caller.say({"id": 4, "verb": "close_queue", "handle": closed})
                await caller.read_reply()
            commands = [await it.core.wait_for(Command) for _ in range(6)]
            assert [one.request for one in commands[4:]] == [CloseQueue(kept), RemoteClose(remote)]

    asyncio.run(story())


def test_queue_handles_ended_by_a_restart_are_not_closed_again():
    async def story():
        async with bench() as it:
            it.core.script = opening
            async with it.caller() as caller:
                caller.say({"id": 1, "verb": "open_queue", "queue": "private$\\q", "access": "receive"})
                caller.say({"id": 2, "verb": "restart"}, {"id": 3, "verb": "identity"})
                for _ in range(3):
                    await caller.read_reply()
            async with it.caller() as other:
                other.say({"id": 1, "verb": "identity"})
                await other.read_reply()
            asked = [event.request for event in it.core.inputs if isinstance(event, Command)]
            assert [type(one) for one in asked] == [OpenQueue, Identity, Identity]

    asyncio.run(story())


def test_control_client_that_reads_no_answers_is_disconnected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(control_server, "UNREAD_BYTES_LIMIT", 4 * MIB)

    async def story():
        async with bench() as it, it.caller() as caller:
            it.core.script = lambda event: []
            for number in range(200):
                caller.say({"id": number, "verb": "receive", "queue": "private$\\q", "timeout_ms": 1000})
            tokens = [(await it.core.wait_for(Command)).token for _ in range(200)]
            it.core.script = lambda event: (
                [CommandCompleted(token, Result({"message": "x" * MIB})) for token in tokens]
                if isinstance(event, QueueManagerStarted)
                else []
            )
            it.server.host.handle(QueueManagerStarted())
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                while it.server.clients:
                    await asyncio.sleep(0)

    asyncio.run(story())
