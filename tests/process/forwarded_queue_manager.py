"""The reference queue manager behind a forwarded port; run, it is ``mqconform serve``.

Its own address is another than the one at which it is reached, and it drops what is addressed to a name that is not its
own, as Windows does (KB306785).
"""

from __future__ import annotations

from typing import Any

from reference_qm.config import QueueManagerConfig
from reference_qm.shell import cli, settings

OWN_ADDRESS = "10.0.2.15"


def configured(**values: Any) -> QueueManagerConfig:
    """Return a configuration with an address of its own that the other systems do not use."""
    return QueueManagerConfig(**(values | {"addresses": (OWN_ADDRESS,), "validate_host_names": True}))


if __name__ == "__main__":
    settings.QueueManagerConfig = configured  # type: ignore[assignment,misc]
    cli.main()
