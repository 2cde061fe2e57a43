"""MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor: of a queue that is given a descriptor."""

from __future__ import annotations

import base64

import pytest

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, DAVE
from suites.mqdmpr.steps import descriptors

SOMEBODY = "S-1-5-21-4-5-6-1000"
WRITE, PEEK = 0x0000_0004, 0x0000_0002
ALL = 0x000F_003F
"""MQSEC_QUEUE_GENERIC_ALL. Spec: MS-MQMQ 2.2.24."""
LIST = ((descriptors.EVERYONE, PEEK), (SOMEBODY, WRITE))
AUDIT = ((SOMEBODY, WRITE),)


def _made(sut, judge, name, given, **how):
    """Create a queue with a descriptor; return the one that it has, None where nobody gives a queue one."""
    try:
        queue = sut.new_queue(name, security_base64=base64.b64encode(given).decode(), **how)
    except ControlRefused as refused:
        judge.end_unobservable(f"the SUT's control channel gives a new queue no security descriptor: {refused}")
        return None
    return descriptors.read_security(sut, queue)


@needs("queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-08")
def test_the_list_that_a_queue_is_given_is_the_list_that_it_has(sut, judge):
    """A queue has the access list that its creator gave, in its order, and the default one if he gave none."""
    found = _made(sut, judge, "listed", descriptors.build_descriptor(granted=LIST))
    bare = _made(sut, judge, "bare", descriptors.build_descriptor())
    if found is None or bare is None:
        return
    judge("MQDMPR-3.1.7.1.3.1-08", expected=LIST, observed=found.granted)
    judge(
        "MQDMPR-3.1.7.1.3.1-06",
        expected={"given_entries": len(LIST), "default_list": holds("everybody is in it")},
        observed={
            "given_entries": len(found.granted) + found.others,
            "default_list": bare.mask(descriptors.EVERYONE) is not None,
        },
    )


@needs("queue_control", "inspect", "security")
@covers("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-07")
@pytest.mark.parametrize("granted", [(), LIST], ids=["without a list", "with a list"])
def test_the_owner_that_a_queue_is_given_is_its_owner(sut, judge, granted):
    """A queue has the owner that its creator gave, who may do everything if no access list is given."""
    found = _made(sut, judge, "owned", descriptors.build_descriptor(owner=DAVE.sid, granted=granted), owner=ALICE.name)
    if found is None:
        return
    judge("MQDMPR-3.1.7.1.3.1-07", expected=DAVE.sid, observed=found.owner)
    judge(
        "MQDMPR-3.1.7.1.3.1-06",
        expected={"owner": None if granted else ALL, "creator": None},
        observed={"owner": found.mask(DAVE.sid), "creator": found.mask(ALICE.sid)},
    )


@needs("queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.3.1-09")
@pytest.mark.parametrize("granted", [(), LIST], ids=["alone", "beside a list of grants"])
def test_the_system_list_that_a_queue_is_given_is_the_one_that_it_has(sut, judge, granted):
    """A queue has the system access list that its creator gave, with an access list and without."""
    found = _made(sut, judge, "audited", descriptors.build_descriptor(granted=granted, audited=AUDIT))
    if found is not None:
        judge("MQDMPR-3.1.7.1.3.1-09", expected=AUDIT, observed=found.audited)
