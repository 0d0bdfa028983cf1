import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { DataConverter, Payload } from '@temporalio/common';
import { CANARY_CARD } from '../../harness/parties.js';

/** Every spelling of the card's members that would reveal them. */
const CANARIES = [
  CANARY_CARD.number,
  '3782 822463 10005',
  CANARY_CARD.cvv,
  CANARY_CARD.expiryYear,
  '11/47',
  'Zyxwina',
  'Canaryholder',
  'expiryMonth',
];

/** Places in which four digits may be a word, and not a card's: UUIDs, sizes of histories, times, process identities. */
const OF_NO_CARD = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|"historySizeBytes":"\d+"|"(?:pid|\w*Ms)":\d+|\b\d{1,7}@/gi;

export function canariesIn(text: string): readonly string[] {
  const searched = text.replaceAll(OF_NO_CARD, ' ');
  // As words: any four digits occur in every long number.
  return CANARIES.filter((canary) => new RegExp(`(?<!\\w)${canary}(?!\\w)`).test(searched));
}

/** A history as a thief with the keys would read it: every payload decrypted. */
export async function decryptedHistory(handle: WorkflowHandle, { payloadCodecs = [] }: DataConverter): Promise<string> {
  const payloads: Payload[] = [];
  const history = await handle.fetchHistory();
  visit(history, payloads);
  let decoded = payloads;
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  const texts = decoded.map(({ data }) => Buffer.from(data ?? []).toString('utf8'));
  return [JSON.stringify(history), ...texts].join('\n');
}

/** All files of a folder on disk. */
export async function filesOf(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)));
  return (await Promise.all(files)).map((bytes) => bytes.toString('latin1')).join('\n');
}

function visit(node: unknown, found: Payload[]): void {
  if (typeof node !== 'object' || node === null || node instanceof Uint8Array) return;
  if ('metadata' in node && 'data' in node && node.data instanceof Uint8Array) found.push(node as Payload);
  for (const child of Object.values(node)) visit(child, found);
}
