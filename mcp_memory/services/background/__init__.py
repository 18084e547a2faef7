"""Background work: the job queue, the token ledger, enrichment by a language model."""
