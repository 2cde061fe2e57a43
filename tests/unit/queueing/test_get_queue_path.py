"""MS-MQDMPR 3.1.7.1.26: the path name and the computer of the queue that a format name identifies."""

import pytest
from core_enterprise import PUBLIC_NAME, RECEIVER, SENDER, Enterprise
from core_network import guid, private
from queueing_made import one_host, queue_of

from reference_qm.model.statuses import Status

OK, ILLEGAL = Status.MQ_OK, Status.MQ_ERROR_ILLEGAL_FORMATNAME
OTHERS = {
    "MULTICAST=224.0.0.1:80": (OK, "", ""),
    f"MACHINE={guid(1)}": (OK, "", ""),
    "nonsense": (ILLEGAL, "", ""),
    "DIRECT=TCP:host\\orders": (ILLEGAL, "", ""),
}


def path_of(host, name):
    return host.core.queue_paths.get_queue_path(name)


@pytest.mark.parametrize("name", OTHERS)
def test_format_name_of_several_queues_has_no_path(name):
    assert path_of(one_host(), name) == OTHERS[name]


@pytest.fixture(scope="module")
def enterprise():
    return Enterprise()


def test_path_of_a_public_queue_comes_from_the_directory(enterprise):
    host = enterprise[SENDER]
    assert path_of(host, PUBLIC_NAME) == (OK, f"host{RECEIVER}\\orders", f"host{RECEIVER}")
    assert path_of(host, f"PUBLIC={guid(99)}") == (ILLEGAL, "", "")


def test_only_the_host_of_a_private_queue_knows_its_path(enterprise):
    here, there = enterprise[SENDER], enterprise[RECEIVER]
    number = queue_of(there).PrivateQueueNumber
    name = private(RECEIVER, number)
    assert path_of(there, name) == (OK, f"host{RECEIVER}\\private$\\plain", f"host{RECEIVER}")
    assert queue_of(here).PrivateQueueNumber == number, "a queue of that number is here too"
    assert path_of(here, name) == (OK, "", f"host{RECEIVER}")
    assert path_of(there, private(RECEIVER, 77)) == (OK, "", f"host{RECEIVER}")
    assert path_of(here, private(99, number)) == (ILLEGAL, "", "")
