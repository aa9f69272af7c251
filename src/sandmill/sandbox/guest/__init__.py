"""The half of the sandbox that the agent's interpreter executes: standard library only, and never seen by its code.

`start.py` is run as a script. Nothing here may import sandmill, read a secret, or be imported late: once the agent's
code runs, these modules are gone from `sys.modules`.
"""
