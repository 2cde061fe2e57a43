"""Control a SUT with commands instead of an agent: the SUT file contains one command for each verb of the control
protocol (table [commands]).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any
from uuid import UUID

from harness.environment import Environment
from harness.errors import HarnessError, SutUnavailable
from harness.printable import one_line
from harness.sut.control import ContractBroken, ControlRefused, Unsupported, check_answer
from reference_qm.control import VERBS_BY_FACILITY
from reference_qm.surface.inputs import Endpoint

MAX_OUTPUT_CHARACTERS = 500
COMMAND_POLL_INTERVAL_MS = 50
"""int ms: the interval at which a running command is checked for its end."""
MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""int bytes: the maximum size of the answer of a command. It equals the maximum size of a line from an agent."""
REQUIRED_VERBS_BY_FACILITY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "queue_control": frozenset({"create_queue", "delete_queue"}),
        "receive": frozenset({"peek", "receive", "purge"}),
        "transactions": frozenset({"begin", "commit", "abort"}),
        "pause": frozenset({"pause_queue", "resume_queue"}),
        "management": frozenset({"get_outgoing_queue"}),
        "environment": frozenset({"environment"}),
        "remote_read": frozenset({"remote_open", "remote_close", "remote_receive"}),
    }
)
"""For each facility that also has optional verbs, the verbs that must have a command so that the facility counts as
supported. If a check calls a verb without a command, its verdict is inconclusive.
"""


def list_facilities(verbs: Collection[str]) -> frozenset[str]:
    """Return the facilities that are supported if the given verbs have commands."""
    return frozenset(
        name
        for name, needed in VERBS_BY_FACILITY.items()
        if needed and REQUIRED_VERBS_BY_FACILITY.get(name, needed) <= set(verbs)
    )


class CommandControl:
    """A control channel that runs a command for each verb. The command reads the arguments as JSON from its
    standard input, and writes its answer as JSON to its standard output. If it writes no output, the answer is
    empty.

    ``identify`` is a function that returns the identifier of the queue manager that accepts sessions. ``listens``
    is the endpoint at which the SUT listens after a restart.
    """

    def __init__(
        self,
        environment: Environment,
        commands: Mapping[str, Sequence[str]],
        timeout_ms: int,
        identify: Callable[[], UUID | None],
        listens: Endpoint,
    ) -> None:
        self._environment = environment
        self._commands = commands
        self._timeout_ms = timeout_ms
        self._identify = identify
        self._listens = listens

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Run the command of a verb, and return its answer. Raise ControlRefused if the command exits with a code
        other than 0, Unsupported if the verb has no command, ContractBroken if the output is not an answer, and
        SutUnavailable if the command does not end.
        """
        if verb == "identity":
            return {"guid": str(self._identify())}
        if verb not in self._commands:
            raise Unsupported(f"[commands] has no {verb}")
        answer = self._run_command(verb, arguments)
        if verb == "restart":
            self._await_listener()
        return answer

    def begin(self, verb: str, **arguments: Any) -> int:
        """Refuse the request, because a command that waits for a message would block the tester."""
        raise Unsupported(f"{verb}: a command of the SUT file cannot wait for a message")

    def answer(self, request: int) -> dict[str, Any] | None:
        """Refuse the call, because this channel never starts a request that is answered later."""
        raise HarnessError(f"request {request} was never started")

    def close(self) -> None:
        """Do nothing, because no command runs between two calls."""

    def _run_command(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        command = self._commands[verb]
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complaint:
            given.write(json.dumps(arguments).encode())
            given.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - the command is the user's own
                    command, stdin=given, stdout=said, stderr=complaint, start_new_session=True
                )
            except OSError as error:
                raise SutUnavailable(f"{command[0]} of commands.{verb} cannot be started: {error.strerror}") from error
            try:
                wait_ms = self._timeout_ms + int(arguments.get("timeout_ms") or 0)
                ended = self._wait_for_end(lambda: process.poll() is not None, wait_ms)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)  # also kill the processes that the command started
                    process.wait()
            if not ended:
                raise SutUnavailable(f"commands.{verb} did not exit within {wait_ms} ms")
            if process.returncode:
                why = (
                    _read_text(complaint, MAX_OUTPUT_CHARACTERS)
                    or _read_text(said, MAX_OUTPUT_CHARACTERS)
                    or "no reason is given"
                )
                raise ControlRefused(
                    f"the SUT refused {verb}: {one_line(why, MAX_OUTPUT_CHARACTERS)} (exit {process.returncode})"
                )
            return _parse_answer(verb, _read_text(said, MAX_ANSWER_BYTES))

    def _wait_for_end(self, is_over: Callable[[], bool], timeout_ms: int) -> bool:
        """Wait for the command to exit; meanwhile, the peer continues to answer packets. Return whether the command
        exited in time.
        """
        ends_ms = self._environment.now().monotonic_ms + timeout_ms
        while not (over := is_over()) and self._environment.now().monotonic_ms < ends_ms:
            self._environment.run_until(is_over, COMMAND_POLL_INTERVAL_MS)
        return over

    def _await_listener(self) -> None:
        if not self._wait_for_end(self._is_listening, self._timeout_ms):
            raise SutUnavailable(f"commands.restart: nothing listens at {self._listens.host}:{self._listens.port} yet")

    def _is_listening(self) -> bool:
        try:
            socket.create_connection((self._listens.host, self._listens.port), timeout=0.2).close()
        except OSError:
            return False
        return True


def _read_text(file: IO[bytes], limit: int) -> str:
    file.seek(0)
    return file.read(limit).decode("utf-8-sig", errors="replace").strip()


def _parse_answer(verb: str, text: str) -> dict[str, Any]:
    try:
        tree = json.loads(text or "{}")
    except ValueError as error:
        raise ContractBroken(f"commands.{verb} did not print JSON: {one_line(text, MAX_OUTPUT_CHARACTERS)}") from error
    if not isinstance(tree, dict):
        raise ContractBroken(f"commands.{verb} did not print a JSON object: {one_line(text, MAX_OUTPUT_CHARACTERS)}")
    return check_answer(verb, {"id": 0, "ok": True, **tree})
