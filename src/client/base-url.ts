import { isIPv4 } from 'node:net';

/** The service's base address cannot be used. Says why, without the address, which may hold credentials. */
export class BaseUrlError extends Error {
  override readonly name = 'BaseUrlError';
}

/**
 * Checks the service's base address once: http or https, no credentials, query or fragment; https unless the host is
 * loopback or `allowHttp` is set, since every request carries the token. A path in front of `/api/v3` is kept.
 */
export function checkBaseUrl(baseUrl: string, allowHttp: boolean): URL {
  if (!URL.canParse(baseUrl)) throw new BaseUrlError('The base address of the service is not a URL.');
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new BaseUrlError('The base address of the service must begin with https://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new BaseUrlError('The base address of the service must not contain credentials.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new BaseUrlError('The base address of the service must not have a query or a fragment.');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new BaseUrlError('The base address of the service must begin with https://, except on loopback.');
  }
  return url;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));

/** The address without a slash at its end, ready for a path that begins with one. */
export const prefixOf = (base: URL): string => `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
