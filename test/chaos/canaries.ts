import { execFileSync } from 'node:child_process';
import type { PayloadKeys } from '../end-to-end/reconcile/open-sealed.js';
import type { Violation, Witnesses } from '../end-to-end/reconcile/witnesses.js';
import { openPayload, type FlowHistory } from './histories.js';

/** Of the inputs that the driver orders: what not even a thief with the keys may find. */
const CARD = ['378282246310005', 'Zyxwina', 'Canaryholder'];
/** Names and numbers, also as canaries. Long enough to occur nowhere by chance. */
const PERSONAL = [
  'Canary Payer',
  'Canary Payee',
  'Canary Receiver',
  'Canary Recipient',
  '+27821234567',
  '+254712345678',
  '0012345678',
  '62000000001',
];

interface Searched {
  readonly secrets: readonly string[];
  readonly keys: PayloadKeys;
  readonly inbox: Witnesses['inbox'];
  /** Of the product: store, logs, home. */
  readonly folder: string;
}

/**
 * I11: nothing personal in the clear in any history, nor in any file of the product; tokens, secrets and cards not even in
 * what is encrypted there.
 */
export function searchCanaries(searched: Searched, histories: readonly FlowHistory[]): readonly Violation[] {
  const found = new Set<string>();
  const never = [...searched.secrets, ...CARD];
  const search = (where: string, text: string, words: readonly string[]) => {
    for (const word of words) if (text.includes(word)) found.add(`${masked(word)} in ${where}`);
  };
  for (const { runs } of histories) {
    search('a history', bytesAsText(runs), [...never, ...PERSONAL]);
    search('a history, decrypted', decrypted(runs, searched.keys), never);
  }
  search('the inbox, decrypted', JSON.stringify(searched.inbox.map(({ body }) => body)), never);
  // In a process of its own: closing a database's file here would drop SQLite's locks on it.
  const files = execFileSync('find', [searched.folder, '-type', 'f', '-not', '-path', '*/outside/*'], {
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter(Boolean)) {
    const text = execFileSync('cat', [file], { encoding: 'latin1', maxBuffer: 1 << 30 });
    search(file.slice(searched.folder.length + 1), text, [...never, ...PERSONAL]);
  }
  return [...found].map((what) => ({ invariant: 'I11', what }));
}

/** A report is shown around. */
const masked = (word: string): string => `${word.slice(0, 8)}…`;

/** Payload bytes as text, too, so that base64 hides nothing. */
function bytesAsText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(bytesAsText).join('\n');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(bytesAsText).join('\n');
  return '';
}

function decrypted(value: unknown, keys: PayloadKeys): string {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return '';
  const own = isSealed(value) ? JSON.stringify(openPayload(value, keys) ?? '') : '';
  return [own, ...Object.values(value).map((inner) => decrypted(inner, keys))].join('\n');
}

function isSealed(value: object): value is { readonly data: Uint8Array } {
  if (!('metadata' in value && 'data' in value && value.data instanceof Uint8Array)) return false;
  const { encoding } = (value.metadata ?? {}) as { readonly encoding?: Uint8Array };
  return Buffer.from(encoding ?? []).toString('utf8') === 'binary/encrypted';
}
