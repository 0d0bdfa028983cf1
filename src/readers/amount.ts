/** Digits on each side of the point with which `money.ts` computes. */
const MOST_DIGITS = 30;
/** Cut before any pattern sees it. */
const MOST_CHARACTERS = 120;
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * An amount from outside, a number or text, as the shortest plain decimal: "1.5" for `1.50`, "+01.5", " 15e-1 ". Zeros, a
 * plus, an exponent and blanks around it say nothing; a thousands separator could be a point, so it cannot be read. Every
 * result is one that `money.ts` computes with. Never throws.
 *
 * @returns undefined if it is no decimal of at most 30 digits on each side of the point
 */
export function readAmount(value: unknown): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value);
  const [, sign = '', whole = '', rest = '', exponent = '0'] =
    (text.length <= MOST_CHARACTERS && DECIMAL.exec(text.trim())) || [];
  if (whole === '' && rest === '') return undefined;
  const digits = (whole + rest).replace(/^0+/, '');
  if (digits === '') return '0';
  const shown = digits.replace(/0+$/, '');
  /** How many of the digits are in front of the point; below zero for zeros behind it. */
  const point = digits.length - rest.length + Number(exponent);
  if (point > MOST_DIGITS || shown.length - point > MOST_DIGITS) return undefined;
  return (sign === '-' ? '-' : '') + withPoint(shown, point);
}

function withPoint(digits: string, point: number): string {
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return digits + '0'.repeat(point - digits.length);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}
