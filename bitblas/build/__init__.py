"""From entries to a store: sorted, joined where they meet, in the form that the plan chooses."""
