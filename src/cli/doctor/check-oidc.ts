import { z } from 'zod';
import type { Settings } from '../../config/index.js';
import { Discovery, discoveryUrl, isOnlyPairwise, Keys } from '../../gateway/http/oidc.js';
import { EXIT } from '../exit-codes.js';
import { reasonOf } from './check-service.js';
import { bad, type Finding, type FindingCode, good } from './finding.js';

const WITHIN_MS = 5_000;
const ABOUT = 'OIDC_ISSUER';

/** Whether the gateway can verify tokens of the issuer: asks for its discovery document and its keys, as the gateway does. */
export async function checkOidc({ oidc }: Pick<Settings, 'oidc'>): Promise<readonly Finding[]> {
  if (oidc === undefined) return [];
  const refused = (code: FindingCode, sentence: string) => [bad(ABOUT, code, sentence, EXIT.refused)];
  const away = (what: string, why: string) => [
    bad(
      ABOUT,
      'unreachable',
      `${what} cannot be fetched (${why}): check the setting and the network.`,
      EXIT.unreachable,
    ),
  ];
  const url = discoveryUrl(oidc.issuer);
  const document = await fetchJson(url);
  if (typeof document === 'string') return away(url, document);
  const discovered = Discovery.safeParse(document.content);
  if (!discovered.success)
    return refused(
      'no-discovery-document',
      `${url} is no discovery document with an "issuer" and a "jwks_uri" by https.`,
    );
  if (discovered.data.issuer !== oidc.issuer) {
    return refused(
      'other-issuer',
      `${url} names another issuer: set it exactly to the "issuer" of that document, slash and all.`,
    );
  }
  if (oidc.nameClaim === undefined && isOnlyPairwise(discovered.data)) {
    return refused(
      'pairwise-subject',
      'it gives a person another "sub" for each client: set OIDC_NAME_CLAIM to a claim that is one for all.',
    );
  }
  const answer = await fetchJson(discovered.data.jwks_uri);
  if (typeof answer === 'string') return away('the keys at its "jwks_uri"', answer);
  const keys = Keys.safeParse(answer.content);
  const usable = keys.success ? keys.data.keys.filter((key) => verifies(key, oidc.algorithms)) : [];
  if (usable.length === 0) {
    return refused(
      'no-usable-key',
      `it has no key for an algorithm of OIDC_ALGORITHMS (${oidc.algorithms.join(', ')}).`,
    );
  }
  return [good(ABOUT, `${oidc.issuer} answers, and has ${usable.length} usable key${usable.length === 1 ? '' : 's'}`)];
}

const FAMILIES = [
  ['RSA', /^[RP]S/],
  ['EC', /^ES/],
  ['OKP', /^Ed/],
] as const;

const Key = z.looseObject({ kty: z.string(), use: z.string().optional(), alg: z.string().optional() });

/** Whether a key can verify a signature by one of these algorithms. */
function verifies(key: unknown, algorithms: readonly string[]): boolean {
  const read = Key.safeParse(key);
  if (!read.success || (read.data.use ?? 'sig') !== 'sig') return false;
  const { kty, alg } = read.data;
  if (alg !== undefined) return algorithms.includes(alg);
  const family = FAMILIES.find(([type]) => type === kty)?.[1];
  return family !== undefined && algorithms.some((algorithm) => family.test(algorithm));
}

/** The parsed document, or why there is none. */
async function fetchJson(url: string): Promise<{ readonly content: unknown } | string> {
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(WITHIN_MS) });
    if (answer.ok) return { content: await answer.json() };
    await answer.body?.cancel();
    return `status ${answer.status}`;
  } catch (error) {
    return error instanceof SyntaxError ? 'not JSON' : reasonOf(error);
  }
}
