"""The entry of circuits: what `tiger.layout` is given, how it is read, checked and written, and its report.

In come circuits and devices in any form, out come reports. Read `layout` first.
"""
