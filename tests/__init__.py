"""Tests of sandmill. A package, since an installed package of the extra `learning` brings one of the same name."""
