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


def test_a_private_queue_is_found_by_its_number_and_a_public_one_by_its_identifier(queues):
    assert queues.find_private(7) is queues[PRIVATE.Pathname] is PRIVATE
    assert queues.find_public(UUID(int=2)) is queues[PUBLIC.Pathname] is PUBLIC
    assert queues.find_private(2) is queues.find_public(UUID(int=7)) is queues.find_public(PRIVATE.Identifier) is None


@pytest.mark.parametrize(
    "leave", [lambda queues: queues.clear(), lambda queues: [queues.pop(one) for one in [*queues]]]
)
def test_one_that_left_is_found_by_nothing(queues, leave):
    leave(queues)
    assert len(queues) == 0
    assert queues.find_private(7) is queues.find_public(UUID(int=2)) is None


def test_one_of_the_same_name_takes_the_place_of_another(queues):
    later = Queue(Pathname=PRIVATE.Pathname, PrivateQueueNumber=8)
    queues[later.Pathname] = later
    assert (queues.find_private(7), queues.find_private(8), len(queues)) == (None, later, 2)


def test_of_two_with_the_same_number_the_first_is_found_also_when_the_other_leaves(queues):
    queues["private$\\other"] = Queue(Pathname="private$\\other", PrivateQueueNumber=7)
    assert queues.find_private(7) is PRIVATE
    del queues["private$\\other"]
    assert queues.find_private(7) is PRIVATE
