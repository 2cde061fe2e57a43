"""MS-MQQB 3.1.6.6 Session Initialization Timer Event."""
