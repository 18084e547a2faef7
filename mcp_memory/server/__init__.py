"""The face to the protocol: names, schemas and wording, nothing else."""
