"""A slow line on one machine: what a page far from its notebook server sees."""

import asyncio
import queue
import threading
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

CHUNK = 16_384  # bytes passed on at once
WAITING = 16  # chunks on the line; then the sender waits, as in a router


class _Direction:
    """One direction of the line, which all its connections share."""

    def __init__(self, bytes_a_second, delay):
        self.bytes_a_second, self.delay, self.free = bytes_a_second, delay, 0.0

    async def carry(self, source, sink):
        """Everything from source to sink, in order, at its rate and after its delay."""
        now, chunks = asyncio.get_running_loop().time, asyncio.Queue(WAITING)

        async def arrive():
            while True:
                at, chunk = await chunks.get()
                await asyncio.sleep(at - now())
                if not chunk:
                    return
                sink.write(chunk)
                await sink.drain()

        arriving = asyncio.create_task(arrive())
        try:
            while True:
                chunk = await source.read(CHUNK)
                self.free = max(self.free, now()) + len(chunk) / self.bytes_a_second
                await chunks.put((self.free + self.delay, chunk))
                if not chunk:
                    break
            await arriving
        except ConnectionError:
            arriving.cancel()
        finally:
            sink.close()


@contextmanager
def slow_line(address, megabits, delay):
    """An address at which this server answers over a line of so many megabits a second; delay: seconds each way."""
    far, started = urlsplit(address), queue.Queue()

    async def serve():
        down, up = (_Direction(megabits * 1e6 / 8, delay) for _ in range(2))

        async def connect(reader, writer):
            server_reader, server_writer = await asyncio.open_connection(far.hostname, far.port)
            with suppress(asyncio.CancelledError):  # at the end of the bench
                await asyncio.gather(up.carry(reader, server_writer), down.carry(server_reader, writer))

        ended = asyncio.Event()
        listening = await asyncio.start_server(connect, "127.0.0.1", 0)
        started.put((asyncio.get_running_loop(), ended, listening.sockets[0].getsockname()[1]))
        await ended.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    loop, ended, port = started.get()
    try:
        yield far._replace(netloc=f"127.0.0.1:{port}").geturl()
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
