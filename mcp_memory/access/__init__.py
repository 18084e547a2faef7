"""Access over HTTP: the tokens and issuers that are trusted, the rights that they give, and a log of who did what."""
