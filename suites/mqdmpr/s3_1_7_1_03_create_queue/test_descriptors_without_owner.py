"""MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor: supplied descriptors with a part missing."""

from __future__ import annotations

import base64
import struct

import pytest

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE
from suites.mqdmpr.steps import descriptors

GROUP_SID = (0x0105, 5, 21, 4, 5, 6, 513)
"""The group Domain Users of a domain: revision and number of parts, authority, and parts."""
UNKNOWN_OWNER_SIDS = {"account of another domain": "S-1-5-21-41-42-43-1234", "guest": "S-1-5-21-41-42-43-501"}
SUPPLIED_DACL_ENTRIES = ((descriptors.EVERYONE_SID, 0x0000_0002),)
SUPPLIED_SACL_ENTRIES = ((descriptors.EVERYONE_SID, 0x0000_0004),)
WRITE_RIGHT_MASK = 0x0000_0004
ALL_QUEUE_RIGHTS = 0x000F_003F
"""All rights to a queue, MQSEC_QUEUE_GENERIC_ALL. Spec: MS-MQMQ 2.2.24."""
_GROUP_OFFSET_FORMAT = struct.Struct("<I")


def _add_group_to_descriptor(descriptor: bytes) -> bytes:
    """Return a self-relative descriptor with a group behind its other parts. Spec: MS-DTYP 2.4.6."""
    revision, authority, *parts = GROUP_SID
    sid = struct.pack(">H", revision) + authority.to_bytes(6, "big") + struct.pack(f"<{len(parts)}I", *parts)
    return descriptor[:8] + _GROUP_OFFSET_FORMAT.pack(len(descriptor)) + descriptor[12:] + sid


SUPPLIED_DESCRIPTORS_WITHOUT_OWNER = {
    "access list": descriptors.build_security_descriptor(granted=SUPPLIED_DACL_ENTRIES),
    "system access list": descriptors.build_security_descriptor(audited=SUPPLIED_SACL_ENTRIES),
    "group": _add_group_to_descriptor(descriptors.build_security_descriptor()),
    "group and access list": _add_group_to_descriptor(
        descriptors.build_security_descriptor(granted=SUPPLIED_DACL_ENTRIES)
    ),
}


def _read_created_descriptor(sut, judge, given, **how):
    """Create a queue with a security descriptor; return the descriptor that the queue then has, or None if the SUT does
    not accept a descriptor.
    """
    try:
        queue = sut.new_queue("supplied", security_base64=base64.b64encode(given).decode(), **how)
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue with a security descriptor: {refused}")
        return None
    return descriptors.read_security_descriptor_of_queue(sut, queue)


@needs("queue_control", "security")
@covers("MQDMPR-3.1.7.1.3.1-10")
@pytest.mark.parametrize("part", SUPPLIED_DESCRIPTORS_WITHOUT_OWNER)
def test_creator_owns_queue_of_descriptor_without_owner(sut, judge, part):
    """If a supplied descriptor has an access list, a system access list or a group, but no owner, the domain user who
    creates the queue is its owner.
    """
    security = _read_created_descriptor(sut, judge, SUPPLIED_DESCRIPTORS_WITHOUT_OWNER[part], owner=ALICE.name)
    if security is not None:
        judge("MQDMPR-3.1.7.1.3.1-10", expected=ALICE.sid, observed=security.owner, case="owner of the queue")


@needs("queue_control")
@covers("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-12")
@pytest.mark.parametrize("owner", UNKNOWN_OWNER_SIDS)
def test_everyone_has_all_rights_beside_supplied_unknown_owner(sut, judge, owner):
    """If a supplied descriptor has no access list, and its owner is an account of another domain or a guest, everyone
    has all rights to the queue.
    """
    supplied = descriptors.build_security_descriptor(owner=UNKNOWN_OWNER_SIDS[owner], audited=SUPPLIED_SACL_ENTRIES)
    security = _read_created_descriptor(sut, judge, supplied)
    if security is None:
        return
    world = security.find_granted_mask(descriptors.EVERYONE_SID)
    judge("MQDMPR-3.1.7.1.3.1-12", expected=ALL_QUEUE_RIGHTS, observed=world or 0, case="rights of everyone")
    judge(
        "MQDMPR-3.1.7.1.3.1-06", expected=SUPPLIED_SACL_ENTRIES, observed=security.audited_entries, case="audit entries"
    )


@needs("queue_control")
@covers("MQDMPR-3.1.7.1.3.1-06")
def test_every_part_of_supplied_descriptor_is_kept(sut, judge):
    """A queue has the audit entries, the denials and the grants of the descriptor that its creator supplies."""
    observed = {}
    for case, granted, denied, audited in (
        ("denials", SUPPLIED_DACL_ENTRIES, ((ALICE.sid, WRITE_RIGHT_MASK),), ()),
        ("only denials", (), ((ALICE.sid, WRITE_RIGHT_MASK),), ()),
        ("audits and grants", SUPPLIED_DACL_ENTRIES, (), SUPPLIED_SACL_ENTRIES),
        ("only audits", (), (), SUPPLIED_SACL_ENTRIES),
    ):
        given = descriptors.build_security_descriptor(granted=granted, denied=denied, audited=audited)
        security = _read_created_descriptor(sut, judge, given)
        if security is None:
            return
        kept = (security.entries == granted + denied or not granted + denied) and security.audited_entries == audited
        observed[case] = kept or f"{security.entries}, audits {security.audited_entries}"
    judge("MQDMPR-3.1.7.1.3.1-06", expected=each(True, "all entries are kept"), observed=observed)
