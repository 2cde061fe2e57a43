"""MS-MQQB 3.1.5.2 Establish a Protocol Session, with 3.1.5.2.2."""
