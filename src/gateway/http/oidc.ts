import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { z } from 'zod';
import { isTrustedUrl, type OidcSettings } from '../../config/oidc.js';
import { joinRoles, type Roles } from '../../protocol/permissions.js';
import { Refusal, RETRY_AFTER_SECONDS, TokenRefusal } from './refusal.js';

/** The bearer of a token of the issuer. */
export interface OidcCaller {
  /** Begins with `oidc:`, as no gateway token's name can: one is never taken for the other. */
  readonly name: string;
  /** Undefined: the claim names no role of ours. */
  readonly role: Roles | undefined;
}

export interface OidcCheck {
  /**
   * Whether a text has the form of such a token, and names the issuer: nothing else is verified. Only such a text costs a
   * check of its signature, and only if it names an algorithm and a key that may be.
   */
  isToken(text: string): boolean;
  /**
   * @param isToDecode a token for any of the audiences suffices; elsewhere only the first one, for which a person has
   * one name
   * @throws TokenRefusal for a token that is not valid here, Refusal 503 while the issuer's keys are unavailable
   */
  verify(token: string, isToDecode?: boolean): Promise<OidcCaller>;
}

/** Clocks of issuer and gateway may differ by so much. */
const CLOCK_SKEW_SECONDS = 30;
/**
 * An unknown key is fetched again only after this time: a rotated one works soon, and forged ones cause few requests.
 */
const KEYS_AGAIN_MS = 10_000;
/** Longest time for which a key that the issuer has revoked stays valid. */
const KEYS_KEPT_MS = 600_000;
const ANSWER_WITHIN_MS = 5_000;
/**
 * An issuer that did not answer is not asked again for this long, because anyone can send what looks like one of its
 * tokens.
 */
const NOT_ASKED_AFTER_FAILURE_MS = 3_000;

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Of access and id tokens: a logout or userinfo token of the same issuer, signed by the same key, has another one. */
const TOKEN_TYPE = /^((application\/)?at\+)?jwt$/i;
/**
 * Where issuers name the client that a token was given to. Its audience does not say that: some issuers put every
 * application of a person into the tokens of each, so that a wiki's token would be good here.
 */
const CLIENT_CLAIMS = ['azp', 'client_id', 'appid'];
/** As it is shown on terminals and in records. */
const NAME = /^[\x21-\x7e]{1,255}$/;
/** The part that is used of an issuer's discovery document. */
export const Discovery = z.object({
  issuer: z.string(),
  // Over plain text, anyone in between could replace the keys.
  jwks_uri: z.url({ protocol: /^https?$/ }).refine((text) => isTrustedUrl(new URL(text))),
  subject_types_supported: z.array(z.string()).default(['public']),
});
export const Keys = z.looseObject({ keys: z.array(z.looseObject({})) });

export const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

/**
 * Access and id tokens of one OIDC issuer: signed by its keys, for one of our audiences, not expired. Its keys come
 * from its discovery document, and their changes are followed.
 */
export function createOidcCheck(
  settings: OidcSettings,
  monotonicMs: () => number = () => performance.now(),
): OidcCheck {
  const { issuer, audiences, algorithms, nameClaim = 'sub' } = settings;
  const ask = createPatientFetch(monotonicMs);
  let found: Promise<JWTVerifyGetKey> | undefined;
  const keys = (): Promise<JWTVerifyGetKey> =>
    (found ??= discover(settings, ask).catch((error: unknown) => {
      found = undefined;
      throw error;
    }));

  return {
    isToken: (text) => COMPACT.test(text) && namedIssuer(text) === issuer,
    async verify(token, isToDecode = false) {
      const audience = isToDecode ? [...audiences] : audiences.slice(0, 1);
      const payload = await verified(token, audience, async (...asked) => (await keys())(...asked));
      const client = CLIENT_CLAIMS.map((claim) => payload[claim]).find((one) => one !== undefined);
      if (client !== undefined && !audiences.some((one) => one === client)) {
        throw new TokenRefusal('refused_token', 'it was given to a client that OIDC_AUDIENCE does not have');
      }
      if (payload['events'] !== undefined) throw new TokenRefusal('refused_token', 'it is about an event, not a login');
      const name = claimAt(payload, nameClaim);
      if (typeof name !== 'string' || !NAME.test(name)) {
        throw new TokenRefusal('refused_token', `its claim "${nameClaim}" is missing, or not of visible ASCII`);
      }
      return { name: `oidc:${name}`, role: roleIn(payload, settings) };
    },
  };

  async function verified(token: string, audience: string[], key: JWTVerifyGetKey): Promise<JWTPayload> {
    try {
      const options = { issuer, audience, algorithms: [...algorithms] };
      const required = { requiredClaims: ['exp', 'sub'], clockTolerance: CLOCK_SKEW_SECONDS };
      const { payload, protectedHeader } = await jwtVerify(token, key, { ...options, ...required });
      if (!TOKEN_TYPE.test(protectedHeader.typ ?? 'jwt')) {
        throw new TokenRefusal('refused_token', 'it is of another type than an access or id token');
      }
      return payload;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const why = error instanceof errors.JOSEError ? whyRefused(error) : undefined;
      // Not the token's fault: the issuer does not answer, or not correctly.
      if (why === undefined) throw unavailable();
      throw new TokenRefusal('refused_token', why);
    }
  }
}

