"""Faults of MS-MQDMPR 3.1.2 Timers: the timers of the directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import INFINITE, Message, MessagePosition, Queue
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

SECONDS_PER_HOUR = 3_600
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


@fault("message-with-infinite-lifetime-expires-after-an-hour", breaks="MQDMPR-3.1.2.4-D01")
class MessageWithInfiniteLifetimeExpiresAfterAnHour(Positions):
    """A message with TimeToBeReceived 0xFFFFFFFF expires after one hour."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        endless = message.TimeToBeReceived == INFINITE
        return super().insert_message(
            queue, replace(message, TimeToBeReceived=SECONDS_PER_HOUR) if endless else message
        )


def _change_directory_timer_duration(durations: Mapping[TimerName, int]) -> Install:
    """Build a fault in which the queue manager runs the timers of the directory with wrong durations."""

    class RunningFor(DirectoryClient):
        def _start_timer(self, name: TimerName, now: Now) -> None:
            super()._start_timer(name, now)
            if name in durations:
                duration_ms = durations[name] // self.qm.settings.scale
                self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, duration_ms)

    return replace_part(RunningFor)


for _name, _breaks, _says, _timer, _ms in (
    (
        "sites-update-timer-one-hour",
        "MQDMPR-3.1.2.1-01",
        "The queue manager runs the Directory Sites Update Timer for one hour.",
        TimerName.DIRECTORY_SITES_UPDATE,
        HOUR_MS,
    ),
    (
        "gates-update-timer-12-hours",
        "MQDMPR-3.1.2.2-01",
        "The queue manager runs the Directory Site Gates Update Timer for 12 hours.",
        TimerName.DIRECTORY_SITE_GATES_UPDATE,
        12 * HOUR_MS,
    ),
    (
        "directory-online-timer-five-minutes",
        ("MQDMPR-3.1.2.5-01", "MQDMPR-3.1.2.5-D01"),
        "The queue manager runs the Directory Online Timer for five minutes.",
        TimerName.DIRECTORY_ONLINE,
        5 * MINUTE_MS,
    ),
    (
        "directory-online-timer-one-second",
        "MQDMPR-3.1.2.5-01",
        "The queue manager runs the Directory Online Timer for one second.",
        TimerName.DIRECTORY_ONLINE,
        1_000,
    ),
):
    add(_name, _breaks, _says, _change_directory_timer_duration(MappingProxyType({_timer: _ms})))

add(
    "directory-never-contacted-again",
    "MQDMPR-3.1.2.5-D01",
    "After the directory was unavailable once, the queue manager never contacts it again.",
    skip(DirectoryClient.on_directory_online_timer),
)
