"""MS-MQDMPR 3.1.7.3.8: expanding format names."""

import pytest
from core_network import guid
from queueing_made import direct, one_host

from harness.faults.parts import changed
from reference_qm.codec import parse_format_name
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.replacing import put_in_place

A, B, C = direct(7), direct(8), f"PUBLIC={guid(3)}"
ONE, TWO = f"DL={guid(1)}", f"DL={guid(2)}"


@pytest.fixture
def host():
    host = one_host()
    lists = {ONE: [A, TWO], TWO: [B, ONE, A.lower()]}
    found = {str(parse_format_name(name)).lower(): [parse_format_name(one) for one in of] for name, of in lists.items()}
    put_in_place(
        host.core,
        changed(QueueNames.resolve_distribution_list, lambda original: lambda qm, name: found.get(str(name).lower())),
    )
    return host


def expand(host, text):
    name = host.core.queue_names.expand_format_name(text)
    return None if name is None else [one.lower() for one in str(name).split(",")]


def test_a_list_that_holds_only_itself_has_nothing(host):
    put_in_place(host.core, changed(QueueNames.resolve_distribution_list, lambda original: lambda qm, name: [name]))
    assert expand(host, ONE) is None
