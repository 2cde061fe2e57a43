#!/usr/bin/env python3
"""A minimal agent: the control protocol of mqconform in one file, with only Python's standard library.

    python3 agent.py                            # over standard input and output: ssh host python3 agent.py
    python3 agent.py --listen 127.0.0.1:9801    # over TCP

Copy this file, and replace ``ToyQueues`` by your own system; then announce its facilities in FACILITIES. The contract
is docs/control-protocol.md; ``mqconform attach --command "python3 agent.py"`` reports your progress.
"""

from __future__ import annotations

import argparse
import base64
import inspect
import json
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

FACILITIES = ["queue_control", "send", "receive"]
LINE_LIMIT = 8 * 1024 * 1024


class Refused(Exception):
    """The system refuses the request. The text appears in a verdict: use the words of the system."""


class Unsupported(Refused):
    """This agent never supports the request, whatever the system supports."""


# -- the system: replace everything from here to the next such line ---------------------------------------------------


class ToyQueues:
    """A replacement for your system with only the necessary methods. Its queues are in memory, and no packet reaches
    them.
    """

    vendor, name, version = "Example", "toy queues", "1.0"

    def __init__(self) -> None:
        self.identifier = str(uuid.uuid4())  # of your system: QueueManager.Identifier, the GUID in its packets
        self.changed = threading.Condition()
        self.queues: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, list[dict[str, Any]]] = {f"system$;{name}": [] for name in SYSTEM_QUEUES}
        self.sent = 0

    def create(self, path: str, properties: dict[str, Any]) -> None:
        if path.lower() in self.messages:
            raise Refused(f"MQ_ERROR_QUEUE_EXISTS: {path}")
        self.queues[path.lower()] = {"name": path, **properties}
        self.messages[path.lower()] = []

    def delete(self, path: str) -> None:
        self.find(path)
        if path.lower() not in self.queues:
            raise Refused(f"MQ_ERROR_ACCESS_DENIED: {path} is a system queue")
        del self.queues[path.lower()], self.messages[path.lower()]

    def find(self, path: str) -> list[dict[str, Any]]:
        """Return the messages of a queue in order."""
        try:
            return self.messages[path.lower()]
        except KeyError:
            raise Refused(f"MQ_ERROR_QUEUE_NOT_FOUND: {path}") from None

    def send(self, format_name: str, message: dict[str, Any]) -> str:
        kind, _, path = format_name.partition("\\")
        if kind.upper() not in ("DIRECT=OS:.", "DIRECT=TCP:127.0.0.1"):
            raise Unsupported(f"toy queues have no network to reach {format_name}")
        self.sent += 1
        message["message_id"] = f"{{{self.identifier}}}\\{self.sent}"
        message["lookup_id"] = self.sent
        self.find(path).append(message)
        return str(message["message_id"])


SYSTEM_QUEUES = ("journal", "deadletter", "deadxact")

# -- the verbs --------------------------------------------------------------------------------------------------------


