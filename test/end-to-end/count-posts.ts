import type { Stack } from './stack.js';

type Doors = Pick<Stack, 'post' | 'control'>;

/** Where webhooks come in. */
const INBOUND = /^\/(callbacks|settlements|webhooks)\/|\/webhook\/provider\/settlement$/;
const FLOW_START = /^\/flows\/[a-z-]+$/;

/** Keeps the books of what a test does by itself: flows that it was told of, and webhooks that were taken from it. */
export function countPosts(gatewayUrl: string, doors: Doors) {
  const started = new Set<string>();
  let taken = 0;
  const isTaken = (status: unknown) => typeof status === 'number' && status >= 200 && status < 300;
  const counted: Doors = {
    async post(path, body, headers) {
      const answer = await doors.post(path, body, headers);
      if (INBOUND.test(path) && isTaken(answer.status)) taken += 1;
      if (FLOW_START.test(path) && isTaken(answer.status)) started.add(String(answer.body['flowId']));
      return answer;
    },
    async control(method, path, body) {
      const answer = await doors.control(method, path, body);
      if (path !== '/forge' || !String(answer['url']).startsWith(gatewayUrl)) return answer;
      if (isTaken(answer['answer'].status)) taken += 1;
      return answer;
    },
  };
  return { ...counted, started, posted: () => taken };
}
