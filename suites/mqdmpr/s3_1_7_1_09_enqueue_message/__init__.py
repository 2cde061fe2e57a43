"""MS-MQDMPR 3.1.7.1.9 Enqueue Message."""
