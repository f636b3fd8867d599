"""Pictures of finished explanations. They compute nothing that a table would need too."""
