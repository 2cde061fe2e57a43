"""Faults of MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
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

    return replace_part(Described)


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


def _owned(change: Callable[[SecurityDescriptor], SecurityDescriptor]) -> Install:
    """Change the descriptor of new queues that a domain user owns."""

    class Owned(Queues):
        def add(self, queue: Queue) -> None:
            super().add(queue)
            if queue.Security.Owner != ANONYMOUS:
                queue.Security = change(queue.Security)

    return replace_part(Owned)


def _aces(descriptor: SecurityDescriptor) -> tuple[Ace, ...]:
    return () if descriptor.Dacl is None else descriptor.Dacl.Aces


for _name, _rules, _says, _change in (
    (
        "owner-is-the-system",
        "MQDMPR-3.1.7.1.3.1-10",
        "The owner of a queue is the queue manager, whoever creates it.",
        lambda found: replace(found, Owner=SOMEBODY),
    ),
    (
        "world-open",
        "MQDMPR-3.1.7.1.3.1-13",
        "Everybody may do everything with the queue of a domain user, too.",
        lambda found: replace(found, Dacl=Acl(tuple(replace(ace, Mask=int(ALL)) for ace in _aces(found)))),
    ),
    (
        "owner-without-entry",
        ("MQDMPR-3.1.7.1.3.1-13", "MQDMPR-3.1.7.1.3.1-19"),
        "A domain user has no entry in the list of the queue that is the user's.",
        lambda found: replace(found, Dacl=Acl(tuple(ace for ace in _aces(found) if ace.Sid == EVERYONE))),
    ),
    (
        "owned-everybody-missing",
        "MQDMPR-3.1.7.1.3.1-16",
        "The list of the queue of a domain user has the owner only.",
        lambda found: replace(found, Dacl=Acl(tuple(ace for ace in _aces(found) if ace.Sid != EVERYONE))),
    ),
    (
        "owned-absolute",
        "MQDMPR-3.1.7.1.3.1-20",
        "The descriptor of the queue of a domain user is in the absolute form.",
        lambda found: _WithPointers(found.Owner, None, found.Dacl),
    ),
):
    add(f"descriptor-{_name}", _rules, _says, _owned(_change))


@fault("descriptor-computer-of-another", breaks="MQDMPR-3.1.7.1.3.1-05")
class ComputerOfAnother(Queues):
    """The computer in a descriptor is the operating system's own account, not what the directory says."""

    def machine_sid(self) -> Sid | None:
        return None if super().machine_sid() is None else SOMEBODY


@fault("descriptor-computer-remembered", breaks="MQDMPR-3.1.7.1.3.1-04")
class ComputerRemembered(Queues):
    """Without the directory the SID of the operating system's own account stands for the computer's."""

    def machine_sid(self) -> Sid | None:
        return super().machine_sid() or SOMEBODY


@fault("descriptor-computer-left-out", breaks=("MQDMPR-3.1.7.1.3.1-05", "MQDMPR-3.1.7.1.3.1-18"))
class ComputerLeftOut(Queues):
    """The directory is not asked for the computer: no queue names it."""

    def machine_sid(self) -> Sid | None:
        return None


@fault("descriptor-computer-may-all", breaks="MQDMPR-3.1.7.1.3.1-14")
class ComputerMayAll(Queues):
    """The computer may do everything with a queue."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        found, computer = super().create_default_security(owner), self.machine_sid()
        aces = (replace(ace, Mask=int(ALL)) if ace.Sid == computer else ace for ace in _aces(found))
        return replace(found, Dacl=Acl(tuple(aces)))


class _Supplied(Queues):
    """A queue manager that changes what it was given before it takes it over."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        return super().create_security(None if supplied is None else self.taken(supplied), user)

    def taken(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return supplied


@fault(
    "descriptor-given-in-vain",
    breaks=(
        *("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-07"),
        *("MQDMPR-3.1.7.1.3.1-08", "MQDMPR-3.1.7.1.3.1-09"),
    ),
)
class GivenInVain(_Supplied):
    """A queue has the default descriptor, whatever it was given."""

    def taken(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return None


@fault("descriptor-creator-owns", breaks=("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-07"))
class CreatorOwns(_Supplied):
    """The owner of a queue is who created it, not whom the descriptor names."""

    def taken(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return replace(supplied, Owner=None)


@fault("descriptor-list-added", breaks=("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-08"))
class ListAdded(Queues):
    """The entries that a queue was given stand behind those of the default."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        found = super().create_security(supplied, user)
        return found if supplied is None else replace(found, Dacl=Acl((*_aces(USUAL), *_aces(found))))


@fault("descriptor-nothing-audited", breaks="MQDMPR-3.1.7.1.3.1-09")
class NothingAudited(_Supplied):
    """The system list of the descriptor that was given is left out."""

    def taken(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return replace(supplied, Sacl=None)
