import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { startGuarded } from '../../src/dev-server/guarded-process.js';

export interface TemporalUi {
  readonly url: string;
  stop(): Promise<void>;
}

export interface TemporalUiOptions {
  /** Of the Temporal server. */
  readonly address: string;
  /** For configuration and log. */
  readonly folder: string;
  /** More of its configuration, for the URL at which it will listen. */
  readonly settings: (url: string) => object | Promise<object>;
}

export async function startTemporalUi(
  program: string,
  { address, folder, settings }: TemporalUiOptions,
): Promise<TemporalUi> {
  const port = await anyFreePort();
  const url = `http://127.0.0.1:${port}`;
  const config = {
    temporalGrpcAddress: address,
    host: '127.0.0.1',
    port,
    enableUi: true,
    defaultNamespace: 'default',
    disableNewsFetch: true,
    cors: { cookieInsecure: true, allowOrigins: [url] },
    ...(await settings(url)),
  };
  await mkdir(join(folder, 'ui'), { recursive: true });
  await writeFile(join(folder, 'ui', 'ui.yaml'), stringify(config));
  const args = ['--root', folder, '--config', 'ui', '--env', 'ui', 'start'];
  const ui = await startGuarded(program, args, join(folder, 'ui.log'));
  return { url, stop: () => ui.stop() };
}
