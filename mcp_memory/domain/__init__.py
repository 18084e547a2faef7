"""What the memory is made of: frozen values that know nothing of files, models or protocols."""
