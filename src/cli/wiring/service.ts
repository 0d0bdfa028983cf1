import { createServiceClient, createTokenSource, type ServiceClient } from '../../client/index.js';
import type { Settings } from '../../config/index.js';

type ServiceSettings = Pick<
  Settings,
  'serviceBaseUrl' | 'serviceToken' | 'serviceTokenFile' | 'serviceTimeoutMs' | 'duplicateWords'
>;

/** The service of the settings, with its token, which is read again when the service refuses it. */
export function openService(settings: ServiceSettings): ServiceClient {
  return openServiceAccess(settings).client;
}

/** The same with its token, which the proxy knows existing integrations by. */
export function openServiceAccess(settings: ServiceSettings): { client: ServiceClient; token(): Promise<string> } {
  const { serviceToken, serviceTokenFile } = settings;
  const source = createTokenSource(
    serviceTokenFile === undefined ? { token: serviceToken ?? '' } : { tokenFile: serviceTokenFile },
  );
  const client = createServiceClient({
    baseUrl: settings.serviceBaseUrl,
    token: () => source.token(),
    onUnauthorized: (rejected) => source.refresh(rejected),
    timeoutMs: settings.serviceTimeoutMs,
    duplicateWords: settings.duplicateWords,
  });
  return { client, token: () => source.token() };
}
