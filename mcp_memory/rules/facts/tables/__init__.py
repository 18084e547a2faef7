"""What words mean, as tables to read and to extend: verbs, adjectives, nouns, and the closed word classes."""
