"""Streams, events and captured graphs of the stand-in for CuPy: what waits for nothing runs in any order."""

from tests.kit.fake_cuda_errors import CUDARuntimeError
from tests.kit.fake_cuda_launches import KERNEL, LAUNCH


class Work:
    """Something for the device: `ms` is how long it takes, `asked` when the host had asked for it, `done` its end."""

    def __init__(self, do, after, ms, asked, stream):
        self.do, self.after, self.ms, self.asked, self.stream, self.done = do, after, ms, asked, stream, 0.0

    def run(self):
        if self.do is None:
            return
        for earlier in self.after:
            earlier.run()
        begin = max([self.stream.now, self.asked, *(earlier.done for earlier in self.after)])
        do, self.do, self.after = self.do, None, ()
        self.done = self.stream.now = begin + self.ms
        do()


class FakeCapture:
    """What streams are asked for while one of them is captured: launches with those before them."""

    def __init__(self, origin):
        self.nodes, self.streams, self.has_begun = [], [origin], True

    def joined(self, ends):
        """Whether all that was captured comes before these nodes."""
        seen, left = set(), list(ends)
        while left:
            number = left.pop()
            if number not in seen:
                seen.add(number)
                left += self.nodes[number][1]
        return len(seen) == len(self.nodes)

    def in_some_order(self, random):
        """The launches, those that wait for nothing in any order."""
        left, done = list(range(len(self.nodes))), set()
        while left:
            number = random.choice([each for each in left if done.issuperset(self.nodes[each][1])])
            left.remove(number)
            done.add(number)
            yield self.nodes[number][0]

    def width(self):
        """How much longer the launches take one after the other."""
        ends = []
        for _, after in self.nodes:
            ends.append(1 + max((ends[each] for each in after), default=0))
        return len(self.nodes) / max(ends, default=1)


class FakeGraph:
    def __init__(self, fake, capture):
        self.fake, self.capture = fake, capture

    def launch(self, stream=None):
        self.fake.log.append("graph")
        order = self.capture.in_some_order(self.fake.random)
        length = KERNEL * len(self.capture.nodes) / self.capture.width()
        stream.submit(lambda: [run() for run in order], length, LAUNCH)


class FakeStream:
    def __init__(self, fake, *, null=False, non_blocking=False):
        self.fake, self.null, self.non_blocking = fake, null, non_blocking
        self.device = fake.current
        self.captured, self.broken, self.last, self.now = None, False, None, 0.0
        self.after = ()  # nodes of the capture that come before what is asked for next
        self.ptr = 0 if null else 1000 + len(fake.all_streams)
        fake.all_streams.append(self)

    def __enter__(self):
        assert self.device == self.fake.current, "a stream of another device"
        self.fake.stack.append(self)
        return self

    def __exit__(self, *_):
        self.fake.stack.pop()

    def submit(self, do, ms=0.0, host=0.0, after=()):
        fake = self.fake
        fake.check()
        fake.host += host
        if self.captured is not None:
            self.captured.nodes.append((do, self.after))
            self.after = (len(self.captured.nodes) - 1,)
            return
        if self.null:
            for other in fake.all_streams:
                if other.captured is not None and not other.non_blocking:
                    other.broken = True
                    raise CUDARuntimeError(906)
        if self.null:
            earlier = [s.last for s in fake.all_streams if not s.non_blocking and s.last]
        else:
            earlier = [w for w in (self.last, None if self.non_blocking else fake.null.last) if w]
        self.last = Work(do, [*earlier, *after], ms, fake.host, self)
        if fake.random.random() < 0.3:
            self.last.run()

    def wait_event(self, event):
        if event.capture is None:
            if self.captured is not None:
                raise CUDARuntimeError(905)
            if event.work is not None:
                self.submit(lambda: None, after=(event.work,))
            return
        assert event.capture.has_begun, "an event of a capture that has ended"
        if self.captured is None:
            self.captured, self.after = event.capture, ()
            event.capture.streams.append(self)
        assert self.captured is event.capture
        self.after = tuple({*self.after, *event.after})

    def begin_capture(self, mode=None):
        assert self.captured is None
        assert not self.null
        self.captured, self.after = FakeCapture(self), ()

    def end_capture(self):
        capture, ends = self.captured, self.after
        for each in capture.streams:
            each.captured, each.after = None, ()
        capture.has_begun = False
        if self.broken:
            self.broken = False
            raise CUDARuntimeError(901)
        if not capture.joined(ends):
            raise CUDARuntimeError(904)
        self.fake.log.append("capture")
        return FakeGraph(self.fake, capture)

    def synchronize(self):
        self.fake.check()
        if self.captured is not None:
            raise CUDARuntimeError(900)
        self.fake.log.append("synchronize")
        if self.last:
            self.last.run()
        self.fake.host = max(self.fake.host, self.now)


class FakeEvent:
    """Notes a time, or with disable_timing=True only what comes before."""

    def __init__(self, fake, block=False, disable_timing=False):
        self.fake, self.is_timed = fake, not disable_timing
        self.capture, self.after, self.work = None, (), None

    def record(self, stream=None):
        self.capture, self.after, self.work = stream.captured, stream.after, None
        if self.capture is None:
            stream.submit(lambda: self.is_timed and setattr(self, "at", stream.now), host=0.1)
            self.work = stream.last
        else:
            assert not self.is_timed, "times are taken outside of graphs"
