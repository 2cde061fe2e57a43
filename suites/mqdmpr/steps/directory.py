"""A SUT that is integrated with a directory, which an administrator looks into, and which goes away and comes back."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import DIRECTORY_ONLINE_MS, Sut
from suites.applications import REFUSED, tried
from suites.mqdmpr.steps.shown import queue_manager


class Enterprise:
    """A SUT and its directory."""

    def __init__(self, peer: Peer, sut: Sut) -> None:
        self.peer = peer
        self.sut = sut
        self._numbers = itertools.count(1)

    def new_name(self) -> str:
        """Return the path name of a public queue that nobody else has."""
        return f"mqc-{self.sut.own}-{next(self._numbers)}"

    def create(self, **properties: Any) -> str:
        """Make a public queue for this check; return its path name."""
        name = self.new_name()
        self.sut.create_queue(name, **properties)
        return name

    def outcome(self, verb: str, **arguments: Any) -> str:
        """Ask for a change; return whether it was done."""
        with_undoing: dict[str, Callable[..., object]] = {
            "create_queue": self.sut.create_queue,
            "delete_queue": self.sut.delete_queue,
            "send": self.sut.send,
        }
        action = with_undoing.get(verb, partial(self.sut.control.call, verb))
        return tried(lambda: action(**arguments))

    def publish(self) -> str:
        """Ask for a public queue; return whether it was made."""
        return self.outcome("create_queue", name=self.new_name())

    def published(self, queue: str | None = None, **changes: Any) -> dict[str, Any]:
        """Return what an administrator finds in the directory, after his changes; nothing when there is no object."""
        where = {} if queue is None else {"queue": queue}
        return dict(self.sut.published(**where, **changes) or {})

    def go_offline(self) -> None:
        """Take the directory away and let the SUT find that out; ConformanceFailure when it does not."""
        self.sut.change_environment(directory=False)
        if self.publish() != REFUSED:
            raise ConformanceFailure("the SUT made a public queue without its directory")

    def timers_expire(self) -> None:
        """Wait until the Directory Online Timer has expired."""
        self.wait_until(lambda: False)

    def wait_until(self, condition: Callable[[], bool], timers: int = 1) -> bool:
        """Ask again and again, until the Directory Online Timer has expired so often."""
        each_ms = self.sut.duration_ms(DIRECTORY_ONLINE_MS) + self.sut.slack_ms(DIRECTORY_ONLINE_MS)
        for _ in range(10 * timers):
            if condition():
                return True
            self.peer.environment.run_until(lambda: False, each_ms // 10 + 1)
        return condition()

    def await_online(self) -> bool:
        """Wait until DirectoryOffline is FALSE, or the Directory Online Timer must have expired; return which."""
        return self.wait_until(lambda: not self.offline_as_shown())

    def offline_as_shown(self) -> bool:
        """Return DirectoryOffline."""
        return bool(queue_manager(self.sut)["DirectoryOffline"])

    def flag(self, name: str) -> str:
        """Return an attribute of the queue manager that is TRUE or FALSE, with its name."""
        return f"{name} {bool(queue_manager(self.sut)[name])}"

    def notified(self) -> list[tuple[str, str | None]]:
        """Return the operation and the queue, if it is of one, of each change notification."""
        made = self.sut.inspect()["QueueManager"]["ChangeNotifications"]
        return [(one["iOperation"], one["Pathname"] and one["Pathname"].partition("\\")[2]) for one in made]
