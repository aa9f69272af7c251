"""Submissions to grades, outside the sandbox, failing closed."""

from sandmill.grading.grade import grade_folder, grade_submission

__all__ = ["grade_folder", "grade_submission"]
