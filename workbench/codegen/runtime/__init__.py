"""What generated text includes: headers that are compiled as they stand, and the one that is made from sequences."""
