"""Faults of MS-MQQB 3.1.3.2 Session Initialization that occur only in later sessions of an initiator."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.model.adm import Session


def _add_fault_with_kept_element(rule: str, name: str, element: str) -> None:
    @fault(name, breaks=rule)
    class ElementKept(SessionInitialization):
        __doc__ = f"The initiator keeps {element} of its closed session when it opens the session again."

        def initialize_counts(self, session: Session) -> None:
            kept = getattr(session, element)
            super().initialize_counts(session)
            if session.initiator:
                setattr(session, element, kept)


_add_fault_with_kept_element(
    "MQQB-3.1.3.2-02", "initiator-message-sent-count-kept-by-later-session", "MessageSentCount"
)
_add_fault_with_kept_element(
    "MQQB-3.1.3.2-03", "initiator-recoverable-message-sent-count-kept-by-later-session", "RecoverableMessageSentCount"
)
_add_fault_with_kept_element(
    "MQQB-3.1.3.2-04", "initiator-message-received-count-kept-by-later-session", "MessageReceivedCount"
)
_add_fault_with_kept_element(
    "MQQB-3.1.3.2-05",
    "initiator-recoverable-message-received-count-kept-by-later-session",
    "RecoverableMessageReceivedCount",
)
_add_fault_with_kept_element(
    "MQQB-3.1.3.2-06", "initiator-recoverable-flags-kept-by-later-session", "RecoverableMsgAckFlags"
)
_add_fault_with_kept_element(
    "MQQB-3.1.3.2-07", "initiator-last-acknowledged-number-kept-by-later-session", "LastAckedRecoverableMsgSeqNumber"
)
