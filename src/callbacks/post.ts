import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Resolver, type LookupAddress } from 'node:dns';
import { addressProblem, type EgressPolicy, callbackUrlProblem, LOCAL_NAME } from './address-policy.js';

export interface PostOptions {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  readonly timeoutMs: number;
}

export interface Answered {
  readonly httpStatus: number;
  /** The raw header `Retry-After`. */
  readonly retryAfter: string | undefined;
}

/** Only the status of an answer matters. */
const MAX_ANSWER_BYTES = 64 * 1_024;
const MAX_HEADER_BYTES = 16 * 1_024;
/** Answers before the answer (1xx), such as 100 and 103. */
const MOST_INTERIM_ANSWERS = 8;

/**
 * One POST over a fresh connection: no redirect is followed, no proxy of the environment is used, the answer is read up
 * to 64 KiB and discarded.
 *
 * @throws CallbackRefusedError, CallbackUnreachableError
 */
export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  options: PostOptions,
): Promise<Answered> {
  const { policy, resolve, timeoutMs } = options;
  // Judges a literal address as well: none reaches the lookup.
  const problem = callbackUrlProblem(url, policy);
  if (problem !== undefined) return Promise.reject(new CallbackRefusedError(`The callback URL ${problem}.`));
  const target = new URL(url);
  const isTls = target.protocol === 'https:';
  const agent = isTls ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false });
  return new Promise<Answered>((done, failed) => {
    const request = (isTls ? httpsRequest : httpRequest)(target, {
      method: 'POST',
      agent,
      lookup: checkedLookup(resolve, target.protocol, policy),
      maxHeaderSize: MAX_HEADER_BYTES,
      signal: AbortSignal.timeout(timeoutMs),
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    });
    let answered: Answered | undefined;
    // Once it has answered, an error or timeout while reading the rest changes nothing.
    const end = (error: Error) => (answered === undefined ? failed(asOurs(error)) : done(answered));
    request.on('error', end);
    // Also of a connection that ends without an error: after "101 Switching Protocols", Node closes it and says no more.
    request.on('close', () =>
      end(new CallbackUnreachableError('The receiver ended the connection without an answer.')),
    );
    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > MOST_INTERIM_ANSWERS)
        request.destroy(new CallbackUnreachableError('The receiver answers no end of 1xx.'));
    });
    request.on('response', (answer) => {
      const said = { httpStatus: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] };
      answered = said;
      discard(answer);
      // Read to its end if that comes soon: some receivers take a cut connection for a caller who gave up.
      answer.on('close', () => done(said));
    });
    request.end(body);
  });
}

/** Only the status matters: the rest is read only as far as that is cheap. */
function discard(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) answer.destroy();
  });
}

/** Node's messages name addresses and ports: only the code is kept. */
function asOurs(error: NodeJS.ErrnoException): Error {
  if (error instanceof CallbackRefusedError || error instanceof CallbackUnreachableError) return error;
  const code = error.name === 'TimeoutError' || error.code === 'ABORT_ERR' ? 'no answer in time' : error.code;
  return new CallbackUnreachableError(`The receiver cannot be reached (${code ?? error.name}).`);
}

/**
 * The receiver could not be reached, or its answer could not be read: try again. Names no path, no query, no address.
 */
export class CallbackUnreachableError extends Error {
  override readonly name = 'CallbackUnreachableError';
}

/** The URL now leads to a forbidden address. No connection was made. */
export class CallbackRefusedError extends Error {
  override readonly name = 'CallbackRefusedError';
}

/** `CALLBACK_SECRETS` is not set: nothing is sent unsigned. */
export class NoCallbackSecretError extends Error {
  override readonly name = 'NoCallbackSecretError';

  constructor() {
    super('CALLBACK_SECRETS is not set on this worker, and callbacks are never sent unsigned.');
  }
}

/** Resolves a name to all its addresses; tests replace it. */
export type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/**
 * Asks the name servers and not the system's resolver: that one runs on two threads of the process, which the service's
 * own name also needs, and names without an answer would block both.
 */
export const resolveByDns: Resolve = (hostname, done) => {
  // The policy judges it like any other address.
  if (LOCAL_NAME.test(hostname)) return done(null, [{ address: '127.0.0.1', family: 4 }]);
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  const found: LookupAddress[] = [];
  let open = 2;
  const take = (family: 4 | 6) => (error: Error | null, addresses: readonly string[]) => {
    if (error === null) found.push(...addresses.map((address) => ({ address, family })));
    open -= 1;
    if (open > 0) return;
    found.sort((one, other) => one.family - other.family);
    done(found.length > 0 ? null : Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' }), found);
  };
  resolver.resolve4(hostname, take(4));
  resolver.resolve6(hostname, take(6));
};

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/**
 * The `lookup` of a connection: passes on only allowed addresses. The socket connects only to the returned addresses,
 * so DNS rebinding does not help an attacker.
 */
function checkedLookup(resolve: Resolve, protocol: string, policy: EgressPolicy): LookupFunction {
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
