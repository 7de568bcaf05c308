"""The fork server's first import: from then on it dies with the server, and its children know it by its number.

Nothing else is to import this but the fork server's last import, which gives the number to the process that forks.
"""

import os

from tiger.api.pool.parent import PARENT, die_with_parent

PID = os.getpid()
die_with_parent()
# The server may have died before that.
if os.environ.get(PARENT) != str(os.getppid()):
    os._exit(1)
SERVER = os.getppid()
