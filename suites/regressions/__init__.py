"""Known bugs of real MSMQ, each with its source (docs/regressions.md): a section has the number of the article."""
