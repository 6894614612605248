"""Random scans with a clearance, and distances of their shapes and meshes that are computed here."""
