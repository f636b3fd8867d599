"""Where graphs come from: named cohorts, folders of matrices, our own files, and the synthetic cohort."""
