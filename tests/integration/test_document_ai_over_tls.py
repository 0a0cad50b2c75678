"""The way to the real Document AI as far as one machine goes: TLS, the key of a service account, its token."""

import asyncio
import base64
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from google.cloud.documentai_v1 import ProcessRequest, ProcessResponse

from orcha_dagster.simulated.document_ai_server import PROCESSOR, SERVICE, SimulatedDocumentAi
from tests.fake_providers import InlineCpuPool
from tests.simulated_document_ai import InkReader

# In a process of its own, because gRPC reads once per process whom to trust.
CLIENT = f"""
import asyncio, sys
from orcha_dagster.adapters.document_ai.transcriber import DocumentAiTranscriber
from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.interfaces.transcriber import Bundle

async def call():
    transcriber = DocumentAiTranscriber({PROCESSOR!r}, endpoint=sys.argv[1], call_seconds=10)
    try:
        print(len(await transcriber.transcribe(Bundle(b"picture", "image/png", (1,)))), "page")
    except OrchaError as error:
        print(error.code)
    finally:
        await transcriber.close()

asyncio.run(call())
"""


def private_pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def certificate(key: rsa.RSAPrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    return built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def environment(tmp_path: Path, key: rsa.RSAPrivateKey, certificate: bytes) -> dict[str, str]:
    """Whom a client trusts, and who it is."""
    account = {
        "type": "service_account",
        "client_email": "orcha@example.iam.gserviceaccount.com",
        "private_key_id": "1",
        "private_key": private_pem(key).decode(),
        "token_uri": "https://localhost:1/token",  # never asked: the token is signed here
    }
    (tmp_path / "account.json").write_text(json.dumps(account), encoding="utf-8")
    (tmp_path / "roots.pem").write_bytes(certificate)
    return {
        **os.environ,
        "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "account.json"),
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(tmp_path / "roots.pem"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "no_proxy": "*",
    }


async def call(address: str, environment: dict[str, str]) -> str:
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, address, env=environment, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await asyncio.wait_for(client.communicate(), 60)
    return printed.decode().strip()


@asynccontextmanager
async def encrypted_server(key: rsa.RSAPrivateKey, certificate: bytes, seen: list[Any]) -> AsyncIterator[str]:
    async def process_document(_: Any, context: grpc.aio.ServicerContext) -> Any:
        seen.append(dict(context.invocation_metadata() or ()))
        response = ProcessResponse.pb()()
        response.document.pages.add(page_number=1)
        return response

    handler = grpc.unary_unary_rpc_method_handler(
        process_document,
        request_deserializer=ProcessRequest.pb().FromString,
        response_serializer=ProcessResponse.pb().SerializeToString,
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"ProcessDocument": handler}),))
    credentials = grpc.ssl_server_credentials([(private_pem(key), certificate)])
    port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    try:
        yield f"localhost:{port}"
    finally:
        await server.stop(None)


def test_a_service_account_signs_its_own_token_and_is_let_in(
    environment: dict[str, str], key: rsa.RSAPrivateKey, certificate: bytes
) -> None:
    seen: list[dict[str, str]] = []

    async def story() -> str:
        async with encrypted_server(key, certificate, seen) as address:
            return await call(address, environment)

    assert asyncio.run(story()) == "1 page"
    scheme, token = seen[0]["authorization"].split()
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert (scheme, claims["iss"]) == ("Bearer", "orcha@example.iam.gserviceaccount.com")


def test_a_server_without_encryption_learns_nothing(environment: dict[str, str]) -> None:
    async def story() -> tuple[str, int]:
        async with SimulatedDocumentAi(InkReader(), pool=InlineCpuPool()) as server:
            return await call(server.address, environment), len(server.calls)

    assert asyncio.run(story()) == ("PROVIDER_UNAVAILABLE", 0)
