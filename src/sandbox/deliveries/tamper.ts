import { createHash } from 'node:crypto';

/** What an attacker would change who holds a genuine message: how it ended, or how much it was. Pure. */
export function tamper(body: string, chance: number): string {
  const message = JSON.parse(body) as Members;
  const facts = factsOf(message);
  const amounts = isMembers(facts.settlement_details) ? facts.settlement_details : facts;
  const amount = ['amount', 'fiatAmount', 'cryptoAmount'].find((member) => isNumber(amounts[member]));
  if (chance < 0.5 && amount !== undefined) amounts[amount] = tenfold(amounts[amount] as number | string);
  else facts.status = otherEnding(facts);
  return JSON.stringify(message);
}

/** What somebody would send who knows every fact: the same message, with the ending that it has not. Pure. */
export function lie(body: string): string {
  const message = JSON.parse(body) as Members;
  const facts = factsOf(message);
  facts.status = otherEnding(facts);
  return JSON.stringify(message);
}

/** The URL with a last part as somebody would guess it who does not know it: as long, and wrong. Pure. */
export function guessedUrl(url: string): string {
  const guessed = new URL(url);
  const parts = guessed.pathname.split('/');
  const last = parts.at(-1) ?? '';
  const guess = createHash('sha256').update(last).digest('hex').repeat(4);
  guessed.pathname = [...parts.slice(0, -1), guess.slice(0, Math.max(1, last.length))].join('/');
  return guessed.href;
}

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;
const factsOf = (message: Members): Members => (isMembers(message.data) ? message.data : message);
const isNumber = (value: unknown) => typeof value === 'number' || (typeof value === 'string' && Number(value) > 0);
const tenfold = (value: number | string) => (typeof value === 'number' ? value * 10 : `${Number(value) * 10}`);

/** Only the bridge says COMPLETED. */
function otherEnding(facts: Members): string {
  const success = 'kotani_reference_id' in facts ? 'COMPLETED' : 'SUCCESSFUL';
  return ['COMPLETED', 'SUCCESSFUL', 'SUCCESS'].includes(String(facts.status)) ? 'FAILED' : success;
}
