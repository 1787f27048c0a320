"""What all tests share: tools that they need, programs that they start, how long random campaigns are."""
