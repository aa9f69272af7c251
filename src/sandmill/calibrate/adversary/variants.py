"""Parts of the ensemble for the board: what its sparse model selects, for ordinary models to use."""

from sandmill.calibrate.adversary.bank import Bank, bank_of
from sandmill.calibrate.adversary.ensemble import Material, sparse_of_all
from sandmill.calibrate.solvers.designs import Design, plain_scaled
from sandmill.calibrate.solvers.table import Table

PLAIN_SCALE = 0.4
"""Scale of the plain columns beside the selected features."""


def selected_features(table: Table) -> Design:
    """The features that the sparse model selects, each scaled by how often it is in. All target columns share them."""
    whole = table.whole or table
    bank: Bank = whole.cached_features("bank", bank_of)
    sparse = sparse_of_all(whole, Material.of(whole, bank))
    picks = sparse.selected

    def make(_: Table) -> Design:
        return Design(bank.train[picks].T * sparse.relevance, bank.on_test(picks) * sparse.relevance)

    design: Design = whole.cached("selected features", make)
    return design


def with_columns(table: Table) -> Design:
    """Selected features beside the plain columns, which count for less."""
    plain, features = plain_scaled(table), selected_features(table)
    return Design(plain.train * PLAIN_SCALE, plain.test * PLAIN_SCALE).beside(features)
