"""MS-MQDMPR 3.1.7.1.20 Read Directory."""
