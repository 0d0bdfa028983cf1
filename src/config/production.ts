import { isLoopback } from '../protocol/loopback.js';
import type { Environment } from './environment.js';
import { rolesIn } from '../protocol/permissions.js';
import type { GatewayToken } from './gateway-tokens.js';
import type { NetworkList } from './networks.js';
import type { Settings, SettingsOfSecrets } from './settings-shape.js';
import { SETTING_NAMES, SETTINGS } from './table/index.js';
import type { Setting } from './table/setting.js';

/** One thing that settings outside of development must not be, or should not be. */
interface Check<Of = Settings> {
  /** Its sentence, or undefined if all is well. It repeats no secret. */
  readonly find: (settings: Of) => string | undefined;
}

/** What must be random, by the names of the settings that have it. */
const secretsBySetting = (settings: SettingsOfSecrets): readonly (readonly [string, readonly string[]])[] =>
  Object.entries<Setting>(SETTINGS).flatMap(([member, { name, random }]) =>
    random === undefined ? [] : [[name, random(settings[member as keyof SettingsOfSecrets] as never)] as const],
  );

/** Of 16 random bytes, fewer differ once in 10^17. Hexadecimal digits and letters of a word are few, too. */
const LEAST_DISTINCT = 8;
/** Of a secret of Standard Webhooks, which asks for 24. */
const LEAST_BYTES = 16;
const BASE64 = /^(?:whsec_([A-Za-z0-9+/]*={0,2})|([A-Za-z0-9+/]{20,}={0,2}))$/;

/** Zeros, one letter again and again, a pattern of a few, a few bytes: what people write in place of a secret. */
function isGuessable(secret: string): boolean {
  const [, standard, encoded = standard] = BASE64.exec(secret) ?? [];
  if (standard !== undefined && Buffer.from(standard, 'base64').length < LEAST_BYTES) return true;
  const bytes = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  return new Set(secret).size < LEAST_DISTINCT || new Set(bytes).size < LEAST_DISTINCT;
}

/** Shorter prefixes cover a good part of all addresses; two of one bit cover all. */
const LEAST_BITS = { ipv4: 8, ipv6: 16 } as const;
const isTooWide = (cidr: string): boolean => {
  const [address = '', bits] = cidr.split('/');
  return bits !== undefined && Number(bits) < LEAST_BITS[address.includes(':') ? 'ipv6' : 'ipv4'];
};
const tooWide = (name: string, networks: NetworkList | undefined): string | undefined => {
  const found = networks?.cidrs.find(isTooWide);
  return found === undefined
    ? undefined
    : `${name} has ${found}, a good part of all addresses: name the networks of the one party that it is about.`;
};

const isOverTls = ({ temporal }: Settings): boolean =>
  [temporal['TEMPORAL_TLS'] === 'true', temporal['TEMPORAL_API_KEY'], temporal['TEMPORAL_TLS_CLIENT_CERT_PATH']].some(
    Boolean,
  ) && temporal['TEMPORAL_TLS'] !== 'false';
const hostOf = (address: string): string => address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

/** Who did what, in timelines and in the audit log; `service-token`: callers that send SERVICE_TOKEN. */
const NAMES_OF_MACHINES: readonly string[] = [
  'deadline',
  'flow',
  'gateway',
  'provider',
  'service',
  'service-token',
  'temporal',
  'towline',
];

/** What secrets must not be outside of development, at the start and when one of their files is replaced. */
const REFUSED_SECRETS: readonly Check<SettingsOfSecrets>[] = [
  {
    find: (settings) => {
      // Of the service's token, the service decides.
      const ours = secretsBySetting(settings).filter(([name]) => name !== 'SERVICE_TOKEN');
      const [name] = ours.find(([, secrets]) => secrets.some(isGuessable)) ?? [];
      return (
        name &&
        `${name} has a secret of a few bytes, or of a few that repeat: take a random one (openssl rand -base64 32).`
      );
    },
  },
  {
    find: (settings) => {
      const seen = new Map<string, string>();
      for (const [name, secrets] of secretsBySetting(settings))
        for (const secret of secrets) {
          const other = seen.get(secret);
          if (other !== undefined && other !== name)
            return `${other} and ${name} have one secret: who is given it for one purpose has it for the other. Take two.`;
          seen.set(secret, name);
        }
      return undefined;
    },
  },
  {
    find: ({ gatewayTokens }) => {
      const taken = gatewayTokens.find(({ name }) => NAMES_OF_MACHINES.includes(name));
      return (
        taken &&
        `GATEWAY_TOKENS has the name ${taken.name}, by which records show what no person did. Take another one.`
      );
    },
  },
  {
    find: ({ gatewayTokens }) => {
      const roles = new Map(gatewayTokens.map(({ name, role }) => [name, role]));
      const twice = gatewayTokens.find(({ name, role }) => roles.get(name) !== role);
      return (
        twice && `GATEWAY_TOKENS gives the name ${twice.name} two roles: one name has one role, with several secrets.`
      );
    },
  },
];

const MAY_HAVE_PROXY =
  'SETTLEMENT_NETWORKS may have the proxy that ends TLS, by whose address every sender would be trusted: name the proxy ' +
  "in TRUSTED_PROXIES, and in SETTLEMENT_NETWORKS the provider's own networks, without it.";

