"""Parts of the ensemble for the board: what its sparse model selects, for ordinary models to use."""

import numpy as np

from sandmill.calibrate.adversary.bank import Bank, bank_of
from sandmill.calibrate.adversary.ensemble import Material
from sandmill.calibrate.adversary.members import Sparse
from sandmill.calibrate.adversary.sparse import average_models
from sandmill.calibrate.solvers.designs import Design, plain_scaled
from sandmill.calibrate.solvers.table import Table

SWEEPS = 20
"""Length of the chain: half of the adversary's."""
PLAIN_SCALE = 0.4
"""Scale of the plain columns beside the selected features."""


def selected_features(table: Table) -> Design:
    """The features that the sparse model selects, each scaled by how often it is in. All target columns share them."""
    whole = table.whole or table
    bank: Bank = whole.cached_features("bank", bank_of)
    sparse: Sparse = whole.cached_fit("bank model", lambda it: fit_sparse(it, bank))
    picks = sparse.selected

    def make(_: Table) -> Design:
        return Design(bank.train[picks].T * sparse.relevance, bank.on_test(picks) * sparse.relevance)

    design: Design = whole.cached("selected features", make)
    return design


def fit_sparse(table: Table, bank: Bank) -> Sparse:
    """Fit the sparse model to all training rows."""
    material = Material.of(table, bank)
    blocks = material.blocks(material.known(np.arange(len(material.wanted))))
    return Sparse.of(average_models(bank.train, bank.log_prior, material.wanted, blocks, SWEEPS))


def with_columns(table: Table) -> Design:
    """Selected features beside the plain columns, which count for less."""
    plain, features = plain_scaled(table), selected_features(table)
    return Design(plain.train * PLAIN_SCALE, plain.test * PLAIN_SCALE).beside(features)
