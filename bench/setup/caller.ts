import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The receiver of the callbacks of all transfers of a benchmark. */
export async function openCaller() {
  const expected = new Map<string, () => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.end();
      const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        readonly data: { readonly reference: string; readonly state: string };
      };
      if (data.state === 'completed') expected.get(data.reference)?.();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Resolves with the callback that says it is completed. Call it before that is sent. */
    async isCalledBack(reference: string): Promise<void> {
      await new Promise<void>((resolve) => {
        expected.set(reference, resolve);
      });
      expected.delete(reference);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
