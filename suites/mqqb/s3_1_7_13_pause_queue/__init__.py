"""MS-MQQB 3.1.7.13 Pause Queue Event."""
