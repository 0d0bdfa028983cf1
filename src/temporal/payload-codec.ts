import { fileURLToPath } from 'node:url';
import {
  METADATA_ENCODING_KEY,
  type DataConverter,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { open, seal, SealBrokenError, UnknownKeyError, type Keyring } from '../keys/index.js';
import { PLAINTEXT, UNDECODABLE, UNKNOWN_KEY } from '../protocol/plaintext-marker.js';

export const ENCRYPTED = 'binary/encrypted';
/** The member of a payload's metadata that names its key, in the clear. */
export const KEY_ID = 'encryption-key-id';
/** And the one that names the workflow whose it is, in the clear as workflow ids are. */
export const FLOW_ID = 'encryption-flow-id';

interface PayloadCodecDeps {
  readonly keyring: Keyring;
  /** Bound to every payload: one of another namespace does not open. */
  readonly namespace: string;
  /** Called for each payload that could not be decrypted, to log and count it. */
  readonly onUndecodable?: (reason: string) => void;
}

export interface TowlinePayloadCodec extends PayloadCodec {
  /** For the codec server: unencrypted payloads are shown unchanged. */
  decodeForPeople(payloads: Payload[]): Promise<Payload[]>;
}

/**
 * Encrypts every payload: AES-256-GCM, associated data = namespace, workflow id and key id (the key id is in the seal's
 * head). The workflow id comes from the SDK, and is not there for what the codec server encodes: that opens anywhere. What
 * is sealed for one workflow opens for no other: who may write to the namespace, without a key, can copy what one flow was
 * told, and not tell it to another.
 *
 * `decode` never throws, since that would fail a flow's workflow tasks for ever. Instead it marks payloads, so that
 * workflows and activities decide the same on every worker and under every setting (see plaintext-marker.ts):
 * - an unencrypted payload becomes `{"__plaintext": value}`. `binary/null` passes unchanged: it is the form of
 *   undefined.
 * - an undecryptable payload becomes `{"__undecodable": why}`. Handlers of messages drop it; results of activities go
 *   through `requireDecoded`. Trap: a worker without a key and one with it see different values in the same history. So
 *   give a key to every worker before the first one seals with it, and drop it after the last history with it is gone.
 */
export function createPayloadCodec({ keyring, namespace, onUndecodable }: PayloadCodecDeps): TowlinePayloadCodec {
  const associated = (flowId: string | undefined): string =>
    JSON.stringify(['payload', namespace, ...(flowId === undefined ? [] : [flowId])]);

  const encrypt = (payload: Payload, flowId: string | undefined): Payload => ({
    metadata: {
      [METADATA_ENCODING_KEY]: utf8(ENCRYPTED),
      [KEY_ID]: utf8(keyring.active.id),
      ...(flowId === undefined ? {} : { [FLOW_ID]: utf8(flowId) }),
    },
    data: seal(keyring, ProtoPayload.encode(payload).finish(), associated(flowId)),
  });

  const decrypt = (payload: Payload, flowId: string | undefined): Payload => {
    try {
      const named = payload.metadata?.[FLOW_ID];
      const own = named == null ? undefined : Buffer.from(named).toString('utf8');
      if (own !== undefined && flowId !== undefined && own !== flowId) throw new SealBrokenError();
      const { metadata, data } = ProtoPayload.decode(open(keyring, payload.data ?? new Uint8Array(), associated(own)));
      return { metadata, data };
    } catch (error) {
      const reason = reasonOf(error);
      onUndecodable?.(reason);
      return json(JSON.stringify({ [UNDECODABLE]: reason }));
    }
  };

  const decodeWith =
    (plaintext: (payload: Payload) => Payload) =>
    async (payloads: Payload[], context?: SerializationContext): Promise<Payload[]> =>
      payloads.map((payload) => (isEncrypted(payload) ? decrypt(payload, context?.workflowId) : plaintext(payload)));

  return {
    encode: async (payloads, context) => payloads.map((payload) => encrypt(payload, context?.workflowId)),
    decode: decodeWith(wrap),
    decodeForPeople: decodeWith((payload) => payload),
  };
}

const ProtoPayload = proto.temporal.api.common.v1.Payload;

function reasonOf(error: unknown): string {
  if (error instanceof UnknownKeyError) return `${UNKNOWN_KEY} ${error.keyId}`;
  return error instanceof SealBrokenError ? 'broken' : 'not a payload';
}

function isEncrypted(payload: Payload): boolean {
  return encodingOf(payload) === ENCRYPTED;
}

function wrap(payload: Payload): Payload {
  const encoding = encodingOf(payload);
  if (encoding === 'binary/null') return payload;
  const data = payload.data ?? new Uint8Array();
  const text = encoding === 'json/plain' ? jsonText(data) : undefined;
  return json(`{"${PLAINTEXT}":${text ?? JSON.stringify(Buffer.from(data).toString('base64'))}}`);
}

/** The raw text, with unrounded numbers; undefined if it is not exactly one JSON value. */
function jsonText(data: Uint8Array): string | undefined {
  const text = Buffer.from(data).toString('utf8');
  try {
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

function json(text: string): Payload {
  return { metadata: { [METADATA_ENCODING_KEY]: utf8('json/plain') }, data: utf8(text) };
}

function encodingOf(payload: Payload): string {
  return Buffer.from(payload.metadata?.[METADATA_ENCODING_KEY] ?? []).toString('utf8');
}

function utf8(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'utf8'));
}

/** The compiled file is `.cjs`; in the sources, which tests and development run, it is `.cts`. */
const suffix = import.meta.url.endsWith('.ts') ? 'cts' : 'cjs';

/** For `bundleWorkflowCode`, too: without it the workflows' own errors would be stored unencrypted. */
export const failureConverterPath = fileURLToPath(new URL(`./payload-failure-converter.${suffix}`, import.meta.url));

/** For every client and worker: payloads encrypted, messages and stack traces of failures as well. */
export function createDataConverter(deps: PayloadCodecDeps): DataConverter {
  return { failureConverterPath, payloadCodecs: [createPayloadCodec(deps)] };
}
