"""The receiver's toolkit: what somebody can do who has a release and nothing else."""

from pointillist.receiver.answer import Answers, answer
from pointillist.receiver.pushed import Pushed
from pointillist.receiver.received import Received, receive
from pointillist.receiver.two_sample import TwoSampleTest

__all__ = ["Answers", "Pushed", "Received", "TwoSampleTest", "answer", "receive"]
