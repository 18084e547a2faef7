"""Work that no caller waits for: the queue, the token ledger, enrichment by a language model."""
