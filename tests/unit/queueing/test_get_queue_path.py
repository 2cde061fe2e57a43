"""MS-MQDMPR 3.1.7.1.26: the path name and the computer of a queue that has a format name."""

import pytest
from core_network import guid
from queueing_made import one_host

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
def test_what_is_of_no_single_queue_has_no_path(name):
    assert path_of(one_host(), name) == OTHERS[name]
