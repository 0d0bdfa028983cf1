import { DEVELOPMENT_TOKEN, isLoopback, readSecretFiles, readSettings, SettingsError } from '../config/index.js';
import { isReference } from '../api/flow.js';
import { parseFlowId } from '../protocol/vocabulary.js';
import { Towline } from '../sdk/index.js';
import { gatewayUrl } from './wiring/gateway-url.js';
import type { CliContext } from './context.js';
import { CliError } from './exit-codes.js';

interface GatewayAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Cancels all requests. */
  readonly signal?: AbortSignal;
  /** How long to try again while the gateway is unavailable, or takes no more requests. @default 0: tries once */
  readonly retryForMs?: number;
}

/**
 * The gateway's address and token: `GATEWAY_URL` and `TOWLINE_TOKEN`; without them, the gateway of this machine's
 * settings and the development token. Tokens never come by the command line, which other users can see. A token that
 * the process was given goes to another machine only if the process was given its address, too: a folder that another
 * person made may have a file `.env`.
 * @throws CliError, SettingsError
 */
export function gatewayAccess({ env: given, fromFile }: Pick<CliContext, 'env' | 'fromFile'>): GatewayAccess {
  const { env, problems } = readSecretFiles(given);
  if (problems.length > 0) throw new SettingsError(problems);
  const isSet = (name: string) => (env[name]?.trim() ?? '') !== '';
  const setting = isSet('GATEWAY_URL') ? 'GATEWAY_URL' : 'GATEWAY_HOST';
  const url = checked(
    setting,
    isSet('GATEWAY_URL') ? String(env['GATEWAY_URL']).trim() : gatewayUrl(readSettings(given)),
  );
  const isLocal = isLoopback(new URL(url).hostname);
  const token = env['TOWLINE_TOKEN']?.trim() ?? '';
  if (token !== '') {
    const isOfFile = ['TOWLINE_TOKEN', 'TOWLINE_TOKEN_FILE'].some((name) => fromFile?.has(name));
    if (!isLocal && !isOfFile && fromFile?.has(setting)) throw new CliError(NOT_TOGETHER);
    return { url, token };
  }
  if (isLocal && !env['GATEWAY_TOKENS']) return { url, token: DEVELOPMENT_TOKEN.secret };
  throw new CliError('TOWLINE_TOKEN is missing: set it to the secret of one of the tokens in GATEWAY_TOKENS.');
}

const NOT_TOGETHER =
  'The gateway is named by the file .env of this folder, and TOWLINE_TOKEN is not in it: your token is not sent there. Set ' +
  'GATEWAY_URL in the environment, where the token is.';

function checked(setting: string, given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search !== '') {
    throw new CliError('GATEWAY_URL must be an http or https URL without user, password or query.');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    const why = 'since the gateway is not on this machine';
    const sentence =
      setting === 'GATEWAY_URL'
        ? `GATEWAY_URL must begin with https, ${why}.`
        : `Set GATEWAY_URL, with https, ${why} (GATEWAY_HOST): the token would be sent to it in the clear.`;
    throw new CliError(sentence);
  }
  return given.replace(/\/+$/, '');
}

export const FLOW_ARGUMENT = 'kind/reference, such as bridge-transfer/order-1001';

/**
 * The flow id of an argument, by the one grammar, before a URL is built from it.
 * @throws CliError
 */
export function flowArgument(text: string): string {
  if (isReference(parseFlowId(text)?.reference)) return text;
  throw new CliError(`"${text}" names no flow: write ${FLOW_ARGUMENT}.`);
}

/** For the command line, which tries once: a person sees at once that there is no answer, and decides. */
export type GatewayClient = Towline;

export function createGatewayClient({ url, token, signal, retryForMs = 0 }: GatewayAccess): GatewayClient {
  // URLs of other machines were checked before.
  return new Towline({ baseUrl: url, token, signal, retryForMs, allowHttp: true });
}

/** The gateway of the settings. @throws CliError, SettingsError */
export function connectGateway(
  context: Pick<CliContext, 'env' | 'fromFile'>,
  options: Pick<GatewayAccess, 'retryForMs'> = {},
): GatewayClient {
  return createGatewayClient({ ...gatewayAccess(context), ...options });
}
