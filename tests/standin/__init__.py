"""A loopback stand-in of the Messages API: what a test scripts is what the real SDK receives over real HTTP."""
