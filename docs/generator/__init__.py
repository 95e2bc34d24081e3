"""Makes the pages of the documentation site from what the repository and the program say."""
