"""Grade submissions outside the sandbox."""

from sandmill.score.grading.grade import grade_folder, grade_submission

__all__ = ["grade_folder", "grade_submission"]
