"""Every way to Comparisons: counts, judgments, matrices, bundled data sets."""
