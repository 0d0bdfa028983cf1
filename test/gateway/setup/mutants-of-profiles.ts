import { Agent } from 'node:http';
import type { WebhookProfile } from '../../../src/config/settings-shape.js';
import { readJson, UnreadableJsonError } from '../../../src/gateway/http/json-body.js';
import { createProfiles, type SignatureVerdict } from '../../../src/gateway/inbound/signatures.js';
import { inTurns } from '../../../src/in-turns.js';
import { createRandom, type Random } from '../../harness/random.js';
import { hmacMutants, sentBy } from './hmac-mutants.js';
import { rawRequest } from './raw-request.js';
import { signatureMutants, type Mutant } from './signature-mutants.js';
import { gatewayUnderTest } from './gateway-under-test.js';

const SECRET = `whsec_${Buffer.alloc(32, 40).toString('base64')}`;
const BODY = JSON.stringify({
  event: 'transaction.deposit.status.updated',
  data: { reference_id: 'm', status: 'FAILED' },
});

type Mutants = (count: number, random: Random) => Iterable<Mutant>;
export type SignedProfile = Exclude<WebhookProfile, 'unsigned'>;

const standard: Mutants = (count, random) => signatureMutants(SECRET, BODY, count, random);
const rawHmac: Mutants = (count, random) => hmacMutants('raw-hmac', SECRET, count, random);
const jsonHmac: Mutants = (count, random) => hmacMutants('kotani', SECRET, count, random);

/** A wrong signature next to a right one of another profile. */
function* mixed(count: number, random: Random): Generator<Mutant> {
  const mutants = [...standard(count / 4, random), ...rawHmac(count / 4, random), ...jsonHmac(count / 2, random)];
  for (const [n, mutant] of mutants.entries()) {
    const { headers } = sentBy('standard-webhooks', SECRET, {});
    const another = n >= count / 4 && n % 3 === 0 ? headers : {};
    yield { body: mutant.body, headers: { ...another, ...mutant.headers } };
  }
}

const MUTANTS: Readonly<Record<SignedProfile, Mutants>> = {
  'standard-webhooks': standard,
  'raw-hmac': rawHmac,
  'json-hmac': jsonHmac,
  auto: mixed,
};
export const SIGNED_PROFILES = Object.keys(MUTANTS) as readonly SignedProfile[];

/** The same mutants in every run. */
export const mutantsOf = (profile: SignedProfile, count: number): readonly Mutant[] => [
  ...MUTANTS[profile](count, createRandom(40)),
];

/** As the sandbox sends it, which the profile accepts: mutants are refused only because of their change. */
export const genuineOf = (profile: SignedProfile): Mutant =>
  sentBy(profile === 'standard-webhooks' || profile === 'raw-hmac' ? profile : 'kotani', SECRET, {});

export type Judged = SignatureVerdict | 'no JSON';

/** The verdicts of the gateway's reader of bodies and of its verifier, without a server around them. */
export function judged(profile: SignedProfile, mutants: readonly Mutant[]): readonly Judged[] {
  const secrets = { webhook: () => [SECRET], settlement: () => [] };
  const { service } = createProfiles({ webhookProfile: profile }, secrets, Date.now);
  return mutants.map(({ headers, body }) => {
    const raw = Buffer.from(body as string);
    try {
      readJson(raw);
    } catch (error) {
      if (error instanceof UnreadableJsonError) return 'no JSON';
      throw error;
    }
    return service({ raw, header: (name) => [headers[name] ?? []].flat() });
  });
}

export interface Answered {
  readonly statuses: readonly number[];
  /** Rows in the inbox after all of them. */
  readonly rows: number;
  /** Of the genuine one, sent last. */
  readonly genuine: number;
}

/** What a gateway answers to them. */
export async function answered(profile: SignedProfile, mutants: readonly Mutant[]): Promise<Answered> {
  const env = { WEBHOOK_PROFILE: profile, WEBHOOK_SECRETS: SECRET };
  const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', env });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const path = new URL(tested.gateway.inbound.webhook).pathname;
  const send = async ({ body, headers }: Mutant) => (await rawRequest(tested.url, path, body, headers, agent)).status;
  try {
    const statuses = await inTurns(mutants, 8, send);
    const rows = (await tested.store.inbox.list({ limit: 100_000, bodies: false })).length;
    return { statuses, rows, genuine: await send(genuineOf(profile)) };
  } finally {
    agent.destroy();
    await tested.close();
  }
}
