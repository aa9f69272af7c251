"""What an agent's code can import: the description names it, and the agent environment is made of it."""

from collections.abc import Mapping

LIBRARIES: Mapping[str, str] = {
    "numpy": "numpy",
    "pandas": "pandas",
    "polars": "polars",
    "scipy": "scipy.stats",
    "scikit-learn": "sklearn.ensemble",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "pyarrow": "pyarrow",
    "joblib": "joblib",
    "Pillow": "PIL.Image",
}
"""Name as people write it, and a module whose import proves that it works."""
