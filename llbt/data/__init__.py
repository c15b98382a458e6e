"""The readers of data: counts, judgments, rankings, ratings, scores, matrices and bundled data sets."""
