// The gateway's public API, called with the token of the person who signed in. The console uses nothing else.

const STORED_AS = 'towline-token';

/** The token lives as long as the tab. */
export const session = {
  token: () => sessionStorage.getItem(STORED_AS),
  begin: (/** @type {string} */ token) => sessionStorage.setItem(STORED_AS, token),
  end: () => sessionStorage.removeItem(STORED_AS),
};

/** The gateway refused, or could not be reached (status 0). The message says what to do. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/**
 * @param {'GET' | 'POST'} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>} the answer's JSON
 */
export async function call(method, path, body) {
  const headers = { authorization: `Bearer ${session.token() ?? ''}` };
  const response = await fetch(path, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiError(0, 'The gateway cannot be reached. This page tries again.');
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, answer.message ?? `The gateway answered ${response.status}.`);
  return answer;
}

const MOST_PAGES = 10;

/**
 * Every flow of a list, newest first; at most 5,000.
 * @param {Record<string, string>} query
 * @returns {Promise<any[]>}
 */
export async function allFlows(query) {
  const flows = [];
  let after;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const search = new URLSearchParams({ ...query, limit: '500', ...(after === undefined ? {} : { after }) });
    const found = await call('GET', `/flows?${search}`);
    flows.push(...found.flows);
    if (found.next === null) break;
    after = found.next;
  }
  return flows;
}

/** @param {string} flowId */
export const flowPath = (flowId) => `/flows/${flowId.split('/').map(encodeURIComponent).join('/')}`;
