"""Towline's payload codec: AES-256-GCM, so that Temporal's server never sees what is in a flow."""

import base64
import json
import os
from typing import Iterable, Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)

ENCODING = b"binary/encrypted"
FLOW_ID = "encryption-flow-id"
VERSION = 1
NONCE_BYTES = 12


class TowlineCodec(PayloadCodec, WithSerializationContext):
    """
    Sealed: version (1 byte), length of the key id (1 byte), key id, nonce (12 bytes), ciphertext, tag (16 bytes).
    Associated data: everything before the nonce, then where it belongs: ["payload", namespace, workflow id] as JSON. What
    is sealed for one workflow opens for no other; the SDK says which one it is.
    """

    def __init__(self, keys: dict[str, bytes], namespace: str, flow_id: str | None = None) -> None:
        # The first key seals; every key opens.
        self._keys = keys
        self._active = next(iter(keys))
        self._namespace = namespace
        self._flow_id = flow_id

    def with_context(self, context: SerializationContext) -> "TowlineCodec":
        flow_id = context.workflow_id if isinstance(context, WorkflowSerializationContext) else None
        return TowlineCodec(self._keys, self._namespace, flow_id)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        metadata = {"encoding": ENCODING, "encryption-key-id": self._active.encode()}
        if self._flow_id is not None:
            metadata[FLOW_ID] = self._flow_id.encode()
        return [Payload(metadata=metadata, data=self._seal(payload.SerializeToString())) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        is_sealed = lambda payload: payload.metadata.get("encoding") == ENCODING
        return [self._decoded(payload) if is_sealed(payload) else payload for payload in payloads]

    def _decoded(self, payload: Payload) -> Payload:
        named = payload.metadata.get(FLOW_ID)
        flow_id = None if named is None else named.decode()
        if flow_id is not None and self._flow_id is not None and flow_id != self._flow_id:
            raise ValueError("the payload was sealed for another workflow")
        return Payload.FromString(self._open(payload.data, flow_id))

    def _belongs(self, flow_id: str | None) -> bytes:
        where = ["payload", self._namespace] + ([] if flow_id is None else [flow_id])
        return json.dumps(where, separators=(",", ":"), ensure_ascii=False).encode()

    def _seal(self, plain: bytes) -> bytes:
        key_id = self._active.encode()
        head = bytes([VERSION, len(key_id)]) + key_id
        nonce = os.urandom(NONCE_BYTES)
        return head + nonce + AESGCM(self._keys[self._active]).encrypt(nonce, plain, head + self._belongs(self._flow_id))

    def _open(self, sealed: bytes, flow_id: str | None) -> bytes:
        if sealed[0] != VERSION:
            raise ValueError("the payload was sealed by another version of Towline")
        head, rest = sealed[: 2 + sealed[1]], sealed[2 + sealed[1] :]
        key_id = head[2:].decode()
        if key_id not in self._keys:
            raise KeyError(f"no payload key is called {key_id}")
        nonce, ciphertext = rest[:NONCE_BYTES], rest[NONCE_BYTES:]
        return AESGCM(self._keys[key_id]).decrypt(nonce, ciphertext, head + self._belongs(flow_id))


def read_keys(entries: Iterable[str]) -> dict[str, bytes]:
    """Entries of PAYLOAD_KEYS, `id:base64-of-32-bytes`."""
    pairs = (entry.strip().split(":", 1) for entry in entries if entry.strip())
    return {key_id: base64.b64decode(encoded, validate=True) for key_id, encoded in pairs}
