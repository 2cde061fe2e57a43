"""A SUT that is integrated with a directory: an administrator's access to the directory, and outages of the
directory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.outcomes import Outcome
from harness.sut.sut import TIME_UNTIL_DIRECTORY_IS_ONLINE_MS, Sut

DIRECTORY_ONLINE_TIMER = "DirectoryOnline"


class Enterprise:
    """A SUT that is integrated with a directory, and the directory."""

    def __init__(self, peer: Peer, sut: Sut) -> None:
        self.peer = peer
        self.sut = sut
        self._numbers = itertools.count(1)

    def make_new_path_name(self) -> str:
        """Return a path name of a public queue that no other test uses."""
        return f"mqc-{self.sut.own}-{next(self._numbers)}"

    def create_queue(self, **properties: Any) -> str:
        """Create a public queue for this check; return its path name."""
        name = self.make_new_path_name()
        self.sut.create_queue(name, **properties)
        return name

    def attempt_creation_of_public_queue(self) -> str:
        """Request the creation of a public queue; return DONE or REFUSED."""
        return self.sut.attempt(self.sut.create_queue, self.make_new_path_name())

    def read_directory_object(self, queue: str | None = None) -> dict[str, Any]:
        """Return the directory's object of a queue or of the SUT; an empty mapping if the directory contains no such
        object.
        """
        return self.change_directory_object_of_queue(queue)

    def change_directory_object_of_queue(self, queue: str | None = None, **changes: Any) -> dict[str, Any]:
        """Change the directory's object of a queue or of the SUT as an administrator, and return it."""
        arguments = {} if queue is None else {"queue": queue}
        return dict(self.sut.change_directory_object(**arguments, **changes) or {})

    def go_offline(self) -> None:
        """Make the directory unavailable and let the SUT notice this; raise ConformanceFailure if the SUT does not
        notice it.
        """
        self.sut.change_environment(directory=False)
        if self.attempt_creation_of_public_queue() != Outcome.REFUSED:
            raise ConformanceFailure("the SUT created a public queue without its directory")

    def await_expiry_of_online_timer(self) -> None:
        """Wait until the Directory Online Timer has expired."""
        self.wait_for_condition_during_online_timers(lambda: False)

    def wait_for_condition_during_online_timers(self, condition: Callable[[], bool], timers: int = 1) -> bool:
        """Wait for a condition, at most until the Directory Online Timer has expired ``timers`` times; return the value
        of the condition.
        """
        each_ms = self.sut.duration_ms(TIME_UNTIL_DIRECTORY_IS_ONLINE_MS) + self.sut.slack_ms(
            TIME_UNTIL_DIRECTORY_IS_ONLINE_MS
        )
        for _ in range(10 * timers):
            if condition():
                return True
            self.peer.environment.run_until(lambda: False, each_ms // 10 + 1)
        return condition()

    def await_directory_online(self) -> bool:
        """Wait until DirectoryOffline is FALSE, at most until the Directory Online Timer must have expired; return
        whether DirectoryOffline is FALSE.
        """
        return self.wait_for_condition_during_online_timers(lambda: not self.is_directory_offline())

    def is_directory_offline(self) -> bool:
        """Return whether DirectoryOffline is TRUE."""
        return bool(self.sut.inspect_queue_manager()["DirectoryOffline"])

    def get_remaining_online_timer_ms(self) -> int:
        """Return the remaining time of the Directory Online Timer, in ms; 0 while it is not active."""
        return int(self.sut.inspect_queue_manager()["timers"].get(DIRECTORY_ONLINE_TIMER) or 0)

    def list_change_notifications(self) -> list[tuple[str, str | None]]:
        """Return the operation and the queue of each change notification; the queue is None if the notification names
        none.
        """
        notifications = self.sut.inspect_queue_manager()["ChangeNotifications"]
        return [(one["iOperation"], one["Pathname"] and one["Pathname"].partition("\\")[2]) for one in notifications]
