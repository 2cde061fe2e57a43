"""MS-MQDMPR 3.1.7.1.6 Close Queue."""
