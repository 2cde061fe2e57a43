"""MS-MQDMPR 3.1.7.3.8: expanding format names."""

import pytest
from core_network import guid
from queueing_made import direct, one_host

from harness.faults.parts import override_method
from reference_qm.codec import parse_format_name
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.replacing import replace_part_by_subclass

A, B, C = direct(7), direct(8), f"PUBLIC={guid(3)}"
ONE, TWO = f"DL={guid(1)}", f"DL={guid(2)}"


@pytest.fixture
def host():
    host = one_host()
    lists = {ONE: [A, TWO], TWO: [B, ONE, A.lower()]}
    found = {str(parse_format_name(name)).lower(): [parse_format_name(one) for one in of] for name, of in lists.items()}
    replace_part_by_subclass(
        host.core,
        override_method(
            QueueNames.resolve_distribution_list, lambda original: lambda qm, name: found.get(str(name).lower())
        ),
    )
    return host


def expand(host, text):
    name = host.core.queue_names.expand_format_name(text)
    return None if name is None else [one.lower() for one in str(name).split(",")]


@pytest.mark.parametrize("name", [A, C, f"MACHINE={guid(1)}", "MULTICAST=224.0.0.1:80"])
def test_single_format_name_expands_to_itself(host, name):
    assert expand(host, name) == [name.lower()]


def test_expanded_format_names_are_sorted_and_unique(host):
    assert expand(host, f"{C},{B},{A},{B.lower()}") == sorted([A.lower(), B.lower(), C.lower()])


def test_expansion_to_one_element_gives_a_single_format_name(host):
    assert expand(host, f"{A},{A.lower()}") == [A.lower()]


def test_distribution_lists_are_resolved_also_those_in_lists(host):
    assert expand(host, ONE) == sorted([A.lower(), B.lower()])
    assert expand(host, f"{C},{TWO}") == sorted([A.lower(), B.lower(), C.lower()])


@pytest.mark.parametrize("name", [f"DL={guid(9)}", f"{A},DL={guid(9)}", "nonsense", ""])
def test_unresolvable_format_name_is_refused(host, name):
    assert expand(host, name) is None


def test_distribution_list_that_contains_itself_expands_to_no_queue(host):
    replace_part_by_subclass(
        host.core, override_method(QueueNames.resolve_distribution_list, lambda original: lambda qm, name: [name])
    )
    assert expand(host, ONE) is None
