"""MS-MQQP 3.1.3 Initialization."""