class Verbs:
    """The supported verbs. Each method carries out the verb with the same name; its result becomes part of
    the answer.
    """

    def __init__(self, system: ToyQueues, cancelled: Callable[[int], bool]) -> None:
        self.system = system
        self.cancelled = cancelled

    def identity(self) -> dict[str, Any]:
        system = self.system
        known = {"guid": system.identifier, "name": system.name, "vendor": system.vendor, "version": system.version}
        return {"protocol": 2, "facilities": FACILITIES, **known}

    def create_queue(self, name: str, transactional: bool = False, label: str = "") -> dict[str, Any]:
        if transactional or ";" in name:
            raise Unsupported("toy queues are neither transactional nor divided")
        self.system.create(name, {"transactional": transactional, "label": label})
        return {"format_names": {"direct": f"DIRECT=OS:.\\{name}"}}

    def get_queue(self, name: str) -> dict[str, Any]:
        count = len(self.system.find(name))
        return {**self.system.queues.get(name.lower(), {"name": name}), "count": count}

    def set_queue(self, name: str, label: str) -> dict[str, Any]:
        self.get_queue(name)
        self.system.queues[name.lower()]["label"] = label
        return self.get_queue(name)

    def delete_queue(self, name: str) -> dict[str, Any]:
        self.system.delete(name)
        return {}

    def list(self) -> dict[str, Any]:
        queues = [self.get_queue(queue["name"]) for queue in self.system.queues.values()]
        shown = [{key: queue[key] for key in ("name", "transactional", "count")} for queue in queues]
        return {"queues": shown, "outgoing": [], "transactions": []}

    def send(
        self,
        to: str,
        body: str = "",
        body_base64: str | None = None,
        label: str = "",
        priority: int = 3,
        delivery: str = "express",
        application_tag: int = 0,
    ) -> dict[str, Any]:
        if delivery == "transactional":
            raise Unsupported("toy queues have no transactions")
        content = body.encode() if body_base64 is None else base64.b64decode(body_base64, validate=True)
        message: dict[str, Any] = {
            "class": "MQMSG_CLASS_NORMAL",
            "label": label,
            "body_base64": base64.b64encode(content).decode(),
            "priority": priority,
            "delivery": delivery,
            "application_tag": application_tag,
            "source": self.system.identifier,
            "destination": to,
            "sent_time": int(time.time()),
            "arrived_time": int(time.time()),
        }
        return {"message_id": self.system.send(to, message)}

    def peek(self, queue: str, limit: int = 100) -> dict[str, Any]:
        return {"messages": self.system.find(queue)[:limit]}

    def peek_message(self, queue: str, timeout_ms: int | None = 0, request: int = 0) -> dict[str, Any]:
        return {"message": self._first(queue, timeout_ms, request)}

    def receive(self, queue: str, timeout_ms: int | None = 0, request: int = 0) -> dict[str, Any]:
        message = self._first(queue, timeout_ms, request)
        if message is not None:
            self.system.find(queue).remove(message)
        return {"message": message}

    def peek_by_lookup_id(self, queue: str, lookup_id: int = 0, seek: str = "current") -> dict[str, Any]:
        messages = self.system.find(queue)
        numbers = [message["lookup_id"] for message in messages]
        places = {
            "first": 0,
            "last": len(messages) - 1,
            "current": numbers.index(lookup_id) if lookup_id in numbers else -1,
            "next": next((place for place, number in enumerate(numbers) if number > lookup_id), -1),
            "previous": sum(number < lookup_id for number in numbers) - 1,
        }
        if not 0 <= places[seek] < len(messages):
            raise Refused("MQ_ERROR_MESSAGE_NOT_FOUND")
        return {"message": messages[places[seek]]}

    def receive_by_lookup_id(self, queue: str, lookup_id: int = 0, seek: str = "current") -> dict[str, Any]:
        found = self.peek_by_lookup_id(queue, lookup_id, seek)
        self.system.find(queue).remove(found["message"])
        return found

    def purge(self, queue: str) -> dict[str, Any]:
        messages = self.system.find(queue)
        count = len(messages)
        messages.clear()
        return {"purged": count}

    def _first(self, queue: str, timeout_ms: int | None, request: int) -> dict[str, Any] | None:
        """Wait for a message, and return the first message of the queue. Other requests are handled during the wait."""
        timeout_s = None if timeout_ms is None else timeout_ms / 1000
        self.system.changed.wait_for(lambda: self.cancelled(request) or self.system.find(queue), timeout_s)
        if self.cancelled(request):
            raise Refused("the request was cancelled")
        return next(iter(self.system.find(queue)), None)


# -- the conversation: this part does not depend on the system --------------------------------------------------------


