"""MS-MQDMPR 3.1.7.1.14 Peek Next Message."""
