import { readdirSync, readFileSync } from 'node:fs';
import type { Names } from './present-names.js';

const HISTORIES = new URL('../replay/histories/', import.meta.url);
const TYPE = /"workflowType":\{"name":"(\w+)"/;
const ID = /"workflowId":"([^"/]+)\/[^"]+"/;

/**
 * The names of flow kinds, from their recorded histories: those were started under these names. So a new kind is known
 * by its histories, and a lost name is noticed as long as they are kept.
 */
export function recordedNames(): Pick<Names, 'workflow types' | 'flow kinds' | 'flow ids'> {
  const starts = readdirSync(HISTORIES).map(
    (file) => readFileSync(new URL(file, HISTORIES), 'utf8').split('\n')[1] ?? '',
  );
  const found = (pattern: RegExp) => [...new Set(starts.flatMap((start) => pattern.exec(start)?.[1] ?? []))].toSorted();
  const kinds = found(ID);
  return { 'workflow types': found(TYPE), 'flow kinds': kinds, 'flow ids': kinds.map((kind) => `${kind}/a-reference`) };
}
