"""Association groups and the context handles that belong to them. Spec: C706 9.3.3.2, 5.1.6; MS-RPCE 3.3.1.5.7."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any
from uuid import UUID

from reference_qm.rpc.events import HandleRundown
from reference_qm.surface.entropy import Entropy, new_guid

if TYPE_CHECKING:
    from reference_qm.rpc.association import Association
    from reference_qm.rpc.calls import Call


class ContextHandle:
    """A context handle of a client.

    ``kind``: the name of its type. ``state``: whatever the dispatcher keeps under it. Calls that take the same handle
    are carried out one after the other: ``holder`` is the one at work, ``waiting`` are those behind it.
    """

    __slots__ = ("holder", "kind", "state", "uuid", "waiting")

    def __init__(self, kind: str, uuid: UUID, state: Any) -> None:
        self.kind = kind
        self.uuid = uuid
        self.state = state
        self.holder: Call | None = None
        self.waiting: deque[Call] = deque()


class AssociationGroup:
    """The associations of one client, which share context handles.

    ``promised``: how many calls are at work that may open a handle: room for it is kept, so that no answer fails.
    """

    __slots__ = ("associations", "handles", "host", "identifier", "promised")

    def __init__(self, identifier: int, host: str) -> None:
        self.identifier = identifier
        self.host = host
        self.associations: set[Association] = set()
        self.handles: dict[UUID, ContextHandle] = {}
        self.promised = 0

    def find(self, kind: str, uuid: UUID) -> ContextHandle | None:
        """Return an open handle, if it is of this type (MS-RPCE 3.1.1.5.3.3.1.1)."""
        handle = self.handles.get(uuid)
        return handle if handle is not None and handle.kind == kind else None


class Groups:
    """All association groups of a server."""

    __slots__ = ("_by_identifier", "_entropy")

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._by_identifier: dict[int, AssociationGroup] = {}

    def __len__(self) -> int:
        return len(self._by_identifier)

    @property
    def handles(self) -> int:
        """Return the number of open context handles."""
        return sum(len(group.handles) for group in self._by_identifier.values())

    def join(self, association: Association, identifier: int, host: str) -> AssociationGroup | None:
        """Make a new group for identifier 0, else join the one named; None when this host has no such group.

        Spec: C706 12.6.3.1 (assoc_group_id); MS-RPCE 3.3.1.5.7: a group is joined from the same machine only.
        """
        if identifier:
            group = self._by_identifier.get(identifier)
            if group is None or group.host != host:
                return None
        else:
            group = AssociationGroup(self._new_identifier(), host)
            self._by_identifier[group.identifier] = group
        group.associations.add(association)
        return group

    def leave(self, association: Association, group: AssociationGroup) -> list[HandleRundown]:
        """Take an association out of its group; the last one leaves the handles to be run down."""
        group.associations.discard(association)
        if group.associations:
            return []
        del self._by_identifier[group.identifier]
        left = list(group.handles.values())
        group.handles.clear()
        return [HandleRundown(handle) for handle in left]

    def new_handle(self, kind: str, state: Any) -> ContextHandle:
        """Make a handle that belongs to no group yet."""
        return ContextHandle(kind, new_guid(self._entropy), state)

    def _new_identifier(self) -> int:
        while True:
            identifier = int.from_bytes(self._entropy.token(4), "little")
            if identifier and identifier not in self._by_identifier:
                return identifier
