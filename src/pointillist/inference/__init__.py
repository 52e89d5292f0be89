"""What anyone may ask of a release, who has a release and nothing else."""

from pointillist.inference.pushforward import Pushed
from pointillist.inference.query_language import Answers, answer
from pointillist.inference.received import Received, receive
from pointillist.inference.two_sample import TwoSampleTest

__all__ = ["Answers", "Pushed", "Received", "TwoSampleTest", "answer", "receive"]
