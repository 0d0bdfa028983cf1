"""Towline's payload codec: AES-256-GCM, so that Temporal's server never sees what is in a flow."""

import base64
import json
import os
from typing import Iterable, Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

ENCODING = b"binary/encrypted"
VERSION = 1
NONCE_BYTES = 12


class TowlineCodec(PayloadCodec):
    """
    Sealed: version (1 byte), length of the key id (1 byte), key id, nonce (12 bytes), ciphertext, tag (16 bytes).
    Associated data: everything before the nonce, then where it belongs: ["payload", namespace] as JSON.
    """

    def __init__(self, keys: dict[str, bytes], namespace: str) -> None:
        # The first key seals; every key opens.
        self._keys = keys
        self._active = next(iter(keys))
        self._context = json.dumps(["payload", namespace], separators=(",", ":"), ensure_ascii=False).encode()

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [
            Payload(
                metadata={"encoding": ENCODING, "encryption-key-id": self._active.encode()},
                data=self._seal(payload.SerializeToString()),
            )
            for payload in payloads
        ]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [
            Payload.FromString(self._open(payload.data)) if payload.metadata.get("encoding") == ENCODING else payload
            for payload in payloads
        ]

    def _seal(self, plain: bytes) -> bytes:
        key_id = self._active.encode()
        head = bytes([VERSION, len(key_id)]) + key_id
        nonce = os.urandom(NONCE_BYTES)
        return head + nonce + AESGCM(self._keys[self._active]).encrypt(nonce, plain, head + self._context)

    def _open(self, sealed: bytes) -> bytes:
        if sealed[0] != VERSION:
            raise ValueError("the payload was sealed by another version of Towline")
        head, rest = sealed[: 2 + sealed[1]], sealed[2 + sealed[1] :]
        key_id = head[2:].decode()
        if key_id not in self._keys:
            raise KeyError(f"no payload key is called {key_id}")
        nonce, ciphertext = rest[:NONCE_BYTES], rest[NONCE_BYTES:]
        return AESGCM(self._keys[key_id]).decrypt(nonce, ciphertext, head + self._context)


def read_keys(entries: Iterable[str]) -> dict[str, bytes]:
    """Entries of PAYLOAD_KEYS, `id:base64-of-32-bytes`."""
    pairs = (entry.strip().split(":", 1) for entry in entries if entry.strip())
    return {key_id: base64.b64decode(encoded, validate=True) for key_id, encoded in pairs}
