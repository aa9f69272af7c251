"""Code of the sandbox that runs in the agent's interpreter. It uses the standard library only.

`start.py` is the entry script. These modules are removed from `sys.modules` before the agent's code runs, so no import
may happen later. They do not import the rest of sandmill and read no secret.

Processes of the warm backend:

- The *warm interpreter* (`serve.py`) imports the libraries and forks a process for each run.
- The *keeper* (`keeper.py`) is forked before the libraries are imported. It forks the init process of each run.
- The *init process* of a run creates and holds the namespaces of the run. All processes of the run end with it.
- The *agent process* (`agent.py`) is a fork of the warm interpreter. It joins these namespaces and runs the code.
"""
