import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Settings } from '../../config/index.js';
import type { Keyring } from '../../keys/index.js';
import { packageVersion } from '../../package-root.js';
import { addressOf, readConnectConfig } from '../../temporal/connect-config.js';
import { connectTemporal, namespaceOf } from '../../temporal/connection.js';
import { createPayloadCodec, type TowlinePayloadCodec, createDataConverter } from '../../temporal/payload-codec.js';

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

/** The identity that histories and pollers show for our processes: which one, on which machine, of which build. */
export function identityOf(name: string, pid: number): string {
  return `towline-${name}-${pid}@${hostname()}/${build()}`;
}

/** The version, and beside built code the beginning of a hash of its workflows, which distinguishes builds of a version. */
function build(): string {
  try {
    const bundle = readFileSync(fileURLToPath(new URL('../../../workflow-bundle.js', import.meta.url)));
    return `${packageVersion()}+${createHash('sha256').update(bundle).digest('hex').slice(0, 8)}`;
  } catch {
    return packageVersion();
  }
}

/** The address of Temporal, in words. @throws TemporalSettingsError if there is none */
export function temporalAddress(settings: Pick<Settings, 'temporal'>): string {
  return addressOf(readConnectConfig(settings.temporal));
}

/** The Temporal UI for people: `TEMPORAL_UI_URL`, which `towline up` sets to the UI of the server that it started. */
export function uiUrlOf(settings: Pick<Settings, 'temporal'>): string | undefined {
  const url = settings.temporal['TEMPORAL_UI_URL'];
  return url !== undefined && URL.canParse(url) ? url.replace(/\/+$/, '') : undefined;
}

/** The page of one flow in the Temporal UI. */
export function uiLink(uiUrl: string, namespace: string, flowId: string): string {
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(flowId)}`;
}
