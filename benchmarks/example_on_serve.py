"""Provides the example agent with ``mqconform serve`` instead of its toy queues. The agent forwards all verbs to
serve.

Usage: example_on_serve.py HOST:PORT, the address of serve's control channel. The agent needs only the standard
library, as the example does, so ``ssh`` can start it on any machine.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "agent"))

import agent  # a separate file, to be copied


class Serve:
    """The queue manager of ``mqconform serve``, which is controlled through its control channel. A conversation
    waits for the condition ``changed``.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.changed = threading.Condition()
        self.answers: dict[int, dict[str, Any]] = {}
        self.ended = False
        self._socket = socket.create_connection((host, int(port)))
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def begin(self, verb: str, arguments: dict[str, Any]) -> int:
        """Send a verb to serve. When the answer arrives, it is stored in ``answers``."""
        self._number += 1
        request = {"id": self._number, "verb": verb, **arguments}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        return self._number

    def _read(self) -> None:
        for line in self._socket.makefile("rb"):
            answer = json.loads(line)
            with self.changed:
                self.answers[answer.pop("id")] = answer
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()


class ForwardingConversation(agent.Conversation):
    """A conversation of the agent in which serve carries out the verbs."""

    def __init__(self, serve: Serve, write: Callable[[bytes], object]) -> None:
        super().__init__(cast("agent.ToyQueues", serve), write)  # the conversation uses only its ``changed``
        self.serve = serve

    def do(self, number: int, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if verb == "cancel":
            return super().do(number, verb, arguments)
        serve = self.serve
        asked = serve.begin(verb, arguments)

        def is_answered() -> bool:
            return asked in serve.answers or serve.ended

        serve.changed.wait_for(lambda: is_answered() or number not in self.waiting)
        if not is_answered():
            serve.begin("cancel", {"request": asked})
            serve.changed.wait_for(is_answered)
        found = serve.answers.pop(asked, {"ok": False, "error": "mqconform serve closed the connection"})
        if found.pop("ok"):
            return found
        raise (agent.Unsupported if found.get("unsupported") else agent.Refused)(found["error"])


def main() -> None:
    """Answer requests over standard input and output."""
    standard = sys.stdout.buffer
    conversation = ForwardingConversation(Serve(sys.argv[1]), lambda data: (standard.write(data), standard.flush()))
    agent.converse(conversation, sys.stdin.buffer)


if __name__ == "__main__":
    main()
