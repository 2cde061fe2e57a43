"""MS-MQQP 3.1.4.1 RemoteQMStartReceive (Opnum 0), with 3.1.4.10."""
