import { BRIDGE_ENDINGS } from './bridge/endings.js';
import { BRIDGE_MAGIC_AMOUNTS } from './bridge/magic-amounts.js';
import { KINDS } from './kinds.js';

/** How one operation can end, and what chooses its endings. */
export interface CatalogueEntry {
  readonly operation: string;
  readonly endings: Readonly<Record<string, { readonly story: string }>>;
  readonly magic: Readonly<Record<string, string>>;
}

/** Every operation that has endings. */
export const CATALOGUE: readonly CatalogueEntry[] = [
  { operation: 'createBridgeDeposit', endings: BRIDGE_ENDINGS, magic: BRIDGE_MAGIC_AMOUNTS },
  ...KINDS.map(({ operation, lifecycle: { endings, magic } }) => ({ operation, endings, magic })),
];

export const ALL_ENDINGS: readonly string[] = [...new Set(CATALOGUE.flatMap(({ endings }) => Object.keys(endings)))];
