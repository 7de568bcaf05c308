"""The fork server's second import: everything that a solve needs, so that workers have it as soon as they are forked.

A fork server can only be prepared by imports, which is why this one does work. Nothing else is to import it but the
workers of a Dask cluster, which it prepares as well.
"""

import tiger.api.routes.entries
import tiger.expert_maps.entry
import tiger.mapping.mapper
import tiger.placement.entry.place
import tiger.rebalancing.rebalancer  # noqa: F401 (all loaded ahead of the first request)
from tiger.api.middleware import log
from tiger.api.workers import kernels

# Workers log as the server does.
log.configure()
kernels.load()
