"""Runs mqconform and interrupts it (Ctrl-C) when it imports a module: ``interrupting.py MODULE WORD...``."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

module, *words = sys.argv[1:]


class Finder:
    """An import finder that interrupts this process when the given module is imported; it finds no modules itself."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background of a shell
    sys.meta_path.insert(0, Finder())
    sys.argv = ["mqconform", *words]
    from mqconform.command import main

    main()
