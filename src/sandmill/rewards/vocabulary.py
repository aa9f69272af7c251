"""Words of libraries that say which milestone a call reaches."""

import re

FEATURE_MODULES = re.compile(
    r"sklearn\.(preprocessing|compose|feature_extraction|feature_selection|decomposition|impute|kernel_approximation"
    r"|random_projection|manifold)\b"
)
MODEL_MODULES = re.compile(
    r"sklearn\.(?!metrics|utils|datasets|base|exceptions|model_selection|inspection)|(lightgbm|xgboost|catboost|keras"
    r"|tensorflow\.keras|torch\.nn)\b"
)
FEATURE_CLASSES = re.compile(
    r"\w*(Scaler|Encoder|Imputer|Vectorizer|Transformer|Binarizer|Discretizer|PCA|SVD|PolynomialFeatures)"
    r"|make_column_transformer"
)
MODEL_CLASSES = re.compile(
    r"\w*(Classifier|Regressor|Regression|Ridge|Lasso|ElasticNet|Perceptron|SVC|SVR|NB|Boost|KMeans|SearchCV|Sequential)"
    r"(CV)?|(make_p|P)ipeline"
)
NOT_CLASSES = frozenset({"Dataset", "DMatrix", "Pool"})
"""Containers of data in the modules of models."""

FEATURE_CALLS = frozenset(
    {
        "assign",
        "factorize",
        "fillna",
        "fit_resample",
        "fit_transform",
        "get_dummies",
        "to_dummies",
        "transform",
        "with_columns",
    }
)
TRAINING_CALLS = frozenset(
    {
        "backward",
        "cross_val_predict",
        "cross_val_score",
        "cross_validate",
        "curve_fit",
        "fit",
        "fit_predict",
        "lstsq",
        "minimize",
        "partial_fit",
        "polyfit",
        "solve",
    }
)
PREDICTION_CALLS = frozenset({"cross_val_predict", "decision_function", "fit_predict", "kneighbors", "polyval"})
READING_CALLS = frozenset(
    {"DictReader", "ZipFile", "fromfile", "genfromtxt", "imread", "load", "loadtxt", "memmap", "reader"}
)
WRITING_CALLS = frozenset({"savetxt", "to_csv", "write_bytes", "write_csv", "write_text"})
"""Calls that write a submission if their path is one."""
MOVING_CALLS = frozenset({"copy", "copy2", "copyfile", "move", "rename", "replace"})
"""Functions of `os` and `shutil` that do so too. Tables and strings have methods with the same names."""

WRITE_MODE = re.compile(r"[bt+]*[wax][bt+]*")
SUBMISSION = re.compile(r"submission|argv|\bout(put)?(_|\b)", re.IGNORECASE)
"""Words in the path of a submission, or in the names from which the path comes."""
FEATURE_TABLES = re.compile(r"(X|feats?|features?)(_\w+|\d+)?")
"""Names of tables of features."""
NO_FEATURES = re.compile(
    r"sub|sample|param|conf|model|score|result|env|kw|opt|pred|out|cache|seed|weight|metric|answer", re.IGNORECASE
)
"""Words in the names of tables and dictionaries whose items are no features."""
