"""QRMeM: questions that a memory could be asked, and the search that reflects on what is still missing."""
