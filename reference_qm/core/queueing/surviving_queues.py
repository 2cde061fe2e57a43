from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reference_qm.config import QueueSettings
from reference_qm.core.part import Part
from reference_qm.core.queueing.queues import set_queue_defaults
from reference_qm.core.store.entries import place as place_of
from reference_qm.core.store.queue_values import ATTRIBUTES, REQUIRED
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


class SurvivingQueues(Part):
    """Queues as configured and as written down.

    Spec: MS-MQDMPR 3.1.1 (Persistent attribute), 3.1.1.2.
    """

    __slots__ = ()

    def create_configured(self, settings: QueueSettings) -> Queue:
        """Create a private queue of the configuration. ValueError when it cannot be: settings are checked when read."""
        status, created = self.qm.queues.create_here(_build_queue(settings), 0)
        if created is None:
            raise ValueError(f"queue {settings.name!a} of the configuration cannot be created: {status.name}")
        return created

    def create_published(self) -> None:
        """Create the public queues of the configuration that are not here, as the directory has them or else in it."""
        for settings in self.qm.config.queues:
            if settings.is_private or settings.name.lower() in self.qm.adm.QueueCollection:
                continue
            queue = _build_queue(settings)
            self.qm.queues.create(queue, 0, self._save_queue, skip_directory=self.qm.publishing.adopt(queue))

    def _save_queue(self, status: Status, queue: Queue | None) -> None:
        """Write down a queue that was created; without, wait for the directory, with which it is tried again."""
        if queue is None:
            self.qm.enterprise.state.go_offline()
        else:
            self.qm.disk.save(self.qm.durability.queue_entry(queue))

    def restore(self, place: str, values: Mapping[str, Any]) -> None:
        """Make a queue again of its number or Identifier, and a subqueue's name after that, and its attributes.

        LookupError, TypeError or ValueError when the values make no sense. An attribute that is missing has its
        default: it was written before there was one. Not so what every queue was always written with.
        """
        number, _, subqueue = place.partition(";")
        queue = Queue(Pathname=values["Pathname"])
        for name, (_, read) in ATTRIBUTES.items():
            if name in values or name in REQUIRED:
                setattr(queue, name, read(values[name]))
        if subqueue:
            parent = next(one for one in self.qm.adm.QueueCollection.values() if place_of(one) == f"queue:{number}")
            self.qm.queues.add_subqueue(queue, parent, subqueue)
            return
        if queue.QueueType is not QueueType.PUBLIC:
            queue.PrivateQueueNumber = int(number)
        if queue.Pathname.lower() in self.qm.adm.QueueCollection:
            raise ValueError(f"a second queue {queue.Pathname}")
        self.qm.queues.add(queue)


def _build_queue(settings: QueueSettings) -> Queue:
    queue = set_queue_defaults(settings.name)
    for name, value in settings.attributes().items():
        setattr(queue, name, value)
    return queue
