"""Access over HTTP: the tokens of callers, of this server and of an issuer, and the rights that they give."""
