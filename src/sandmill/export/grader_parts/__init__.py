"""Source of graders that travel with an export. Only the standard library and numpy are imported here.

`sandmill.export.grader` copies the functions that one task needs into one file, with those of its metric from
`sandmill.scoring.scores`. Names of functions and constants are unique over all these modules.
"""
