"""From strings in columns to text, Markdown, HTML and LaTeX."""
