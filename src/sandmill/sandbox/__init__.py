"""Running a script apart from us, over a copy of public/ and nothing else."""

from sandmill.sandbox.process import ScriptRun, run_script

__all__ = ["ScriptRun", "run_script"]
