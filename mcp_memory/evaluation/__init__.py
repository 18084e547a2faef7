"""Commands for users: a demonstration, measurements, status and a doctor."""
