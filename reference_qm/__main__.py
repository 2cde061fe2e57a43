"""``python -m reference_qm`` is ``mqconform serve``."""

from reference_qm.shell.cli import main

main()
