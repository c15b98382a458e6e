"""Several results at once: tables of models, sentences, the report page."""
