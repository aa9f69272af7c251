"""Small stand-ins for packages that the registry does not have, with the interfaces that exports rely on."""
