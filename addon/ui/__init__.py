"""What artists see and press. It shows and calls; it computes nothing."""
