"""A prediction as the cells of a submission."""

from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.table import Table


def submission_frame(prediction: Any, table: Table) -> pd.DataFrame:
    """Ids and answers: numbers as they are, classes by name, sets and lists of classes as names in one cell."""
    facts, names = table.facts, np.array(table.facts.classes)
    if facts.encoding == "label":
        prediction = names[prediction]
    elif facts.encoding == "label_list":
        prediction = [" ".join(names[row == 1]) for row in prediction]
    elif facts.encoding == "ranked_list":
        prediction = [" ".join(names[row[row >= 0]]) for row in prediction]
    columns = np.asarray(prediction).reshape(len(table.ids), -1)
    cells = dict(zip(facts.submission_columns, columns.T, strict=True))
    return pd.DataFrame({facts.id_column: table.ids, **cells})
