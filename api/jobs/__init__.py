"""Jobs: solves that outlive their request, and the server."""
