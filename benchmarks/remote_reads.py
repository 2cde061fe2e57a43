"""Measures remote reads per second over loopback. A read is a Receive and an EndReceive of a 300-byte message; only
one call is made at a time.

In the same run the benchmark measures impacket's own server and a bare asyncio stream with the same number of
bytes, and the resources that remain after 10,000 sessions whose clients opened a queue, locked a message and
disconnected. Target: no handle and no memory remains.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.pairs import Options, run

TRIPS = 10_000
ROWS = {
    "bare asyncio, the same bytes back": "bare",
    "impacket's server, the same bytes back": "impacket",
    "Receive and EndReceive": "qm2qm",
}
SESSIONS = 10_000
MARKS = (SESSIONS // 10, SESSIONS // 2, SESSIONS)
WANTED = 1.1


def measure() -> Iterator[str]:
    """Run every pair. Yield the rates and ratios, then the remaining resources. Raise AssertionError if memory
    grows.
    """
    rates: dict[str, float] = {}
    for name, kind in ROWS.items():
        rates[name] = run(Options("remote_reads", TRIPS, kind, receiver_counts=False)).rate
        yield f"{name}: {rates[name]:,.0f}/s"
    ours = rates.popitem()
    for name, rate in rates.items():
        yield f"{ours[0]} : {name} = {ours[1] / rate:.2f}"
    outcome = run(Options("remote_reads", SESSIONS, "abandoned", marks=MARKS))
    at_marks = [held for _, held in outcome.memory]
    held = ", ".join(f"{size / 2**20:.1f} MiB after {mark:,}" for mark, size in zip(MARKS, at_marks, strict=True))
    grown = at_marks[-1] / at_marks[0]
    yield f"abandoned sessions: {outcome.rate:,.0f}/s, no handle left; {held}: {grown:.2f} times (target: {WANTED})"
    assert grown <= WANTED, f"memory grows with the sessions: {held}"
