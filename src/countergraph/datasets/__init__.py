"""Load datasets: named cohorts, folders of matrices, dataset files, and the synthetic cohort."""
