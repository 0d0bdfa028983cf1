import http from 'node:http';
import https from 'node:https';

export interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Transport {
  /** Resolves with whatever is answered, redirects included (they are not followed); rejects without an answer. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>, timeoutMs: number): Promise<PostAnswer>;
  /** Ends open connections; what is under way rejects. */
  close(): void;
}

const MAX_KEPT_CHARACTERS = 2_000;

export function createTransport(): Transport {
  const agents = {
    'http:': new http.Agent({ keepAlive: true, maxSockets: 64 }),
    'https:': new https.Agent({ keepAlive: true, maxSockets: 64 }),
  };
  return {
    post: (url, body, headers, timeoutMs) =>
      new Promise((resolve, reject) => {
        const target = new URL(url);
        const secure = target.protocol === 'https:';
        const request = (secure ? https : http).request(target, {
          method: 'POST',
          agent: secure ? agents['https:'] : agents['http:'],
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
          signal: AbortSignal.timeout(timeoutMs),
        });
        request.on('error', reject);
        request.on('response', (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            if (text.length < MAX_KEPT_CHARACTERS) text += chunk.slice(0, MAX_KEPT_CHARACTERS - text.length);
          });
          response.on('error', reject);
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        });
        request.end(body);
      }),
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
