"""MS-MQDMPR 3.1.7.1.7 Purge Queue."""
