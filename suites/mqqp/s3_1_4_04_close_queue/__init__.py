"""MS-MQQP 3.1.4.4 RemoteQMCloseQueue (Opnum 3)."""
