"""MS-MQDMPR 3.1.1.12 Message."""
