"""MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor: of a queue that is given a descriptor."""

from __future__ import annotations

import base64

import pytest

from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, DAVE
from suites.mqdmpr.steps.descriptors import EVERYBODY, descriptor, security_of

SOMEBODY = "S-1-5-21-4-5-6-1000"
WRITE, PEEK = 0x0000_0004, 0x0000_0002
ALL = 0x000F_003F
"""MQSEC_QUEUE_GENERIC_ALL. Spec: MS-MQMQ 2.2.24."""
LIST = ((EVERYBODY, PEEK), (SOMEBODY, WRITE))
AUDIT = ((SOMEBODY, WRITE),)


def _made(sut, judge, name, given, **how):
    """Create a queue with a descriptor; return the one that it has, None where nobody gives a queue one."""
    try:
        queue = sut.new_queue(name, security_base64=base64.b64encode(given).decode(), **how)
    except ControlRefused as refused:
        judge.not_shown(f"the SUT's control channel gives a new queue no security descriptor: {refused}")
        return None
    return security_of(sut, queue)


@needs("queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-08")
def test_the_list_that_a_queue_is_given_is_the_list_that_it_has(sut, judge):
    """Only who is granted something in the given list is in that of the queue, in its order; without one, everybody."""
    found = _made(sut, judge, "listed", descriptor(granted=LIST))
    bare = _made(sut, judge, "bare", descriptor())
    if found is None or bare is None:
        return
    judge("MQDMPR-3.1.7.1.3.1-08", expected=LIST, observed=found.granted)
    expected = [len(LIST), True]
    observed = [len(found.granted) + found.others, bare.mask(EVERYBODY) is not None]
    judge("MQDMPR-3.1.7.1.3.1-06", expected=expected, observed=observed)


@needs("queue_control", "inspect", "security")
@covers("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-07")
@pytest.mark.parametrize("granted", [(), LIST], ids=["without a list", "with a list"])
def test_the_owner_that_a_queue_is_given_is_its_owner(sut, judge, granted):
    """Whoever creates it: without a list that owner may do everything with it, with one only what that says."""
    found = _made(sut, judge, "owned", descriptor(owner=DAVE.sid, granted=granted), owner=ALICE.name)
    if found is None:
        return
    judge("MQDMPR-3.1.7.1.3.1-07", expected=DAVE.sid, observed=found.owner)
    masks = [found.mask(DAVE.sid), found.mask(ALICE.sid)]
    judge("MQDMPR-3.1.7.1.3.1-06", expected=[None if granted else ALL, None], observed=masks)


@needs("queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.3.1-09")
@pytest.mark.parametrize("granted", [(), LIST], ids=["alone", "beside a list of grants"])
def test_the_system_list_that_a_queue_is_given_is_the_one_that_it_has(sut, judge, granted):
    """What is audited of a queue is what its creator says, whatever else he says."""
    found = _made(sut, judge, "audited", descriptor(granted=granted, audited=AUDIT))
    if found is not None:
        judge("MQDMPR-3.1.7.1.3.1-09", expected=AUDIT, observed=found.audited)
