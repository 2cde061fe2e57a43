"""MS-MQQB 3.1.7.4 Get Destination Info."""
