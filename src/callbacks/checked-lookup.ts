import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { addressProblem, type EgressPolicy } from './address-policy.js';
import { CallbackRefusedError } from './callback-errors.js';

/** From a name to all its addresses; tests bring their own. */
export type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const resolveBySystem: Resolve = (hostname, done) =>
  systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []));

/**
 * The `lookup` of a connection: hands on only addresses that may be connected to. Since the socket connects to what comes
 * back from here and to nothing else, a name that answers differently the next time gains nothing.
 */
export function checkedLookup(resolve: Resolve, protocol: string, policy: EgressPolicy): LookupFunction {
  return (hostname, options, done) =>
    resolve(hostname, (error, found) => {
      if (error !== null) return done(error, '', 0);
      const problems = found.map(({ address }) => addressProblem(address, protocol, policy));
      const allowed = found.filter((_, index) => problems[index] === undefined);
      const [first] = allowed;
      if (first === undefined) {
        const why = problems[0] ?? 'is none at all';
        return done(new CallbackRefusedError(`The host leads to an address that ${why}.`), '', 0);
      }
      return options.all === true ? done(null, [...allowed]) : done(null, first.address, first.family);
    });
}
