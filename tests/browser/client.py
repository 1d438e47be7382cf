"""Python's websockets against the echo of tests/e2e/functions/socket.c: client.py URL"""
import asyncio
import sys

import websockets


async def main(url):
    async with websockets.connect(url) as socket:
        for message in ["hello", "x" * 200000, b"\x00\xff" * 50000, "κόσμε", ""]:
            await socket.send(message)
            assert await socket.recv() == message

        async def pieces():
            yield "in "
            yield "three "
            yield "pieces"

        await socket.send(pieces())
        assert await socket.recv() == "in three pieces"
        await (await socket.ping())
        await socket.send("/close 4001 enough")
        try:
            await socket.recv()
        except websockets.ConnectionClosed as closed:
            assert (closed.rcvd.code, closed.rcvd.reason) == (4001, "enough"), closed
        else:
            raise AssertionError("still open")


asyncio.run(asyncio.wait_for(main(sys.argv[1]), 20))
