import http from 'node:http';
import https from 'node:https';

export interface HttpRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The header `Retry-After`, as it came. */
  readonly retryAfter: string | undefined;
}

/**
 * One request on a connection of its own, no redirects followed. Not `fetch`: it keeps connections open, those of given-up
 * requests among them, for which a gateway that is to end would wait; and it refuses some ports.
 */
export function httpRequest({ url, method, headers, body, signal }: HttpRequest): Promise<HttpAnswer> {
  const send = url.protocol === 'https:' ? https.request : http.request;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers: { ...headers, ...length }, agent: false, signal });
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] }),
      );
    });
    request.end(body);
  });
}
