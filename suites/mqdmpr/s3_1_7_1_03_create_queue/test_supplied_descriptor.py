"""MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor: a queue that is created with a descriptor."""

from __future__ import annotations

import base64

import pytest

from harness.expectations import each, holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, DAVE
from suites.mqdmpr.steps import descriptors

SECOND_USER_SID = "S-1-5-21-4-5-6-1000"
WRITE_RIGHT_MASK, PEEK_RIGHT_MASK = 0x0000_0004, 0x0000_0002
PROPERTY_AND_DESCRIPTOR_READ_RIGHTS = 0x0002_0020
"""The rights MQSEC_GET_QUEUE_PROPERTIES and MQSEC_GET_QUEUE_PERMISSIONS."""
ALL_QUEUE_RIGHTS = 0x000F_003F
"""All rights to a queue, MQSEC_QUEUE_GENERIC_ALL. Spec: MS-MQMQ 2.2.24."""
SUPPLIED_DACL_ENTRIES = ((descriptors.EVERYONE_SID, PEEK_RIGHT_MASK), (SECOND_USER_SID, WRITE_RIGHT_MASK))
DENIED_ACCESS_ENTRIES = ((ALICE.sid, PEEK_RIGHT_MASK),)
LONG_ACCESS_ENTRY_LIST = (
    *SUPPLIED_DACL_ENTRIES,
    *((f"{SECOND_USER_SID}{number}", PEEK_RIGHT_MASK) for number in range(20)),
)
REPEATED_ACCESS_ENTRIES = (
    (descriptors.EVERYONE_SID, PEEK_RIGHT_MASK),
    (SECOND_USER_SID, WRITE_RIGHT_MASK),
    (descriptors.EVERYONE_SID, WRITE_RIGHT_MASK),
)
SUPPLIED_SACL_ENTRIES = (
    (SECOND_USER_SID, WRITE_RIGHT_MASK),
    (descriptors.EVERYONE_SID, PEEK_RIGHT_MASK),
    (SECOND_USER_SID, PEEK_RIGHT_MASK),
)


def _create_queue_with_descriptor(sut, judge, name, given, **how):
    """Create a queue with a security descriptor; return the descriptor that the queue then has, or None if the SUT does
    not accept a descriptor.
    """
    try:
        queue = sut.new_queue(name, security_base64=base64.b64encode(given).decode(), **how)
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue with a security descriptor: {refused}")
        return None
    return descriptors.read_security_descriptor_of_queue(sut, queue)


@needs("queue_control")
@covers("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-08", "MQDMPR-3.1.7.1.3.1-20")
def test_supplied_access_list_is_kept(sut, judge):
    """A queue that is created with an access list has exactly that list, in the given order: also a long list, an empty
    list, a list that denies rights, and a list with two entries for one SID. A queue that is created without an access
    list has the default list.
    """
    security = _create_queue_with_descriptor(
        sut, judge, "listed", descriptors.build_security_descriptor(granted=SUPPLIED_DACL_ENTRIES)
    )
    denying = _create_queue_with_descriptor(
        sut,
        judge,
        "denying",
        descriptors.build_security_descriptor(granted=SUPPLIED_DACL_ENTRIES, denied=DENIED_ACCESS_ENTRIES),
    )
    bare = _create_queue_with_descriptor(sut, judge, "bare", descriptors.build_security_descriptor())
    long = _create_queue_with_descriptor(
        sut, judge, "long", descriptors.build_security_descriptor(granted=LONG_ACCESS_ENTRY_LIST)
    )
    repeated = _create_queue_with_descriptor(
        sut, judge, "repeated", descriptors.build_security_descriptor(granted=REPEATED_ACCESS_ENTRIES)
    )
    empty = _create_queue_with_descriptor(sut, judge, "empty", descriptors.build_security_descriptor(empty_list=True))
    if security is None or bare is None or denying is None or long is None or repeated is None or empty is None:
        return
    judge(
        "MQDMPR-3.1.7.1.3.1-20",
        expected=each(None, "queue"),
        observed={
            "two entries": security.format_error,
            "denial": denying.format_error,
            "no list": bare.format_error,
            "many entries": long.format_error,
            "empty list": empty.format_error,
        },
        case="why the security descriptors are not in self-relative format",
    )
    for case, entries, found in (
        ("two entries for a SID", REPEATED_ACCESS_ENTRIES, repeated),
        ("no entries", (), empty),
    ):
        judge(
            "MQDMPR-3.1.7.1.3.1-08",
            expected=entries,
            observed=found.entries,
            case=f"SID and rights of each entry of a list with {case}",
        )
    judge(
        "MQDMPR-3.1.7.1.3.1-08",
        expected=LONG_ACCESS_ENTRY_LIST,
        observed=long.entries,
        case="SID and rights of each entry of a long list",
    )
    judge(
        "MQDMPR-3.1.7.1.3.1-08",
        expected=SUPPLIED_DACL_ENTRIES + DENIED_ACCESS_ENTRIES,
        observed=denying.entries,
        case="SID and rights of each entry of the list with a denial at its end",
    )
    judge(
        "MQDMPR-3.1.7.1.3.1-08",
        expected=SUPPLIED_DACL_ENTRIES,
        observed=security.granted_entries,
        case="SID and rights of each entry",
    )
    judge(
        "MQDMPR-3.1.7.1.3.1-06",
        expected={
            "number of entries of the supplied list": len(SUPPLIED_DACL_ENTRIES),
            "list of the queue without a supplied list": holds("an entry for everyone"),
        },
        observed={
            "number of entries of the supplied list": len(security.granted_entries) + security.other_entry_count,
            "list of the queue without a supplied list": bare.find_granted_mask(descriptors.EVERYONE_SID) is not None,
        },
    )


