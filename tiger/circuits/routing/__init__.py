"""The routers, and the searches on routes."""