/** As the token says, which anyone can write. */
function namedIssuer(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

const unavailable = () =>
  new Refusal(
    503,
    'The keys of OIDC_ISSUER cannot be fetched now. Send it again.',
    { code: 'issuer_unavailable' },
    RETRY_AFTER_SECONDS,
  );

const noNameClaim = () =>
  new Refusal(
    503,
    'OIDC_ISSUER gives a person another "sub" for each client: set OIDC_NAME_CLAIM to a claim that is one for all.',
  );

/**
 * Fetches a JSON document, which `judge` reads. After a failure or an invalid document, it waits before it asks again.
 */
type PatientFetch = <T>(url: string, judge: (content: unknown) => T) => Promise<T>;

function createPatientFetch(monotonicMs: () => number): PatientFetch {
  let failedAtMs = -Infinity;
  let why: Refusal | undefined;
  return async (url, judge) => {
    if (why !== undefined && monotonicMs() - failedAtMs < NOT_ASKED_AFTER_FAILURE_MS) throw why;
    try {
      const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
      if (!answer.ok) throw unavailable();
      return judge(await answer.json());
    } catch (error) {
      failedAtMs = monotonicMs();
      why = error instanceof Refusal ? error : unavailable();
      throw why;
    }
  };
}

/** One person has another `sub` for each client. */
export const isOnlyPairwise = ({ subject_types_supported: types }: z.infer<typeof Discovery>): boolean =>
  !types.includes('public');

/** @throws Refusal 503 */
async function discover({ issuer, nameClaim }: OidcSettings, ask: PatientFetch): Promise<JWTVerifyGetKey> {
  const jwksUri = await ask(discoveryUrl(issuer), (content) => {
    const discovered = Discovery.parse(content);
    if (discovered.issuer !== issuer) throw unavailable();
    if (nameClaim === undefined && isOnlyPairwise(discovered)) throw noNameClaim();
    return discovered.jwks_uri;
  });
  return createRemoteJWKSet(new URL(jwksUri), {
    cooldownDuration: KEYS_AGAIN_MS,
    cacheMaxAge: KEYS_KEPT_MS,
    [customFetch]: async (keysUrl) => Response.json(await ask(keysUrl, (content) => Keys.parse(content))),
  });
}

/** What is wrong with a token, in words that repeat nothing of it; undefined if that is not known. */
function whyRefused(error: errors.JOSEError): string | undefined {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `its claim "${error.claim}" is not what this gateway takes`;
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'it is signed by an algorithm that OIDC_ALGORITHMS does not have';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return 'it is signed by no key of the issuer';
  }
  const isOfToken = error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid;
  return isOfToken || error instanceof errors.JOSENotSupported ? 'it cannot be read' : undefined;
}

/** The roles that the claim names, which may be a word or a list of words. */
function roleIn(payload: JWTPayload, { roleClaim, roles }: OidcSettings): Roles | undefined {
  const value = claimAt(payload, roleClaim);
  const words = Array.isArray(value) ? value : [value];
  return joinRoles(words.flatMap((word) => (typeof word === 'string' ? (roles.get(word) ?? []) : [])));
}

/** A claim may have dots in its own name, for example if the name is a URL. */
const claimAt = (payload: JWTPayload, path: string): unknown =>
  payload[path] ?? path.split('.').reduce<unknown>((inside, part) => memberOf(inside, part), payload);

const memberOf = (value: unknown, member: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, member)
    ? (value as Record<string, unknown>)[member]
    : undefined;
