"""MS-DTYP 2.4.2, 2.4.4 to 2.4.6: SIDs and security descriptors; 2.5.3.2: the access check."""

from dataclasses import replace

import pytest
from security_made import STAFF, USER, queue_for

from reference_qm.codec import FormatError, MisuseError
from reference_qm.security import (
    EVERYONE_SID,
    Ace,
    AceType,
    Acl,
    QueueAccess,
    SecurityDescriptor,
    Sid,
    is_access_granted,
)
from reference_qm.security.sid import OWNER_RIGHTS_SID

ALLOW, DENY = AceType.ACCESS_ALLOWED, AceType.ACCESS_DENIED
WRITE, PEEK = QueueAccess.MQSEC_WRITE_MESSAGE, QueueAccess.MQSEC_PEEK_MESSAGE
SEE, CHANGE = QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS, QueueAccess.MQSEC_CHANGE_QUEUE_PERMISSIONS
GENERIC_READ, GENERIC_WRITE, GENERIC_EXECUTE, GENERIC_ALL = 1 << 31, 1 << 30, 1 << 29, 1 << 28

# The SID of frame 7 (MS-MQQB 4.1.7) and the well-known ones of MS-DTYP 2.4.2.4
SIDS = [
    ("S-1-5-21-3181267629-1039849782-3663111779-1000", "010500000000000515000000AD4A9EBD36D9FA3D63A656DAE8030000"),
    ("S-1-1-0", "010100000000000100000000"),
    ("S-1-5-18", "010100000000000512000000"),
    ("S-1-281474976710655", "0100FFFFFFFFFFFF"),
]


@pytest.mark.parametrize(("text", "wire"), SIDS)
def test_sid_has_known_text_and_wire_form(text, wire):
    sid = Sid.of(text)
    assert sid.build().hex().upper() == wire
    assert Sid.parse(bytes.fromhex(wire)) == sid
    assert str(sid) == text


@pytest.mark.parametrize("text", ["", "S-1", "S-2-5-18", "S-1-5-", "S-1-5-x", "S-1-5-4294967296", "S-1-5" + "-1" * 16])
def test_text_that_is_no_sid_is_refused(text):
    with pytest.raises(FormatError, match="SID"):
        Sid.of(text)


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        ("", "SID.Revision"),
        ("020100000000000500000000", "SID.Revision"),
        ("0101000000000005000000", "SID.SubAuthority"),
        ("0110000000000005" + "00000000" * 16, "SID.SubAuthorityCount"),
        ("01010000000000050000000000", "Sid"),
    ],
)
def test_bytes_that_are_no_sid_are_refused(wire, field):
    with pytest.raises(FormatError, match=field):
        Sid.parse(bytes.fromhex(wire))


def test_a_sid_with_too_many_parts_is_not_built():
    with pytest.raises(MisuseError, match="has too many parts"):
        Sid(5, (1,) * 16).build()


FULL = SecurityDescriptor(
    USER, STAFF, Acl((Ace(DENY, WRITE, STAFF), Ace(ALLOW, 0x0F, EVERYONE_SID, AceFlags=Ace.INHERIT_ONLY))), 0x8004
)
AUDITED = SecurityDescriptor(USER, None, None, 0x8010, bytes.fromhex("0200 0C00 0100 0000 DEADBEEF"))


@pytest.mark.parametrize(
    "descriptor", [FULL, AUDITED, SecurityDescriptor(Control=0x8000), SecurityDescriptor(Dacl=Acl(), Control=0x8004)]
)
def test_built_security_descriptor_parses_to_its_original(descriptor):
    assert SecurityDescriptor.parse(descriptor.build()) == descriptor


def test_security_descriptor_from_windows_is_parsed():
    """A security descriptor whose DACL precedes owner and group, as Windows writes it, is parsed. The descriptor was
    made by hand from MS-DTYP 2.4.6.
    """
    dacl = "0200 1C00 0100 0000" + "00 00 1400 04000000" + "0101000000000001 00000000"
    wire = bytes.fromhex("01 00 0480 30000000 00000000 00000000 14000000" + dacl + "0101000000000005 12000000")
    read = SecurityDescriptor.parse(wire)
    assert read == SecurityDescriptor(Sid.of("S-1-5-18"), None, Acl((Ace(ALLOW, WRITE, EVERYONE_SID),)), 0x8004)
    assert is_access_granted(read, {EVERYONE_SID}, WRITE)


def _with(offset: int, value: int, size: int = 1) -> bytes:
    wire = bytearray(FULL.build())
    wire[offset : offset + size] = value.to_bytes(size, "little")
    return bytes(wire)


