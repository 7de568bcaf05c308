"""Requests and reports as dataclasses, of which pydantic checks the one and documents both in OpenAPI.

In comes JSON, out come checked values. Read `assignment` first, then `closed`, which every request is, and `reports`.
Options stand where Python has them too (`tiger.model.options`), and here what JSON has otherwise.
"""
