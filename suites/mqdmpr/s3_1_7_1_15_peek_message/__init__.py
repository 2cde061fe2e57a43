"""MS-MQDMPR 3.1.7.1.15 Peek Message."""
