"""The receiver's toolkit: what somebody can do who has a release and nothing else."""

from pointillist.inference.answer import Answers, answer
from pointillist.inference.pushed import Pushed
from pointillist.inference.received import Received, receive
from pointillist.inference.two_sample import TwoSampleTest

__all__ = ["Answers", "Pushed", "Received", "TwoSampleTest", "answer", "receive"]
