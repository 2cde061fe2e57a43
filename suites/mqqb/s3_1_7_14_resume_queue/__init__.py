"""MS-MQQB 3.1.7.14 Resume Queue Event."""
