"""The fork server's first import: from then on it dies with the server, and its children know it by its number.

Nothing else is to import this.
"""

import os

from tiger.api.workers import die_with_parent

PID = os.getpid()
die_with_parent()
