"""MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor."""

import pytest
from security_made import STAFF, USER

from reference_qm.security import (
    ANONYMOUS_SID,
    DEFAULT_QUEUE_SECURITY,
    EVERYONE_SID,
    QueueAccess,
    SecurityDescriptor,
    build_default_queue_security,
    is_access_granted,
)

ALL = QueueAccess.MQSEC_QUEUE_GENERIC_ALL
WRITE = QueueAccess.MQSEC_WRITE_MESSAGE
PUBLIC = QueueAccess.MQSEC_GET_QUEUE_PROPERTIES | QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS
MACHINE = STAFF


@pytest.mark.parametrize(
    ("descriptor", "granted"),
    [
        (build_default_queue_security(), [(EVERYONE_SID, ALL)]),
        (build_default_queue_security(USER), [(EVERYONE_SID, PUBLIC), (USER, ALL)]),
        (build_default_queue_security(USER, MACHINE), [(EVERYONE_SID, PUBLIC), (MACHINE, PUBLIC), (USER, ALL)]),
        (
            build_default_queue_security(USER, by_soap=True),
            [(EVERYONE_SID, PUBLIC | WRITE), (ANONYMOUS_SID, WRITE), (USER, ALL)],
        ),
        (build_default_queue_security(by_soap=True), [(EVERYONE_SID, ALL | WRITE), (ANONYMOUS_SID, WRITE)]),
    ],
)
def test_default_descriptor_grants_each_account_its_rights(descriptor, granted):
    assert [(ace.Sid, QueueAccess(ace.Mask)) for ace in descriptor.Dacl.Aces] == granted


def test_queue_of_non_domain_user_is_owned_by_anonymous_user():
    assert build_default_queue_security().Owner == ANONYMOUS_SID
    assert build_default_queue_security(USER).Owner == USER


def test_workgroup_default_descriptor_lets_known_accounts_write():
    assert is_access_granted(DEFAULT_QUEUE_SECURITY, {USER, EVERYONE_SID}, WRITE)
    assert not is_access_granted(DEFAULT_QUEUE_SECURITY, {ANONYMOUS_SID}, WRITE)


def test_only_the_owner_may_write_to_an_owned_queue():
    owned = build_default_queue_security(USER)
    assert is_access_granted(owned, {USER, EVERYONE_SID}, WRITE)
    assert not is_access_granted(owned, {STAFF, EVERYONE_SID}, WRITE)


def test_default_security_descriptor_is_self_relative():
    for one in (build_default_queue_security(), build_default_queue_security(USER, MACHINE, by_soap=True)):
        parsed = SecurityDescriptor.parse(one.build())
        assert (parsed.Owner, parsed.Dacl) == (one.Owner, one.Dacl)
        assert parsed.Control >> 15 & 1
