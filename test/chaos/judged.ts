import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.js';
import type { Case, Verdict } from './case.js';
import type { World } from './world.js';

/**
 * The judge's verdict about a world, as soon as nothing moves in it any more.
 * @param patienceMs how long that may take; a flow that still moves then is a violation
 * @param wanted references of flows whose stories are wanted, whatever becomes of them
 * @param pairsBundlePath of a bundle that reports steps and results, if they are wanted
 */
export async function judge(
  world: World,
  patienceMs: number,
  wanted: readonly string[] = [],
  pairsBundlePath: string | null = null,
): Promise<Verdict> {
  const given: Case = {
    temporalAddress: world.temporalAddress,
    sandboxUrl: world.sandboxUrl,
    gatewayUrl: world.gatewayUrl,
    storePath: world.storePath,
    payloadKey: world.payloadKey,
    journal: world.journal.path,
    wire: world.wireFiles.service,
    inbound: world.wireFiles.gateways,
    strikes: world.strikes,
    wanted,
    secrets: world.secrets,
    folder: world.folder,
    bundlePath: world.bundlePath,
    pairsBundlePath,
    patienceMs,
  };
  const path = join(world.folder, 'outside', 'case.json');
  await writeFile(path, JSON.stringify(given));
  const args = ['--no-warnings', '--import', './tools/typescript.mjs', 'test/chaos/judge.ts', path];
  const options = { cwd: packageRoot(), encoding: 'utf8', maxBuffer: 1 << 28 } as const;
  return JSON.parse((await promisify(execFile)(process.execPath, args, options)).stdout) as Verdict;
}
