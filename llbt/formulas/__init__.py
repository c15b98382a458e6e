"""Parse formulas: from text to terms to a Design. No other room parses them."""
