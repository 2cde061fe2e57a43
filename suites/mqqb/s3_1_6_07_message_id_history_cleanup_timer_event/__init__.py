"""MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event."""
