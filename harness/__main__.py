"""``python -m harness`` is ``mqconform``."""

from harness.cli import main

main()
