"""MS-MQDMPR 3.1.7.1.4 Delete Queue."""
