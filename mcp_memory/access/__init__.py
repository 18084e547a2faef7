"""Access over HTTP: the tokens of callers, and the rights that they give."""
