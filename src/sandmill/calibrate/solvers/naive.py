"""First attempts that use little of the table."""

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sandmill.calibrate.solvers.answers import fit_scores
from sandmill.calibrate.solvers.decisions import decide
from sandmill.calibrate.solvers.designs import Design, plain, plain_scaled
from sandmill.calibrate.solvers.linear import leave_one_out, linear_scores, responses
from sandmill.calibrate.solvers.table import Table


def stump(table: Table) -> Any:
    """One split of one column."""
    tree = DecisionTreeClassifier if table.told.classes else DecisionTreeRegressor
    return decide(fit_scores(tree(max_depth=1, random_state=0), plain(table), table), table)


def one_column(table: Table) -> Any:
    """A straight line in the single column that predicts best."""
    design, wanted = plain(table).scaled(), responses(table)
    errors = [
        float(np.mean((wanted - leave_one_out(design.train[:, [column]], wanted, (1.0,))[0]) ** 2))
        for column in range(design.train.shape[1])
    ]
    best = [int(np.argmin(errors))]
    return decide(linear_scores(Design(design.train[:, best], design.test[:, best]), table, 1.0), table)


def nearest_neighbour(table: Table) -> Any:
    """The answer of the most similar training row."""
    model = KNeighborsClassifier if table.told.classes else KNeighborsRegressor
    return decide(fit_scores(model(n_neighbors=1), plain_scaled(table), table), table)
