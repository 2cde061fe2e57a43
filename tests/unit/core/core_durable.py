"""Cores whose disks outlive them, in virtual time."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from core_network import Host, Network

from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.effects import Persist
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import Persisted, PersistFailed, Started, TransportLost


class DurableNetwork(Network):
    """A network that keeps what each host persists as entries, as the shell's store does, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.processes = 0
        """The number of processes so far: no two have the same random numbers."""
        self.entries: dict[str, dict[str, object]] = defaultdict(dict)
        self.unwritten: dict[str, list[Persist]] = defaultdict(list)

    def host(self, number: int, **config: Any) -> Host:
        host = super().host(number, **config)
        self.kill(host)
        return host

    def persist(self, host: Host, effect: Persist) -> None:
        self.unwritten[host.address].append(effect)
        if host.disk != "slow":
            self.write(host)

    def write(self, host: Host) -> None:
        """Let the disk do what waits for it."""
        waiting, self.unwritten[host.address] = self.unwritten[host.address], []
        for effect in waiting:
            if host.disk == "broken":
                self.later(host, PersistFailed(effect.token, "disk full"))
            else:
                self.apply(host, effect)
                self.later(host, Persisted(effect.token))

    def apply(self, host: Host, effect: Persist) -> None:
        for name, value in effect.record.items():
            if value is None:
                self.entries[host.address].pop(name, None)
            else:
                self.entries[host.address][name] = value

    def kill(self, host: Host, written: int = 0) -> None:
        """End the process, ``written`` of the waiting records on disk unbeknown to it; start another on its disk."""
        waiting, self.unwritten[host.address] = self.unwritten[host.address], []
        for effect in waiting[:written]:
            self.apply(host, effect)
        for name, (other, theirs) in list(host.twins.items()):
            host.twins.pop(name)
            other.twins.pop(theirs)
            self.later(other, TransportLost(theirs, "reset"))
        host.driver.forget()
        config = host.core.config
        self.processes += 1
        host.core = QueueManager(config, SeededEntropy(f"{config.host_name} process {self.processes}"))
        host.core.restore(self.entries[host.address])
        host.handle(Started())
        self.settle()
