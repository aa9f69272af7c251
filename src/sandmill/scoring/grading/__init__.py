"""Grade submissions outside the sandbox."""

from sandmill.scoring.grading.grade import grade_folder, grade_submission

__all__ = ["grade_folder", "grade_submission"]
