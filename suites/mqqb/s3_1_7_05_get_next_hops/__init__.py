"""MS-MQQB 3.1.7.5 Get Next Hops."""
