/** A client of the service as written in an afternoon; the naive workflow and the poller share it. */

/** What is ordered: crypto for one wallet. */
export interface Order {
  readonly referenceId: string;
  readonly receiverAddress: string;
  readonly chain: string;
  readonly token: string;
  readonly cryptoAmount: number;
}

/** An answer that is no success; `status` is 0 if there was no answer. */
export class ServiceAnswerError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the service answered ${status}`);
    this.status = status;
  }

  /** As most code has it: a 4xx is not retried. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 429;
  }
}

/** Of the sandbox of this comparison. */
export const SERVICE_TOKEN = 'alternatives-of-one-sandbox';
const PATH = '/api/v3/onramp/crypto';
const TIMEOUT_MS = 3_000;
const DONE: Readonly<Record<string, 'completed' | 'failed'>> = {
  SUCCESS: 'completed',
  SUCCESSFUL: 'completed',
  COMPLETED: 'completed',
  FAILED: 'failed',
};

/** @throws ServiceAnswerError */
export async function send(serviceUrl: string, order: Order): Promise<void> {
  await call(serviceUrl, PATH, { method: 'POST', body: JSON.stringify(order) });
}

/** How the send ended; undefined while it is under way. @throws ServiceAnswerError */
export async function lookUp(serviceUrl: string, reference: string): Promise<'completed' | 'failed' | undefined> {
  const { data } = (await call(serviceUrl, `${PATH}/${reference}`, { method: 'GET' })) as { data: { status: string } };
  return DONE[data.status];
}

async function call(serviceUrl: string, path: string, init: RequestInit): Promise<unknown> {
  const headers = { authorization: `Bearer ${SERVICE_TOKEN}`, 'content-type': 'application/json' };
  const answer = await fetch(serviceUrl + path, { ...init, headers, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    () => undefined,
  );
  const text = await answer?.text().catch(() => undefined);
  if (answer === undefined || text === undefined) throw new ServiceAnswerError(0);
  if (!answer.ok) throw new ServiceAnswerError(answer.status);
  return JSON.parse(text);
}