class Conversation:
    """Reads requests from lines, and answers each request by its id.

    Each request that may wait has its own thread, so it does not block other requests.
    """

    def __init__(self, system: ToyQueues, write: Callable[[bytes], object]) -> None:
        self.system = system
        self.write = write
        self.writing = threading.Lock()
        self.waiting: set[int] = set()
        self.verbs = Verbs(system, lambda request: request not in self.waiting)

    def on_line(self, line: bytes) -> None:
        try:
            request = json.loads(line)
            number, verb = request.pop("id"), request.pop("verb")
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            self.answer({"id": None, "ok": False, "error": f"not a request: {error}"})
            return
        with self.system.changed:
            self.waiting.add(number)
        if self.may_wait(str(verb), request):
            threading.Thread(target=self.carry_out, args=(number, str(verb), request), daemon=True).start()
        else:
            self.carry_out(number, str(verb), request)

    @staticmethod
    def may_wait(verb: str, arguments: dict[str, Any]) -> bool:
        """Return whether a request may wait: it has a timeout, or another queue manager may delay its answer."""
        return arguments.get("timeout_ms", 0) != 0 or verb.startswith("remote_")

    def carry_out(self, number: int, verb: str, arguments: dict[str, Any]) -> None:
        try:
            with self.system.changed:
                found = self.do(number, verb, arguments)
                self.system.changed.notify_all()
            self.answer({"id": number, "ok": True, **found})
        except Refused as error:
            refusal = {"id": number, "ok": False, "error": str(error)}
            self.answer(refusal | ({"unsupported": True} if isinstance(error, Unsupported) else {}))
        except Exception as error:  # a bug of the agent does not end the conversation
            self.answer({"id": number, "ok": False, "error": f"the agent failed: {type(error).__name__}: {error}"})
        finally:
            with self.system.changed:
                self.waiting.discard(number)

    def do(self, number: int, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if verb == "cancel":
            there = arguments.get("request") in self.waiting
            self.waiting.discard(arguments.get("request", 0))
            if not there:
                raise Refused("no such request waits")
            return {"cancelled": True}
        method = None if verb.startswith("_") else getattr(self.verbs, verb, None)
        if not inspect.ismethod(method):
            raise Unsupported(f"toy queues have no {verb}")
        known = inspect.signature(method).parameters
        if unknown := arguments.keys() - known.keys() | arguments.keys() & {"request"}:
            raise Unsupported(f"toy queues have no {verb} with {', '.join(sorted(unknown))}")
        if missing := [name for name, one in known.items() if one.default is one.empty and name not in arguments]:
            raise Unsupported(f"toy queues need {', '.join(missing)} for {verb}")
        found: dict[str, Any] = method(**arguments, **({"request": number} if "request" in known else {}))
        return found

    def answer(self, answer: dict[str, Any]) -> None:
        with self.writing:
            self.write(json.dumps(answer).encode() + b"\n")

    def end(self) -> None:
        """Cancel the waiting requests: a message that they received later would be lost."""
        with self.system.changed:
            self.waiting.clear()
            self.system.changed.notify_all()


def converse(conversation: Conversation, lines: Any) -> None:
    """Answer requests until the tester disconnects."""
    while (line := lines.readline(LINE_LIMIT)).endswith(b"\n"):
        conversation.on_line(line)
    conversation.end()


def listen(system: ToyQueues, address: str) -> None:
    """Accept connections, and answer the requests on each connection in its own thread."""
    host, _, port = address.rpartition(":")
    with socket.create_server((host, int(port))) as listener:
        sys.stderr.write(f"agent: listens at {host}:{listener.getsockname()[1]}\n")
        sys.stderr.flush()
        while True:
            connection, _ = listener.accept()
            conversation = Conversation(system, connection.sendall)
            threading.Thread(target=converse, args=(conversation, connection.makefile("rb")), daemon=True).start()


def main() -> None:
    """Answer requests over standard input and output, or over TCP."""
    parser = argparse.ArgumentParser(description="A minimal agent for mqconform.")
    parser.add_argument("--listen", metavar="HOST:PORT", help="accept TCP connections instead of standard input")
    address = parser.parse_args().listen
    if address:
        listen(ToyQueues(), address)
    else:
        standard = sys.stdout.buffer
        conversation = Conversation(ToyQueues(), lambda data: (standard.write(data), standard.flush()))
        converse(conversation, sys.stdin.buffer)


if __name__ == "__main__":
    main()
