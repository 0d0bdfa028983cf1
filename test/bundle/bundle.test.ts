import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** A worker evaluates this much at its start. */
const MOST_BYTES = 650_000;

/** Text of a package's code that does not occur by chance. */
const TELLTALES = {
  zod: /\bZodError\b|\$ZodType\b/,
  axios: /\bAxiosError\b|\bisAxiosError\b/,
  node: /\brequire\("node:|node_modules\/(?:fastify|pino|libsql|lossless-json|libphonenumber-js)\//,
} as const;

const CODE = (text: string) => text.slice(0, text.lastIndexOf('//# sourceMappingURL=data:'));

describe('the workflow bundle', () => {
  let code = '';
  beforeAll(async () => {
    code = CODE(await readFile(process.env['TEST_WORKFLOW_BUNDLE'] ?? '', 'utf8'));
  });

  it(`has at most ${MOST_BYTES / 1e6} MB without its map`, () => {
    const bytes = Buffer.byteLength(code);
    process.stderr.write(`workflow bundle: ${(bytes / 1e6).toFixed(3)} MB without its map\n`);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
    expect(bytes).toBeGreaterThan(100_000);
  });

  it('holds our workflows', () => {
    expect(code).toContain('bridgeTransfer');
  });

  it.each(Object.entries(TELLTALES))('holds nothing of %s', (_, telltale) => {
    expect(telltale.exec(code)?.[0]).toBeUndefined();
  });
});

describe('the check itself', () => {
  let folder = '';
  beforeAll(async () => {
    // Inside the project, so that packages are found from there.
    const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
    folder = await mkdtemp(join(modules, '.towline-bundle-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('finds zod in a bundle that has it', async () => {
    const workflowsPath = join(folder, 'workflows.cjs');
    await writeFile(workflowsPath, "exports.flow = async (input) => require('zod').z.string().parse(input);");
    const logger = new DefaultLogger('ERROR');
    const { code } = await bundleWorkflowCode({ workflowsPath, logger });
    expect(CODE(code)).toMatch(TELLTALES.zod);
  });

  it('would find axios by text in its code', async () => {
    const axios = createRequire(import.meta.url).resolve('axios');
    expect(await readFile(axios, 'utf8')).toMatch(TELLTALES.axios);
  });
});
