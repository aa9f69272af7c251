"""Libraries that an agent's code can import. Descriptions name them; the agent environment installs them."""

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
"""Usual name of each library, and a module whose import shows that the library works."""
