import { magicDecimals } from '../magic.js';
import type { Scenarios } from '../scenarios.js';
import { COMPLETED } from './lifecycle.js';

/** What there is to choose from, and the digits that choose. */
export interface Choices {
  readonly endings: Readonly<Record<string, unknown>>;
  readonly magic: Readonly<Record<string, string>>;
}

/** `+254700000013` and the account `900000013` choose what the decimals `.13` choose. */
const MAGIC_DIGITS = /0000(\d\d)$/;

/** How a transaction will go: by the scenario of its reference, else by its amount, else by a party's number. */
export function chooseEnding(
  deps: { readonly scenarios: Scenarios; readonly choices: Choices },
  request: {
    readonly operation: string;
    readonly reference: string;
    readonly amount: number;
    readonly parties: readonly (string | undefined)[];
  },
): string {
  const { endings, magic } = deps.choices;
  const scenario = deps.scenarios.get(request.reference, request.operation)?.ending;
  if (scenario !== undefined && Object.hasOwn(endings, scenario)) return scenario;
  const byAmount = magic[magicDecimals(request.amount) ?? ''];
  if (byAmount !== undefined) return byAmount;
  for (const party of request.parties) {
    const digits = MAGIC_DIGITS.exec((party ?? '').replaceAll(/\D/g, ''))?.[1];
    const byNumber = digits === undefined ? undefined : magic[`.${digits}`];
    if (byNumber !== undefined) return byNumber;
  }
  return COMPLETED;
}
