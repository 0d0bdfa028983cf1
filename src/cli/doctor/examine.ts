import { createCapabilities, inboundUrls } from '../../gateway/index.js';
import type { LoadedSettings } from '../wiring/load-settings.js';
import { checkCallbacks, checkGateway, explainProxies, explainSettlements } from './check-gateway.js';
import { checkOidc } from './check-oidc.js';
import { checkDeployment, checkStore } from './check-store.js';
import { checkService, explainDuplicates } from './check-service.js';
import { checkProfile } from './check-profile.js';
import { checkTemporal } from './check-temporal.js';
import { type Finding, good, note } from './finding.js';

/** All checks of the doctor. None of them moves money or changes a flow. */
export async function examine(
  { settings, home }: LoadedSettings,
  options: { readonly showSecrets: boolean },
): Promise<readonly Finding[]> {
  const mode = settings.development
    ? 'development: tokens, keys and secrets that are not set are generated'
    : 'production: nothing is generated';
  const [{ store, findings: ofStore }, ofTemporal, ofService, ofProfile, ofGateway, ofIssuer] = await Promise.all([
    checkStore(settings, home),
    checkTemporal(settings),
    checkService(settings),
    checkProfile(settings),
    checkGateway(settings),
    checkOidc(settings),
  ]);
  const urls: Finding[] = [];
  if (store !== undefined && options.showSecrets) {
    const { settlement, webhook } = inboundUrls(settings.publicUrl, createCapabilities(store, settings));
    urls.push(
      settlement === undefined
        ? note('settlement URL', 'not-set', 'none: set SETTLEMENT_CAPABILITY to at least 22 random letters and digits.')
        : note('settlement URL', 'secret-shown', `${settlement} (a secret: for the settlement provider alone)`),
      note('webhook URL', 'secret-shown', `${webhook} (a secret: for the service alone)`),
    );
  }
  const ofCallbacks = checkCallbacks(settings, store);
  const ofDeployment = store === undefined ? [] : await checkDeployment(settings, store);
  await store?.close();
  return [
    good('settings', mode),
    ...settings.doubts.map((sentence) => note('settings', 'doubt', sentence)),
    ...ofStore,
    ...ofTemporal,
    ...ofDeployment,
    ...ofService,
    ...ofGateway,
    ...ofIssuer,
    ...explainDuplicates(settings),
    ...ofProfile,
    ...explainSettlements(settings),
    ...explainProxies(settings),
    ...ofCallbacks,
    ...urls,
  ];
}
