import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Settings } from '../../config/index.js';
import type { Keyring } from '../../keys/index.js';
import { connectTemporal, namespaceOf } from '../../temporal/connection.js';
import { createPayloadCodec, type TowlinePayloadCodec } from '../../temporal/payload-codec.js';
import { createDataConverter } from '../../temporal/payload-data-converter.js';

export interface Temporal {
  /** Connects at its first call. */
  readonly client: Client;
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  readonly codec: TowlinePayloadCodec;
  readonly close: () => Promise<void>;
}

/** Temporal with the payload codec, for a process that calls itself `identity` in histories. */
export function openTemporal(options: {
  readonly settings: Pick<Settings, 'temporal'>;
  readonly keyring: Keyring;
  readonly identity: string;
  readonly onUndecodable: (reason: string) => void;
}): Temporal {
  const { keyring, identity, onUndecodable } = options;
  const variables = options.settings.temporal;
  const codecDeps = { keyring, namespace: namespaceOf(variables), onUndecodable };
  const dataConverter = createDataConverter(codecDeps);
  const connected = connectTemporal({ variables, dataConverter, identity });
  const { client, namespace } = connected;
  return { client, namespace, dataConverter, codec: createPayloadCodec(codecDeps), close: () => connected.close() };
}

/** What histories and pollers show of a process of ours. */
export function identityOf(name: string, pid: number): string {
  return `towline-${name}-${pid}`;
}

/** Where Temporal is, in words. */
export function temporalAddress(settings: Pick<Settings, 'temporal'>): string {
  return settings.temporal['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
}
