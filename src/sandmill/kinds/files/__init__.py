"""How training and test items lie in the public files of a task: what several modalities share."""
