"""``python -m harness`` is ``mqconform``."""

from harness.cli.main import main

main()
