import type { Settings } from '../../config/index.js';

/** Where people look at flows: `TEMPORAL_UI_URL`, which `towline up` sets to the UI of the server that it started. */
export function uiUrlOf(settings: Pick<Settings, 'temporal'>): string | undefined {
  const url = settings.temporal['TEMPORAL_UI_URL'];
  return url !== undefined && URL.canParse(url) ? url.replace(/\/+$/, '') : undefined;
}

/** The page of one flow in the Temporal UI. */
export function uiLink(uiUrl: string, namespace: string, flowId: string): string {
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(flowId)}`;
}
