import type { FlowTerms, TermsAmount } from './messages.js';

/** What a flow moves, and its quote: a line each, the same in the Temporal UI and the command line. */
export function termsInWords({ sends, receives, payer, recipient, network, quote }: FlowTerms): readonly string[] {
  const moved = [
    inWords(sends),
    receives && `→ ${inWords(receives)}`,
    network && `on ${network}`,
    payer && `from ${payer}`,
    recipient && `to ${recipient}`,
  ];
  if (quote === null) return [moved.filter(Boolean).join(' ')];
  const quoted = [
    `Quote ${quote.id}`,
    quote.gives && inWords(quote.gives),
    quote.rate,
    quote.fee && `fee ${quote.fee}`,
    `ends ${quote.expiresAt}`,
  ];
  return [moved.filter(Boolean).join(' '), quoted.filter(Boolean).join(' · ')];
}

const inWords = ({ amount, currency }: TermsAmount): string => (amount === null ? currency : `${amount} ${currency}`);
