"""Requests and answers as pydantic models, from which the OpenAPI document is made.

In comes JSON, out come checked values. Read `assignment` first.
"""
