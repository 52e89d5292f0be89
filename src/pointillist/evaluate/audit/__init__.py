"""Audit: attacks on the real pipeline that try to break its promise.

An audit is the owner's tool: two of its attacks see private rows, and their findings say so.
"""

from pointillist.evaluate.audit.audited_pipeline import Pipeline
from pointillist.evaluate.audit.auditing import ATTACKS, audit
from pointillist.evaluate.audit.finding import Audit, Finding

__all__ = ["ATTACKS", "Audit", "Finding", "Pipeline", "audit"]
