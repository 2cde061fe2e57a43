"""MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event on a system that the check does not restart. The timer may
expire at any time: the system deletes an entry one to two durations of the timer after its TimeStamp.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver

HISTORY_CLEANUP_TIMER_MS = 80_000
"""The duration in ms to which the check sets the timer (set_timers)."""
GREATEST_TIMER_SPEED_UP = HISTORY_CLEANUP_TIMER_MS // 2_000
"""The greatest speed-up of the timer, which must run for at least two seconds, because TimeStamps are whole seconds."""
ARRIVED_COPY_COUNT_BY_LABEL = {"repeated": 1, "forgotten": 2, "young": 1, "later": 2}
"""The number of copies of each message that arrive in the queue."""
SENDING_INSTANTS_WITH_LABELS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (0, ("forgotten",)),
    (0.45, ("young", "later")),
    (0.8, ("repeated",)),
    (1.25, ("young",)),
    (1.6, ("repeated",)),
    (2.4, ("repeated", "forgotten")),
    (2.85, ("later",)),
)
"""The instants at which the peer sends messages after the first copy of "repeated", in durations of the timer."""


@covers("MQQB-3.1.5.8.1-02", "MQQB-3.1.5.8.2-07", "MQQB-3.1.6.7-02", "MQQB-3.1.6.7-03")
@needs("timers")
def test_message_is_forgotten_two_durations_after_its_last_copy(peer, sut, judge):
    """The peer sends several copies of four messages; all times are in durations of the cleanup timer. The peer sends
    "young" at 0.45 and 1.25, and "repeated" at 0, 0.8, 1.6 and 2.4: each of these messages arrives once. The peer sends
    "forgotten" at 0 and 2.4, and "later" at 0.45 and 2.85: each of these messages arrives twice.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    due_ms = sut.duration_ms(sut.get_timer_duration_ms("message_id_history_cleanup_ms", HISTORY_CLEANUP_TIMER_MS))
    receiver = AcknowledgingReceiver(peer, sut)
    packets = {name: receiver.build_message(properties={"PA": 1}) for name in ARRIVED_COPY_COUNT_BY_LABEL}
    first = {"repeated": receiver.send_packet(packets["repeated"])}
    evidence = [first["repeated"]]

    def send_packets_after_timer_durations(durations: float, *names: str) -> None:
        peer.pass_time_until(evidence[0], int(due_ms * durations))
        receiver.session = peer.open_raw()  # an idle session was closed
        for name in names:
            evidence.append(receiver.send_packet(packets[name]))
            first.setdefault(name, evidence[-1])
        receiver.await_acks(0)

    for durations, names in SENDING_INSTANTS_WITH_LABELS:
        send_packets_after_timer_durations(durations, *names)
    evidence += receiver.await_acks(6)
    counts = {name: len(receiver.list_acks_of_class(AckClass.REACH_QUEUE, copy)) for name, copy in first.items()}
    if counts != ARRIVED_COPY_COUNT_BY_LABEL:
        peer.measure_duration(evidence[0]).require_duration_without_long_stall(due_ms // 10)
    lives = {f"arrivals_of_{name}_message": count for name, count in counts.items() if name in ("young", "forgotten")}
    kept = facts(arrivals_of_young_message=1, arrivals_of_forgotten_message=2)
    judge("MQQB-3.1.5.8.2-07", "MQQB-3.1.6.7-02", expected=kept, observed=lives, evidence=evidence)
    judge(
        "MQQB-3.1.6.7-03",
        expected=ARRIVED_COPY_COUNT_BY_LABEL["later"],
        observed=counts["later"],
        case='arrivals of "later"',
        evidence=evidence,
    )
    if kept.compare(lives) is not None:
        raise ConformanceFailure(
            "the SUT does not forget messages in time, so the effect of a duplicate is not visible"
        )
    judge(
        "MQQB-3.1.5.8.1-02",
        expected=ARRIVED_COPY_COUNT_BY_LABEL["repeated"],
        observed=counts["repeated"],
        case='arrivals of "repeated"',
        evidence=evidence,
    )
