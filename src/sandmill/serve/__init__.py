"""The server of `sandmill serve`: runs and grades agents' code for clients on other machines."""
