"""How training and test items lie in the public files of a task. A kind names its layout."""
