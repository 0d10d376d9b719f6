"""A QUIC server and its client: `quic_transfer.py serve FOLDER BYTES`, `quic_transfer.py fetch ADDRESS`.

The client prints how many bytes came, the seconds from its request to the last one, and the least time that a
ping took, s.
"""

from __future__ import annotations

import asyncio
import datetime
import ssl
import sys
import time
from pathlib import Path

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PORT = 4433
PROTOCOL = ["longfat-test"]


def certificate(folder: Path) -> tuple[Path, Path]:
    """Writes a certificate that nobody has signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files


async def offer(folder: Path, size: int) -> None:
    """Sends `size` bytes on each stream that a client opens, until it is ended."""

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.write(bytes(size))
        writer.write_eof()

    configuration = QuicConfiguration(is_client=False, alpn_protocols=PROTOCOL)
    configuration.load_cert_chain(*certificate(folder))
    tasks = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(send(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    await serve("::", PORT, configuration=configuration, stream_handler=begin)
    await asyncio.Event().wait()


async def fetch(address: str) -> None:
    """Takes what the server sends."""
    configuration = QuicConfiguration(alpn_protocols=PROTOCOL, verify_mode=ssl.CERT_NONE)
    async with connect(address, PORT, configuration=configuration) as client:
        pings = []
        for _ in range(20):
            await asyncio.sleep(0.04)  # so that both ends have to wake up, as after a long way
            begin = time.monotonic()
            await client.ping()
            pings.append(time.monotonic() - begin)
        begin = time.monotonic()
        reader, writer = await client.create_stream()
        writer.write_eof()
        got = 0
        while chunk := await reader.read(1 << 16):
            got += len(chunk)
        seconds = time.monotonic() - begin
        print(got, seconds, min(pings), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(offer(Path(sys.argv[2]), int(sys.argv[3])))
    else:
        asyncio.run(fetch(sys.argv[2]))
