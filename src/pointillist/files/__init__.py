"""Files: the container of releases and models, writers of tables and images, and how paths and JSON are treated."""
