import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Executes each POST at once, and withholds its answer until it releases all that came by then. */
export async function openSlowService(behind: string) {
  const held = new Set<() => void>();
  const count = { posts: 0, cut: 0 };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void pass().catch(() => response.destroy()));
    const { method = '', url = '', headers } = request;
    const isPost = method === 'POST';

    async function pass(): Promise<void> {
      const body = Buffer.concat(chunks).toString();
      if (isPost) {
        count.posts += 1;
        response.once('close', () => (count.cut += response.writableFinished ? 0 : 1));
      }
      const answer = await fetch(behind + url, {
        method,
        headers: { 'content-type': 'application/json', authorization: headers.authorization ?? '' },
        ...(isPost ? { body } : {}),
      });
      const text = await answer.text();
      if (isPost) await new Promise<void>((resolve) => held.add(resolve));
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    underWay: () => held.size,
    posts: () => count.posts,
    cut: () => count.cut,
    letGo() {
      for (const answer of held) answer();
      held.clear();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
