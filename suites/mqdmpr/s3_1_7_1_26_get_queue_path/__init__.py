"""MS-MQDMPR 3.1.7.1.26 Get Queue Path."""
