"""Background work: the job queue, indexing, the token ledger, enrichment by a language model."""
