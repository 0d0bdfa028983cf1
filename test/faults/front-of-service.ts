import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as the service's front saw it. */
interface Seen {
  readonly method: string;
  /** The last part of the path, or the reference of the body. */
  readonly reference: string;
  readonly token: string;
  readonly atMs: number;
  readonly status: number;
}

export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Stands between us and the sandbox, like a service's own gateway: limits, checks tokens, and counts. */
export interface Front {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** The target of requests that it does not refuse, and the token for it. */
  behind: { readonly url: string; readonly token: string };
  /** Undefined: passed on. */
  refuse: (request: Omit<Seen, 'status'>) => Refusal | undefined;
  close(): Promise<void>;
}

export async function openFront(): Promise<Front> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks).toString();
      const asked = {
        method,
        reference: /"referenceId":"([^"]+)"/.exec(body)?.[1] ?? url.split('/').at(-1) ?? '',
        token: headers.authorization?.replace('Bearer ', '') ?? '',
        atMs: performance.now(),
      };
      const refusal = front.refuse(asked);
      if (refusal !== undefined) {
        seen.push({ ...asked, status: refusal.status });
        response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
        response.end(JSON.stringify(refusal.body ?? { success: false, message: 'refused at the front' }));
        return;
      }
      passOn(asked, url, body).catch((error: unknown) => response.destroy(error as Error));
    });

    async function passOn(asked: Omit<Seen, 'status'>, url: string, body: string): Promise<void> {
      const answer = await fetch(front.behind.url + url, {
        method: asked.method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${front.behind.token}` },
        ...(body === '' ? {} : { body }),
      });
      seen.push({ ...asked, status: answer.status });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(await answer.text());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    behind: { url: '', token: '' },
    refuse: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return front;
}
