"""The golden packets of MS-MQQB and recorded traffic; the package contains only data."""
