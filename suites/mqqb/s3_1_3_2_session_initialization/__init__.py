"""MS-MQQB 3.1.3.2 Session Initialization."""
