"""A loopback stand-in of the Messages API: the real SDK receives scripted replies over real HTTP."""
