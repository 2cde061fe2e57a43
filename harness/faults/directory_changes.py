"""Faults in the changes that a queue manager makes in its directory. Spec: MS-MQDMPR 3.1.7.1.18, 3.1.7.1.19,
3.1.7.1.24.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryDeleteRequest
from reference_qm.directory.state import ChangeNotification, ChangeOperation
from reference_qm.model.adm import Queue as LocalQueue
from reference_qm.model.statuses import Status
from reference_qm.surface.inputs import DirectoryAnswered

HandleDirectoryAnswer = Callable[[DirectoryAnswered], None]


def change_directory_answers(kind: type[Change], change: Callable[[DirectoryAnswered], DirectoryAnswered]) -> Install:
    """Return an installer of a fault that changes the directory's answers to change requests of one kind."""

    class Answered(DirectoryLink):
        def write(self, change_: Change, answered: HandleDirectoryAnswer) -> None:
            of_kind = isinstance(change_, kind)
            super().write(change_, (lambda answer: answered(change(answer))) if of_kind else answered)

    return replace_part(Answered)


def omit_directory_changes(kind: type[Change]) -> Install:
    """Return an installer of a fault that sends no change requests of one kind to the directory. The queue manager
    continues as if the requests had succeeded.
    """

    class LeftOut(DirectoryLink):
        def write(self, change: Change, answered: HandleDirectoryAnswer) -> None:
            if not isinstance(change, kind):
                super().write(change, answered)
                return
            if isinstance(change, DirectoryDeleteRequest):
                self.qm.enterprise.state.notifications.clear()
            answered(DirectoryAnswered(0, Result.SUCCESS, MADE_UP_GUID))

    return replace_part(LeftOut)


def replace_directory_status(was: Result, status: Result) -> Callable[[DirectoryAnswered], DirectoryAnswered]:
    """Return a function that replaces the status ``was`` in an answer of the directory with ``status``."""
    return lambda answer: replace(answer, status=status) if answer.status is was else answer


def stay_online_after_directory_change(kind: type[Change]) -> Install:
    """Return an installer of a fault with which the queue manager stays online when a change of the given kind does
    not reach the directory.
    """

    class StaysOnline(DirectoryLink):
        def write(self, change: Change, answered: HandleDirectoryAnswer) -> None:
            state = self.qm.enterprise.state

            def note_change(answer: DirectoryAnswered) -> None:
                state.DirectoryOffline = state.DirectoryOffline and not isinstance(change, kind)
                answered(answer)

            super().write(change, note_change)

    return replace_part(StaysOnline)


def change_directory_notification(operation: ChangeOperation, instead: ChangeOperation | None) -> Install:
    """Return an installer of a fault that replaces or omits the notifications about one operation. ``instead``: the
    operation that the notifications name instead, or None to omit the notifications.
    """

    class Notified(PublicQueuePublishing):
        def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
            super().publish(queue, published)
            self._change()

        def delete_published_queue(self, queue: LocalQueue, withdrawn: StatusCallback) -> None:
            super().delete_published_queue(queue, withdrawn)
            self._change()

        def write(self, queue: LocalQueue, values: Mapping[str, Any], written: StatusCallback) -> None:
            def record_change(status: Status) -> None:
                self._change()
                written(status)

            super().write(queue, values, record_change)

        def _change(self) -> None:
            made = self.qm.enterprise.state.notifications
            if made and made[-1].iOperation is operation:
                last = made.pop()
                if instead is not None:
                    made.append(ChangeNotification(instead, last.iDirectoryObject))

    return replace_part(Notified)
