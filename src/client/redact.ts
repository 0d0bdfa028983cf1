const SENSITIVE_MEMBER =
  /phone|name|holder|number|account|address|card|cvv|expiry|email|secret|verificationToken|key|bolt11|invoice|hash|url|notes/i;
/** Card, phone and account numbers, also with spaces and dashes in between. */
const LONG_DIGITS = /\+?\d(?:[ -]?\d){7,}/g;
const BEARER = /\bBearer\s+\S+/gi;
const MARK = '[redacted]';
const MIN_LENGTH = 3;
const MAX_LENGTH = 300;

/**
 * Makes the service's text safe to show: it likes to repeat what it refuses. Cut out are the token, the request's
 * personal members wherever they recur, and every long run of digits.
 */
export function createRedactor(secrets: readonly string[], request: unknown): (text: string) => string {
  const unwanted = [...secrets, ...sensitiveTexts(request, false)]
    .filter((text) => text.length >= MIN_LENGTH)
    .sort((left, right) => right.length - left.length)
    .map((text) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi'));
  return (text) => {
    const clean = unwanted.reduce((rest, secret) => rest.replace(secret, MARK), text.slice(0, 10 * MAX_LENGTH));
    const plain = clean
      .replace(BEARER, MARK)
      .replace(LONG_DIGITS, MARK)
      .replace(/\p{Cc}+/gu, ' ');
    return plain.length <= MAX_LENGTH ? plain : `${plain.slice(0, MAX_LENGTH - 1)}…`;
  };
}

function sensitiveTexts(value: unknown, sensitive: boolean): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([member, inner]) =>
      sensitiveTexts(inner, sensitive || SENSITIVE_MEMBER.test(member)),
    );
  }
  // Also word by word: of "Jane Doe" the service may repeat only the first.
  return sensitive && (typeof value === 'string' || typeof value === 'number')
    ? [String(value), ...String(value).split(/\s+/)]
    : [];
}
