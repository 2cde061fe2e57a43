"""MS-MQDMPR 3.1.1.1 (QueueCollection): queues are found by what names them, also when they come and go."""

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


def test_one_of_the_same_name_takes_the_place_of_another(queues):
    later = Queue(Pathname=PRIVATE.Pathname, PrivateQueueNumber=8)
    queues[later.Pathname] = later
    assert (queues.find_private(7), queues.find_private(8), len(queues)) == (None, later, 2)
