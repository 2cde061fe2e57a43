"""Checks the access of users to queues. Spec: MS-DTYP 2.5.3.2, MS-MQMQ 2.2.24, MS-MQQB 3.1.5.8.3."""

from __future__ import annotations

from collections.abc import Set
from enum import IntFlag

from reference_qm.security.descriptor import Ace, AceType, Acl, SecurityDescriptor
from reference_qm.security.sid import ANONYMOUS_SID, EVERYONE_SID, OWNER_RIGHTS_SID, Sid


class QueueAccess(IntFlag):
    """The MQQUEUEACCESSMASK: rights to a queue.

    Spec: MS-MQMQ 2.2.24, which MS-MQQB 3.1.5.8.3 calls 2.2.25.
    """

    MQSEC_DELETE_MESSAGE = 0x00000001
    MQSEC_PEEK_MESSAGE = 0x00000002
    MQSEC_WRITE_MESSAGE = 0x00000004
    MQSEC_DELETE_JOURNAL_MESSAGE = 0x00000008
    MQSEC_SET_QUEUE_PROPERTIES = 0x00000010
    MQSEC_GET_QUEUE_PROPERTIES = 0x00000020
    MQSEC_DELETE_QUEUE = 0x00010000
    MQSEC_GET_QUEUE_PERMISSIONS = 0x00020000
    MQSEC_CHANGE_QUEUE_PERMISSIONS = 0x00040000
    MQSEC_TAKE_QUEUE_OWNERSHIP = 0x00080000
    MQSEC_RECEIVE_MESSAGE = MQSEC_DELETE_MESSAGE | MQSEC_PEEK_MESSAGE
    MQSEC_RECEIVE_JOURNAL_MESSAGE = MQSEC_DELETE_JOURNAL_MESSAGE | MQSEC_PEEK_MESSAGE
    MQSEC_QUEUE_GENERIC_READ = (
        MQSEC_GET_QUEUE_PROPERTIES | MQSEC_GET_QUEUE_PERMISSIONS | MQSEC_RECEIVE_MESSAGE | MQSEC_RECEIVE_JOURNAL_MESSAGE
    )
    MQSEC_QUEUE_GENERIC_WRITE = MQSEC_GET_QUEUE_PROPERTIES | MQSEC_GET_QUEUE_PERMISSIONS | MQSEC_WRITE_MESSAGE
    MQSEC_QUEUE_GENERIC_ALL = (
        MQSEC_RECEIVE_MESSAGE
        | MQSEC_RECEIVE_JOURNAL_MESSAGE
        | MQSEC_WRITE_MESSAGE
        | MQSEC_SET_QUEUE_PROPERTIES
        | MQSEC_GET_QUEUE_PROPERTIES
        | MQSEC_DELETE_QUEUE
        | MQSEC_GET_QUEUE_PERMISSIONS
        | MQSEC_CHANGE_QUEUE_PERMISSIONS
        | MQSEC_TAKE_QUEUE_OWNERSHIP
    )


# The generic rights of an ACCESS_MASK (MS-DTYP 2.4.3). GENERIC_EXECUTE means nothing for a queue.
_QUEUE_ACCESS_OF_GENERIC_RIGHTS = (
    (0x80000000, QueueAccess.MQSEC_QUEUE_GENERIC_READ),
    (0x40000000, QueueAccess.MQSEC_QUEUE_GENERIC_WRITE),
    (0x10000000, QueueAccess.MQSEC_QUEUE_GENERIC_ALL),
)
_RIGHTS_OF_OWNERS = QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS | QueueAccess.MQSEC_CHANGE_QUEUE_PERMISSIONS
"""READ_CONTROL and WRITE_DAC, which an owner has even if no ACE grants these rights."""


def is_access_granted(descriptor: SecurityDescriptor, sids: Set[Sid], wanted: QueueAccess) -> bool:
    """Return whether a user with the given SIDs has all requested rights to a queue.

    Spec: MS-DTYP 2.5.3.2, without privileges, object tree and PrincipalSelfSubst, which are NULL in MS-MQQB 3.1.5.8.3.
    The ACEs are applied in order. An ACE that denies a right has no effect if an earlier ACE has allowed this right.
    """
    if descriptor.Dacl is None:
        return True
    aces = [ace for ace in descriptor.Dacl.Aces if not ace.is_inherit_only]
    missing = int(wanted)
    is_owner = descriptor.Owner is not None and descriptor.Owner in sids
    if is_owner and not any(ace.Sid == OWNER_RIGHTS_SID for ace in aces):
        missing &= ~_RIGHTS_OF_OWNERS
    for ace in aces:
        if ace.Sid not in sids and not (is_owner and ace.Sid == OWNER_RIGHTS_SID):
            continue
        mask = _expand_generic_rights(ace.Mask)
        if ace.AceType is AceType.ACCESS_ALLOWED:
            missing &= ~mask
        elif ace.AceType is AceType.ACCESS_DENIED and missing & mask:
            return False
    return not missing


def _expand_generic_rights(mask: int) -> int:
    """Return an access mask in which each generic right is replaced by the specific rights that it stands for."""
    for generic, rights in _QUEUE_ACCESS_OF_GENERIC_RIGHTS:
        if mask & generic:
            mask |= rights
    return mask


def build_default_queue_security(
    owner: Sid = ANONYMOUS_SID, machine: Sid | None = None, *, by_soap: bool = False
) -> SecurityDescriptor:
    """Return the default security descriptor of a queue.

    Spec: MS-MQDMPR 3.1.7.1.3.1. ``owner``: a domain user, or the anonymous user if the owner is not a domain user.
    ``machine``: the objectSid of the computer in directory-integrated mode. ``by_soap``: whether the queue accepts
    messages by SRMP.
    """
    public = QueueAccess.MQSEC_GET_QUEUE_PROPERTIES | QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS
    write = QueueAccess.MQSEC_WRITE_MESSAGE if by_soap else QueueAccess(0)
    owned = owner != ANONYMOUS_SID
    granted = (
        (EVERYONE_SID, (public if owned else QueueAccess.MQSEC_QUEUE_GENERIC_ALL) | write),
        (ANONYMOUS_SID, write),
        (machine, public),
        (owner, QueueAccess.MQSEC_QUEUE_GENERIC_ALL if owned else QueueAccess(0)),
    )
    aces = tuple(Ace(AceType.ACCESS_ALLOWED, int(mask), sid) for sid, mask in granted if sid is not None and mask)
    return SecurityDescriptor(owner, None, Acl(aces))


DEFAULT_QUEUE_SECURITY = build_default_queue_security()
"""The descriptor of a queue that is created in a workgroup, where there are no domain users. It grants all rights to
everyone.
"""
