import type { FastifyInstance } from 'fastify';

export interface OwnFile {
  readonly path: string;
  /** Media type. */
  readonly type: string;
  readonly cacheControl: string;
  readonly read: () => Promise<string | Buffer>;
}

/** Serves a file of our own pages, the same for everyone. It is read once and shared, and again only if it could not be read. */
export function addOwnFile(server: FastifyInstance, { path, type, cacheControl, read }: OwnFile): void {
  let content: Promise<string | Buffer> | undefined;
  const readOnce = () =>
    (content ??= read().catch((error: unknown) => {
      content = undefined;
      throw error;
    }));
  server.get(path, { config: { isOurFile: true } }, async (_request, reply) =>
    reply
      .type(type)
      .header('cache-control', cacheControl)
      .send(await readOnce()),
  );
}
