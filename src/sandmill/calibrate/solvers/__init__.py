"""Solvers as an agent would write them: numpy, pandas, scikit-learn and the standard library, nothing of Sandmill.

They know only the files of `public/` and what the description says (`Told`), and run the same code on every task.
`calibrate.script` cuts a standalone script out of these sources, so keep each module plain: functions, classes,
constants, `import x` and `from x import y` at the top, no code that runs on import.
"""
