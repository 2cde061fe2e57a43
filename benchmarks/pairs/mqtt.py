"""Measures amqtt, the most similar message queue in Python. A publisher runs in one process, and its broker in the
other.

``kind``: the quality of service, 1 (at least once) or 2 (exactly once), in memory. "1 published" counts the
broker's acknowledgments; "1 delivered" counts the messages of a subscriber in the broker's process. The publisher
sends a window of messages before it waits for acknowledgments.
"""

from __future__ import annotations

import asyncio
import logging

from amqtt.broker import Broker  # type: ignore[import-untyped]
from amqtt.client import MQTTClient  # type: ignore[import-untyped]

from benchmarks.pairs import BODY, Options, Report, find_free_port, get_instant, wait_until_input_closes

TOPIC = "bench"
CONFIG = {"auto_reconnect": False, "keep_alive": 600}
logging.disable(logging.CRITICAL)


async def receive(options: Options, report: Report) -> None:
    """Run the broker, and a subscriber that receives every message."""
    port = find_free_port()
    broker = Broker(
        {
            "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
            "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        }
    )
    await broker.start()
    if _is_delivered(options):
        client = await _connect_client(port)
        await client.subscribe([(TOPIC, _quality(options))])
        report({"port": port})
        for _ in range(options.messages):
            message = await client.deliver_message()
            assert message is not None and message.data == BODY
        report({"instant": get_instant(), "memory": []})
    else:
        report({"port": port})
    await wait_until_input_closes()


async def send(options: Options, port: int, report: Report) -> None:
    """Publish every message."""
    client = await _connect_client(port)
    left = iter(range(options.messages))

    async def publish() -> None:
        for _ in left:
            await client.publish(TOPIC, BODY, qos=_quality(options))

    report({"instant": get_instant()})
    await asyncio.gather(*(publish() for _ in range(options.window)))
    report({"memory": [], "instant": get_instant()})
    await wait_until_input_closes()


async def _connect_client(port: int) -> MQTTClient:
    client = MQTTClient(config=CONFIG)
    await client.connect(f"mqtt://127.0.0.1:{port}/")
    return client


def _quality(options: Options) -> int:
    return int(options.kind[0])


def _is_delivered(options: Options) -> bool:
    return options.kind.endswith("delivered")
