"""Faults in the ConnectionHistory of outgoing queues: entries are missing or changed."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now


def omit_connection_history_entries(statuses: Container[ConnectionStatus]) -> Install:
    """Return an installer of a fault that omits the entries with the given Status values from ConnectionHistory."""

    class EntriesLeftOut(SessionConnecting):
        def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
            if status not in statuses:
                super().add_connection_history(session, status, now)

    return replace_part(EntriesLeftOut)


def change_connection_history_entries(statuses: Container[ConnectionStatus], **changes: Any) -> Install:
    """Return an installer of a fault that changes attributes of the ConnectionHistory entries with one of the given
    Status values.
    """

    class EntriesChanged(SessionConnecting):
        def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
            super().add_connection_history(session, status, now)
            entries = get_outgoing_queue(session).ConnectionHistory
            if status in statuses:
                entries[-1] = replace(entries[-1], **changes)

    return replace_part(EntriesChanged)
