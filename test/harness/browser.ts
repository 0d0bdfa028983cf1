import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';

export interface Browser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/** Keeps it from calling its maker's hosts, or any other than ours. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

/** Shorter than a test's limit, so that the error says what it waited for. */
const PATIENCE_MS = 100_000;

/**
 * Path of the Chromium of this machine; undefined, with a message, if there is none.
 * @throws Error in CI if there is none
 */
export function findBrowser(what: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const path = names.flatMap((name) => folders.map((at) => join(at, name))).find((each) => existsSync(each));
  if (path === undefined && process.env['TEST_IN_CI'] === '1') throw new Error('CI needs the package "chromium".');
  if (path === undefined) process.stderr.write(`\n!! SKIPPED: ${what}, since there is no chromium on the PATH\n\n`);
  return path;
}

/** With a profile of its own. It accepts every certificate. */
export async function openBrowser(executablePath: string): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-browser-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath,
    args: QUIET,
    viewport: { width: 1_200, height: 900 },
    ignoreHTTPSErrors: true,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  return {
    context,
    async close() {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Takes an image of the docs, if `DOC_IMAGES` names their folder: CONTRIBUTING.md has the commands. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['DOC_IMAGES'];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
