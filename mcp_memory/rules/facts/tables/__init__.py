"""Tables of what words mean, to read and to extend: verbs, words after "be", nouns by kind, closed classes."""
