"""MS-MQDMPR 3.1.7.1.24 Write Directory."""
