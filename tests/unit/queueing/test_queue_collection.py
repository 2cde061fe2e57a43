"""MS-MQDMPR 3.1.1.1 (QueueCollection): queues are found by each of their names, also after queues were created and
deleted.
"""

from uuid import UUID

import pytest

from reference_qm.model.adm import Queue
from reference_qm.model.collection import QueueCollection

PRIVATE = Queue(Pathname="private$\\one", PrivateQueueNumber=7)
PUBLIC = Queue(Pathname="two", Identifier=UUID(int=2))


@pytest.fixture
def queues():
    made = QueueCollection()
    for queue in (PRIVATE, PUBLIC):
        made[queue.Pathname] = queue
    return made


@pytest.mark.parametrize(
    "leave", [lambda queues: queues.clear(), lambda queues: [queues.pop(one) for one in [*queues]]]
)
def test_queue_removed_from_the_collection_is_not_found(queues, leave):
    leave(queues)
    assert len(queues) == 0
    assert queues.find_private_queue(7) is queues.find_public_queue(UUID(int=2)) is None


def test_added_queue_replaces_an_earlier_queue_of_equal_name(queues):
    later = Queue(Pathname=PRIVATE.Pathname, PrivateQueueNumber=8)
    queues[later.Pathname] = later
    assert (queues.find_private_queue(7), queues.find_private_queue(8), len(queues)) == (None, later, 2)
