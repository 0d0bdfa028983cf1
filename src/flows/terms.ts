import type { FlowTerms, TermsAmount } from '../api/flow.js';

interface GivenTerms {
  readonly sends: TermsAmount;
  readonly receives?: TermsAmount;
  readonly payer?: string | undefined;
  readonly recipient?: string | undefined;
  readonly network?: string;
}

/** The terms of an input, its parties masked. */
export function terms({ sends, receives, payer, recipient, network }: GivenTerms): FlowTerms {
  return {
    sends,
    receives: receives ?? null,
    payer: masked(payer),
    recipient: masked(recipient),
    network: network ?? null,
    quote: null,
  };
}

const SHOWN = 4;

/** The end of a number or an address: enough to compare it, and not to use it. */
function masked(party: string | undefined): string | null {
  const plain = party?.replaceAll(/[\s-]/g, '') ?? '';
  if (plain === '') return null;
  return plain.length > 2 * SHOWN ? `…${plain.slice(-SHOWN)}` : '…';
}
