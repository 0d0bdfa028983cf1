/** 43 hexadecimal characters: 172 bits of a MAC that only the store's key can make. */
const LENGTH = 43;

/**
 * The unguessable part of a flow's callback URL. Derived from the store's own key, so that it is stored nowhere, is the
 * same after every retry, and can be checked before the flow's first row exists.
 */
export function callbackCapability(store: { mac(purpose: string, text: string): string }, flowId: string): string {
  return store.mac('callback', flowId).slice(0, LENGTH);
}

/** Where the service is asked to call back for one flow: a path of the gateway. */
export function callbackUrl(publicUrl: string, flowId: string, capability: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/callbacks/${flowId}/${capability}`;
}
