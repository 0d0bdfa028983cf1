/** What real flows learn and the world of the model leaves out on purpose. */
export const OUTSIDE: readonly { readonly pairs: RegExp; readonly why: string }[] = [
  {
    pairs: /\(answered\) → look claim-free|→ free\/unknown\]|\) → close void\/nothing/,
    why: 'A store that is put back from a backup has lost a claim that the flow knows of. The world has no epochs.',
  },
  {
    pairs: /^bridge-transfer check → input(?: approval auto-refund)?$/,
    why: 'An approval is asked before the deposit, and a refund comes after it: the world has one of them in each space.',
  },
];

/** Why the world of the model does not know it; null: it should. */
export const whyOutside = (pair: string): string | null => OUTSIDE.find(({ pairs }) => pairs.test(pair))?.why ?? null;
