import { randomUUID } from 'node:crypto';
import type { Settings } from '../../config/index.js';
import { liveOperations } from '../../contract/index.js';
import { createServiceClient, NotSentError, RejectedError } from '../../service-client/index.js';
import { type Finding, good, note } from './finding.js';

const ABOUT = 'SERVICE_PROFILE';
const WITHIN_MS = 10_000;
const LOOKUPS = ['getBankWithdrawal', 'getCardDeposit', 'getBridgeDeposit'] as const;
type Lookup = (typeof LOOKUPS)[number];
type Has = 'yes' | 'no' | 'cannot-tell';

type ProfileSettings = Pick<Settings, 'serviceBaseUrl' | 'serviceToken' | 'serviceTimeoutMs' | 'serviceProfile'>;

/**
 * Asks each lookup that only the live service has for a record that cannot exist. The service's own "not found" about the
 * record shows that it has the operation; a 404 about the path shows the contrary. Nothing is sent but reads.
 */
export async function checkProfile(settings: ProfileSettings): Promise<readonly Finding[]> {
  const control = await bodyAt(settings, `/api/v3/${unused()}/${unused()}`);
  const found = await Promise.all(LOOKUPS.map(async (name) => [name, await whether(settings, name, control)] as const));
  return judged(settings, found);
}

const unused = (): string => `towline-doctor-${randomUUID()}`;

async function whether(settings: ProfileSettings, name: Lookup, control: string | undefined): Promise<Has> {
  const { serviceBaseUrl: baseUrl, serviceToken } = settings;
  const timeoutMs = Math.min(WITHIN_MS, settings.serviceTimeoutMs);
  const client = createServiceClient({
    baseUrl,
    token: () => Promise.resolve(serviceToken),
    timeoutMs,
    allowHttp: true,
  });
  const reference = unused();
  const error = await client[name](reference)
    .then(() => undefined)
    .catch((caught: unknown) => caught)
    .finally(() => client.close());
  if (error instanceof NotSentError || !(error instanceof RejectedError) || error.httpStatus !== 404)
    return 'cannot-tell';
  if (!error.isNotFound) return 'no';
  // A service that says the same of every path says nothing by it.
  const { path } = liveOperations[name];
  const body = await bodyAt(settings, path.replace(/\{\w+\}/, reference));
  return body === undefined || body === control ? 'cannot-tell' : 'yes';
}

/** The body of a 404, without what it repeats of the request; undefined for every other answer. */
async function bodyAt({ serviceBaseUrl, serviceToken }: ProfileSettings, path: string): Promise<string | undefined> {
  try {
    const answer = await fetch(serviceBaseUrl + path, {
      headers: { authorization: `Bearer ${serviceToken}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    const text = await answer.text();
    return answer.status === 404 ? text.replaceAll(path, '').replaceAll(VARYING, '') : undefined;
  } catch {
    return undefined;
  }
}

const VARYING = /towline-doctor-[\w-]+|\d{4}-\d\d-\d\dT[\d:.]+Z?/g;

function judged(
  { serviceProfile }: Pick<Settings, 'serviceProfile'>,
  found: readonly (readonly [Lookup, Has])[],
): readonly Finding[] {
  const names = (has: Has): readonly Lookup[] => found.filter(([, one]) => one === has).map(([name]) => name);
  const isSet = (name: Lookup): boolean => serviceProfile.includes(name);
  const [unused, refused, unclear] = [
    names('yes').filter((name) => !isSet(name)),
    names('no').filter(isSet),
    names('cannot-tell'),
  ];
  const should = settingFor(names('yes'));
  const findings: Finding[] = [];
  if (refused.length > 0)
    findings.push(
      note(
        ABOUT,
        'profile-differs',
        `it is "live" for ${refused.join(', ')}, and the service does not know that path: such a flow parks. Set ${should}.`,
      ),
    );
  if (unused.length > 0)
    findings.push(
      note(
        ABOUT,
        'profile-differs',
        `the service has ${unused.join(', ')}, which the interface lacks: with ${should} a flow whose answer and events ` +
          'are lost ends by what they show. First look one of your own records up by it.',
      ),
    );
  if (unclear.length > 0)
    findings.push(
      note(ABOUT, 'doubt', `whether the service has ${unclear.join(', ')} its answers do not show: ask the service.`),
    );
  return findings.length > 0 ? findings : [good(ABOUT, `is as the service is: ${settingFor(names('yes'))}`)];
}

/** What it should be by what was found. The operation that takes a refund invoice cannot be asked without an invoice. */
function settingFor(has: readonly Lookup[]): string {
  if (has.length === 0) return `${ABOUT}=interface`;
  return has.length === LOOKUPS.length ? `${ABOUT}=live` : `${ABOUT}=${has.map((name) => `${name}=live`).join(',')}`;
}
