"""Faults of MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import replaced
from harness.faults.registry import Install, add
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.security import ANONYMOUS, EVERYONE, Acl, QueueAccess, SecurityDescriptor, Sid
from reference_qm.security.descriptor import Ace, AceType

ALL = QueueAccess.MQSEC_QUEUE_GENERIC_ALL
READ = QueueAccess.MQSEC_GET_QUEUE_PROPERTIES | QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS
SOMEBODY = Sid.of("S-1-5-18")


def _with(descriptor: SecurityDescriptor) -> Install:
    """Give new queues this descriptor."""

    class Described(Queues):
        def add(self, queue: Queue) -> None:
            super().add(queue)
            queue.Security = descriptor

    return replaced(Described)


def _descriptor(*granted: tuple[Sid, QueueAccess], owner: Sid | None = ANONYMOUS) -> SecurityDescriptor:
    aces = tuple(Ace(AceType.ACCESS_ALLOWED, int(mask), sid) for sid, mask in granted)
    return SecurityDescriptor(owner, None, Acl(aces))


class _WithPointers(SecurityDescriptor):
    """A descriptor that says its parts are elsewhere in memory."""

    def build(self) -> bytes:
        data = bytearray(super().build())
        data[3] &= 0x7F
        return bytes(data)


USUAL = _descriptor((EVERYONE, ALL))
for _name, _rule, _says, _wrong in (
    ("owner-missing", "MQDMPR-3.1.7.1.3.1-10", "A new queue has no owner.", replace(USUAL, Owner=None)),
    ("owner-everybody", "MQDMPR-3.1.7.1.3.1-11", "The owner is everybody.", replace(USUAL, Owner=EVERYONE)),
    (
        "everybody-as-in-a-domain",
        "MQDMPR-3.1.7.1.3.1-12",
        "Everybody may read properties only.",
        _descriptor((EVERYONE, READ)),
    ),
    (
        "everybody-missing",
        "MQDMPR-3.1.7.1.3.1-16",
        "The list names the owner, not everybody.",
        _descriptor((ANONYMOUS, ALL)),
    ),
    (
        "anonymous-may-all",
        "MQDMPR-3.1.7.1.3.1-17",
        "The anonymous user has an entry, with everything.",
        _descriptor((EVERYONE, ALL), (ANONYMOUS, ALL)),
    ),
    (
        "computer-without-directory",
        "MQDMPR-3.1.7.1.3.1-18",
        "The computer has an entry, in a workgroup, too.",
        _descriptor((EVERYONE, ALL), (SOMEBODY, READ)),
    ),
    (
        "owner-of-no-domain",
        "MQDMPR-3.1.7.1.3.1-19",
        "Who created the queue may do everything, as if he were a domain user.",
        _descriptor((EVERYONE, ALL), (SOMEBODY, ALL)),
    ),
    (
        "absolute",
        "MQDMPR-3.1.7.1.3.1-20",
        "The descriptor is in the absolute form.",
        _WithPointers(ANONYMOUS, None, USUAL.Dacl),
    ),
):
    add(f"descriptor-{_name}", _rule, _says, _with(_wrong))
