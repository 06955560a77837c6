"""What is shown of the store, as values: services, pages and exports read the same."""
