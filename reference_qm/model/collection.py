"""Defines the collection of the local queues of a queue manager, which can be searched by name, number and Identifier.
Spec: MS-MQDMPR 3.1.1.1 (QueueCollection).
"""

from __future__ import annotations

from collections import UserDict
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from reference_qm.model.adm import Queue


class QueueCollection(UserDict[str, "Queue"]):
    """The local queues, indexed by path name in lower case. Private queues are also indexed by PrivateQueueNumber,
    and public queues by Identifier.

    A queue gets its number or Identifier before the queue is added, and the value never changes. If two queues have
    the same number or Identifier, the queue that was added first is found.
    """

    def __init__(self) -> None:
        self._private: dict[int, Queue] = {}
        self._public: dict[UUID, Queue] = {}
        super().__init__()

    def __setitem__(self, name: str, queue: Queue) -> None:
        if name in self.data:
            del self[name]
        self.data[name] = queue
        if queue.PrivateQueueNumber is None:
            self._public.setdefault(queue.Identifier, queue)
        else:
            self._private.setdefault(queue.PrivateQueueNumber, queue)

    def __delitem__(self, name: str) -> None:
        queue = self.data.pop(name)
        if self._public.get(queue.Identifier) is queue:
            del self._public[queue.Identifier]
        elif queue.PrivateQueueNumber is not None and self._private.get(queue.PrivateQueueNumber) is queue:
            del self._private[queue.PrivateQueueNumber]

    def find_private_queue(self, number: int) -> Queue | None:
        """Find a private queue by its PrivateQueueNumber, u32."""
        return self._private.get(number)

    def find_public_queue(self, identifier: UUID) -> Queue | None:
        """Find a public queue by its Identifier."""
        return self._public.get(identifier)