/** What a process refuses to start with outside of development. */
const REFUSED: readonly Check[] = [
  ...REFUSED_SECRETS,
  {
    find: ({ publicUrl, serviceBaseUrl }) =>
      isLoopback(new URL(publicUrl).hostname) && !isLoopback(new URL(serviceBaseUrl).hostname)
        ? 'PUBLIC_URL is on this machine, where the service cannot post its callbacks: set it to how the service reaches us.'
        : undefined,
  },
  {
    find: ({ webhookProfile, webhookSecrets }) =>
      webhookProfile === 'unsigned' && webhookSecrets.length > 0
        ? 'WEBHOOK_PROFILE=unsigned takes no notice of WEBHOOK_SECRETS: set the profile by which the service signs, or no secret.'
        : undefined,
  },
  { find: ({ trustedProxies }) => tooWide('TRUSTED_PROXIES', trustedProxies) },
  {
    find: ({ settlementNetworks: networks, trustedProxies: proxies, publicUrl }) => {
      const mayHaveProxy =
        networks !== undefined &&
        (proxies === undefined ? new URL(publicUrl).protocol === 'https:' : networks.overlaps(proxies));
      return tooWide('SETTLEMENT_NETWORKS', networks) ?? (mayHaveProxy ? MAY_HAVE_PROXY : undefined);
    },
  },
  {
    find: ({ otlpEndpoint, otlpHeaders }) =>
      otlpEndpoint?.startsWith('http:') === true &&
      !isLoopback(new URL(otlpEndpoint).hostname) &&
      Object.keys(otlpHeaders).length > 0
        ? 'OTEL_EXPORTER_OTLP_HEADERS would be sent without TLS: OTEL_EXPORTER_OTLP_ENDPOINT must begin with https.'
        : undefined,
  },
];

const startsFlows = ({ role }: GatewayToken): boolean => rolesIn(role).includes('flows');

const doubt = (find: (settings: Settings) => boolean, sentence: string): Check => ({
  find: (settings) => (find(settings) ? sentence : undefined),
});

/** What can be meant, and is said in the log at each start and by `towline doctor`. */
const DOUBTFUL: readonly Check[] = [
  {
    find: (settings) => {
      const address = settings.temporal['TEMPORAL_ADDRESS'];
      return address === undefined || isLoopback(hostOf(address)) || isOverTls(settings)
        ? undefined
        : 'TEMPORAL_ADDRESS is another machine, and there is no TLS to it: who is on the way can start, order and end flows.';
    },
  },
  doubt(
    (settings) => settings.allowPlaintext,
    'ALLOW_PLAINTEXT is true: other Temporal clients start flows without a key.',
  ),
  doubt(
    (settings) => settings.callbackAllowLoopback,
    'CALLBACK_ALLOW_LOOPBACK is true: any caller has workers send requests to what listens beside them.',
  ),
  doubt(({ fourEyes }) => fourEyes.actions.length === 0, 'FOUR_EYES is none: each order needs one person alone.'),
  doubt(
    ({ unprovenRateLimit }) => unprovenRateLimit === 0,
    'UNPROVEN_RATE_LIMIT is 0: who guesses tokens, and strangers, have no limit.',
  ),
  doubt(
    ({ gatewayTokens, referencePrefixes }) =>
      referencePrefixes.size === 0 && new Set(gatewayTokens.filter(startsFlows).map(({ name }) => name)).size > 1,
    'GATEWAY_REFERENCE_PREFIXES is not set, and several names start flows: each can use up the references of the others.',
  ),
  doubt(
    ({ webhookProfile }) => webhookProfile === 'unsigned',
    'WEBHOOK_PROFILE is unsigned: a URL alone proves an event, and who reads one in the log of a proxy can forge it.',
  ),
];

/** First words of names that are surely meant for us. */
const OURS =
  /^(CALLBACK|CAPABILITY|DUPLICATE|FOUR|GATEWAY|INBOUND|MAX|NOTIFY|OIDC|PAYLOAD|SANDBOX|SERVICE|SETTLEMENT|TOWLINE|TRUSTED|UNPROVEN|WEBHOOK|WORKER)_[A-Z_]+$/;
/** What Kubernetes tells each pod about the Services beside it. */
const OF_KUBERNETES = /_SERVICE_(HOST|PORT)|_PORT$/;

/** @returns a sentence about variables that look like a setting and are none */
export function unknownSettings(env: Environment): readonly string[] {
  const isKnown = (name: string) => SETTING_NAMES.has(name) || SETTING_NAMES.has(name.replace(/_FILE$/, ''));
  const unknown = Object.keys(env).filter((name) => OURS.test(name) && !isKnown(name) && !OF_KUBERNETES.test(name));
  if (unknown.length === 0) return [];
  return [`No setting has the name ${unknown.toSorted().join(', ')}, which has no effect: see docs/settings.md.`];
}

/** @returns why these settings are refused outside of development, a sentence each */
export const refusedInProduction = (settings: Settings): readonly string[] => sentencesOf(REFUSED, settings);

/** @returns what may be meant outside of development, and is said in the log and by `towline doctor` */
export const doubtfulInProduction = (settings: Settings): readonly string[] => sentencesOf(DOUBTFUL, settings);

/** @returns why these secrets are refused outside of development, a sentence each */
export const refusedSecrets = (secrets: SettingsOfSecrets): readonly string[] => sentencesOf(REFUSED_SECRETS, secrets);

function sentencesOf<Of extends Pick<Settings, 'development'>>(
  checks: readonly Check<Of>[],
  settings: Of,
): readonly string[] {
  if (settings.development) return [];
  return checks.map(({ find }) => find(settings)).filter((sentence) => sentence !== undefined);
}
