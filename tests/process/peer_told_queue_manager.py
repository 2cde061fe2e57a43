"""The reference queue manager as ``serve``, but the command line sets the ports of its peer, which ``serve`` reads only
from a file.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from reference_qm.shell import cli

if __name__ == "__main__":
    peer = dict(zip(("tcp_port", "ping_port", "rpc_port"), sys.argv[1:4], strict=True))
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "qm.toml"
        config.write_text("[remote]\n" + "".join(f"{name} = {port}\n" for name, port in peer.items()))
        sys.argv[1:4] = ["--config", str(config)]
        print("told", *peer.values(), flush=True)  # noqa: T201 - its log
        cli.main()
