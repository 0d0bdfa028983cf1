import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { createPayloadCodec, type PayloadCodecDeps } from './payload-codec.js';

/** Compiled it is `.cjs`; in the sources, which jest and development run, it is `.cts`. */
const suffix = import.meta.url.endsWith('.ts') ? 'cts' : 'cjs';

/** For `bundleWorkflowCode`, too: without it the workflows' own errors would be stored in the clear. */
export const failureConverterPath = fileURLToPath(new URL(`./payload-failure-converter.${suffix}`, import.meta.url));

/** For every client and worker: payloads encrypted, messages and stack traces of failures as well. */
export function createDataConverter(deps: PayloadCodecDeps): DataConverter {
  return { failureConverterPath, payloadCodecs: [createPayloadCodec(deps)] };
}
