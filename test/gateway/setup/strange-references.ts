import { Agent } from 'node:http';
import { accessOf } from '../../harness/service.js';
import { createServiceClient, type ServiceClient } from '../../../src/service-client/index.js';
import { flowOf } from '../../../src/flows/index.js';
import { flowAddress } from '../../../src/gateway/http/flow-path.js';
import { answerJson, serveHttp, type ScriptedServer } from '../../service-client/scripted-server.js';
import { inTurns } from '../../../src/in-turns.js';
import { createRandom } from '../../harness/random.js';
import { rawRequest } from './raw-request.js';
import { gatewayUnderTest, type GatewayUnderTest } from './gateway-under-test.js';
import { transferInput } from '../../harness/inputs.js';

const BAD = ['..', '%2e%2e', '%2E.', '/', '%2f', '%5c', '\\', '%00', '\u0000', '\u0430', '\u2024', '％２ｅ', '%', '%zz']; // prettier-ignore
const ALSO_BAD = [' ', "'", '\u202e', '\r\n', '\u00e9', '%0d%0a', '+', '@', ';', '~', 'a'.repeat(129), 'a'.repeat(10_000)]; // prettier-ignore
const GOOD = ['a', 'Z', '9', ':', '-', '_', '.', 'offramp'];

/** References that are valid nowhere; the same ones in every run. */
export function strangeReferences(count: number): readonly string[] {
  const random = createRandom(44);
  const pieces = [...BAD, ...ALSO_BAD, ...GOOD];
  return Array.from({ length: count }, () => {
    const some = Array.from({ length: random.below(4) }, () => random.pick(pieces));
    // At least one that no reference may have, anywhere.
    some.splice(random.below(some.length + 1), 0, random.pick([...BAD, ...ALSO_BAD]));
    return some.join('');
  });
}

/** A gateway, and a client of a service that counts its requests. */
export interface StrangersBench {
  readonly client: ServiceClient;
  readonly service: ScriptedServer;
  readonly tested: GatewayUnderTest;
  readonly agent: Agent;
  close(): Promise<void>;
}

export async function openStrangersBench(): Promise<StrangersBench> {
  const service = await serveHttp((response) => answerJson(response, 200, { success: true, message: 'ok', data: {} }));
  const token = () => Promise.resolve('t');
  const client = createServiceClient({ baseUrl: service.url, token, timeoutMs: 5_000 });
  const tested = await gatewayUnderTest({
    temporalAddress: '127.0.0.1:1',
    env: { GATEWAY_RATE_LIMIT: '0', UNPROVEN_RATE_LIMIT: '0' },
    gateway: { service: accessOf(client, 't') },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  return {
    client,
    service,
    tested,
    agent,
    async close() {
      agent.destroy();
      await tested.close();
      client.close();
      await service.close();
    },
  };
}

/** What the grammar of paths, the input of a flow and the client's lookups accept of them: nothing, if all is well. */
export async function takenInProcess(client: ServiceClient, references: readonly string[]): Promise<string[]> {
  const lookups = [client.getOfframp, client.getCryptoSend, client.getInvoice, client.getMobileMoneyDeposit];
  const wrong: string[] = [];
  for (const [n, text] of references.entries()) {
    const lookup = lookups[n % lookups.length] as (reference: string) => Promise<unknown>;
    await lookup(text).then(
      () => wrong.push(`the client took ${text}`),
      (error: Error) => error.name === 'InvalidRequestError' || wrong.push(`${error.name} of ${text}`),
    );
    // As a router passes it on: decoded, if possible.
    for (const part of new Set([text, decoded(text)])) {
      if (flowAddress('bridge-transfer', part) !== undefined) wrong.push(`a path took ${part}`);
    }
    if (flowOf('bridge-transfer').input.safeParse(transferInput(text)).success) wrong.push(`a body took ${text}`);
  }
  return wrong;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Sends each in a path of every kind and in a body, and names the answers that are no refusal. */
export async function takenOverHttp(bench: StrangersBench, references: readonly string[]): Promise<string[]> {
  const { tested, agent } = bench;
  const headers = { authorization: 'Bearer dev-token' };
  const wrong: string[] = [];
  await inTurns(references, 8, async (text) => {
    // As it is, except for what cannot be written into a request line.
    const inPath = encodeURI(text.replace(/[\uD800-\uDFFF]/g, ''))
      .replace(/%25/g, '%')
      .slice(0, 6_000);
    const paths = [
      `/flows/bridge-transfer/${inPath}/cancel`,
      `/callbacks/bridge-transfer/${inPath}/${'a'.repeat(43)}`,
      `/settlements/${inPath}`,
      `/events/${inPath}/replay`,
    ];
    const answers = await Promise.all([
      ...paths.map((path) => rawRequest(tested.url, path, '{}', headers, agent)),
      rawRequest(tested.url, '/flows/bridge-transfer', JSON.stringify(transferInput(text)), headers, agent),
      rawRequest(tested.url, `/api/v3/offramp/${inPath}`, '', { ...headers, 'content-length': '0' }, agent, 'GET'),
    ]);
    for (const { status } of answers) if (![400, 404].includes(status)) wrong.push(`${status} for ${text}`);
  });
  return wrong;
}
