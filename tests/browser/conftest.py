import sys
from pathlib import Path

RECORDS = str(Path(__file__).parents[1] / "reports")
if RECORDS not in sys.path:
    sys.path.append(RECORDS)
