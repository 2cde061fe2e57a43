"""Use the standard streams of a command, such as ``ssh host agent``, as a control channel.

A run opens a channel for each check. All channels of a worker share one process, because starting a remote program
takes seconds. Request ids are unique across all channels of the process. Workers do not share a process: if two workers
read the same stream, each would receive only some of the answers.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing import parent_process, util
from pathlib import Path
from typing import IO, Any

from harness.environment import Environment, RealEnvironment
from harness.errors import HarnessError, SutUnavailable
from harness.printable import one_line
from harness.sut.guard_process import STOP_TIMEOUT_S
from harness.sut.sut_process import describe_end_of_process_code
from harness.sut.wires import (
    MAX_SHOWN_UNMATCHED_IDS,
    AnswerLines,
    ControlReply,
    ControlReplyReceiver,
    InvalidAnswerLine,
    encode_request_line,
)

READ_CHUNK_BYTES = 65_536
MAX_UNSENT_REQUEST_BYTES = 64 * 1024 * 1024
"""int bytes: the maximum amount of data that may be queued for a command that does not read its standard input."""
UNMATCHED_ANSWERS_LIMIT = 1_000
"""The maximum number of answers with an id that matches no request. After one more such answer, the control channel is
ended.
"""
WAIT_FOR_EXIT_STATUS_S = 1.0
"""int s: how long to wait for a command to exit after it has closed its standard output."""
MAX_COMMAND_NAME_CHARACTERS = 120
MAX_LAST_LINE_CHARACTERS = 300
_ERROR_OUTPUT_TAIL_BYTES = 4_096
_CLOSING_VERB_BY_VERB = {"open_queue": ("handle", "close_queue"), "open_to_send": ("handle", "close_queue")} | {
    "remote_open": ("remote", "remote_close")
}
"""For each verb that opens an object: the key of the object in the answer, and the verb that closes the object."""
_CLOSING_VERBS = frozenset(verb for _, verb in _CLOSING_VERB_BY_VERB.values())


class AgentStartedByCommand:
    """An agent that is started with a command. ``command`` returns the command. The standard error of the command
    is written to ``log_path``. ``start_ms`` is the longest time until the first answer.
    """

    def __init__(self, command: Callable[[], Sequence[str]], log_path: Path | None, start_ms: int) -> None:
        self._command = command
        self._log_path = log_path
        self._start_ms = start_ms
        self.name = "control command"
        self._owner_pid = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._processes_of_parent: list[tuple[subprocess.Popen[bytes], IO[bytes] | None]] = []
        self._socket: socket.socket | None = None
        self._reason_of_end: str | None = None
        """The reason why the command sends no further answers, or None while it may send more."""
        self._number = 0
        self._has_answered = False
        self._outgoing = bytearray()
        self._lines = AnswerLines()
        self._unmatched_count = 0
        self.unmatched_ids: list[Any] = []
        """The ids of the first answers that match no request."""
        self._wires: list[ChannelToStartedAgent] = []
        self._wire_by_request_id: dict[int, ChannelToStartedAgent] = {}
        self.on_unmatched_answer: Callable[[Any], None] = lambda number: None
        """The function that is called with the id of each answer that matches no request."""

    @property
    def min_answer_wait_ms(self) -> int:
        """int ms: the minimum time to wait for the next answer."""
        return 0 if self._has_answered else self._start_ms

    def open(self, environment: Environment, sink: ControlReplyReceiver) -> ChannelToStartedAgent:
        """Open a channel. When the first channel is opened, the command is started. If the command has ended, it is
        not started again.
        """
        if not isinstance(environment, RealEnvironment):
            raise HarnessError("a control channel through a command works only in real time")
        if self._owner_pid != os.getpid():
            self._start_command()
        if self._reason_of_end is not None or self._socket is None:
            raise SutUnavailable(f"{self.name}: {self._reason_of_end}")
        wire = ChannelToStartedAgent(self, environment, sink, self._socket.dup())
        self._wires.append(wire)
        self._watch_socket()
        sink.on_connection_open()
        return wire

    def end(self) -> None:
        """Close the standard input of the command, so that the command exits. If it does not exit, kill it.
        Afterwards, the command can be started again.
        """
        process, self._process = self._process, None
        owner, self._owner_pid = self._owner_pid, 0
        self._drop_wires()
        if process is not None and owner == os.getpid():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=STOP_TIMEOUT_S)
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(process.pid, number)
                    process.wait(timeout=STOP_TIMEOUT_S)
        if self._log is not None:
            self._log.close()
            self._log = None

    def _start_command(self) -> None:
        """Start the command in a separate session, so that Ctrl-C does not reach it. Its standard streams are a
        socket.
        """
        if self._process is not None:  # started by the parent process, which waits for its end
            self._processes_of_parent.append((self._process, self._log))
        self._drop_wires()
        self._owner_pid, self._reason_of_end, self._has_answered, self._unmatched_count = os.getpid(), None, False, 0
        self.unmatched_ids.clear()
        self._outgoing.clear()
        self._lines = AnswerLines()
        command = list(self._command())
        shown = shlex.join(command)
        if len(shown) > MAX_COMMAND_NAME_CHARACTERS:
            shown = shown[: MAX_COMMAND_NAME_CHARACTERS - 3] + "..."
        self.name = f"control command {shown}"
        log = tempfile.TemporaryFile() if self._log_path is None else self._log_path.open("ab+")  # noqa: SIM115
        self._log = log
        ours, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, no shell
                command, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=log, start_new_session=True
            )
        except OSError as error:
            ours.close()
            self._reason_of_end = f"cannot be started: {error.strerror}"
            raise SutUnavailable(f"{self.name}: {self._reason_of_end}") from error
        finally:
            theirs.close()
        ours.setblocking(False)
        self._socket = ours
        if parent_process() is not None:
            util.Finalize(None, self.end, exitpriority=1)

    def _drop_wires(self) -> None:
        for wire in list(self._wires):
            wire.close_without_waiting()
        self._wires.clear()
        self._wire_by_request_id.clear()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    # -- requests and answers -----------------------------------------------------------------------------------

    def send_request(self, wire: ChannelToStartedAgent, verb: str, arguments: dict[str, Any]) -> int:
        """Send a request, and return its id. The answer is passed to ``wire``."""
        self._number += 1
        self._wire_by_request_id[self._number] = wire
        if self._reason_of_end is None:
            self._outgoing += encode_request_line(self._number, verb, arguments)
            if len(self._outgoing) > MAX_UNSENT_REQUEST_BYTES:
                raise SutUnavailable(
                    f"{self.name} is not reading from its connection: "
                    f"{MAX_UNSENT_REQUEST_BYTES} bytes are waiting to be sent"
                )
            self.flush()
        return self._number

    def flush(self) -> None:
        """Send as many of the pending bytes as the command currently accepts."""
        while self._outgoing and self._socket is not None:
            try:
                sent = self._socket.send(self._outgoing)
            except BlockingIOError:
                break
            except OSError:  # the command has exited: its last output and its exit status are read later
                self._outgoing.clear()
                break
            del self._outgoing[:sent]
        self._watch_socket()

    def read(self) -> None:
        """Read the available bytes, which may contain answers for several channels."""
        if self._socket is None:
            return
        try:
            data = self._socket.recv(READ_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._report_loss(self._describe_end_of_command())
            return
        try:
            for reply in self._lines.feed(data):
                self._deliver_reply(reply)
        except InvalidAnswerLine as error:
            self._report_loss(str(error))

    def _deliver_reply(self, reply: ControlReply) -> None:
        self._has_answered = True
        number = reply["id"]
        wire = self._wire_by_request_id.pop(number, None) if type(number) is int else None
        if wire is not None:
            wire.on_reply(number, reply)
            return
        self.on_unmatched_answer(number)
        self._unmatched_count += 1
        if len(self.unmatched_ids) < MAX_SHOWN_UNMATCHED_IDS:
            self.unmatched_ids.append(number)
        if self._unmatched_count > UNMATCHED_ANSWERS_LIMIT:
            raise InvalidAnswerLine(f"{UNMATCHED_ANSWERS_LIMIT} answers have an id that matches no request")

    def _watch_socket(self) -> None:
        """Let the environment of each channel report when the socket has bytes to read, or can accept pending bytes."""
        self._wires = [wire for wire in self._wires if wire.watch(write=bool(self._outgoing))]

    def _report_loss(self, why: str) -> None:
        if self._reason_of_end is None:
            self._reason_of_end = why
            for wire in list(self._wires):
                wire.on_end(why)

    def _describe_end_of_command(self) -> str:
        assert self._process is not None
        try:
            code = self._process.wait(timeout=WAIT_FOR_EXIT_STATUS_S)
        except subprocess.TimeoutExpired:
            return f"closed its standard output but did not exit{self._describe_error_output()}"
        return f"ended with {describe_end_of_process_code(code)}{self._describe_error_output()}"

    def _describe_error_output(self) -> str:
        """Return the last line that the command wrote to standard error, with escaped control characters, and the
        path of the log.
        """
        if self._log is None:
            return ""
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _ERROR_OUTPUT_TAIL_BYTES))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        last = one_line(lines[-1], MAX_LAST_LINE_CHARACTERS) if lines else ""
        see = f"; see {self._log_path}" if self._log_path is not None and lines else ""
        return (f": {last}" if last else " and wrote nothing to standard error") + see


class ChannelToStartedAgent:
    """One of several control channels that share one running command. ``sock`` is a separate socket of this channel for
    the stream of the command.
    """

    def __init__(
        self,
        agent: AgentStartedByCommand,
        environment: RealEnvironment,
        sink: ControlReplyReceiver,
        sock: socket.socket,
    ) -> None:
        self._agent = agent
        self._environment = environment
        self._sink = sink
        self._sock = sock
        self._closed = False
        self._requests: dict[int, tuple[str, dict[str, Any]]] = {}
        self._open: dict[str, tuple[str, dict[str, Any]]] = {}
        """The objects that this channel has opened, each with the verb and the arguments that close it."""

    @property
    def min_answer_wait_ms(self) -> int:
        return self._agent.min_answer_wait_ms

    @property
    def unmatched_ids(self) -> Sequence[Any]:
        return self._agent.unmatched_ids

    def send_request(self, verb: str, arguments: dict[str, Any]) -> int:
        number = self._agent.send_request(self, verb, arguments)
        self._requests[number] = verb, arguments
        return number

    def close(self) -> None:
        """Cancel the pending requests and close the objects that this channel opened, as an agent does when a
        connection ends.
        """
        if self._closed:
            return
        self._closed = True
        for number, (_, arguments) in list(self._requests.items()):
            if arguments.get("timeout_ms", 0) != 0:
                self.send_request("cancel", {"request": number})
        for verb, closing in self._open.values():
            self.send_request(verb, closing)
        self._open.clear()
        self.close_without_waiting()

    def close_without_waiting(self) -> None:
        """Close the channel without waiting for further answers."""
        self._closed = True
        self._environment.forget(self._sock)

    def watch(self, *, write: bool) -> bool:
        """Watch the stream of the command in this channel's environment. Return False if the environment has ended."""
        if self._sock.fileno() < 0:
            return False
        self._environment.watch_socket(self._sock, self._on_socket_ready, write=write)
        return True

    def on_reply(self, number: int, reply: ControlReply) -> None:
        """Handle the answer to a request of this channel. If the request opened an object, but the channel ended before
        the answer arrived, close the object.
        """
        verb, arguments = self._requests.pop(number, ("", {}))
        if verb in _CLOSING_VERB_BY_VERB and reply.get("ok") is True:
            key, closes = _CLOSING_VERB_BY_VERB[verb]
            closing = {key: reply.get(key)}
            if self._closed:
                self.send_request(closes, closing)
            else:
                self._open[repr(closing)] = closes, closing
        elif verb in _CLOSING_VERBS:
            self._open.pop(repr(arguments), None)
        elif verb in ("restart", "reset"):
            self._open.clear()
        if not self._closed:
            self._sink.on_reply(reply)

    def on_end(self, why: str) -> None:
        """Record that the command has exited."""
        if not self._closed:
            self.close_without_waiting()
            self._sink.on_end(why)

    def _on_socket_ready(self, mask: int) -> None:
        self._agent.flush()
        self._agent.read()
