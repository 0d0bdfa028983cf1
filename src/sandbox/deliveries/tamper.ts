/** What an attacker would change who holds a genuine message: how it ended, or how much it was. Pure. */
export function tamper(body: string, chance: number): string {
  const message = JSON.parse(body) as Members;
  const facts = isMembers(message.data) ? message.data : message;
  const settlement = isMembers(facts.settlement_details) ? facts.settlement_details : undefined;
  const amounts = settlement ?? facts;
  if (chance < 0.5 && typeof amounts.amount === 'number') amounts.amount *= 10;
  else facts.status = facts.status === 'COMPLETED' ? 'FAILED' : 'COMPLETED';
  return JSON.stringify(message);
}

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;
