"""MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor: a queue that is created without a descriptor."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest

from harness.expectations import each, holds, none
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, DAVE
from suites.mqdmpr.steps import descriptors
from suites.mqdmpr.steps.directory import Enterprise

_UNAUTHENTICATED_SIDS = (descriptors.ANONYMOUS_SID, descriptors.EVERYONE_SID)
ACCOUNT_SID_PREFIX, GUEST_SID_SUFFIX = "S-1-5-21-", "-501"
"""The first part of the SID of every account, and DOMAIN_USER_RID_GUEST, the last part of the SID of a guest."""
WRITE_RIGHT_MASK = 0x0000_0004
PROPERTY_AND_DESCRIPTOR_READ_RIGHTS = 0x0002_0020
"""The rights MQSEC_GET_QUEUE_PROPERTIES and MQSEC_GET_QUEUE_PERMISSIONS."""
ALL_QUEUE_RIGHTS = 0x000F_003F
"""All rights to a queue, MQSEC_QUEUE_GENERIC_ALL. Spec: MS-MQMQ 2.2.24."""


@needs("queue_control")
@covers(
    "MQDMPR-3.1.7.1.3.1-10",
    "MQDMPR-3.1.7.1.3.1-11",
    "MQDMPR-3.1.7.1.3.1-12",
    "MQDMPR-3.1.7.1.3.1-16",
    "MQDMPR-3.1.7.1.3.1-17",
    "MQDMPR-3.1.7.1.3.1-18",
    "MQDMPR-3.1.7.1.3.1-19",
    "MQDMPR-3.1.7.1.3.1-20",
)
@pytest.mark.parametrize(
    "kind", ["private", "transactional", pytest.param("public", marks=needs("directory", "environment"))]
)
@varied("queue journaling", "queue quota", "queue privacy")
def test_default_descriptor_grants_everyone_all_rights(peer, sut, judge, kind):
    """If the creator of a private, transactional or public queue is not a domain user, the default descriptor names the
    anonymous user as owner, grants everyone all rights, and has at most one other entry, which lets the anonymous user
    write messages.
    """
    if kind == "public":
        queue = Enterprise(peer, sut).create_queue()
    else:
        queue = sut.new_queue("secured", **({"transactional": True} if kind == "transactional" else {}))
    security = descriptors.read_security_descriptor_of_queue(sut, queue)
    judge(
        "MQDMPR-3.1.7.1.3.1-20",
        expected=None,
        observed=security.format_error,
        case="why the security descriptor is not in self-relative format",
    )
    owned = security.owner.startswith(ACCOUNT_SID_PREFIX) and not security.owner.endswith(GUEST_SID_SUFFIX)
    judge(
        "MQDMPR-3.1.7.1.3.1-10",
        expected=holds("names an owner", otherwise="names no owner"),
        observed=bool(security.owner),
        case="security descriptor",
    )
    world, anonymous = (
        security.find_granted_mask(descriptors.EVERYONE_SID),
        security.find_granted_mask(descriptors.ANONYMOUS_SID),
    )
    judge(
        "MQDMPR-3.1.7.1.3.1-16",
        expected=holds("an entry for everyone", otherwise="no entry for everyone"),
        observed=world is not None,
        case="access list",
    )
    may_write = holds("the anonymous user may write messages, or has no right")
    judge(
        "MQDMPR-3.1.7.1.3.1-17",
        expected=may_write,
        observed=anonymous in (None, WRITE_RIGHT_MASK) or f"0x{anonymous:08X}",
        case="rights of the anonymous user",
    )
    if owned:
        reason = "the queue was created by a domain user"
        judge.mark_not_exercised(
            "MQDMPR-3.1.7.1.3.1-11",
            "MQDMPR-3.1.7.1.3.1-12",
            "MQDMPR-3.1.7.1.3.1-18",
            "MQDMPR-3.1.7.1.3.1-19",
            reason=reason,
        )
        return
    judge(
        "MQDMPR-3.1.7.1.3.1-11", expected=descriptors.ANONYMOUS_SID, observed=security.owner, case="owner of the queue"
    )
    judge("MQDMPR-3.1.7.1.3.1-12", expected=ALL_QUEUE_RIGHTS, observed=world or 0, case="rights of everyone")
    others = [
        one for one in security.granted_entries if one[0] not in (descriptors.EVERYONE_SID, descriptors.ANONYMOUS_SID)
    ]
    computers = (
        []
        if sut.is_directory_integrated
        else [sid for sid, mask in others if mask == PROPERTY_AND_DESCRIPTOR_READ_RIGHTS]
    )
    owners = [sid for sid, mask in others if mask == ALL_QUEUE_RIGHTS]
    judge("MQDMPR-3.1.7.1.3.1-18", expected=none("entry for a computer"), observed=computers, case="access list")
    if anonymous == ALL_QUEUE_RIGHTS:
        owners.append(descriptors.ANONYMOUS_SID)
    judge("MQDMPR-3.1.7.1.3.1-19", expected=none("entry for the owner"), observed=owners, case="access list")


@needs("queue_control", "security")
@covers(
    "MQDMPR-3.1.7.1.3.1-10",
    "MQDMPR-3.1.7.1.3.1-13",
    "MQDMPR-3.1.7.1.3.1-16",
    "MQDMPR-3.1.7.1.3.1-19",
    "MQDMPR-3.1.7.1.3.1-20",
)
@pytest.mark.parametrize("transactional", [False, True], ids=["not transactional", "transactional"])
@pytest.mark.parametrize("user", [ALICE, DAVE], ids=lambda user: user.name)
def test_default_descriptor_of_domain_user_grants_owner_all_rights(sut, judge, user, transactional):
    """The default descriptor of a domain user's queue, transactional or not, grants all rights to that user, who is the
    owner, and the rights to read properties and permissions to everyone.
    """
    try:
        name = sut.new_queue("owned", owner=user.name, transactional=transactional)
    except ControlRefused as refused:
        judge.end_unobservable(f"the SUT's control channel creates no queue for a user: {refused}")
        return
    security = descriptors.read_security_descriptor_of_queue(sut, name)
    judge(
        "MQDMPR-3.1.7.1.3.1-20",
        expected=None,
        observed=security.format_error,
        case="why the security descriptor is not in self-relative format",
    )
    judge("MQDMPR-3.1.7.1.3.1-10", expected=user.sid, observed=security.owner, case="owner of the queue")
    world = security.find_granted_mask(descriptors.EVERYONE_SID)
    judge(
        "MQDMPR-3.1.7.1.3.1-16",
        expected=holds("an entry for everyone", otherwise="no entry for everyone"),
        observed=world is not None,
        case="access list",
    )
    mine = security.find_granted_mask(user.sid) or 0
    judge("MQDMPR-3.1.7.1.3.1-19", expected=ALL_QUEUE_RIGHTS, observed=mine, case="rights of the owner")
    everybody = (world or 0) & ~WRITE_RIGHT_MASK  # SRMP may add the right to write
    judge(
        "MQDMPR-3.1.7.1.3.1-13",
        expected={"everyone": PROPERTY_AND_DESCRIPTOR_READ_RIGHTS, "owner": ALL_QUEUE_RIGHTS},
        observed={"everyone": everybody, "owner": mine},
        case="access rights",
    )


@needs("queue_control", "inspect", "directory", "environment")
@covers(
    "MQDMPR-3.1.7.1.3.1-04",
    "MQDMPR-3.1.7.1.3.1-05",
    "MQDMPR-3.1.7.1.3.1-14",
    "MQDMPR-3.1.7.1.3.1-16",
    "MQDMPR-3.1.7.1.3.1-18",
)
def test_default_descriptor_grants_computer_read_rights(peer, sut, judge):
    """The default descriptor of a private queue, of a public queue and of a domain user's queue has one entry for the
    computer's SID from the directory, with the rights to read properties and permissions; while the directory is
    unavailable, the descriptor has no such entry.
    """
    enterprise = Enterprise(peer, sut)
    observed = enterprise.read_directory_object().get("computer_sid_base64")
    if observed is None:
        judge.end_unobservable("the directory of the SUT shows no SID of the computer")
        return
    computer = descriptors.parse_sid(base64.b64decode(observed))
    queues = {"private": sut.new_queue("granted"), "public": enterprise.create_queue()}
    if sut.has("security"):
        with suppress(ControlRefused):
            queues["user's"] = sut.new_queue("granted-to-user", owner=ALICE.name)
    security = {kind: descriptors.read_security_descriptor_of_queue(sut, name) for kind, name in queues.items()}
    granted = {kind: [sid for sid, _ in one.granted_entries] for kind, one in security.items()}
    of_computers = {
        kind: [sid for sid in sids if sid not in (*_UNAUTHENTICATED_SIDS, ALICE.sid)] for kind, sids in granted.items()
    }
    judge(
        "MQDMPR-3.1.7.1.3.1-05",
        expected=each([computer], "queue"),
        observed=of_computers,
        case="computers in the access list",
    )
    judge(
        "MQDMPR-3.1.7.1.3.1-16",
        expected=each(holds("an entry for everyone", otherwise="no entry for everyone"), "queue"),
        observed={kind: descriptors.EVERYONE_SID in sids for kind, sids in granted.items()},
        case="access lists",
    )
    entries = {kind: sids.count(computer) for kind, sids in granted.items()}
    judge(
        "MQDMPR-3.1.7.1.3.1-18", expected=each(1, "queue"), observed=entries, case="number of entries for the computer"
    )
    masks = {kind: one.find_granted_mask(computer) or 0 for kind, one in security.items()}
    judge(
        "MQDMPR-3.1.7.1.3.1-14",
        expected=each(PROPERTY_AND_DESCRIPTOR_READ_RIGHTS, "queue"),
        observed=masks,
        case="rights of the computer",
    )
    enterprise.go_offline()
    unasked = [
        sid
        for sid, _ in descriptors.read_security_descriptor_of_queue(sut, sut.new_queue("unasked")).granted_entries
        if sid not in _UNAUTHENTICATED_SIDS
    ]
    judge("MQDMPR-3.1.7.1.3.1-04", expected=none("entry for a computer"), observed=unasked, case="access list")