@needs("queue_control", "security")
@covers("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-07", "MQDMPR-3.1.7.1.3.1-13", "MQDMPR-3.1.7.1.3.1-19")
@pytest.mark.parametrize("granted", [(), SUPPLIED_DACL_ENTRIES], ids=["without a list", "with a list"])
def test_supplied_owner_is_kept(sut, judge, granted):
    """A queue has the owner that its creator supplies, whether or not the creator is a domain user. If no access list
    is supplied, that owner has all rights.
    """
    supplied = descriptors.build_security_descriptor(owner=DAVE.sid, granted=granted)
    security = _create_queue_with_descriptor(sut, judge, "owned", supplied, owner=ALICE.name)
    unnamed = _create_queue_with_descriptor(sut, judge, "unnamed", supplied)
    if security is None or unnamed is None:
        return
    judge(
        "MQDMPR-3.1.7.1.3.1-07",
        expected=DAVE.sid,
        observed=unnamed.owner,
        case="owner of the queue whose creator is not named",
    )
    judge("MQDMPR-3.1.7.1.3.1-07", expected=DAVE.sid, observed=security.owner, case="owner of the queue")
    if granted:
        judge.mark_not_exercised(
            "MQDMPR-3.1.7.1.3.1-13",
            "MQDMPR-3.1.7.1.3.1-19",
            reason="the creator of the queue supplied the access list",
        )
    else:
        everybody = (security.find_granted_mask(descriptors.EVERYONE_SID) or 0) & ~WRITE_RIGHT_MASK
        judge(
            "MQDMPR-3.1.7.1.3.1-13",
            expected=PROPERTY_AND_DESCRIPTOR_READ_RIGHTS,
            observed=everybody,
            case="rights of everyone, except to write, which SRMP may add",
        )
        judge(
            "MQDMPR-3.1.7.1.3.1-19",
            expected=ALL_QUEUE_RIGHTS,
            observed=security.find_granted_mask(DAVE.sid),
            case="rights of the owner",
        )
    judge(
        "MQDMPR-3.1.7.1.3.1-06",
        expected={"owner": None if granted else ALL_QUEUE_RIGHTS, "creator": None},
        observed={"owner": security.find_granted_mask(DAVE.sid), "creator": security.find_granted_mask(ALICE.sid)},
        case="access rights",
    )


@needs("queue_control")
@covers("MQDMPR-3.1.7.1.3.1-09")
@pytest.mark.parametrize("granted", [(), SUPPLIED_DACL_ENTRIES], ids=["alone", "beside a list of grants"])
def test_supplied_system_list_is_kept(sut, judge, granted):
    """A queue has the system access list (SACL) that its creator supplies, with or without a discretionary
    access list.
    """
    security = _create_queue_with_descriptor(
        sut, judge, "audited", descriptors.build_security_descriptor(granted=granted, audited=SUPPLIED_SACL_ENTRIES)
    )
    if security is not None:
        judge(
            "MQDMPR-3.1.7.1.3.1-09",
            expected=SUPPLIED_SACL_ENTRIES,
            observed=security.audited_entries,
            case="SID and rights of each audit entry",
        )
