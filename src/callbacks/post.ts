import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { addressProblem, type EgressPolicy } from './address-policy.js';
import { CallbackRefusedError, CallbackUnreachableError } from './callback-errors.js';
import { checkedLookup, type Resolve } from './checked-lookup.js';
import { bare, callbackUrlProblem } from './url-problem.js';

export interface PostOptions {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  readonly timeoutMs: number;
}

export interface Answered {
  readonly httpStatus: number;
  /** The header `Retry-After`, as it came. */
  readonly retryAfter: string | undefined;
}

/** Answers mean nothing to us beyond their status. */
const MAX_ANSWER_BYTES = 64 * 1_024;
const MAX_HEADER_BYTES = 16 * 1_024;

/**
 * One POST over a fresh connection: no redirect is followed, no proxy of the environment is asked, the answer is read up
 * to 64 KiB and thrown away.
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
  const problem = callbackUrlProblem(url, policy);
  if (problem !== undefined) return Promise.reject(new CallbackRefusedError(`The callback URL ${problem}.`));
  const target = new URL(url);
  // A literal address never reaches the lookup.
  const host = bare(target.hostname);
  const literal = isIP(host) === 0 ? undefined : addressProblem(host, target.protocol, policy);
  if (literal !== undefined) return Promise.reject(new CallbackRefusedError(`The callback URL's address ${literal}.`));

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
    // Once it has answered, what ends the reading of the rest changes nothing of that, the time included.
    request.on('error', (error) => (answered === undefined ? failed(asOurs(error)) : done(answered)));
    request.on('response', (answer) => {
      const said = { httpStatus: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] };
      answered = said;
      discard(answer);
      // Read to its end where that comes soon: some receivers take a cut connection for a caller who gave up.
      answer.on('close', () => done(said));
    });
    request.end(body);
  });
}

/** The status is all that counts: what follows is read no further than it costs little. */
function discard(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) answer.destroy();
  });
}

/** Messages of Node name addresses and ports: only the code is kept. */
function asOurs(error: NodeJS.ErrnoException): Error {
  if (error instanceof CallbackRefusedError) return error;
  const code = error.name === 'TimeoutError' || error.code === 'ABORT_ERR' ? 'no answer in time' : error.code;
  return new CallbackUnreachableError(`The receiver cannot be reached (${code ?? error.name}).`);
}
