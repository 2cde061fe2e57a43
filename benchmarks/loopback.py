"""Measures how many messages of 300 bytes per second two processes exchange over loopback TCP. All kinds of pairs
are measured in one run.

Target: express messages reach at least a fifth of the rate of the bare pair. Recoverable messages reach at least
twice the rate of amqtt at QoS 1, and transactional messages at least twice the rate of amqtt at QoS 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.pairs import Options, run


@dataclass(frozen=True, slots=True)
class WantedRatio:
    """The ratio of a row's rate to the rate of row ``of``, and the required ratio, which is None if the ratio is
    only reported.
    """

    of: str
    wanted: float | None = None


ROWS = {
    "bare asyncio, a write for each window": Options("bare", 300_000, "window"),
    "bare asyncio, a write for each message": Options("bare", 100_000, "message"),
    "express": Options("queue_managers", 50_000, "express"),
    "express, WindowSize 1024": Options("queue_managers", 50_000, "express", window=1024),
    "amqtt QoS 1, acknowledged by the broker": Options("mqtt", 5_000, "1 published", receiver_counts=False),
    "amqtt QoS 1, delivered to a subscriber": Options("mqtt", 3_000, "1 delivered", window=16),
    "recoverable": Options("queue_managers", 20_000, "recoverable"),
    "amqtt QoS 2, acknowledged by the broker": Options("mqtt", 5_000, "2 published", receiver_counts=False),
    "amqtt QoS 2, delivered to a subscriber": Options("mqtt", 3_000, "2 delivered", window=16),
    "transactional": Options("queue_managers", 20_000, "transactional"),
}
"""The kinds of pairs, in the order of their runs. amqtt's subscriber loses messages above the limit of its queue.
"""

RATIOS = {
    "express": (
        WantedRatio("bare asyncio, a write for each window"),
        WantedRatio("bare asyncio, a write for each message", 0.2),
    ),
    "express, WindowSize 1024": (WantedRatio("bare asyncio, a write for each window"),),
    "recoverable": (
        WantedRatio("amqtt QoS 1, acknowledged by the broker", 2),
        WantedRatio("amqtt QoS 1, delivered to a subscriber"),
    ),
    "transactional": (
        WantedRatio("amqtt QoS 2, acknowledged by the broker", 2),
        WantedRatio("amqtt QoS 2, delivered to a subscriber"),
    ),
}


def measure() -> Iterator[str]:
    """Run every pair. Yield the rates, then the ratios between the rates."""
    rates: dict[str, float] = {}
    for name, options in ROWS.items():
        rates[name] = run(options).rate
        yield f"{name}: {rates[name]:,.0f}/s"
    for name, ratios in RATIOS.items():
        for ratio in ratios:
            wanted = "" if ratio.wanted is None else f" (target: {ratio.wanted:g})"
            yield f"{name} : {ratio.of} = {rates[name] / rates[ratio.of]:.2f}{wanted}"
