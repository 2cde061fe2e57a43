"""MS-MQDMPR 3.1.1.2 Queue."""
