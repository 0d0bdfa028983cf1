import { ELSEWHERE } from '../../harness/kinds.js';
import { decided } from './driver.js';
import { groupBy } from './group-by.js';
import { at, parsed } from './json.js';
import { POST_OF, POST_OF_PATH, referenceIn, REFUND_SUFFIX } from './kinds.js';
import type { Execution, Violation, Witnesses } from './witnesses.js';

const key = ({ operation, reference }: Execution) => `${operation} ${reference}`;

/**
 * I13: every execution in the service's books went over the wire, and every request that was answered 2xx there is in
 * the books. I1 on the wire: there is one request that may have moved money, and one more for each `send-again` of the
 * driver, however the service treats repeats.
 */
export function asSeenOnTheWire(witnesses: Witnesses): readonly Violation[] {
  const { wire, executions, drivenAlone } = witnesses;
  if (wire === undefined) return [];
  const executed = groupBy(
    executions.filter(({ operation }) => !ELSEWHERE.includes(operation)),
    key,
  );
  const sent = groupBy(wire.flatMap(moneyRequest), key);
  const sendAgains = decided(witnesses, 'send-again');
  return [...new Set([...executed.keys(), ...sent.keys()])].flatMap((what) => {
    const requests = sent.get(what) ?? [];
    const times = executed.get(what)?.length ?? 0;
    const found: Violation[] = [];
    // A test that drives the service itself, too, sends past the wire.
    if (drivenAlone && times > requests.length) {
      found.push({ invariant: 'I13', what: `${what} was executed ${times} times, and sent ${requests.length} times` });
    }
    if (times === 0 && requests.some(({ status }) => status !== null && status < 300)) {
      found.push({ invariant: 'I13', what: `${what} was answered 2xx on the wire, and never executed` });
    }
    // A refusal means that nothing was done.
    const open = requests.filter(({ status }) => status === null || status < 400 || status >= 500);
    const [{ operation, reference } = { operation: '', reference: '' }] = requests;
    const allowed = 1 + sendAgains(flowOf(operation, reference));
    if (open.length > allowed) {
      found.push({
        invariant: 'I1',
        what: `${what} was sent ${open.length} times, and ${allowed} may have moved money`,
      });
    }
    return found;
  });
}

function moneyRequest({ method, path, body, status }: NonNullable<Witnesses['wire']>[number]) {
  const post = method === 'POST' ? POST_OF_PATH[path] : undefined;
  if (post === undefined) return [];
  const reference = String(at(parsed(body), referenceIn(post.kind)));
  return [{ operation: post.operation, reference, status }];
}

function flowOf(operation: string, reference: string): string {
  if (operation !== 'sendCrypto' || !reference.endsWith(REFUND_SUFFIX))
    return `${POST_OF[operation]?.kind}/${reference}`;
  return `bridge-transfer/${reference.slice(0, -REFUND_SUFFIX.length)}`;
}
