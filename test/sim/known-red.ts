/**
 * What today's product does wrong, by the number of the finding. The green runs leave out what makes it happen; `--with`
 * puts it back, so that whoever mends a finding sees it red first.
 */
export interface KnownRed {
  readonly finding: number;
  readonly generates: string;
  readonly because: string;
}

export const KNOWN_RED: readonly KnownRed[] = [
  {
    finding: 6,
    generates: 'status lookups that are refused (403) for ever',
    because: 'a flow whose POST is unknown runs past its deadline and is never parked (I14)',
  },
  {
    finding: 101,
    generates: 'callbacks of the service that come ten minutes late, when their signature is too old',
    because:
      'the service has refunded, its word for it is refused with 401, and our own refund goes out after 15 minutes (I4)',
  },
];

export function knownRedOf(list: string | undefined): ReadonlySet<number> {
  const numbers = (list ?? '')
    .split(',')
    .filter((word) => word !== '')
    .map(Number);
  for (const number of numbers) {
    if (!KNOWN_RED.some(({ finding }) => finding === number))
      throw new Error(`finding ${number} is not generated here`);
  }
  return new Set(numbers);
}
