"""Faults of MS-MQDMPR 3.1.7.1.4 Delete Queue."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.errors import CommandError
from reference_qm.core.names.queue_names import family
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result

Done = Callable[[], Result]


@fault("delete-messages-vanish", breaks="MQDMPR-3.1.7.1.4-05")
class MessagesVanish(Queues):
    """The messages of a queue that is deleted are gone, and nobody hears of it."""

    def delete(self, queue: Queue, token: int | None, done: Done) -> Result | None:
        for one in family(queue):
            for position in list(one.MessagePositionList):
                one.MessagePositionList.remove(position)
        return super().delete(queue, token, done)


@fault("delete-openings-follow-the-name", breaks="MQDMPR-3.1.7.1.4-10")
class OpeningsFollowTheName(Queues):
    """What had a queue open has the queue open that gets its name."""

    def delete(self, queue: Queue, token: int | None, done: Done) -> Result | None:
        openings = dict(queue.OpenQueueDescriptorCollection)

        def keep() -> Result:
            for one in openings.values():
                one.QueueReference = queue
            return done()

        return super().delete(queue, token, keep)

    def add(self, queue: Queue) -> None:
        super().add(queue)
        for one in self.qm.descriptors.values():
            if one.QueueReference is not None and one.QueueReference.Pathname == queue.Pathname:
                one.QueueReference = queue


@fault("delete-still-listed", breaks="MQDMPR-3.1.7.1.4-11")
class StillListed(Queues):
    """A queue that was deleted is emptied only."""

    def forget(self, queue: Queue) -> None:
        """Keep it."""


@fault("delete-refused-when-done", breaks="MQDMPR-3.1.7.1.4-17")
class RefusedWhenDone(Queues):
    """Who deletes a queue that is open gets an error, although it is deleted."""

    def delete(self, queue: Queue, token: int | None, done: Done) -> Result | None:
        if not queue.Active:
            return super().delete(queue, token, done)
        super().delete(queue, None, done)
        raise CommandError(f"{queue.Pathname!a} was open")


@fault("delete-stays-published", breaks="MQDMPR-3.1.7.1.4-13")
class StaysPublished(Publishing):
    """A public queue that is deleted stays in the directory."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        withdrawn(Status.MQ_OK)


@fault("delete-another-from-directory", breaks="MQDMPR-3.1.7.1.4-14")
class AnotherFromDirectory(Publishing):
    """The public queues that are listed before the one that is deleted go from the directory, too."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        others = [one for one in self._list_public_queues() if one.Pathname < queue.Pathname]

        def also(status: Status) -> None:
            if others:
                super(AnotherFromDirectory, self).withdraw(others.pop(), also)
            else:
                withdrawn(status)

        super().withdraw(queue, also)


@fault("delete-without-directory", breaks="MQDMPR-3.1.7.1.4-16")
class WithoutDirectory(Publishing):
    """A public queue is deleted with success although the directory does not answer."""

    def withdraw(self, queue: Queue, withdrawn: OnStatus) -> None:
        super().withdraw(queue, lambda status: withdrawn(Status.MQ_OK))
