"""Faults of MS-MQQB 3.1.1.3 Queue Manager State: Cookies of pings, and values that are kept across restarts."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-ping-cookie-alternates", breaks="MQQB-3.1.1.3-26", blind=True)
class InitiatorPingCookieAlternates(PingHandling):
    """The initiator alternates between two Cookies in its Ping Requests."""

    def send_request(self, session: Session, now: Now) -> None:
        if self.qm.adm.PingCookie >= 2:
            self.qm.adm.PingCookie = 0
        super().send_request(session, now)


def _set_send_insecure_nacks_to_true(qm: QueueManager) -> None:
    qm.adm.SendInsecureNacks = True


def _set_send_insecure_nacks_to_false(qm: QueueManager) -> None:
    qm.adm.SendInsecureNacks = False


add(
    "receiver-send-insecure-nacks-set-at-restart",
    "MQQB-3.1.1.3-27",
    "SendInsecureNacks is TRUE after a restart, although it was FALSE.",
    change_core_at_restart(_set_send_insecure_nacks_to_true),
    blind=True,
)
add(
    "receiver-send-insecure-nacks-cleared-at-restart",
    "MQQB-3.1.1.3-27",
    "SendInsecureNacks is FALSE after a restart, although it was TRUE.",
    change_core_at_restart(_set_send_insecure_nacks_to_false),
    blind=True,
)


def _set_short_resend_timeout_to_medium(qm: QueueManager) -> None:
    qm.adm.ResendTimeoutsShort = qm.adm.ResendTimeoutsMedium


def _convert_short_resend_timeout_to_ms(qm: QueueManager) -> None:
    qm.adm.ResendTimeoutsShort *= 1000


def _set_long_resend_timeout_to_final(qm: QueueManager) -> None:
    qm.adm.ResendTimeoutsLong = qm.adm.ResendTimeoutsFinal


def _convert_long_resend_timeout_to_minutes(qm: QueueManager) -> None:
    qm.adm.ResendTimeoutsLong //= 60


add(
    "sender-short-resend-timeout-medium-after-restart",
    "MQQB-3.1.1.3-28",
    "ResendTimeoutsShort is ResendTimeoutsMedium after a restart.",
    change_core_at_restart(_set_short_resend_timeout_to_medium),
    blind=True,
)
add(
    "sender-short-resend-timeout-in-ms-after-restart",
    "MQQB-3.1.1.3-28",
    "ResendTimeoutsShort is in milliseconds after a restart.",
    change_core_at_restart(_convert_short_resend_timeout_to_ms),
    blind=True,
)
add(
    "sender-long-resend-timeout-final-after-restart",
    "MQQB-3.1.1.3-30",
    "ResendTimeoutsLong is ResendTimeoutsFinal after a restart.",
    change_core_at_restart(_set_long_resend_timeout_to_final),
    blind=True,
)
add(
    "sender-long-resend-timeout-in-minutes-after-restart",
    "MQQB-3.1.1.3-30",
    "ResendTimeoutsLong is in minutes after a restart.",
    change_core_at_restart(_convert_long_resend_timeout_to_minutes),
    blind=True,
)
