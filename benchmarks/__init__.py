"""Speed, memory and accuracy of llbt beside its peers: `python -m benchmarks`, written to RESULTS.md."""
