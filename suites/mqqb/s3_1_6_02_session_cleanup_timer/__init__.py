"""MS-MQQB 3.1.6.2 Session Cleanup Timer Event."""
