"""Run the command line as `python -m tiger`."""

from tiger.cli.app import main

main()
