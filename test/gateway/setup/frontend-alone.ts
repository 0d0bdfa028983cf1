import { Server, ServerCredentials, status } from '@grpc/grpc-js';

/** What a frontend of Temporal knows without its database. */
const BY_HEART = ['GetSystemInfo', 'GetClusterInfo'];
const NEEDS_DATABASE = ['DescribeNamespace', 'DescribeWorkflowExecution', 'StartWorkflowExecution'];

/** A frontend of Temporal whose database is away. */
export async function startFrontendAlone(): Promise<{ readonly address: string; close(): void }> {
  const server = new Server();
  const asIs = (bytes: Buffer) => bytes;
  const serve = (method: string, isKnown: boolean) =>
    server.register<Buffer, Buffer>(
      `/temporal.api.workflowservice.v1.WorkflowService/${method}`,
      (_call: unknown, answer: (error: object | null, value?: Buffer) => void) =>
        isKnown ? answer(null, Buffer.alloc(0)) : answer({ code: status.UNAVAILABLE, details: 'no database' }),
      asIs,
      asIs,
      'unary',
    );
  for (const method of BY_HEART) serve(method, true);
  for (const method of NEEDS_DATABASE) serve(method, false);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}
