"""MS-MQQB 2.2.1 InternalHeader."""
