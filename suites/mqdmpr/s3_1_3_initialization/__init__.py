"""MS-MQDMPR 3.1.3 Initialization."""
