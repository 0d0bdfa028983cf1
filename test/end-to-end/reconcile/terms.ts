import { ELSEWHERE } from '../../harness/kinds.js';
import { units } from './amounts.js';
import { decided, type Order, ordersOf, paymentsOf } from './driver.js';
import { at } from './json.js';
import { POST_OF, REFUND_SUFFIX } from './kinds.js';
import type { Execution, ExecutionFact, Violation, Witnesses } from './witnesses.js';

/** I3, I13: amount, currency and receiver of each execution are what the driver ordered; nothing else is executed. */
export function asOrdered(witnesses: Witnesses): readonly Violation[] {
  const orders = ordersOf(witnesses);
  const payments = paymentsOf(witnesses);
  return witnesses.executions.flatMap((execution) => {
    const { operation, reference } = execution;
    if (ELSEWHERE.includes(operation)) return [];
    const ofFlow = ({ flowId }: Order) => flowId === `${POST_OF[operation]?.kind}/${reference}`;
    const paid = payments.filter(ofFlow).map(({ input }) => input);
    const faults = isRefund(execution)
      ? refundFaults(witnesses, execution)
      : orderFaults(
          witnesses,
          execution,
          orders.filter(ofFlow).map(({ input }) => [input, ...paid]),
        );
    return faults.map((what) => ({ invariant: 'I13', what: `${operation} ${reference} ${what}` }));
  });
}

/** A reference that is ordered again must be the same order: each execution fits one of them. */
function orderFaults(
  witnesses: Witnesses,
  execution: ExecutionFact,
  orders: readonly (readonly unknown[])[],
): readonly string[] {
  if (orders.length === 0) return witnesses.drivenAlone ? ['was executed, and the driver never ordered it'] : [];
  const faults = orders.map((said) => faultsOf(witnesses, execution, said));
  return faults.find((none) => none.length === 0) ?? faults[0] ?? [];
}

/** @param said the order, and later statements about it */
function faultsOf(witnesses: Witnesses, execution: ExecutionFact, said: readonly unknown[]): readonly string[] {
  const { operation, amount, currency } = execution;
  const ordered = (path: string) => said.map((one) => at(one, path)).find((value) => value !== undefined);
  const [amountAt, currencyAt] = POST_OF[operation]?.booked ?? ['amount', 'currency'];
  const booked = `${amount} ${currency}`;
  const isBooked = isSame(ordered(amountAt), amount) && isSame(ordered(currencyAt), currency);
  const found = isBooked
    ? []
    : [`is booked as ${booked}, and ordered as ${text(ordered(amountAt))} ${text(ordered(currencyAt))}`];
  const kept = recordsOf(witnesses, execution);
  if (kept.length === 0) found.push('was executed, and the service keeps no record of it');
  for (const { body } of kept) {
    for (const [path, places] of Object.entries(POST_OF[operation]?.terms ?? {})) {
      const values = places.map(ordered).filter((value) => value !== undefined);
      if (values.length > 0 && !values.some((value) => contains(at(body, path), value))) {
        found.push(`has another ${path} than was ordered`);
      }
    }
  }
  return found;
}

/** A refund goes to the service's refund address, is no more than was paid, and was ordered by the driver. */
function refundFaults(witnesses: Witnesses, execution: ExecutionFact): readonly string[] {
  const { reference, amount, currency } = execution;
  const transfer = reference.slice(0, -REFUND_SUFFIX.length);
  const flowId = `bridge-transfer/${transfer}`;
  const orders = ordersOf(witnesses).filter((order) => order.flowId === flowId);
  const isOrdered =
    orders.some(({ input }) => at(input, 'refund.auto') === true) || decided(witnesses, 'refund-now')(flowId) > 0;
  const found = isOrdered || !witnesses.drivenAlone ? [] : ['was sent, and the driver never ordered a refund'];
  const deposits = recordsOf(witnesses, { operation: 'createBridgeDeposit', reference: transfer });
  const receivers = recordsOf(witnesses, execution).map(({ body }) => at(body, 'receiverAddress'));
  if (receivers.length === 0) found.push('was executed, and the service keeps no record of it');
  for (const receiver of receivers) {
    if (!deposits.some(({ refundAddress }) => refundAddress === receiver)) found.push('went to another address');
  }
  for (const { input } of orders) {
    const paid = at(input, 'crypto_payment.crypto_amount');
    if (at(input, 'token') !== currency) found.push(`is in ${currency}`);
    else if (paid !== undefined && units(amount) > units(text(paid))) found.push(`is of ${amount}, more than was paid`);
  }
  return found;
}

const isRefund = ({ operation, reference }: Execution) =>
  operation === 'sendCrypto' && reference.endsWith(REFUND_SUFFIX);

const recordsOf = ({ records }: Witnesses, { operation, reference }: Execution) =>
  records.filter((record) => record.operation === operation && record.reference === reference);

/** Every ordered member is present, as it was ordered. The service may keep more. */
function contains(kept: unknown, ordered: unknown): boolean {
  if (typeof ordered !== 'object' || ordered === null) return isSame(ordered, kept);
  return Object.entries(ordered).every(([name, value]) => contains(at(kept, name), value));
}

const text = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

const AMOUNT = /^\d+(\.\d+)?$/;

/** As text, or as amounts: 250.5 is 250.50. */
function isSame(one: unknown, other: unknown): boolean {
  const [first, second] = [text(one), text(other)];
  return first === second || (AMOUNT.test(first) && AMOUNT.test(second) && units(first) === units(second));
}
