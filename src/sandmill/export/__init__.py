"""Write the tasks of a release in the file formats of trainers and benchmarks. Each format is one module."""
