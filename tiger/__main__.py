"""Run the command line as `python -m tiger`."""

from tiger.cli import main

main()
