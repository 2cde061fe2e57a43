"""MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""