DACL = 20 + len(USER.build()) + len(STAFF.build())


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        (b"", "SECURITY_DESCRIPTOR.Revision"),
        (_with(0, 2), "SECURITY_DESCRIPTOR.Revision"),
        (_with(3, 0), "SECURITY_DESCRIPTOR.Control"),
        (_with(4, 4, 4), "OffsetOwner"),
        (_with(8, 0xFFFFFFFF, 4), "OffsetGroup"),
        (_with(16, len(FULL.build()), 4), "OffsetDacl"),
        (_with(DACL, 9), "AclRevision"),
        (_with(DACL + 2, 7, 2), "AclSize"),
        (_with(DACL + 2, 0xFFFF, 2), "AclSize"),
        (_with(DACL + 4, 0xFFFF, 2), "ACE"),
        (_with(DACL + 4, 3, 2), "ACE.AceType"),
        (_with(DACL + 8, 5), "AceType"),
        (_with(DACL + 10, 7, 2), "AceSize"),
        (_with(DACL + 10, 9, 2), "SID"),
        (_with(DACL + 10, 0xFFFF, 2), "ACE.Sid"),
    ],
)
def test_broken_security_descriptor_is_refused(wire, field):
    with pytest.raises(FormatError, match=field):
        SecurityDescriptor.parse(wire)


@pytest.mark.parametrize(("size", "field"), [(7, "AclSize"), (13, "AclSize")])
def test_sacl_with_wrong_length_is_refused(size, field):
    wire = bytearray(AUDITED.build())
    at = int.from_bytes(wire[12:16], "little")
    wire[at + 2 : at + 4] = size.to_bytes(2, "little")
    with pytest.raises(FormatError, match=field):
        SecurityDescriptor.parse(bytes(wire))


def test_access_control_entry_with_bytes_after_its_sid_is_refused():
    ace = bytes.fromhex("00 00 1800 04000000 0101000000000001 00000000 00000000")
    with pytest.raises(FormatError, match="AceSize"):
        Acl.parse(bytes.fromhex("0200 2000 0100 0000") + ace)


def test_missing_dacl_grants_all_access_and_empty_dacl_none():
    assert is_access_granted(SecurityDescriptor(), frozenset(), QueueAccess.MQSEC_QUEUE_GENERIC_ALL)
    assert not is_access_granted(queue_for(), {USER, EVERYONE_SID}, WRITE)


def test_dacl_not_marked_as_present_counts_as_missing():
    assert SecurityDescriptor.parse(_with(2, 0)).Dacl is None


@pytest.mark.parametrize(
    ("aces", "granted"),
    [
        (((ALLOW, USER, WRITE),), True),
        (((ALLOW, STAFF, WRITE),), False),
        (((ALLOW, USER, PEEK),), False),
        (((DENY, USER, WRITE), (ALLOW, USER, WRITE)), False),
        (((ALLOW, USER, WRITE), (DENY, USER, WRITE)), True),
        (((DENY, USER, PEEK), (ALLOW, USER, WRITE)), True),
        (((DENY, STAFF, WRITE), (ALLOW, USER, WRITE)), True),
        (((DENY, EVERYONE_SID, WRITE), (ALLOW, USER, WRITE)), False),
        (((ALLOW, USER, GENERIC_WRITE),), True),
        (((ALLOW, USER, GENERIC_ALL),), True),
        (((ALLOW, USER, GENERIC_READ | GENERIC_EXECUTE),), False),
        (((DENY, USER, GENERIC_ALL), (ALLOW, USER, WRITE)), False),
        (((AceType.SYSTEM_AUDIT, USER, WRITE),), False),
        (((AceType.SYSTEM_ALARM, USER, WRITE), (ALLOW, USER, WRITE)), True),
    ],
)
def test_access_control_entries_are_applied_in_order(aces, granted):
    assert is_access_granted(queue_for(*aces), {USER, EVERYONE_SID}, WRITE) is granted


def test_requested_rights_may_be_granted_by_several_entries():
    both = queue_for((ALLOW, USER, WRITE), (ALLOW, EVERYONE_SID, PEEK))
    assert is_access_granted(both, {USER, EVERYONE_SID}, WRITE | PEEK)
    assert not is_access_granted(both, {USER}, WRITE | PEEK)


def test_inherit_only_access_control_entries_are_ignored():
    queue = queue_for((DENY, USER, WRITE), (ALLOW, USER, WRITE))
    inherited = replace(queue.Dacl.Aces[0], AceFlags=Ace.INHERIT_ONLY)
    assert is_access_granted(replace(queue, Dacl=Acl((inherited, queue.Dacl.Aces[1]))), {USER}, WRITE)


def test_owner_has_implicit_rights_only_to_read_and_change_permissions():
    queue = queue_for(owner=USER)
    assert is_access_granted(queue, {USER}, SEE | CHANGE)
    assert not is_access_granted(queue, {USER}, WRITE)
    assert not is_access_granted(queue, {STAFF}, SEE)


def test_owner_rights_entry_replaces_the_implicit_rights_of_the_owner():
    queue = queue_for((ALLOW, OWNER_RIGHTS_SID, WRITE), owner=USER)
    assert is_access_granted(queue, {USER}, WRITE)
    assert not is_access_granted(queue, {USER}, SEE)
    assert not is_access_granted(queue, {STAFF}, WRITE)


def test_generic_queue_rights_have_documented_values():
    """MS-MQMQ 2.2.24."""
    assert QueueAccess.MQSEC_QUEUE_GENERIC_READ == 0x2002B
    assert QueueAccess.MQSEC_QUEUE_GENERIC_WRITE == 0x20024
    assert QueueAccess.MQSEC_QUEUE_GENERIC_ALL == 0xF003F
