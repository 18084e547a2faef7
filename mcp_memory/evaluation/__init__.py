"""Looking at the memory from outside, as its users do: a demonstration, measurements, a doctor."""
