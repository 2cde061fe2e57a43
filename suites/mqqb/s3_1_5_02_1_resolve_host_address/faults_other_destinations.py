"""Faults of MS-MQQB 3.1.5.2.1 Resolve Host Address: with several destinations and in later attempts."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-remote-qm-address-always-that-of-first-next-hop", breaks="MQQB-3.1.5.2.1-35")
class InitiatorRemoteQmAddressAlwaysThatOfFirstNextHop(SessionConnecting):
    """The initiator sets RemoteQMAddress of a session to the address of the first next hop after it connected to a
    later next hop.
    """

    def connect_transport(self, session: Session) -> None:
        super().connect_transport(session)
        session.RemoteQMAddress = session.NextHopCollection[0].Address


@fault("initiator-need-validation-only-in-first-queue", breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"))
class InitiatorNeedValidationOnlyInFirstQueue(SessionAddressResolving):
    """The initiator sets State to NeedValidation only in one outgoing queue at a time."""

    def set_need_validation_state(self, session: Session) -> None:
        known = any(
            one.State is OutgoingQueueState.NEED_VALIDATION and one is not session.OutgoingQueueReference
            for one in self.qm.adm.OutgoingQueues.values()
        )
        if not known:
            super().set_need_validation_state(session)


@fault(
    "initiator-retry-timer-not-started-for-second-unknown-destination",
    breaks=("MQQB-3.1.5.2.1-10", "MQQB-3.1.5.2.1-20"),
)
class InitiatorRetryTimerNotStartedForSecondUnknownDestination(SessionAddressResolving):
    """The initiator does not start the Session Retry Connect Timer of a session whose destination it could not find,
    if another queue needs validation.
    """

    def set_need_validation_state(self, session: Session) -> None:
        known = any(
            one.State is OutgoingQueueState.NEED_VALIDATION and one is not session.OutgoingQueueReference
            for one in self.qm.adm.OutgoingQueues.values()
        )
        super().set_need_validation_state(session)
        if known:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-next-hops-have-only-first-address", breaks="MQQB-3.1.5.2.1-27")
class InitiatorNextHopsHaveOnlyFirstAddress(SessionAddressResolving):
    """The initiator lists only the first resolved address in NextHops."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        del get_outgoing_queue(session).NextHops[1:]


@fault("initiator-host-name-of-next-hop-is-address", breaks="MQQB-3.1.5.2.1-29")
class InitiatorHostNameOfNextHopIsAddress(SessionAddressResolving):
    """The initiator sets HostName of each NextHop to its address."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        session.NextHopCollection[:] = [replace(hop, HostName=hop.Address) for hop in session.NextHopCollection]
