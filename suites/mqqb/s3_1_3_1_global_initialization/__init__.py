"""MS-MQQB 3.1.3.1 Global Initialization."""
