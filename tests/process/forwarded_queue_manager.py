"""The reference queue manager behind a forwarded port, as ``mqconform serve``.

Its own address differs from the address at which clients reach it. It drops a message that is addressed to a foreign
name, as Windows does (KB306785).
"""

from __future__ import annotations

from typing import Any

from reference_qm.config import QueueManagerConfig
from reference_qm.shell import cli, settings

OWN_ADDRESS = "10.0.2.15"


def configured(**values: Any) -> QueueManagerConfig:
    """Return a configuration with an own address that no other system uses."""
    return QueueManagerConfig(**(values | {"addresses": (OWN_ADDRESS,), "validate_host_names": True}))


if __name__ == "__main__":
    settings.QueueManagerConfig = configured  # type: ignore[assignment,misc]
    cli.main()
